//! Performs a task in a project, shows what happens while it happens, and ends with the change and its tests.
//!
//! `cargo run -p harness-agent --example fix -- demo/orders "fix the NameError in orders/report.py"`
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use harness_agent::{Agent, AgentOptions, Cancel, Event, Listener, Question};

/// Prints events, and leaves every question unanswered: the run then stops and tells it in its result.
struct Screen;

impl Listener for Screen {
    fn event(&mut self, event: &Event) {
        println!("{:6.2} s  {}", event.seconds, event.text);
    }

    fn question(&mut self, _question: &Question) -> Option<String> {
        None
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [project, task] = arguments.as_slice() else {
        return Err("usage: fix PROJECT TASK".into());
    };
    let agent = Agent::new(AgentOptions::new(project));
    let result = agent.run(Some(task), &mut Screen, &Cancel::default())?;
    println!("{}", result.diff);
    println!("{}", result.summary);
    match result.ok {
        true => Ok(()),
        false => Err(format!("not done: {}", result.hint).into()),
    }
}
