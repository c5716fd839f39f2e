//! `editors`: lists the editors, or connects one; shows the change, then what is left to do.

use harness_hands::settings::SettingsError;
use serde_json::json;

use crate::cli::args::EditorsArguments;
use crate::cli::{output, settings, show};
use crate::editors::check::{self, Checked, Look, State};
use crate::editors::handshake::Answers;
use crate::editors::{self, Action, Direction, Order, Outcome, Report};
use crate::exit::Exit;
use crate::show::json;
use crate::show::text::{self, Complaint};

/// Lists the editors, or connects one.
pub(super) fn editors(arguments: &EditorsArguments) -> Result<Exit, Complaint> {
    if arguments.check {
        return check(arguments);
    }
    let Some(name) = &arguments.name else {
        if arguments.allow_writes || arguments.dry_run || arguments.remove {
            return Err(Complaint::usage(
                "the editor is missing",
                "`harness editors` alone lists the names",
            )
            .about("name"));
        }
        let list = editors::list();
        return show(&arguments.common, &json!({"editors": list}), || {
            let widest = list.iter().map(|one| one.name.len()).max().unwrap_or(0);
            let rows = list.iter().map(|one| {
                let files = one.files.join(", ");
                format!(
                    "{:widest$}  {}\n{:widest$}  {files}\n",
                    one.name, one.about, ""
                )
            });
            let rows: String = rows.collect();
            format!(
                "{rows}\nharness editors NAME [--allow-writes] [--dry-run] [--remove] [--check]\n"
            )
        });
    };
    let options = settings::checked_options(None, &arguments.common, None)?;
    let order = Order {
        allow_writes: arguments.allow_writes,
        model: options.model,
        direction: if arguments.remove {
            Direction::TakeOut
        } else {
            Direction::PutIn
        },
        dry_run: arguments.dry_run,
    };
    let report =
        editors::connect(name, &options.project, &order).map_err(|error| failed(&error))?;
    let Some(report) = report else {
        return Err(unknown(name));
    };
    if arguments.common.json {
        json::print(&report);
    } else {
        tell(&report, arguments);
    }
    output::write(&arguments.common, &report)?;
    let left = report
        .files
        .iter()
        .any(|file| file.action == Action::LeftAlone);
    Ok(if left { Exit::Failed } else { Exit::Done })
}

/// Says whether what was put in still works.
fn check(arguments: &EditorsArguments) -> Result<Exit, Complaint> {
    let common = &arguments.common;
    let name = arguments.name.as_deref();
    let options = settings::checked_options(None, common, None)?;
    let (project, model) = (options.project.clone(), options.model.clone());
    let look = Look {
        project: &project,
        model: &model,
        answers: &Answers::ask(&Ok(options)),
    };
    let found = check::check(look, name).map_err(|error| failed(&error))?;
    let Some(mut found) = found else {
        return Err(unknown(name.unwrap_or_default()));
    };
    if name.is_none() {
        found.retain(|file| file.state != State::NotSetUp);
    }
    let ok = check::is_connected(&found);
    show(common, &json!({"ok": ok, "files": found}), || {
        match found.as_slice() {
            [] => "no editor is connected to this project\n".to_owned(),
            found => found.iter().map(row).collect(),
        }
    })?;
    Ok(if ok { Exit::Done } else { Exit::Failed })
}

fn row(file: &Checked) -> String {
    let mark = match file.state {
        State::Works => "ok  ",
        State::NotSetUp => "none",
        State::Broken => "BAD ",
    };
    let hint = match file.hint.as_str() {
        "" => String::new(),
        hint => format!("\n      hint: {hint}"),
    };
    format!(
        "{mark}  {} {}: {}{hint}\n",
        file.editor, file.path, file.found
    )
}

fn unknown(name: &str) -> Complaint {
    let names: Vec<&str> = editors::list().iter().map(|one| one.name).collect();
    let hint = format!("editors are {}", names.join(", "));
    Complaint::usage(format!("there is no editor `{name}`"), hint).about("name")
}

fn failed(error: &SettingsError) -> Complaint {
    Complaint::ending(
        Exit::Failed,
        error.to_string(),
        "nothing was changed; try again",
    )
}

fn tell(report: &Report, arguments: &EditorsArguments) {
    for file in &report.files {
        text::result(&sentence(file, report.dry_run));
        if !file.diff.is_empty() && !arguments.common.quiet {
            text::diff(&file.diff);
        }
        if !file.snippet.is_empty() {
            text::unbroken_result(&format!("put this there by hand:\n{}", file.snippet));
        }
    }
    if !report.steps.is_empty() && !arguments.common.quiet {
        let rows = report.steps.iter().map(|step| format!("- {step}\n"));
        text::result(&format!("next:\n{}", rows.collect::<String>()));
    }
}

fn sentence(file: &Outcome, dry_run: bool) -> String {
    let (path, would) = (&file.path, if dry_run { "would be " } else { "" });
    let copy = file.backup.as_ref().map_or_else(String::new, |name| {
        format!(" (the original is kept as {name})")
    });
    match file.action {
        Action::Created => format!("{path}: {would}written"),
        Action::Merged => format!("{path}: {would}added to{copy}"),
        Action::TakenOut => format!("{path}: {would}as it was before"),
        Action::Removed => format!("{path}: {would}removed"),
        Action::Unchanged if !file.reason.is_empty() => {
            format!("{path}: nothing to do, {}", file.reason)
        }
        Action::Unchanged => format!("{path}: nothing to do"),
        Action::LeftAlone => format!("{path}: left alone, {}", file.reason),
    }
}
