//! What a project is, and what would happen to a task in it: no model is asked and nothing is changed.
//!
//! `cargo run -p harness-agent --example understand -- demo/orders "rename best_percent to discount_percent"`
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use harness_agent::{Agent, AgentOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [project, task] = arguments.as_slice() else {
        return Err("usage: understand PROJECT TASK".into());
    };
    let mut options = AgentOptions::new(project);
    // Without this a run could change files; here nothing could, even by mistake.
    options.allow_writes = false;
    let agent = Agent::new(options);
    println!("{}", agent.brief()?.render_for_person(100));
    println!("{}", agent.route(task)?.render(100));
    Ok(())
}
