//! Sentences made from what happened: the failing test to show, the closing words of a draft that is proven.

use harness_code::path::RelPath;
use harness_code::tree::SourceTree;
use harness_hands::suite::Failure;

use crate::guard::Change;
use crate::run::session::Session;
use crate::run::trial::Trial;
use crate::task::kind::Kind;

/// A longer line tells less than the message does, in bytes.
const LONGEST_LINE: usize = 300;

/// Returns the failing test that the task is about, for the first prompt.
pub(super) fn failure_to_show(session: &Session<'_>, trial: &Trial) -> String {
    let Some(before) = trial.before() else {
        return String::new();
    };
    if session.task.kind != Kind::Fix {
        return String::new();
    }
    let named = |id: &str| {
        session
            .plan
            .mentions()
            .tests
            .iter()
            .any(|test| !test.name.is_empty() && id.contains(&test.name))
    };
    let name = session
        .plan
        .spots()
        .first()
        .map(|spot| spot.name.rsplit('.').next().unwrap_or_default().to_owned())
        .unwrap_or_default();
    let touches = |text: &str| !name.is_empty() && text.contains(&name);
    let chosen = before
        .failures
        .iter()
        .find(|failure| named(&failure.id))
        .or_else(|| {
            before
                .failures
                .iter()
                .find(|failure| touches(&failure.traceback))
        });
    let Some(failure) = chosen else {
        return String::new();
    };
    // The line that failed says more than any message: it is a call and what should come of it.
    match failing_line(&session.tree, failure) {
        Some(line) if !failure.message.contains(&line) => {
            format!("{line}\n{}", failure.shown())
        }
        Some(_) | None => failure.shown(),
    }
}

/// Returns the line of a test that failed, as it stands in its file.
fn failing_line(tree: &SourceTree, failure: &Failure) -> Option<String> {
    let path = RelPath::parse(failure.file.as_deref()?).ok()?;
    let at = usize::try_from(failure.line?).ok()?.checked_sub(1)?;
    let text = tree.text(&path).ok()?;
    let line = text.content().lines().nth(at)?.trim();
    let tells = line.to_ascii_lowercase().contains("assert");
    (tells && line.len() <= LONGEST_LINE).then(|| line.to_owned())
}

/// Returns the closing sentence, written from what happened.
pub(super) fn summary(changes: &[Change], proof: &str) -> String {
    let what: Vec<String> = changes.iter().take(3).map(described).collect();
    let more = match changes.len().saturating_sub(3) {
        0 => String::new(),
        more => format!(" and {more} more files"),
    };
    format!("changed {}{more}: {proof}", what.join(", "))
}

fn described(change: &Change) -> String {
    let old = change.before.as_deref().unwrap_or_default();
    let before = harness_code::symbols::definitions(change.language, old);
    let names: Vec<String> = harness_code::symbols::definitions(change.language, &change.after)
        .iter()
        .filter(|new| {
            !before.iter().any(|known| {
                known.qualified == new.qualified
                    && old.get(known.span()) == change.after.get(new.span())
            })
        })
        .map(|new| format!("`{}`", new.qualified))
        .take(3)
        .collect();
    if names.is_empty() {
        return change.path.to_string();
    }
    format!("{} in {}", names.join(", "), change.path)
}
