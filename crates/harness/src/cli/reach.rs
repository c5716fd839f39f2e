//! The doctor's rows about the ways to the program: the protocols that editors speak with it, and the editors that are
//! connected.

use harness_agent::AgentOptions;
use harness_agent::doctor::{Check, Health};

use crate::cli::args::CommonArguments;
use crate::cli::settings;
use crate::editors::check::{self, Checked, Look, State};
use crate::editors::handshake::{Answers, PROTOCOLS, Protocol};

/// Tells whether the servers answer, which editors this project is connected to, and whether that still works.
pub(super) fn checks(options: &AgentOptions, common: &CommonArguments) -> Vec<Check> {
    // As `mcp` and `acp` read them: with settings that are wrong, these do not start.
    let settled = settings::checked_options(None, common, None);
    let answers = Answers::ask(&settled);
    let servers = PROTOCOLS.map(|protocol| server(protocol, &answers));
    servers
        .into_iter()
        .chain(editors(options, &answers))
        .collect()
}

fn server(protocol: Protocol, answers: &Answers) -> Check {
    let command = protocol.command();
    let (health, found, hint) = match answers.of(protocol) {
        Ok(about) => (Health::Good, format!("answers ({about})"), String::new()),
        Err(reason) => {
            let hint = format!("`harness {command}` says more");
            (Health::Bad, format!("does not answer: {reason}"), hint)
        }
    };
    Check {
        name: command.to_owned(),
        health,
        found,
        hint,
    }
}

/// Tells which editors this project is connected to. A machine without any is well.
fn editors(options: &AgentOptions, answers: &Answers) -> Vec<Check> {
    let project = options.check().map(|checked| checked.project);
    let files = project.ok().and_then(|project| {
        let look = Look {
            project: &project,
            model: &options.model,
            answers,
        };
        check::check(look, None).ok()?
    });
    let mut files = files.unwrap_or_default();
    files.retain(|file| file.state != State::NotSetUp);
    if files.is_empty() {
        return vec![Check {
            name: "editors".to_owned(),
            health: Health::Good,
            found: "none is connected to this project; `harness editors` lists them".to_owned(),
            hint: String::new(),
        }];
    }
    let row = |file: Checked| Check {
        name: format!("editor {}", file.editor),
        health: match file.state {
            State::Works | State::NotSetUp => Health::Good,
            State::Broken => Health::Weak,
        },
        found: format!("{}: {}", file.path, file.found),
        hint: file.hint,
    };
    files.into_iter().map(row).collect()
}
