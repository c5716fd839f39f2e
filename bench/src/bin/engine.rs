//! Asks an engine and tells what it cost, one JSON line a reply: for measurements and for tests with real servers.
//!
//! `engine ENGINE MODEL [PROMPT] [REPEAT] [MAX_TOKENS]`; the environment is read as the program reads it.

use std::time::Instant;

use harness_agent::env::Environment;
use harness_agent::model::{self, Hearing, Message, ModelError, Request, Role};
use harness_agent::{AgentOptions, Cancel};

#[expect(clippy::print_stdout, reason = "this is a program for measurements")]
fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize, usual: &str| words.get(at).cloned().unwrap_or_else(|| usual.to_owned());
    let mut options = AgentOptions::new(".");
    let begun = Instant::now();
    let told = (|| -> Result<(), ModelError> {
        options.engine = word(0, "local").parse().unwrap_or_default();
        options.model = word(1, &options.model);
        let repeat: usize = word(3, "1").parse().unwrap_or(1);
        let max_tokens: u32 = word(4, "32").parse().unwrap_or(32);
        let mut model = model::open(&options, &Environment::read())?;
        let card = model.card(&Cancel::default())?;
        for _ in 0..repeat {
            let message = Message {
                role: Role::User,
                content: word(2, "Say hello."),
            };
            let request = Request {
                messages: vec![message],
                max_tokens,
                window: 4096,
                temperature: 0.0,
                seed: 1,
                shape: Default::default(),
            };
            let asked = Instant::now();
            let mut first = None;
            let mut heard = |_: &str| {
                first.get_or_insert_with(|| asked.elapsed().as_secs_f64());
                Hearing::On
            };
            let reply = model.reply(&request, &mut heard, &Cancel::default())?;
            let line = serde_json::json!({
                "text": reply.text,
                "model": card.model,
                "window": card.window,
                "this_machine": card.host.this_machine,
                "prompt_tokens": reply.prompt_tokens,
                "reply_tokens": reply.reply_tokens,
                "notice": reply.notice,
                "first": first,
                "seconds": asked.elapsed().as_secs_f64(),
                "since_start": begun.elapsed().as_secs_f64(),
            });
            println!("{line}");
        }
        Ok(())
    })();
    if let Err(error) = told {
        println!("{}", serde_json::json!({ "error": format!("{error:?}") }));
        std::process::exit(4);
    }
}
