//! What a model is not shown: files with credentials, where the model is on another machine.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the test lays a project out, and cannot go on without it"
)]

use std::sync::{Arc, Mutex};

use harness_agent::model::{self, Card, Model, ModelError, Reply, Request};
use harness_agent::{Agent, AgentOptions, Cancel, Event, Listener, Question, RunResult};

#[path = "../../../tests/support/scripted.rs"]
mod scripted;
use scripted::Scripted;

/// Stands in every file that a model elsewhere must not see; no shape of a token gives it away.
const VALUE: &str = "seven-blue-horses";

#[derive(Default)]
struct Heard(Vec<String>);

impl Listener for Heard {
    fn event(&mut self, event: &Event) {
        self.0.push(event.text.clone());
    }

    fn question(&mut self, _question: &Question) -> Option<String> {
        None
    }
}

/// Says written replies, from this machine or from another, and keeps what it was shown.
struct Placed {
    script: Scripted,
    this_machine: bool,
    shown: Arc<Mutex<String>>,
}

impl Model for Placed {
    fn card(&mut self, cancel: &Cancel) -> Result<Card, ModelError> {
        let mut card = self.script.card(cancel)?;
        card.host.this_machine = self.this_machine;
        Ok(card)
    }

    fn reply(
        &mut self,
        request: &Request,
        heard: &mut model::Heard<'_>,
        cancel: &Cancel,
    ) -> Result<Reply, ModelError> {
        let said = request.messages.iter().map(|message| &*message.content);
        self.shown.lock().unwrap().extend(said);
        self.script.reply(request, heard, cancel)
    }
}

/// Runs a read-only task; returns its result, all that the model was shown, and what the user was told.
fn run(files: &[&str], this_machine: bool) -> (RunResult, String, Vec<String>) {
    let project = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = project.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("app.py", "def load(path):\n    return open(path).read()\n");
    write("notes.md", "The PASSWORD is in the environment.\n");
    write(".env.example", "PASSWORD=put-yours-here\n");
    for name in [
        ".env",
        "deploy/.env.production",
        "credentials.json",
        ".npmrc",
    ] {
        write(name, &format!("PASSWORD={VALUE}\n"));
    }
    let shown = Arc::new(Mutex::new(String::new()));
    let model = Placed {
        script: Scripted::new(LOOKS.iter().copied()),
        this_machine,
        shown: Arc::clone(&shown),
    };
    let options = AgentOptions {
        allow_writes: false,
        files: files.iter().map(Into::into).collect(),
        ..AgentOptions::new(project.path())
    };
    let mut heard = Heard::default();
    let result = Agent::new(options)
        .run_with(Box::new(model), TASK, &mut heard, &Cancel::default())
        .unwrap();
    let shown = shown.lock().unwrap().clone();
    (result, shown, heard.0)
}

const LOOKS: &[&str] = &[
    "Action: read\nPath: .env\n",
    "Action: read\nPath: deploy/.env.production\n",
    "Action: patch\nPath: credentials.json\nFind:\n```\nPASSWORD\n```\nReplace:\n```\nKEY\n```\n",
    "Action: read\nPath: .env.example\n",
    "Action: search\nQuery: PASSWORD\n",
    "Action: map\n",
    "It reads a file.",
];

const TASK: &str = "what does load in app.py do with the PASSWORD of .env and credentials.json?";

#[test]
fn a_model_elsewhere_is_shown_no_credentials() {
    let (result, shown, told) = run(&[], false);
    assert!(result.ok, "{result:?}");
    let went = told
        .iter()
        .filter(|text| text.contains(" characters went to scripted"));
    assert_eq!(went.count(), 1, "the first send is told, once: {told:?}");
    assert!(!shown.contains(VALUE), "{shown}");
    assert!(shown.contains("put-yours-here"), "{shown}");
    assert!(shown.contains("notes.md:1: The PASSWORD"), "{shown}");
    let refused: Vec<(&str, &str)> = result
        .refusals
        .iter()
        .map(|refusal| (&*refusal.rule, &*refusal.path))
        .collect();
    assert_eq!(
        refused,
        [
            ("path.credentials", ".env"),
            ("path.credentials", "deploy/.env.production"),
            ("write.read_only", "credentials.json"),
        ]
    );
    let reason = &result.refusals[0].reason;
    assert!(
        reason.contains("`.env` holds credentials, which a model on another machine is not shown"),
        "{reason}"
    );
}

#[test]
fn a_model_on_this_machine_is_shown_them() {
    let (result, shown, told) = run(&[], true);
    assert!(result.ok, "{result:?}");
    assert!(
        !told.iter().any(|text| text.contains(" went to ")),
        "{told:?}"
    );
    let read = format!(".env, lines 1 to 1 of 1:\nPASSWORD={VALUE}");
    assert!(shown.contains(&read), "{shown}");
    let found = format!("credentials.json:1: PASSWORD={VALUE}");
    assert!(shown.contains(&found), "{shown}");
}

#[test]
fn a_file_that_the_user_names_is_shown() {
    let (result, shown, _) = run(&[".env"], false);
    assert!(result.ok, "{result:?}");
    let opening = format!(".env, line 1:\n```\nPASSWORD={VALUE}\n```");
    assert!(shown.contains(&opening), "{shown}");
    let refused: Vec<&str> = result
        .refusals
        .iter()
        .filter(|refusal| refusal.rule == "path.credentials")
        .map(|refusal| &*refusal.path)
        .collect();
    assert_eq!(refused, ["deploy/.env.production"]);
}
