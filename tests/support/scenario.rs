//! Takes one scenario through the Rust API: reads a JSON object from its argument, prints the result as JSON.

use harness_agent::{Agent, AgentOptions, Cancel, Nobody};
use serde_json::Value;

#[expect(
    clippy::print_stdout,
    reason = "its output is what the scenario runner reads"
)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let asked: Value = serde_json::from_str(
        &std::env::args()
            .nth(1)
            .ok_or("one JSON argument is needed")?,
    )?;
    let text = |name: &str| asked.get(name).and_then(Value::as_str).unwrap_or_default();
    let count = |name: &str| {
        asked
            .get(name)
            .and_then(Value::as_u64)
            .and_then(|number| u32::try_from(number).ok())
    };
    let mut options = AgentOptions::new(text("project"));
    text("scope").clone_into(&mut options.scope);
    options.steps = count("steps").unwrap_or(options.steps);
    options.max_tokens = count("max_tokens").unwrap_or(options.max_tokens);
    options.allow_writes = asked.get("dry_run") != Some(&Value::Bool(true));
    options.skills = asked
        .get("skills")
        .and_then(Value::as_array)
        .map(|names| {
            names
                .iter()
                .filter_map(|name| name.as_str().map(str::to_owned))
                .collect()
        })
        .unwrap_or_default();
    let agent = Agent::new(options);
    let task = Some(text("task"));
    let cancel = Cancel::default();
    if asked.get("cancel_on_input") == Some(&Value::Bool(true)) {
        let cancel = cancel.clone();
        std::thread::spawn(move || {
            // Whatever comes, also the end of the input, stops the run.
            drop(std::io::stdin().read_line(&mut String::new()));
            cancel.stop();
        });
    }
    let result = match text("command") {
        "ask" => agent.ask(task, &mut Nobody, &cancel)?,
        _ => agent.run(task, &mut Nobody, &cancel)?,
    };
    println!("{}", serde_json::to_string(&result)?);
    Ok(())
}
