//! What a model forgets in a draft: an import, a letter of a name, a definition that it wrote before, where exactly one
//! thing can be meant. Code adds it, and nobody is asked again for it.

use std::collections::{BTreeSet, HashMap};

use harness_code::edit::{self, ChangeSet, FileChange};
use harness_code::fix::{self, Answer, MisspellingRequest, Proposal};
use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::symbols::code::code_tokens;
use harness_code::symbols::{self, Definition, DefinitionKind};
use harness_code::tree;

use crate::guard::missing_names;
use crate::run::context::{Context, text_after};
use crate::run::event::EventKind;
use crate::run::log::Log;
use crate::run::trial::staging::DroppedDefinition;
use crate::run::work::Work;

/// Returns a draft with what is certain added to it.
pub(super) fn mended(work: &Work<'_>, log: &mut Log<'_>, mut draft: ChangeSet) -> ChangeSet {
    let context = work.context;
    declare_modules(work, log, &mut draft);
    let others = draft.files.clone();
    let stays = |change: &&mut FileChange| change.after.is_some();
    for change in draft.files.iter_mut().filter(stays) {
        drop_repeated(log, change);
        add_dropped(work, log, change);
        move_above_uses(context, log, change);
        let before = change.old_text();
        let once = edit::without_repeated_imports(change.language(), before, change.new_text());
        change.after = once.or_else(|| change.after.take());
        if change.language() == Language::Go {
            put_imports_right(context, log, change);
            continue;
        }
        add_missing(work, log, &others, change);
    }
    draft
}

/// Adds what a changed file of Python uses and does not have, where one thing can be meant. What other places of the
/// task define is known.
pub(super) fn add_missing(
    work: &Work<'_>,
    log: &mut Log<'_>,
    others: &[FileChange],
    change: &mut FileChange,
) {
    let Some(proposal) = proposal(work, others, change) else {
        return;
    };
    if let Ok(after) = edit::apply(change.new_text(), &proposal.edits) {
        change.after = Some(after);
        let text = format!("added to the draft: {}", proposal.summary);
        tell_fixed(log, &change.path, &text);
    }
}

fn tell_fixed(log: &mut Log<'_>, path: &RelPath, text: &str) {
    log.tell(EventKind::Fixed, text, [("path", path.as_str().into())]);
}

/// Adds the line `mod name;` for each new file of Rust: without it the compiler never looks at the file.
fn declare_modules(work: &Work<'_>, log: &mut Log<'_>, draft: &mut ChangeSet) {
    let (context, trial) = (work.context, &*work.trial);
    let new = draft.files.iter();
    let new = new.filter(|one| one.before.is_none() && one.language() == Language::Rust);
    let new: Vec<RelPath> = new.map(|one| one.path.clone()).collect();
    for path in new {
        let Some(home) = module_home(context, &path) else {
            continue;
        };
        let at = draft.files.iter().position(|one| one.path == home);
        let before = match at {
            Some(at) => draft.files[at].after.clone(),
            None => trial.content(context, &home),
        };
        let Some(before) = before else {
            continue;
        };
        let is_public = |line: &&str| line.starts_with("pub mod ");
        let lines = before.lines().filter(|line| line.ends_with(';'));
        let modules: Vec<&str> = lines
            .filter(|line| is_public(line) || line.starts_with("mod "))
            .collect();
        let public = modules.iter().filter(|line| is_public(line)).count();
        let word = if public * 2 > modules.len() {
            "pub mod"
        } else {
            "mod"
        };
        let line = format!("{word} {};\n", path.stem());
        let after = edit::with_companions(Language::Rust, &before, &line);
        if after == before {
            continue;
        }
        let text = format!("added to the draft: `{}` in {home}", line.trim_end());
        tell_fixed(log, &home, &text);
        match at {
            Some(at) => draft.files[at].after = Some(after),
            None => draft.files.push(FileChange {
                path: home,
                before: Some(before),
                after: Some(after),
            }),
        }
    }
}

/// Returns the file that declares a module of Rust, where there is one.
fn module_home(context: &Context<'_>, path: &RelPath) -> Option<RelPath> {
    const ROOTS: [&str; 3] = ["lib.rs", "mod.rs", "main.rs"];
    let folder = path.parent()?;
    let is_sign = |sign: char| sign.is_alphanumeric() || sign == '_';
    let is_name = path.stem().chars().all(is_sign);
    // A file of tests is declared under a condition, which nobody has said.
    let is_test = tree::is_test(path) || path.stem().ends_with("tests");
    // Each file of these folders is a program of its own.
    let stands_alone = ["bin", "examples", "tests", "benches"].contains(&folder.file_name());
    if is_test || !is_name || stands_alone || ROOTS.contains(&path.file_name()) {
        return None;
    }
    let inside = ROOTS.iter().filter_map(|name| folder.join(name).ok());
    let beside = folder.parent().map(|parent| {
        let name = format!("{}.rs", folder.file_name());
        parent.join(&name).ok()
    });
    let mut homes = inside.chain(beside.flatten());
    homes.find(|home| context.whole_tree().file(home).is_some())
}

/// Moves definitions that the project did not have above what needs them while the file is imported.
fn move_above_uses(context: &Context<'_>, log: &mut Log<'_>, change: &mut FileChange) {
    let file = context.whole_tree().file(&change.path);
    let known = file.map_or(&[][..], |file| &file.facts.definitions);
    let new = symbols::definitions(change.language(), change.new_text()).into_iter();
    let new = new.filter(|one| one.parent.is_none());
    let new = new.map(|one| one.name().to_owned());
    let is_new = |name: &String| !known.iter().any(|one| one.name() == name.as_str());
    let new: Vec<String> = new.filter(is_new).collect();
    if let Some(after) = edit::above_what_needs_them(change.language(), change.new_text(), &new) {
        change.after = Some(after);
        let text = "put right in the draft: what is new stands above what needs it";
        tell_fixed(log, &change.path, text);
    }
}

/// Takes out what a draft brings though it is there: models repeat the helpers that they wrote before.
fn drop_repeated(log: &mut Log<'_>, change: &mut FileChange) {
    while let Some((name, after)) = without_repeated(change) {
        change.after = Some(after);
        let text = format!("put right in the draft: `{name}` was there already");
        tell_fixed(log, &change.path, &text);
    }
}

/// Returns a changed file without one definition that stands in it twice, word for word, and did not before.
fn without_repeated(change: &FileChange) -> Option<(String, String)> {
    let (language, text) = (change.language(), change.new_text());
    let before = symbols::definitions(language, change.old_text());
    let all = symbols::definitions(language, text);
    let words = |one: &Definition| -> Vec<String> {
        let code = text.get(one.span()).unwrap_or_default();
        let tokens = code_tokens(language, code).into_iter();
        tokens.map(|token| token.text).collect()
    };
    // Types and values only where two of a name are an error, and values only outside of a group.
    let is_error = matches!(language, Language::Go | Language::Rust);
    let counts = |one: &Definition| {
        let line = text[..one.header_start()].rfind('\n');
        let line = &text[line.map_or(0, |at| at + 1)..];
        let is_alone = ["var ", "const ", "static ", "type "]
            .iter()
            .any(|word| line.starts_with(word));
        let is_value = one.kind == DefinitionKind::Variable;
        let is_of_trait = language == Language::Rust
            && one.qualified.contains('.')
            && edit::is_of_trait(text, one.span().start);
        let may_count = one.kind.is_function() || is_error && (!is_value || is_alone);
        may_count && one.name() != "_" && !is_of_trait
    };
    let is_called = |one: &&Definition, name: &str| *one.qualified == *name;
    let count = |name: &str| before.iter().filter(|one| is_called(one, name)).count();
    let repeated = all.iter().enumerate().find_map(|(at, one)| {
        let mut earlier = all[..at]
            .iter()
            .filter(|other| is_called(other, &one.qualified) && counts(other));
        let is_same = |other: &Definition| words(other) == words(one);
        let is_new = counts(one) && count(&one.qualified) < 2;
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
fn put_imports_right(context: &Context<'_>, log: &mut Log<'_>, change: &mut FileChange) {
    let put_right = fix::go_imports(context.tree(), change.before.as_deref(), change.new_text());
    if let Some((after, done)) = put_right {
        change.after = Some(after);
        let text = format!("put right in the draft: {}", done.join(", "));
        tell_fixed(log, &change.path, &text);
    }
}

/// Adds what the model wrote in an earlier draft and takes for granted: that draft was dropped as a whole. It may take
/// something else for granted.
fn add_dropped(work: &Work<'_>, log: &mut Log<'_>, change: &mut FileChange) {
    let (context, trial) = (work.context, &*work.trial);
    let mut left: Vec<&DroppedDefinition> = Vec::new();
    for one in trial.dropped(&change.path) {
        if !left.iter().any(|known| known.name == one.name) {
            left.push(one);
        }
    }
    while let Some(at) = left
        .iter()
        .position(|one| lacks(context, change, &one.name))
    {
        let dropped = left.swap_remove(at);
        let added = edit::add_definition(change.language(), change.new_text(), None, &dropped.code);
        let parses = |text: &String| symbols::parses(change.language(), text);
        if let Some(after) = added.ok().filter(parses) {
            change.after = Some(after);
            let text = format!("added to the draft: `{}` of an earlier one", dropped.name);
            tell_fixed(log, &change.path, &text);
        }
    }
}

/// Says whether a changed file uses a name that nothing defines.
fn lacks(context: &Context<'_>, change: &FileChange, name: &str) -> bool {
    if change.language() == Language::Python {
        return missing_names(change).iter().any(|one| one.name == name);
    }
    let is_here = |one: &Definition| one.name() == name;
    let own = symbols::definitions(change.language(), change.new_text());
    let mut known = context.tree().definitions();
    let mut tokens = code_tokens(change.language(), change.new_text()).into_iter();
    !own.iter().any(is_here)
        && !known.any(|(_, one)| is_here(one))
        && tokens.any(|token| token.text == name)
}

/// Returns what makes every name of a changed file resolve, where that is certain and lies in this file alone.
fn proposal(work: &Work<'_>, others: &[FileChange], change: &FileChange) -> Option<Proposal> {
    let (context, trial) = (work.context, &*work.trial);
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
        scope: RelPath::parse(&context.options.scope).ok(),
        installed: context.installed().clone(),
    };
    let staged = trial.staged().changes();
    let others = staged.iter().chain(others);
    let others = others.filter(|one| one.path != *path);
    let tree = context
        .tree()
        .with_texts(others.chain([change]).map(text_after));
    let answer = fix::misspelled(&tree, &request);
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
        let rust =
            "impl Drop for V {\n    fn drop(&mut self) {}\n}\n\nfn one() -> u8 {\n    1\n}\n";
        let kinds = "package a\n\ntype kind struct{}\n\nvar Kind = kind{}\n";
        let kinds_twice = format!("{kinds}\ntype kind struct{{}}\n\nvar Kind = kind{{}}\n");
        let cases = [
            ("a.py", f, format!("{f}\n\n{f}"), Some(f.to_owned())),
            ("a.py", class, twice, Some(format!("{class}\n\nX = 1\n"))),
            ("a.go", go, go_twice, Some(go.to_owned())),
            ("a.go", kinds, kinds_twice, Some(kinds.to_owned())),
            ("a.go", kinds, format!("{kinds}\nconst (\n\tA = iota\n\t_\n\t_\n\tD\n)\n"), None),
            ("a.go", kinds, format!("{kinds}\nvar _ = f(1)\nvar _ = f(1)\n"), None),
            ("a.rs", "", "impl Add for V {\n    type Output = V;\n}\n\nimpl Sub for V {\n    type Output = V;\n}\n".to_owned(), None),
            ("a.py", "A = 1\n", "A = 1\n\nA = 1\n".to_owned(), None),
            // A function behind the block of a trait is none of its methods.
            (
                "a.rs",
                rust,
                format!("{rust}\nfn one() -> u8 {{\n    1\n}}\n"),
                Some(rust.to_owned()),
            ),
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
            let mut found = rest(path, before, &after);
            while let Some(more) = found.as_ref().and_then(|text| rest(path, before, text)) {
                found = Some(more);
            }
            assert_eq!(found, expected, "{after}");
        }
    }
}
