//! What a model forgets in a draft: an import, a letter of a name, a definition that it wrote before, where exactly one
//! thing can be meant. Code adds it, and nobody is asked again for it.

use std::collections::{BTreeSet, HashMap};

use harness_code::edit;
use harness_code::fix::{self, Answer, MisspellingRequest, Proposal};
use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::symbols::code::code_tokens;
use harness_code::symbols::{self, Definition};

use crate::guard::{Change, missing_names};
use crate::run::event::EventKind;
use crate::run::session::Session;
use crate::run::trial::{DroppedDefinition, Trial};
use crate::tool::change::Draft;

/// Returns a draft with what is certain added to it.
pub(super) fn mended(session: &mut Session<'_>, trial: &Trial, mut draft: Draft) -> Draft {
    for change in &mut draft.changes {
        add_dropped(session, trial, change);
        if change.language == Language::Go {
            put_imports_right(session, change);
            continue;
        }
        let Some(proposal) = proposal(session, change) else {
            continue;
        };
        if let Ok(after) = edit::apply(&change.after, &proposal.edits) {
            change.after = after;
            let text = format!("added to the draft: {}", proposal.summary);
            let data = [("path", change.path.as_str().into())];
            session.tell(EventKind::Fixed, &text, data);
        }
    }
    draft
}

/// Adds the imports that a Go file lacks, and takes out those that it uses no longer.
fn put_imports_right(session: &mut Session<'_>, change: &mut Change) {
    let put_right = fix::go_imports(&session.tree, change.before.as_deref(), &change.after);
    if let Some((after, done)) = put_right {
        change.after = after;
        let text = format!("put right in the draft: {}", done.join(", "));
        let data = [("path", change.path.as_str().into())];
        session.tell(EventKind::Fixed, &text, data);
    }
}

/// Adds what the model wrote in an earlier draft and takes for granted: that draft was dropped as a whole. It may take
/// something else for granted.
fn add_dropped(session: &mut Session<'_>, trial: &Trial, change: &mut Change) {
    let mut left: Vec<&DroppedDefinition> = Vec::new();
    for one in trial.dropped(&change.path) {
        if !left.iter().any(|known| known.name == one.name) {
            left.push(one);
        }
    }
    while let Some(at) = left
        .iter()
        .position(|one| lacks(session, change, &one.name))
    {
        let dropped = left.swap_remove(at);
        let added = edit::add_definition(change.language, &change.after, None, &dropped.code);
        let parses = |text: &String| symbols::parses(change.language, text);
        if let Some(after) = added.ok().filter(parses) {
            change.after = after;
            let text = format!("added to the draft: `{}` of an earlier one", dropped.name);
            let data = [("path", change.path.as_str().into())];
            session.tell(EventKind::Fixed, &text, data);
        }
    }
}

/// Says whether a changed file uses a name that nothing defines.
fn lacks(session: &Session<'_>, change: &Change, name: &str) -> bool {
    if change.language == Language::Python {
        return missing_names(change).iter().any(|one| one.name == name);
    }
    let is_here = |one: &Definition| one.name() == name;
    let own = symbols::definitions(change.language, &change.after);
    let mut known = session.tree.definitions();
    let mut tokens = code_tokens(change.language, &change.after).into_iter();
    !own.iter().any(is_here)
        && !known.any(|(_, one)| is_here(one))
        && tokens.any(|token| token.text == name)
}

/// Returns what makes every name of a changed file resolve, where that is certain and lies in this file alone.
fn proposal(session: &mut Session<'_>, change: &Change) -> Option<Proposal> {
    let names = missing_names(change).into_iter().map(|one| one.name);
    let names: BTreeSet<String> = names.collect();
    let names: Vec<String> = names.into_iter().collect();
    if names.is_empty() {
        return None;
    }
    let path = &change.path;
    let here = |name: &String| (name.clone(), vec![path.clone()]);
    let request = MisspellingRequest {
        files: vec![path.clone()],
        holding: names.iter().map(here).collect::<HashMap<_, _>>(),
        names,
        about: None,
        lines: Vec::new(),
        scope: RelPath::parse(&session.options.scope).ok(),
        installed: session.installed().clone(),
        builtins: Vec::new(),
    };
    let earlier = session.tree.lay_over(path, Some(change.after.clone()));
    let answer = fix::misspelled(&session.tree, &request);
    session.tree.lay_over(path, earlier);
    match answer {
        Answer::Certain(proposal) => {
            let stays =
                proposal.moves.is_empty() && proposal.edits.iter().all(|one| one.path == *path);
            stays.then_some(proposal)
        }
        Answer::Ask { .. } | Answer::Refuse { .. } | Answer::Nothing => None,
    }
}
