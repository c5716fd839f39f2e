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
        drop_repeated(session, change);
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

/// Takes out what a draft brings though it is there: models repeat the helpers that they wrote before.
fn drop_repeated(session: &mut Session<'_>, change: &mut Change) {
    while let Some((name, after)) = without_repeated(change) {
        change.after = after;
        let text = format!("put right in the draft: `{name}` was there already");
        let data = [("path", change.path.as_str().into())];
        session.tell(EventKind::Fixed, &text, data);
    }
}

/// Returns a changed file without one function that stands in it twice, word for word, and did not before.
fn without_repeated(change: &Change) -> Option<(String, String)> {
    let (language, text) = (change.language, change.after.as_str());
    let before = symbols::definitions(language, change.before.as_deref().unwrap_or_default());
    let all = symbols::definitions(language, text);
    let words = |one: &Definition| -> Vec<String> {
        let code = text.get(one.span()).unwrap_or_default();
        let tokens = code_tokens(language, code).into_iter();
        tokens.map(|token| token.text).collect()
    };
    let is_called =
        |one: &&Definition, name: &str| one.kind.is_function() && *one.qualified == *name;
    let count = |name: &str| before.iter().filter(|one| is_called(one, name)).count();
    let repeated = all.iter().enumerate().find_map(|(at, one)| {
        let mut earlier = all[..at]
            .iter()
            .filter(|other| is_called(other, &one.qualified));
        let is_same = |other: &Definition| words(other) == words(one);
        let is_new = one.kind.is_function() && count(&one.qualified) < 2;
        (is_new && earlier.any(is_same)).then_some(one)
    })?;
    let is_comment = |line: &str| line.trim_start().starts_with(['#', '/']);
    let mut start = text[..repeated.span().start]
        .rfind('\n')
        .map_or(0, |at| at + 1);
    while let Some(line) = text[..start]
        .lines()
        .next_back()
        .filter(|line| is_comment(line))
    {
        start = text[..start].trim_end_matches(['\r', '\n']).len() - line.len();
    }
    let (head, tail) = (text[..start].trim_end(), &text[repeated.span().end..]);
    let end = if tail.trim().is_empty() { "\n" } else { tail };
    let rest = format!("{head}{end}");
    symbols::parses(language, &rest).then(|| (repeated.qualified.to_string(), rest))
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

#[cfg(test)]
mod tests {
    use super::without_repeated;
    use crate::guard::testing::change;

    #[test]
    fn a_function_that_a_draft_brings_again_goes() {
        let rest = |path: &str, before: &str, after: &str| {
            without_repeated(&change(path, before, after)).map(|(_, rest)| rest)
        };
        let f = "def f():\n    return 1\n";
        let other = "def f():\n    return 2\n";
        let class =
            "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n";
        let twice = format!("{class}\n    # One.\n    def f(self):\n        return 1\n\n\nX = 1\n");
        let go = "package a\n\n// One.\nfunc one() int {\n\treturn 1\n}\n";
        let go_twice = format!("{go}\n// One.\nfunc one() int {{\n\treturn 1\n}}\n");
        let cases = [
            ("a.py", f, format!("{f}\n\n{f}"), Some(f.to_owned())),
            ("a.py", class, twice, Some(format!("{class}\n\nX = 1\n"))),
            ("a.go", go, go_twice, Some(go.to_owned())),
            // Not the same, there before, and a block that would be empty.
            ("a.py", f, format!("{f}\n\n{other}"), None),
            ("a.py", &format!("{f}{f}"), format!("{f}\n\n{f}"), None),
            (
                "a.py",
                "",
                "if a:\n    def f():\n        pass\nelse:\n    def f():\n        pass\n".to_owned(),
                None,
            ),
        ];
        for (path, before, after, expected) in cases {
            assert_eq!(rest(path, before, &after), expected, "{after}");
        }
    }
}
