//! Definitions that should go because the model's list says so, or because they have moved. Code takes them away, once
//! the other places are written and nobody uses them any more: what others outside of the project may use stays unless
//! the task speaks of it.

use std::ops::Range;

use harness_code::edit::{self, ChangeSet, Edit, FileChange};
use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::symbols::code::code_tokens;
use harness_code::symbols::{self, Definition, DefinitionKind};
use harness_code::text::whole_words;
use harness_code::tree;

use crate::plan::{Spot, last_part};
use crate::run::log::Log;
use crate::run::mend;
use crate::run::trial::staging::tell_trying;
use crate::run::work::Work;
use harness_code::request::kind::Kind;

/// Takes away what should go, as far as it may. Returns whether anything went.
pub(super) fn take_away(work: &mut Work<'_>, log: &mut Log<'_>) -> bool {
    let spots = may_be_taken(work);
    work.places.forget_removals();
    let mut files = changes(work, &spots);
    for change in &mut files {
        mend::add_missing(work, log, &[], change);
    }
    let draft = ChangeSet::from(files);
    let (context, plan) = (work.context, &work.plan);
    let mut apply = || work.trial.apply_as_part(context, plan, &draft, &spots);
    let went = !draft.files.is_empty() && apply().is_ok();
    if went {
        tell_trying(log, &draft);
    }
    went
}

/// Returns what should go and may.
pub(super) fn may_be_taken(work: &Work<'_>) -> Vec<Spot> {
    let (context, plan, trial) = (work.context, &work.plan, &*work.trial);
    let listed = work.places.removals().iter();
    let listed = listed.filter_map(|spot| trial.place(context, &spot.path, &spot.name));
    let mut spots: Vec<Spot> = listed.collect();
    if plan.task.moved_name().is_some() || plan.task.moves_somewhere() {
        let is_known = |copy: &Spot, spots: &[Spot]| {
            let mut known = spots.iter();
            known.any(|spot| spot.path == copy.path && spot.name == copy.name)
        };
        for copy in copied(work) {
            if !is_known(&copy, &spots) {
                spots.push(copy);
            }
        }
    }
    // What one of them still uses stays where that one stays.
    loop {
        let may_go = |spot: &&Spot| may_go(work, &spots, spot);
        let going: Vec<Spot> = spots.iter().filter(may_go).cloned().collect();
        if going.len() == spots.len() {
            return spots;
        }
        spots = going;
    }
}

/// Says whether a fix is that something goes and nothing else, which red tests must show.
pub(super) fn is_whole_fix(work: &Work<'_>) -> bool {
    work.plan.task.kind() == Kind::Fix && work.plan.is_listed() && work.places.only_removes()
}

/// Returns the definitions that stand word for word in a file that did not have them.
fn copied(work: &Work<'_>) -> Vec<Spot> {
    let (context, trial) = (work.context, &*work.trial);
    let staged = trial.staged().changes();
    let is_code = |one: &Definition| one.parent.is_none() && one.kind != DefinitionKind::Variable;
    let mut found = Vec::new();
    for change in staged.iter().filter(|one| !tree::is_test(&one.path)) {
        for new in change.brought().into_iter().filter(is_code) {
            let (name, text) = (new.name(), change.new_text().get(new.span()));
            let homes = context
                .whole_tree()
                .definitions()
                .filter(|(file, one)| one.name() == name && !file.test && file.path != change.path);
            let spots = homes.filter_map(|(file, _)| trial.place(context, &file.path, name));
            let is_copy = |spot: &Spot| {
                let there = trial.content(context, &spot.path).unwrap_or_default();
                there.get(spot.span.clone()) == text
            };
            found.extend(spots.filter(is_copy));
        }
    }
    found
}

/// Returns the files without these definitions.
fn changes(work: &Work<'_>, spots: &[Spot]) -> Vec<FileChange> {
    let (context, trial) = (work.context, &*work.trial);
    let mut paths: Vec<&RelPath> = spots.iter().map(|spot| &spot.path).collect();
    paths.sort();
    paths.dedup();
    let without = |path: &RelPath| {
        let before = trial.content(context, path)?;
        let own = spots.iter().filter(|spot| spot.path == *path);
        let mut spans: Vec<Range<usize>> = own.map(|spot| spot.span.clone()).collect();
        // Neighbours go as one, and a method goes with its class.
        spans.sort_by_key(|span| (span.start, span.end));
        spans.dedup_by(|next, span| {
            let between = before.get(span.end..next.start).unwrap_or_default();
            let is_one = between.trim().is_empty();
            if is_one {
                span.end = span.end.max(next.end);
            }
            is_one
        });
        let ranges = spans.iter();
        let ranges = ranges.map(|span| edit::lines_of(Language::of(path), &before, span));
        let ranges: Vec<_> = ranges.collect::<Option<_>>()?;
        let cut = ranges.into_iter().map(|range| Edit {
            path: path.clone(),
            range,
            text: String::new(),
        });
        let after = edit::apply(&before, &cut.collect::<Vec<_>>()).ok()?;
        Some(FileChange {
            path: path.clone(),
            before: Some(before),
            after: Some(after),
        })
    };
    paths.into_iter().filter_map(without).collect()
}

/// Says whether a definition is nobody's any more, or has another place.
fn may_go(work: &Work<'_>, going: &[Spot], spot: &Spot) -> bool {
    let (context, plan, trial) = (work.context, &work.plan, &*work.trial);
    let name = last_part(&spot.name);
    let staged = trial.staged().changes();
    let is_whole_fix = is_whole_fix(work);
    // What Python calls by itself goes where another such method of its class comes in its place.
    if is_special(&spot.path, name) {
        let is_made_by_it = matches!(name, "__init__" | "__new__");
        return is_whole_fix && !is_made_by_it
            || plan.task.speaks_of(name)
            || staged.iter().any(|one| has_successor(one, spot));
    }
    let has_moved = |change: &FileChange| change.path != spot.path && change.brings(&spot.name);
    let target = staged.iter().find(|one| has_moved(one));
    let is_meant = plan.task.speaks_of(name)
        || is_whole_fix
        || target.is_some()
        || trial
            .content(context, &spot.path)
            .is_some_and(|text| is_private(Language::of(&spot.path), &text, spot));
    let is_used = |path: &RelPath, text: &str| {
        let gone = going.iter().filter(|one| one.path == *path);
        let gone: Vec<&Spot> = gone.collect();
        // Another file that defines the name means its own unless it imports it, and one that imports it from its new
        // place means that.
        let is_own = *path != spot.path
            && (symbols::defines(Language::of(path), text, name) && !imports(text, "", name)
                || target.is_some_and(|target| imports(text, target.path.stem(), name)));
        // What Python imports from the new place may be used as before, but not by its name in a text.
        let is_imported = *path == spot.path
            && Language::of(path) == Language::Python
            && !spot.name.contains('.')
            && target.is_some();
        let kinds = if is_imported {
            Uses::InStrings
        } else {
            Uses::All
        };
        !is_own && uses(Language::of(path), text, name, &gone, kinds)
    };
    // Settings start functions by their names; documents only speak of them.
    let is_document = |path: &RelPath| Language::of(path) == Language::Prose;
    let files = context.whole_tree().files().iter().map(|file| &file.path);
    let new = staged.iter().filter(|change| change.before.is_none());
    let mut paths = files.chain(new.map(|change| &change.path));
    let is_used = |path: &RelPath| {
        let text = trial.content(context, path);
        !is_document(path) && text.is_some_and(|text| text.contains(name) && is_used(path, &text))
    };
    // A name that others have too tells nothing of its uses: the compiler does.
    let is_compiled = matches!(Language::of(&spot.path), Language::Go | Language::Rust);
    let is_other = |one: &Definition| one.name() == name && *one.qualified != *spot.name;
    // Code of other platforms is not compiled here.
    let is_everywhere =
        |text: &str| text.matches("cfg(").count() == text.matches("cfg(test)").count();
    let is_shared = is_compiled
        && trial.content(context, &spot.path).is_some_and(|text| {
            let own = symbols::definitions(Language::of(&spot.path), &text);
            own.iter().any(is_other) && is_everywhere(&text)
        });
    is_meant && (is_shared || !paths.any(is_used))
}

fn is_special(path: &RelPath, name: &str) -> bool {
    Language::of(path) == Language::Python && name.starts_with("__") && name.ends_with("__")
}

/// Says whether a class gets a new method that Python calls by itself.
fn has_successor(change: &FileChange, spot: &Spot) -> bool {
    let class = |name: &str| Some(name.rsplit_once('.')?.0.to_owned());
    let is_successor = |one: &Definition| {
        is_special(&spot.path, one.name()) && class(&one.qualified) == class(&spot.name)
    };
    change.path == spot.path && spot.name.contains('.') && change.brought().iter().any(is_successor)
}

/// Says whether nobody outside of the project can mean a definition, by the habits of its language. Methods may stand for
/// those of a trait or an interface, and some functions are called by the language itself.
fn is_private(language: Language, text: &str, spot: &Spot) -> bool {
    let name = last_part(&spot.name);
    let is_method = spot.name.contains('.');
    match language {
        Language::Python => name.starts_with('_') && !name.ends_with('_'),
        Language::Go => {
            name.starts_with(char::is_lowercase) && !is_method && !matches!(name, "init" | "main")
        }
        Language::Rust => {
            let all = symbols::definitions(language, text);
            let one = all.iter().find(|one| *one.qualified == *spot.name);
            let parent = one.and_then(|one| all.get(one.parent? as usize));
            let is_own = !is_method
                || !edit::is_of_trait(text, spot.span.start)
                    && parent.is_none_or(|parent| parent.kind != DefinitionKind::Interface);
            let line = one.map_or(spot.span.start, Definition::header_start);
            let line = text[..line].rfind('\n').map_or(0, |at| at + 1);
            let head = text[line..].lines().next().unwrap_or_default();
            is_own && name != "main" && whole_words(head, "pub").next().is_none()
        }
        _ => false,
    }
}

/// Says whether a line imports a name, from a module where one is given.
fn imports(text: &str, module: &str, name: &str) -> bool {
    let has = |line: &str, word: &str| word.is_empty() || whole_words(line, word).next().is_some();
    text.lines()
        .any(|line| has(line, "import") && has(line, module) && has(line, name))
}

/// Which uses of a name count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Uses {
    All,
    InStrings,
}

/// Says whether code names something, be it in a string, outside of what goes and of definitions of this name.
fn uses(language: Language, text: &str, name: &str, gone: &[&Spot], kinds: Uses) -> bool {
    let definitions = symbols::definitions(language, text);
    let is_definition = |at: usize| {
        let named = definitions.iter().filter(|one| one.name() == name);
        named.clone().any(|one: &Definition| {
            let header = text[one.span()].find(name).map(|to| one.span().start + to);
            header == Some(at)
        })
    };
    if !language.is_source() {
        return whole_words(text, name).next().is_some();
    }
    let tokens = code_tokens(language, text).into_iter();
    let mut used = tokens.filter(|token| {
        let is_string = token.text.contains(['"', '\'', '`']);
        let is_name = kinds == Uses::All && token.text == name
            || is_string && whole_words(&token.text, name).next().is_some();
        let is_inside = gone.iter().any(|one| one.span.contains(&token.range.start));
        is_name && !is_inside && !is_definition(token.range.start)
    });
    used.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spot(path: &str, name: &str, text: &str) -> Spot {
        let path = RelPath::parse(path).unwrap();
        let definitions = symbols::definitions(Language::of(&path), text);
        let one = definitions.iter().find(|one| *one.qualified == *name);
        let span = one.unwrap().span();
        Spot {
            path,
            name: name.to_owned(),
            line: 1,
            span,
        }
    }

    #[test]
    fn what_goes_together_does_not_use_each_other() {
        let text = "def _a():\n    return _b()\n\n\ndef _b():\n    return 1\n";
        let (a, b) = (spot("m.py", "_a", text), spot("m.py", "_b", text));
        let uses = |gone: &[&Spot]| uses(Language::Python, text, "_b", gone, Uses::All);
        assert!(uses(&[&b]));
        assert!(!uses(&[&a, &b]));
    }

    #[test]
    fn a_name_in_a_string_is_a_use_and_one_in_a_comment_is_none() {
        let text = "def _a():\n    pass\n";
        let a = spot("m.py", "_a", text);
        for (more, expected) in [
            ("# _a\n", false),
            ("getattr(m, '_a')\n", true),
            ("x = _a\n", true),
            ("class B:\n    def _a(self):\n        pass\n", false),
        ] {
            let text = format!("{text}\n\n{more}");
            assert_eq!(
                uses(Language::Python, &text, "_a", &[&a], Uses::All),
                expected,
                "{more}"
            );
        }
    }

    #[test]
    fn a_method_that_python_calls_goes_where_another_one_comes() {
        let before = "class A:\n    def __getitem__(self, k):\n        return 1\n\n    def __eq__(self, o):\n        return True\n";
        let change = |after: String| FileChange {
            path: RelPath::parse("a.py").unwrap(),
            before: Some(before.to_owned()),
            after: Some(after),
        };
        let spot = spot("a.py", "A.__getitem__", before);
        let missing = "\n    def __missing__(self, k):\n        return 2\n";
        assert!(has_successor(&change(format!("{before}{missing}")), &spot));
        assert!(!has_successor(
            &change(before.replace("True", "False")),
            &spot
        ));
        let other = missing.replace("__missing__", "other");
        assert!(!has_successor(&change(format!("{before}{other}")), &spot));
    }

    #[test]
    fn what_others_may_use_is_told_by_the_habits_of_a_language() {
        for (path, name, text, expected) in [
            ("a.py", "_a", "def _a():\n    pass\n", true),
            ("a.py", "a", "def a():\n    pass\n", false),
            ("a.go", "a", "package a\n\nfunc a() {}\n", true),
            ("a.go", "A", "package a\n\nfunc A() {}\n", false),
            ("a.go", "init", "package a\n\nfunc init() {}\n", false),
            ("a.py", "_missing_", "def _missing_():\n    pass\n", false),
            ("a.rs", "a", "fn a() {}\n", true),
            ("a.rs", "a", "pub fn a() {}\n", false),
            ("a.rs", "A.a", "impl A {\n    fn a(&self) {}\n}\n", true),
            (
                "a.rs",
                "A.a",
                "impl B\n    for A\n{\n    fn a(&self) {}\n}\n",
                false,
            ),
            ("a.rs", "A", "#[derive(Debug)]\npub struct A(u8);\n", false),
            (
                "a.rs",
                "A",
                "/// A.\n#[allow(x)]\npub const A: u8 = 1;\n",
                false,
            ),
            ("a.rs", "A", "#[derive(Debug)]\nstruct A(u8);\n", true),
            (
                "a.rs",
                "A.a",
                "impl A {\n    pub fn a(&self) {}\n}\n",
                false,
            ),
            (
                "a.rs",
                "A.a",
                "impl B for A {\n    fn a(&self) {}\n}\n",
                false,
            ),
            ("a.js", "a", "function a() {}\n", false),
        ] {
            let spot = spot(path, name, text);
            let language = Language::of(&spot.path);
            assert_eq!(is_private(language, text, &spot), expected, "{path} {text}");
        }
    }
}
