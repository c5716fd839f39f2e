//! Texts made from the command definitions: completions and manual pages.

use clap::CommandFactory;
use clap_complete::env::{Bash, Fish, Powershell, Zsh};
use clap_complete::generate;
use clap_complete_nushell::Nushell;

use crate::cli::args::{Arguments, CompletionsArguments, ManArguments, Shell};
use crate::cli::complete;
use crate::exit::Exit;
use crate::show::text::{self, Complaint};

/// Prints completions for a shell.
pub(super) fn completions(arguments: &CompletionsArguments) -> Result<Exit, Complaint> {
    let page = match arguments.shell {
        Shell::Bash => complete::registration(&Bash),
        Shell::Zsh => complete::registration(&Zsh),
        Shell::Fish => complete::registration(&Fish),
        Shell::PowerShell => complete::registration(&Powershell),
        Shell::Nushell => for_nushell(),
    };
    text::bytes(&page);
    Ok(Exit::Done)
}

/// Nushell cannot ask the program itself: its list holds commands and options only.
fn for_nushell() -> Vec<u8> {
    let mut page = Vec::new();
    generate(Nushell, &mut Arguments::command(), "harness", &mut page);
    page
}

/// Prints the manual page of the program or of one command.
pub(super) fn man(arguments: &ManArguments) -> Result<Exit, Complaint> {
    let page = match &arguments.command {
        None => page_of(Arguments::command()),
        Some(name) => {
            let command = Arguments::command()
                .get_subcommands()
                .find(|known| known.get_name() == name)
                .cloned();
            let Some(command) = command else {
                return Err(Complaint::usage(
                    format!("there is no command `{name}`"),
                    "`harness man` prints the page of the program",
                ));
            };
            page_of(
                command
                    .name(format!("harness-{name}"))
                    .version(env!("CARGO_PKG_VERSION")),
            )
        }
    };
    text::bytes(&page);
    Ok(Exit::Done)
}

/// Returns a manual page. Options with values that only clap's debug form can show would break the page.
fn page_of(command: clap::Command) -> Vec<u8> {
    let mut page = Vec::new();
    // Writing to memory cannot fail.
    drop(clap_mangen::Man::new(command).render(&mut page));
    page
}
