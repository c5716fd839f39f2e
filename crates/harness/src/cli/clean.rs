//! `clean`: what runs left behind and nobody needs any more, listed first.

use harness_hands::lock::Waiting;
use harness_hands::permit::{Access, Project};
use harness_hands::user::{self, Kept};
use serde_json::json;

use crate::cli::args::CleanArguments;
use crate::cli::{agent, past, settings, show};
use crate::exit::Exit;
use crate::show::text::{self, Complaint};

/// Lists what can go, and removes it when the user says so.
pub(super) fn clean(arguments: &CleanArguments) -> Result<Exit, Complaint> {
    let common = &arguments.common;
    let folder = arguments.folder.as_deref();
    let checked = settings::options(folder, common, None)?.check()?;
    let project = Project::open(&checked.project, None, Access::Writing).map_err(failed)?;
    let copies = project.backups().map_err(failed)?;
    let kept = if arguments.all {
        user::kept()
    } else {
        Vec::new()
    };
    let is_empty = copies.is_empty() && kept.is_empty();
    let mut list: String = copies.iter().map(|path| format!("{path}\n")).collect();
    list.extend(kept.iter().map(row));
    if !common.json && !is_empty {
        text::result(&list);
    }
    let may = is_empty
        || arguments.yes
        || (!common.json && text::person_present() && text::agreed("remove all of these?"));
    if may && !is_empty {
        remove(&project, &copies, &kept)?;
    }
    let names: Vec<String> = copies.iter().map(ToString::to_string).collect();
    let folders: Vec<_> = kept
        .iter()
        .map(|kept| json!({"about": kept.about, "path": kept.folder, "bytes": kept.bytes}))
        .collect();
    let removed = may && !is_empty;
    let value = json!({"backups": names, "folders": folders, "removed": removed});
    show(common, &value, || match (is_empty, removed) {
        (true, _) => "nothing to clean\n".to_owned(),
        (false, true) => "removed\n".to_owned(),
        (false, false) => "nothing was removed\n".to_owned(),
    })?;
    if may {
        return Ok(Exit::Done);
    }
    text::hint("`--yes` removes them");
    Ok(Exit::Question)
}

fn row(kept: &Kept) -> String {
    let megabytes = kept.bytes as f64 / 1e6;
    let folder = kept.folder.display();
    format!("{folder}  {} ({megabytes:.1} MB)\n", kept.about)
}

fn remove(
    project: &Project,
    copies: &[harness_code::path::RelPath],
    kept: &[Kept],
) -> Result<(), Complaint> {
    let cancel = agent::cancel_on_signal().flag();
    let mut waiting = Waiting {
        patience: past::PATIENCE,
        cancel: &cancel,
        on_wait: &mut past::tell_waiting,
    };
    if let (Some(writer), false) = (project.writer(), copies.is_empty()) {
        writer
            .remove_backups(copies, &mut waiting)
            .map_err(failed)?;
    }
    for kept in kept {
        user::remove(kept).map_err(|error| {
            failed(format!(
                "`{}` cannot be removed: {error}",
                kept.folder.display()
            ))
        })?;
    }
    Ok(())
}

fn failed(error: impl std::fmt::Display) -> Complaint {
    Complaint::ending(
        Exit::Failed,
        error.to_string(),
        "check the folder and its permissions",
    )
}
