//! Callers that a changed signature breaks: it no longer takes what they give.

use harness_code::edit::FileChange;
use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::stdlib;
use harness_code::symbols::code::{CodeToken, code_tokens};
use harness_code::symbols::{Definition, DefinitionKind};
use harness_code::tree::SourceTree;

use crate::run::asked::code::{self, bracket_step};

/// What a Python function takes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Signature {
    /// Names that may be given by place, in their order, with whether they must be given.
    by_place: Vec<(String, bool)>,
    /// Names that are given by keyword only, with whether they must be.
    by_name: Vec<(String, bool)>,
    takes_more: bool,
    takes_any_name: bool,
}

/// What a call gives.
#[derive(Debug, Default, PartialEq, Eq)]
struct Call {
    by_place: usize,
    names: Vec<String>,
    /// Something is unpacked: what is given cannot be counted.
    unpacks: bool,
}

/// Returns a call in the project that a changed signature does not take any more, with its place. Only names that one
/// definition of the project has are looked for.
pub(super) fn broken_call(
    tree: &SourceTree,
    changes: &[FileChange],
    text_now: &dyn Fn(&RelPath) -> Option<String>,
) -> Option<(String, RelPath, usize)> {
    let python = changes
        .iter()
        .filter(|one| one.language() == Language::Python);
    for change in python {
        let before = change.old_text();
        let [before, after] =
            [before, change.new_text()].map(|text| code::ReadText::new(Language::Python, text));
        let functions = after.definitions().iter();
        for one in functions.filter(|one| one.kind.is_function()) {
            let Some(name) = called(one) else {
                continue;
            };
            let same_name = tree.definitions().filter(|(_, other)| other.name() == name);
            // A decorator may take other arguments; a method may be that of any other thing.
            let is_plain = one.span().start == one.header_start();
            let is_common = one.kind == DefinitionKind::Method && stdlib::is_attribute(name);
            if same_name.count() != 1 || !is_plain || is_common {
                continue;
            }
            let of = |text: &code::ReadText| text.signature(&one.qualified);
            let (Some(old), Some(now)) = (of(&before), of(&after)) else {
                continue;
            };
            let changed = Changed {
                one,
                home: &change.path,
                old: signature(&old, one),
                new: signature(&now, one),
            };
            if let Some((path, line)) = changed.first_broken(tree, text_now) {
                return Some((one.qualified.to_string(), path, line));
            }
        }
    }
    None
}

/// A function whose signature is changed.
struct Changed<'a> {
    one: &'a Definition,
    home: &'a RelPath,
    old: Signature,
    new: Signature,
}

impl Changed<'_> {
    /// Returns the first call that the old signature took and the new one does not.
    fn first_broken(
        &self,
        tree: &SourceTree,
        text_now: &dyn Fn(&RelPath) -> Option<String>,
    ) -> Option<(RelPath, usize)> {
        let name = called(self.one).filter(|_| self.old != self.new)?;
        let mut sources = tree
            .sources()
            .filter(|file| file.language == Language::Python);
        sources.find_map(|file| {
            let text = text_now(&file.path).filter(|text| text.contains(name))?;
            let tokens = code_tokens(Language::Python, &text);
            let is_home = file.path == *self.home;
            let mut calls = calls(&tokens, self.one, self.home.stem(), is_home);
            let at = calls
                .find(|(_, call)| fits(&self.old, call) && !fits(&self.new, call))?
                .0;
            Some((file.path.clone(), text[..at].matches('\n').count() + 1))
        })
    }
}

/// Returns the name by which others call a function: a class's for its constructor, none for what only operators call.
fn called(one: &Definition) -> Option<&str> {
    match one.name() {
        "__init__" => one.qualified.rsplit('.').nth(1),
        name if name.starts_with("__") => None,
        name => Some(name),
    }
}

/// Returns the calls of a function in a file, each with where it stands. A function of another module is called by the
/// name that it was imported by, or on its module.
fn calls<'t>(
    tokens: &'t [CodeToken],
    one: &'t Definition,
    module: &'t str,
    is_home: bool,
) -> impl Iterator<Item = (usize, Call)> + 't {
    let is_method = one.kind == DefinitionKind::Method && one.name() != "__init__";
    let name = called(one).unwrap_or_default();
    let text = |at: Option<usize>| {
        let token = at.and_then(|at| tokens.get(at));
        token.map_or("", |token| token.text.as_str())
    };
    // The name stands alone in an import of it, and before a bracket in a call.
    let is_imported = tokens.iter().enumerate().any(|(at, token)| {
        token.text == name && matches!(text(at.checked_sub(1)), "import" | "," | "(")
    });
    let places = tokens.windows(2).enumerate();
    let places = places.filter(move |(at, pair)| {
        let is_call = pair[0].text == name && pair[1].text == "(";
        let is_meant = match text(at.checked_sub(1)) {
            "def" | "class" => false,
            "." => is_method || text(at.checked_sub(2)) == module,
            _ => !is_method && (is_home || is_imported),
        };
        is_call && is_meant
    });
    places.map(|(at, pair)| (pair[0].range.start, given(&tokens[at + 2..])))
}

/// Returns the words between the commas of a list, up to the bracket that closes it.
fn parts<'t>(words: impl Iterator<Item = &'t str>) -> Vec<Vec<&'t str>> {
    let (mut parts, mut part, mut depth) = (Vec::new(), Vec::new(), 0);
    for word in words {
        depth += bracket_step(word);
        match (depth, word) {
            (..0, _) => break,
            (0, ",") => parts.push(std::mem::take(&mut part)),
            _ if word.trim().is_empty() => {}
            _ => part.push(word),
        }
    }
    parts.push(part);
    parts
}

/// Reads what stands between the brackets of a call.
fn given(tokens: &[CodeToken]) -> Call {
    let mut call = Call::default();
    for part in parts(tokens.iter().map(|token| token.text.as_str())) {
        call.take(&part);
    }
    call
}

impl Call {
    fn take(&mut self, words: &[&str]) {
        match words {
            [] => {}
            ["*" | "**", ..] => self.unpacks = true,
            [name, "=", ..] => self.names.push((*name).to_owned()),
            // A generator alone is one value.
            _ => self.by_place += 1,
        }
    }
}

/// Reads the words between the brackets of a definition.
fn signature(words: &[String], one: &Definition) -> Signature {
    let mut taken = Signature::default();
    // The first word is the opening bracket.
    let parts = parts(words.iter().skip(1).map(String::as_str));
    let mut by_name_only = false;
    for part in parts.iter().filter(|part| !part.is_empty()) {
        let is_needed = !part.contains(&"=");
        match part.as_slice() {
            ["/"] => {}
            ["*"] => by_name_only = true,
            ["*", ..] => (taken.takes_more, by_name_only) = (true, true),
            ["**", ..] => taken.takes_any_name = true,
            [name, ..] if by_name_only => taken.by_name.push(((*name).to_owned(), is_needed)),
            [name, ..] => taken.by_place.push(((*name).to_owned(), is_needed)),
            [] => {}
        }
    }
    if one.kind == DefinitionKind::Method && !taken.by_place.is_empty() {
        taken.by_place.remove(0);
    }
    taken
}

fn fits(taken: &Signature, call: &Call) -> bool {
    if call.unpacks {
        return true;
    }
    let known = |name: &String| {
        let mut all = taken.by_place.iter().chain(&taken.by_name);
        taken.takes_any_name || all.any(|(other, _)| other == name)
    };
    let is_given = |at: usize, name: &String| at < call.by_place || call.names.contains(name);
    let mut by_place = taken.by_place.iter().enumerate();
    let mut by_name = taken.by_name.iter();
    (call.by_place <= taken.by_place.len() || taken.takes_more)
        && call.names.iter().all(known)
        && by_place.all(|(at, (name, needed))| !needed || is_given(at, name))
        && by_name.all(|(name, needed)| !needed || call.names.contains(name))
}

#[cfg(test)]
mod tests {
    use harness_code::symbols;

    use super::*;

    #[track_caller]
    fn check(definition: &str, call: &str, expected: bool) {
        let text = format!("{definition}:\n    pass\n");
        let definitions = symbols::definitions(Language::Python, &text);
        let one = definitions
            .iter()
            .find(|one| one.kind.is_function())
            .unwrap();
        let words = code::signature(Language::Python, &text, &one.qualified).unwrap();
        let taken = signature(&words, one);
        let tokens = code_tokens(Language::Python, call);
        let (_, call_given) = calls(&tokens, one, "m", true).next().unwrap();
        assert_eq!(fits(&taken, &call_given), expected, "{definition} {call}");
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the project of a test is a temporary folder"
    )]
    fn a_broken_call_is_found_among_many_functions() {
        let one = |number: usize| format!("def f{number}(a, b):\n    return a + b\n\n\n");
        let before: String = (0..300).map(one).collect();
        let after = before.replace("def f299(a, b)", "def f299(a)");
        let folder = tempfile::tempdir().unwrap();
        let user = "from m import f299\n\nf299(1, 2)\n";
        for (name, text) in [("m.py", before.as_str()), ("user.py", user)] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let tree = SourceTree::read(folder.path(), None).unwrap();
        let change = FileChange {
            path: RelPath::parse("m.py").unwrap(),
            before: Some(before),
            after: Some(after),
        };
        let text_now =
            |path: &RelPath| std::fs::read_to_string(folder.path().join(path.as_str())).ok();
        let found = broken_call(&tree, &[change], &text_now);
        let place = RelPath::parse("user.py").unwrap();
        assert_eq!(found, Some(("f299".to_owned(), place, 3)));
    }

    #[test]
    fn only_calls_of_the_function_itself_count() {
        let text = "def run(a): pass\n";
        let definitions = symbols::definitions(Language::Python, text);
        let count = |code: &str| {
            let tokens = code_tokens(Language::Python, code);
            calls(&tokens, &definitions[0], "m", false).count()
        };
        assert_eq!(count("from m import run\nrun(1)\n"), 1);
        assert_eq!(count("from m import (a, run)\nrun(1)\n"), 1);
        assert_eq!(count("import m\nm.run(1)\n"), 1);
        assert_eq!(count("import subprocess\nsubprocess.run(1, 2)\n"), 0);
        assert_eq!(count("run = other\nrun(1, 2)\n"), 0);
    }

    #[test]
    fn calls_are_held_against_a_signature() {
        check("def f(a, b)", "f(1, 2)", true);
        check("def f(a, b)", "f(1)", false);
        check("def f(a, b)", "f(1, b=2)", true);
        check("def f(a, b)", "f(1, c=2)", false);
        check("def f(a, b=2)", "f(1)", true);
        check("def f(a)", "f(1, True)", false);
        check("def f(a, *, b)", "f(1)", false);
        check("def f(a, *, b)", "f(1, b=2)", true);
        check("def f(*values, **names)", "f(1, 2, c=3)", true);
        check("def f(a, b)", "f(*x)", true);
        check("def f(a: dict[str, int] = {1: 2, 3: 4})", "f()", true);
        check("def f(a)", "f(g(1, 2))", true);
        check("def f(a)", "f((x for x in y))", true);
    }
}
