//! Small windows: whatever is asked and shown, prompt and reply fit, and what was left out is said.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay files out"
)]

use std::sync::{Arc, Mutex};

use harness_agent::model::{
    Abilities, Card, Finish, Heard, Host, Message, Model, ModelError, Reply, Request,
};
use harness_agent::{Agent, AgentOptions, Cancel, Event, Listener, Question, RunResult};

/// A model with a small window that reads one file after the other; it counts a token for every third byte.
struct Narrow {
    window: u32,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Model for Narrow {
    fn card(&mut self, _cancel: &Cancel) -> Result<Card, ModelError> {
        Ok(Card {
            model: "narrow".to_owned(),
            host: Host {
                name: "here".to_owned(),
                this_machine: true,
            },
            window: self.window,
            abilities: Abilities::default(),
        })
    }

    fn reply(
        &mut self,
        request: &Request,
        _heard: &mut Heard<'_>,
        _cancel: &Cancel,
    ) -> Result<Reply, ModelError> {
        let mut requests = self.requests.lock().unwrap();
        let text = format!("Action: read\nPath: part_{}.py\n", requests.len() % 12);
        requests.push(request.clone());
        Ok(Reply {
            text,
            prompt_tokens: tokens(&request.messages) as u64,
            reply_tokens: 9,
            finish: Finish::Stop,
            notice: None,
        })
    }
}

fn tokens(messages: &[Message]) -> usize {
    messages.iter().map(|one| one.content.len() / 3 + 4).sum()
}

#[derive(Default)]
struct Told(Vec<String>);

impl Listener for Told {
    fn event(&mut self, event: &Event) {
        self.0.push(event.text.clone());
    }

    fn question(&mut self, _question: &Question) -> Option<String> {
        None
    }
}

fn run(window: u32, max_tokens: u32, task: &str) -> (RunResult, Vec<Request>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let rules = "Write short functions and name things well.\n".repeat(200);
    std::fs::write(folder.path().join("AGENTS.md"), rules).unwrap();
    for part in 0..12 {
        let body: String = (0..60)
            .map(|line| format!("    total = total + {line} * {part}\n"))
            .collect();
        let code = format!("def part_{part}(total):\n{body}    return total\n");
        std::fs::write(folder.path().join(format!("part_{part}.py")), code).unwrap();
    }
    let options = AgentOptions {
        allow_writes: false,
        steps: 12,
        max_tokens,
        ..AgentOptions::new(folder.path().to_path_buf())
    };
    let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
    let model = Narrow {
        window,
        requests: Arc::clone(&requests),
    };
    let mut told = Told::default();
    let result = Agent::new(options)
        .run_with(Box::new(model), task, &mut told, &Cancel::default())
        .unwrap();
    let requests = requests.lock().unwrap().clone();
    (result, requests, told.0)
}

#[test]
fn prompts_fit_windows_from_two_thousand_tokens_up() {
    for (window, max_tokens) in [
        (2048, 700),
        (2048, 8000),
        (3000, 400),
        (4096, 700),
        (32_768, 700),
    ] {
        let long = format!(
            "change part_3 in part_3.py so that it is faster: {}",
            "it is slow ".repeat(900)
        );
        for task in [
            "change part_3 in part_3.py so that it is faster",
            long.as_str(),
        ] {
            let (result, requests, told) = run(window, max_tokens, task);
            assert!(requests.len() > 3, "{window}: {}", result.summary);
            let mut breaks = 0;
            for (at, request) in requests.iter().enumerate() {
                let used = tokens(&request.messages) + request.max_tokens as usize;
                assert!(used <= window as usize, "turn {at}: {used} of {window}");
                assert!(request.max_tokens <= max_tokens);
                let last = request.messages.last().unwrap();
                assert!(at > 0 || last.content.contains("change part_3 in part_3.py"));
                if at > 0 && !request.messages.starts_with(&requests[at - 1].messages) {
                    breaks += 1;
                }
            }
            assert_eq!(
                breaks, result.usage.masked,
                "only masking breaks the prefix"
            );
            let left_out = told
                .iter()
                .any(|words| words.starts_with("left out of the prompt"));
            assert!(window > 2048 || left_out, "{window}: {told:?}");
        }
    }
}

#[test]
fn a_full_window_is_masked_in_one_step_and_not_at_every_turn() {
    let (result, requests, _) = run(4096, 700, "change part_3 in part_3.py so that it is faster");
    assert!(result.usage.masked >= 1);
    assert!(
        u64::from(result.usage.masked) * 2 < requests.len() as u64,
        "{} of {}",
        result.usage.masked,
        requests.len()
    );
}
