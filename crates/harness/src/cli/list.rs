//! The short list that the program prints when it is started alone: what people do first at the top.

/// What people do first, then the rest: words to type, what they do.
const FIRST: &[(&str, &str)] = &[
    ("brief", "what this project is, on one screen"),
    (
        "ask \"where is the total computed?\"",
        "an answer; never changes files",
    ),
    (
        "run \"fix the failing test\"",
        "does it, runs the tests, keeps .bak copies",
    ),
    (
        "chat",
        "a conversation: \"fix f\", \"the same for g\", \"undo that\"",
    ),
    ("undo", "takes the latest run back, byte for byte"),
];
const THEN: &[(&str, &str)] = &[
    ("route \"rename a to b\"", "what would happen to a task"),
    ("layout", "what makes the project hard to read"),
    ("test", "the project's tests, in the sandbox"),
    ("last", "the latest runs"),
    ("apply RUN", "writes what a dry run proposed"),
    ("prepare", "makes an environment in which the tests run"),
    ("clean", "removes the .bak files of runs"),
    ("replay RUN", "judges a recorded run again"),
    ("serve", "HTTP server on 127.0.0.1"),
    ("mcp", "speaks MCP with the editor that starts it"),
    ("acp", "speaks ACP with the editor that starts it"),
    ("editors", "connects an editor"),
    ("models", "the models that the engine has"),
    ("doctor", "checks this machine"),
    ("config", "every setting in force and where it came from"),
    ("help COMMAND", "how a command is used"),
    ("completions SHELL", "completions for a shell"),
    ("man", "the manual page"),
];

/// Returns the list, fit for 80 columns; narrower terminals wrap it.
pub(super) fn commands(program: &str) -> String {
    let mut text =
        "A coding agent for one project folder, on your own machine.\n\nStart here:\n".to_owned();
    rows(&mut text, program, FIRST);
    text.push_str("\nThen:\n");
    rows(&mut text, program, THEN);
    text.push_str(&format!("\n`{program} COMMAND --help` tells more.\n"));
    text.push_str("Add --json for programs, --dry-run to look first.\n");
    text
}

fn rows(text: &mut String, program: &str, rows: &[(&str, &str)]) {
    let widest = rows.iter().map(|(words, _)| words.len()).max().unwrap_or(0);
    let narrow = crate::show::text::width() < program.len() + widest + 30;
    for (words, about) in rows {
        if narrow {
            text.push_str(&format!("  {program} {words}\n      {about}\n"));
        } else {
            text.push_str(&format!("  {program} {words:widest$}  {about}\n"));
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use crate::cli::args::Arguments;

    #[test]
    fn every_command_is_in_the_list() {
        let list = super::commands("harness");
        for command in Arguments::command().get_subcommands() {
            assert!(
                list.contains(&format!("harness {}", command.get_name())),
                "{}",
                command.get_name()
            );
        }
    }
}
