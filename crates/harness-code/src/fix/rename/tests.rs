//! Renames, as a person sees them.

use super::*;
use crate::edit::apply;
use crate::request::Request;

fn read_renames(sentence: &str) -> Vec<Vec<Rename>> {
    Request::read(sentence).renames().to_vec()
}

pub(super) fn read_rename(sentence: &str) -> Vec<Rename> {
    Request::read(sentence).rename().to_vec()
}

/// Renames in a project of these files; shows what a person would see: the changed files, or why nothing changed.
pub(super) fn renamed(files: &[(&str, &str)], request: &Rename) -> String {
    renamed_in(files, request, &Surroundings::default())
}

fn renamed_in(files: &[(&str, &str)], request: &Rename, surroundings: &Surroundings) -> String {
    let folder = tempfile::tempdir().unwrap();
    lay_out(folder.path(), files);
    let tree = SourceTree::read(folder.path(), None).unwrap();
    match rename(&tree, request, surroundings) {
        Answer::Certain(proposal) => {
            let mut shown = String::new();
            for (path, text) in files {
                let path = RelPath::parse(path).unwrap();
                let edits: Vec<Edit> = proposal
                    .edits
                    .iter()
                    .filter(|edit| edit.path == path)
                    .cloned()
                    .collect();
                let moved = proposal
                    .moves
                    .iter()
                    .find(|(from, _)| *from == path)
                    .map(|(_, to)| to);
                if !edits.is_empty() || moved.is_some() {
                    shown.push_str(&format!(
                        "-- {}\n{}",
                        moved.unwrap_or(&path),
                        apply(text, &edits).unwrap()
                    ));
                }
            }
            shown
        }
        Answer::Ask { text, options } => match in_doubt(&text) {
            Some(doubts) => format!("doubt: {doubts}"),
            None => format!("ask: {text} {options:?}"),
        },
        Answer::Refuse { reason, places } => {
            let places: Vec<String> = places
                .iter()
                .map(|place| format!("{}:{}", place.path, place.line))
                .collect();
            format!("refused: {reason} {places:?}")
        }
        Answer::Nothing => "nothing".to_string(),
    }
}

/// A question with its options, a line each.
pub(super) fn asked(files: &[(&str, &str)], request: &Rename) -> String {
    let folder = tempfile::tempdir().unwrap();
    lay_out(folder.path(), files);
    let tree = SourceTree::read(folder.path(), None).unwrap();
    match rename(&tree, request, &Surroundings::default()) {
        Answer::Ask { text, options } => format!("{text}\n{}", options.join("\n")),
        other => format!("{other:?}"),
    }
}

/// What a question about doubts lists.
fn in_doubt(text: &str) -> Option<&str> {
    let (certain, rest) = text.split_once("; ")?;
    let (doubts, _) = rest.rsplit_once(". ")?;
    certain.ends_with("certain").then_some(doubts)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test lays out a project in a temporary folder"
)]
fn lay_out(folder: &std::path::Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

pub(super) fn named(old: &str, new: &str) -> Rename {
    Rename {
        old: old.to_string(),
        new: new.to_string(),
        ..Rename::default()
    }
}

pub(super) fn at(file: &str, line: u32, old: &str, new: &str) -> Rename {
    Rename {
        file: RelPath::parse(file).ok(),
        line: Some(line),
        ..named(old, new)
    }
}

#[track_caller]
pub(super) fn check(files: &[(&str, &str)], request: &Rename, expected: &str) {
    assert_eq!(renamed(files, request), expected);
}

#[test]
fn a_function_follows_its_imports_exports_and_dotted_uses() {
    let files = [
        (
            "pkg/__init__.py",
            "from .core import total\n__all__ = ['total']\n",
        ),
        ("pkg/core.py", "def total(items):\n    return sum(items)\n"),
        (
            "app.py",
            "import pkg.core\nfrom pkg import total as t\nprint(t([1]), pkg.core.total([2]), 'total')\n",
        ),
        ("other.py", "def total():\n    pass\ntotal()\n"),
    ];
    let request = Rename {
        file: RelPath::parse("pkg/core.py").ok(),
        ..named("total", "add_up")
    };
    check(
        &files,
        &request,
        "-- pkg/__init__.py\nfrom .core import add_up\n__all__ = ['add_up']\n-- pkg/core.py\ndef add_up(items):\n    return sum(items)\n-- app.py\nimport pkg.core\nfrom pkg import add_up as t\nprint(t([1]), pkg.core.add_up([2]), 'total')\n",
    );
}

#[test]
fn two_definitions_of_a_name_are_asked_about() {
    let files = [
        ("a.py", "def run():\n    pass\n"),
        ("b.py", "class Job:\n    def run(self):\n        pass\n"),
    ];
    check(
        &files,
        &named("run", "start"),
        "ask: `run` is defined 2 times; which one is meant? [\"`run` at a.py:1\", \"`Job.run` at b.py:2\"]",
    );
    check(
        &files,
        &named("Job.run", "start"),
        "-- b.py\nclass Job:\n    def start(self):\n        pass\n",
    );
}

#[test]
fn overriding_methods_and_their_calls_follow() {
    let files = [(
        "shapes.py",
        "class Shape:\n    def area(self):\n        return 0\n\nclass Square(Shape):\n    def area(self):\n        return super().area() + 1\n\ndef show(shape: Shape):\n    return shape.area()\n",
    )];
    check(
        &files,
        &named("Shape.area", "surface"),
        "-- shapes.py\nclass Shape:\n    def surface(self):\n        return 0\n\nclass Square(Shape):\n    def surface(self):\n        return super().surface() + 1\n\ndef show(shape: Shape):\n    return shape.surface()\n",
    );
}

#[test]
fn an_access_that_may_be_another_class_is_asked_about_with_its_place() {
    let files = [(
        "jobs.py",
        "class Job:\n    def go(self):\n        pass\nclass Car:\n    def go(self):\n        pass\ndef f(x):\n    x.go()\n",
    )];
    check(
        &files,
        &at("jobs.py", 2, "go", "run_it"),
        "doubt: `jobs.py:8`: what `.go` belongs to is not known, and `Car` has one too",
    );
}

#[test]
fn an_access_on_anything_that_the_standard_library_has_too_is_asked_about() {
    let files = [(
        "a.py",
        "class Box:\n    def close(self):\n        pass\ndef f(x):\n    x.close()\n",
    )];
    let answer = renamed(&files, &named("Box.close", "shut"));
    assert!(
        answer.starts_with("doubt: `a.py:5`: what `.close` belongs to"),
        "{answer}"
    );
}

#[test]
fn a_builtin_s_name_is_free_where_nobody_uses_the_builtin() {
    let kind = ("a.py", "def kind(x):\n    return x\n");
    let used = |text| {
        let files = [kind, ("b.py", text)];
        renamed(&files, &named("kind", "type"))
    };
    assert_eq!(
        used("from a import kind\nkind(1)\n"),
        "-- a.py\ndef type(x):\n    return x\n-- b.py\nfrom a import type\ntype(1)\n"
    );
    assert_eq!(
        used("from a import kind\nkind(type(1))\n"),
        "refused: `type` would shadow another `type` that is used there [\"b.py:2\"]"
    );
    assert_eq!(
        used("from a import *\ntype(1)\n"),
        "refused: star imports would hide Python's builtin `type` []"
    );
    assert_eq!(
        used("import a\na.kind(type(1))\n"),
        "-- a.py\ndef type(x):\n    return x\n-- b.py\nimport a\na.type(type(1))\n"
    );
}

#[test]
fn collisions_shadowing_and_keywords_are_refused() {
    let code = [(
        "a.py",
        "def old(x):\n    new = 1\n    return new + x\ndef other():\n    return old(2)\n",
    )];
    check(
        &code,
        &at("a.py", 1, "x", "new"),
        "refused: `new` exists there already [\"a.py:2\"]",
    );
    check(
        &code,
        &named("old", "other"),
        "refused: `other` exists there already [\"a.py:4\"]",
    );
    check(
        &code,
        &named("old", "class"),
        "refused: `class` is a keyword of Python []",
    );
    check(
        &code,
        &named("old", "2nd"),
        "refused: `2nd` is not a name that Python allows []",
    );
    let inner = [(
        "a.py",
        "limit = 1\ndef f():\n    bound = 2\n    return limit + bound\n",
    )];
    check(
        &inner,
        &named("limit", "bound"),
        "refused: `bound` means something else where `limit` is used [\"a.py:4\"]",
    );
    let outer = [(
        "a.py",
        "base = 1\ndef f():\n    step = 2\n    return base + step\n",
    )];
    check(
        &outer,
        &at("a.py", 3, "step", "base"),
        "refused: `base` would shadow another `base` that is used there [\"a.py:4\"]",
    );
}

#[test]
fn names_in_strings_and_comments_stay_unless_asked() {
    let code = [("a.py", "value = 1  # value of all\nprint('value', value)\n")];
    check(
        &code,
        &named("value", "amount"),
        "-- a.py\namount = 1  # value of all\nprint('value', amount)\n",
    );
    let asked = Rename {
        in_comments: true,
        ..named("value", "amount")
    };
    check(
        &code,
        &asked,
        "-- a.py\namount = 1  # amount of all\nprint('value', amount)\n",
    );
}

#[test]
fn a_name_that_is_reached_through_a_string_is_asked_about() {
    let member = [(
        "a.py",
        "class Box:\n    def open_it(self):\n        pass\ngetattr(Box(), 'open_it')()\n",
    )];
    check(
        &member,
        &named("open_it", "unlock"),
        "doubt: `a.py:4`: `open_it` is reached through a string",
    );
    let patched = [
        ("shop.py", "def price():\n    return 1\n"),
        (
            "test_shop.py",
            "from unittest import mock\ndef test_it():\n    with mock.patch('shop.price'):\n        pass\n",
        ),
    ];
    check(
        &patched,
        &named("price", "cost"),
        "doubt: `test_shop.py:3`: `price` is reached through a string",
    );
    let dispatched = [(
        "a.py",
        "class Visitor:\n    def visit_name(self):\n        pass\n    def visit(self, kind):\n        return getattr(self, f'visit_{kind}')()\n",
    )];
    check(
        &dispatched,
        &named("visit_name", "see_name"),
        "doubt: `a.py:5`: `visit_name` is reached through a string",
    );
}

#[test]
fn parameters_take_their_keywords_along() {
    let files = [
        (
            "a.py",
            "from functools import partial\ndef send(to, text):\n    return to + text\nsend(to='x', text='y')\nhello = partial(send, to='z')\ndict(to=1)\n",
        ),
        ("b.py", "import a\na.send('x', to='y')\n"),
    ];
    check(
        &files,
        &at("a.py", 2, "to", "target"),
        "-- a.py\nfrom functools import partial\ndef send(target, text):\n    return target + text\nsend(target='x', text='y')\nhello = partial(send, target='z')\ndict(to=1)\n-- b.py\nimport a\na.send('x', target='y')\n",
    );
    let spread = [("a.py", "def send(to):\n    return to\nsend(**{'to': 1})\n")];
    check(
        &spread,
        &at("a.py", 1, "to", "target"),
        "doubt: `a.py:3`: a call passes a dictionary, which may hold `to`",
    );
}

#[test]
fn modules_and_packages_move_and_their_imports_follow() {
    let files = [
        ("pkg/__init__.py", ""),
        ("pkg/old.py", "from . import helper\nX = 1\n"),
        ("pkg/helper.py", "from .old import X\n"),
        (
            "main.py",
            "import pkg.old\nfrom pkg import old\nprint(pkg.old.X, old.X)\n",
        ),
    ];
    check(
        &files,
        &named("pkg/old.py", "fresh"),
        "-- pkg/fresh.py\nfrom . import helper\nX = 1\n-- pkg/helper.py\nfrom .fresh import X\n-- main.py\nimport pkg.fresh\nfrom pkg import fresh\nprint(pkg.fresh.X, fresh.X)\n",
    );
    check(
        &files,
        &named("pkg.old", "helper"),
        "refused: `pkg/helper` exists already []",
    );
}

#[test]
fn a_module_is_renamed_where_it_is_offered() {
    let all = "from . import old\n\n__all__ = [\"old\", \"other\"]\n";
    let offered = [
        ("pkg/__init__.py", all),
        ("pkg/old.py", ""),
        ("pkg/other.py", ""),
    ];
    let fresh = all.replace("old", "fresh");
    let moved = format!("-- pkg/__init__.py\n{fresh}-- pkg/fresh.py\n");
    check(&offered, &named("pkg/old.py", "fresh"), &moved);
    let all = "__all__ = [\"old\"]\n";
    let files = [("pkg/__init__.py", all), ("pkg/old.py", "")];
    let moved = format!(
        "-- pkg/__init__.py\n{}-- pkg/fresh.py\n",
        all.replace("old", "fresh")
    );
    check(&files, &named("pkg/old.py", "fresh"), &moved);
    // What is offered is a function of that name.
    let files = [
        (
            "pkg/__init__.py",
            "from .old import old\n\n__all__ = [\"old\"]\n",
        ),
        ("pkg/old.py", "def old(): ...\n"),
    ];
    let moved = "-- pkg/__init__.py\nfrom .fresh import old\n\n__all__ = [\"old\"]\n-- pkg/fresh.py\ndef old(): ...\n";
    check(&files, &named("pkg.old", "fresh"), moved);
}

#[test]
fn names_that_star_imports_give_on_are_followed() {
    let files = [
        ("pkg/__init__.py", "from .core import *\n"),
        ("pkg/core.py", "def total():\n    pass\n"),
        (
            "use.py",
            "from pkg import total\nimport pkg\ntotal(), pkg.total()\n",
        ),
    ];
    check(
        &files,
        &named("total", "add_up"),
        "-- pkg/core.py\ndef add_up():\n    pass\n-- use.py\nfrom pkg import add_up\nimport pkg\nadd_up(), pkg.add_up()\n",
    );
}

#[test]
fn a_submodule_is_a_name_of_its_package() {
    let files = [
        (
            "pkg/__init__.py",
            "from .core import x\ncore.helper.total()\n",
        ),
        ("pkg/core.py", "from . import helper\nx = 1\n"),
        ("pkg/helper.py", "def total():\n    pass\n"),
    ];
    check(
        &files,
        &named("total", "add_up"),
        "-- pkg/__init__.py\nfrom .core import x\ncore.helper.add_up()\n-- pkg/helper.py\ndef add_up():\n    pass\n",
    );
}

#[test]
fn what_the_project_does_not_define_is_refused() {
    let code = [(
        "a.py",
        "from os import path\nimport json\nprint(path, json.dumps(1), len([]))\n",
    )];
    check(
        &code,
        &at("a.py", 1, "path", "way"),
        "refused: `path` is not part of the project []",
    );
    check(
        &code,
        &at("a.py", 3, "dumps", "dump_it"),
        "refused: `dumps` is defined outside the project []",
    );
    check(
        &code,
        &at("a.py", 3, "len", "size"),
        "refused: nothing in the project defines `len` []",
    );
    check(&code, &named("missing", "found"), "nothing");
}

#[test]
fn overriding_something_outside_is_refused() {
    let code = [(
        "a.py",
        "import unittest\nclass T(unittest.TestCase):\n    def setUp(self):\n        pass\n",
    )];
    check(
        &code,
        &named("setUp", "prepare"),
        "refused: `setUp` overrides a member of a class outside the project []",
    );
    let unknown = [(
        "a.py",
        "from nowhere import Base\nclass T(Base):\n    def hook(self):\n        pass\n",
    )];
    check(
        &unknown,
        &named("hook", "tail"),
        "refused: `T` has a base that cannot be read, which may call or define `hook` []",
    );
}

#[test]
fn nothing_outside_the_scope_changes() {
    let files = [
        ("lib/a.py", "def f():\n    pass\n"),
        ("main.py", "from lib.a import f\nf()\n"),
    ];
    let lib = Surroundings {
        scope: RelPath::parse("lib").ok(),
        ..Surroundings::default()
    };
    assert_eq!(
        renamed_in(&files, &named("f", "g"), &lib),
        "refused: `f` is used outside the scope `lib` [\"main.py:1\", \"main.py:2\"]",
    );
}

#[test]
fn line_endings_and_other_files_that_are_broken_do_not_matter() {
    let files = [
        ("a.py", "def f():\r\n    pass\r\nf()\r\n"),
        ("broken.py", "def (:\n"),
        ("old2.py", "print 'hello'\n"),
    ];
    check(
        &files,
        &named("f", "g"),
        "-- a.py\ndef g():\r\n    pass\r\ng()\r\n",
    );
}

#[test]
fn back_again_gives_the_same_bytes() {
    let code = "class A:\n    size: int = 0\n    def grow(self, by):\n        self.size += by\n        return f'{self.size=}'\n\ndef make(by):\n    a = A()\n    a.grow(by=by)\n    return a\n";
    for (old, new) in [
        ("A", "Zebra"),
        ("A.size", "extent_x"),
        ("A.grow", "enlarge_x"),
        ("make", "build_x"),
    ] {
        let there = renamed(&[("a.py", code)], &named(old, new));
        let text = there
            .strip_prefix("-- a.py\n")
            .unwrap_or_else(|| panic!("{there}"));
        let (owner, last) = old
            .rsplit_once('.')
            .map_or((None, old), |(owner, last)| (Some(owner), last));
        let back = owner.map_or(new.to_string(), |owner| format!("{owner}.{new}"));
        assert_eq!(
            renamed(&[("a.py", text)], &named(&back, last)),
            format!("-- a.py\n{code}")
        );
    }
}

/// A sentence, the old name and the new one; none for a sentence that asks for no rename, or for more than one.
const SENTENCES: &[(&str, &[(&str, &str)])] = &[
    ("rename foo to bar", &[("foo", "bar")]),
    (
        "Please rename the function `foo()` to `bar()`.",
        &[("foo", "bar")],
    ),
    (
        "rename method Order.total in shop.py to Order.sum_up",
        &[("Order.total", "Order.sum_up")],
    ),
    ("call it bar instead of foo", &[("foo", "bar")]),
    ("foo -> bar", &[("foo", "bar")]),
    ("foo=>bar everywhere", &[("foo", "bar")]),
    ("Change the name of class Foo to Bar", &[("Foo", "Bar")]),
    ("`foo` should be called `bar`", &[("foo", "bar")]),
    (
        "rename pkg/old.py to pkg/new.py",
        &[("pkg/old.py", "pkg/new.py")],
    ),
    (
        "rename tests/test_a.py::test_1 to test_empty",
        &[("test_1", "test_empty")],
    ),
    ("rename from foo to bar", &[("foo", "bar")]),
    ("rename old to new", &[("old", "new")]),
    // A word of kind is a name where no name stands beside it.
    ("rename alpha to name everywhere", &[("alpha", "name")]),
    ("rename alpha to helper please", &[("alpha", "helper")]),
    (
        "rename alpha to type across the project",
        &[("alpha", "type")],
    ),
    (
        "rename alpha to function in the whole code base",
        &[("alpha", "function")],
    ),
    ("rename the parameter p to arg in f", &[("p", "arg")]),
    (
        "rename the helper alpha to helper everywhere",
        &[("alpha", "helper")],
    ),
    ("rename alpha to name, thanks", &[("alpha", "name")]),
    (
        "rename alpha (the function) to name (everywhere)",
        &[("alpha", "name")],
    ),
    ("rename name everywhere to title", &[("name", "title")]),
    ("rename type to kind", &[("type", "kind")]),
    (
        "rename the class alpha to the class method",
        &[("alpha", "method")],
    ),
    (
        "rename alpha to function beta_two",
        &[("alpha", "beta_two")],
    ),
    (
        "rename function alpha to function beta",
        &[("alpha", "beta")],
    ),
    ("rename alpha to the helper `beta`", &[("alpha", "beta")]),
    (
        "alpha should be renamed to name everywhere",
        &[("alpha", "name")],
    ),
    (
        "I want alpha to be called helper from now on",
        &[("alpha", "helper")],
    ),
    (
        "everywhere in the project, rename alpha to type",
        &[("alpha", "type")],
    ),
    ("in shop.py rename alpha to field", &[("alpha", "field")]),
    (
        "rename to `name` the function `alpha`",
        &[("alpha", "name")],
    ),
    (
        "change alpha's name to type across all files",
        &[("alpha", "type")],
    ),
    (
        "can you rename that awful getStuff function to fetch",
        &[("awful", "fetch"), ("getStuff", "fetch")],
    ),
    (
        "rename the helper module to textutils",
        &[("helper", "textutils"), ("module", "textutils")],
    ),
    (
        "rename alpha as name to make it clearer",
        &[("alpha", "name")],
    ),
    ("rename alpha to the name helper", &[("alpha", "helper")]),
    (
        "to result, rename alpha to make it clearer",
        &[("alpha", "result")],
    ),
    (
        "rename alpha so that it is called helper everywhere",
        &[("alpha", "helper")],
    ),
    ("to type, rename alpha everywhere", &[("alpha", "type")]),
    // Quotes make a name of any word.
    ("rename `a` to `b`", &[("a", "b")]),
    ("rename 'it' to \"the\"", &[("it", "the")]),
    ("rename the function “all” to ‘every’", &[("all", "every")]),
    // Nothing says which of two words is the name.
    (
        "rename alpha to name beta",
        &[("alpha", "name"), ("alpha", "beta")],
    ),
    (
        "rename alpha to helper hurriedly",
        &[("alpha", "helper"), ("alpha", "hurriedly")],
    ),
    (
        "rename alpha to name beta\nrename `alpha` to `name`",
        &[("alpha", "name")],
    ),
    ("rename alpha to total price", &[]),
    ("rename it to something better", &[]),
    ("fix the failing test", &[]),
    ("change foo to return 3", &[]),
    ("change the name field to optional", &[]),
    ("don't rename foo to bar", &[]),
    ("rename foo to bar and baz to qux", &[]),
    ("rename foo to bar and keep foo as an alias", &[]),
];

#[test]
fn sentences_that_ask_for_a_rename_are_read() {
    for (sentence, expected) in SENTENCES {
        let readings = read_rename(sentence);
        let read: Vec<(&str, &str)> = readings
            .iter()
            .map(|request| (request.old.as_str(), request.new.as_str()))
            .collect();
        assert_eq!(read, *expected, "{sentence}");
    }
}

#[test]
fn several_renames_of_a_sentence_are_all_read() {
    for (sentence, expected) in [
        ("rename foo to bar and baz to qux", "foo>bar baz>qux"),
        ("Rename foo -> bar, baz -> qux", "foo>bar baz>qux"),
        (
            "rename `foo` to `bar`, and `baz` to `qux`",
            "foo>bar baz>qux",
        ),
        (
            "rename foo to bar, baz to qux and a1 to b1",
            "foo>bar baz>qux a1>b1",
        ),
        (
            "rename foo to bar, then rename the function baz to qux.",
            "foo>bar baz>qux",
        ),
        (
            "rename foo and baz to bar and qux in a.py",
            "foo@a.py>bar baz@a.py>qux",
        ),
        (
            "rename the functions foo, baz to bar, qux respectively",
            "foo>bar baz>qux",
        ),
        (
            "rename foo to bar and baz to qux in a.py",
            "foo@a.py>bar baz@a.py>qux",
        ),
        (
            "rename foo in a.py to bar and baz in b.py to qux",
            "foo@a.py>bar baz@b.py>qux",
        ),
        (
            "rename foo to bar and baz to qux\nrename `baz` to `qux` in b.py",
            "foo>bar baz@b.py>qux",
        ),
        ("Rename:\n- foo -> bar\n- baz -> qux", "foo>bar baz>qux"),
        ("rename foo to bar\nrename baz to qux", "foo>bar baz>qux"),
        (
            "Rename foo to bar. Rename baz to qux.\nRename a1 to b1.",
            "foo>bar baz>qux a1>b1",
        ),
        (
            "please rename foo to bar and the baz function to qux, thanks",
            "foo>bar baz>qux",
        ),
        (
            "rename foo, baz and helper to bar, qux and aide",
            "foo>bar baz>qux helper>aide",
        ),
        (
            "rename the function foo and the function baz to bar and qux",
            "foo>bar baz>qux",
        ),
        // A file before the new name is that of one.
        (
            "rename foo to bar and baz in b.py to qux",
            "foo>bar baz@b.py>qux",
        ),
        ("rename foo to bar, in order to be clear", "foo>bar"),
        ("rename foo to bar and push it to main", "foo>bar"),
        ("rename foo to bar, easier to read", "foo>bar"),
        ("rename foo to bar, according to PEP 8", "foo>bar"),
        ("rename foo and usages to bar", "foo>bar"),
        ("rename foo to bar. Remember to update the docs.", "foo>bar"),
        ("rename foo\nrename `foo` to `bar` in b.py", "foo@b.py>bar"),
        // More than renames, or not as many new names as old ones: none is done rather than some.
        ("rename foo to bar and baz to qux and add tests", ""),
        ("rename foo to bar and its mode parameter to speed", ""),
        ("rename foo to bar and change mode to strict", ""),
        ("rename foo to bar as well as baz to qux", ""),
        ("rename foo to bar baz to qux", ""),
        ("rename foo to bar and name in helper to label", ""),
        ("call foo bar and baz qux from now on", ""),
        ("rename foo to bar and uses as well", "foo>bar"),
        ("rename foo to bar as soon as possible", "foo>bar"),
        ("rename foo to bar, plus all references to foo", "foo>bar"),
        (
            "let's rename foo to bar and baz to qux in the whole project",
            "foo>bar baz>qux",
        ),
        (
            "rename foo to bar and baz to qux\nrename `foo` to `bar` in a.py\nrename `baz` to `qux` in b.py",
            "foo@a.py>bar baz@b.py>qux",
        ),
        (
            "rename foo to bar\nrename `foo` to `bar` in a.py\nrename `foo` to `bar` in a.py and leave the rest",
            "foo@a.py>bar",
        ),
        ("rename foo as bar and baz as qux", ""),
        ("rename get to fetch and make to build", ""),
        ("rename foo to bar and helper in shop.py:9 to aide", ""),
        ("rename foo and baz to bar, qux and a1", ""),
        ("rename foo, baz and mode to bar, qux", ""),
    ] {
        let renames = read_renames(sentence);
        let shown = |one: &Rename| {
            let file = one
                .file
                .as_ref()
                .map_or(String::new(), |file| format!("@{file}"));
            format!("{}{file}>{}", one.old, one.new)
        };
        let shown: Vec<String> = renames
            .iter()
            .map(|readings| readings.iter().map(shown).collect::<Vec<_>>().join("|"))
            .collect();
        assert_eq!(shown.join(" "), expected, "{sentence}");
    }
}

#[test]
fn several_renames_are_one_change_or_none() {
    let files = [
        ("a.py", "def foo(): ...\n\n\ndef baz():\n    return foo()\n"),
        ("b.py", "from a import baz, foo\n\nprint(foo(), baz())\n"),
    ];
    let told = |sentence: &str| {
        let folder = tempfile::tempdir().unwrap();
        lay_out(folder.path(), &files);
        let tree = SourceTree::read(folder.path(), None).unwrap();
        match rename_all(&tree, &read_renames(sentence), &Surroundings::default()) {
            Answer::Certain(proposal) => proposal.summary,
            other => format!("{other:?}"),
        }
    };
    assert_eq!(
        told("rename foo to bar and baz to qux"),
        "renamed `foo` to `bar`: 4 places in 2 files; renamed `baz` to `qux`: 3 places in 2 files"
    );
    assert_eq!(
        told("rename foo to bar and nothing_there to qux"),
        "Nothing"
    );
    for (sentence, count) in [
        ("rename foo to bar as well as baz to qux", 2),
        ("rename the option --dry-run to --simulate", 1),
        ("rename the helpers to follow PEP 8", 0),
        ("rename foo to be clearer", 0),
    ] {
        assert_eq!(
            Request::read(sentence).count_new_names(),
            count,
            "{sentence}"
        );
    }
    // An answer is about its own rename.
    let answered = "rename foo to bar and baz to qux\nrename `foo` to `bar` in strings too";
    let doubts: Vec<Doubts> = read_renames(answered)
        .iter()
        .map(|one| one[0].doubts)
        .collect();
    assert_eq!(doubts, [Doubts::Include, Doubts::Ask]);
    let many: Vec<String> = (0..20_000)
        .map(|at| format!("rename a{at} to b{at}"))
        .collect();
    assert!(read_renames(&many.join("\n")).is_empty());
    for swapped in [
        "rename foo to baz and baz to foo",
        "rename foo to bar and baz to bar",
    ] {
        assert!(told(swapped).starts_with("Refuse"), "{}", told(swapped));
    }
}

#[test]
fn the_project_decides_between_two_readings() {
    let files = [("a.py", "def helper(): ...\ndef alpha(): ...\n")];
    let read = |sentence: &str| {
        let folder = tempfile::tempdir().unwrap();
        lay_out(folder.path(), &files);
        let tree = SourceTree::read(folder.path(), None).unwrap();
        match rename_all(&tree, &read_renames(sentence), &Surroundings::default()) {
            Answer::Certain(proposal) => proposal.summary,
            Answer::Ask { options, .. } => options.join(", "),
            other => format!("{other:?}"),
        }
    };
    assert_eq!(
        read("rename the helper function to compute"),
        "renamed `helper` to `compute`: 1 place in 1 file"
    );
    assert_eq!(
        read("rename alpha to name beta"),
        "rename `alpha` to `name`, rename `alpha` to `beta`"
    );
}

#[test]
fn a_plain_word_behind_in_may_be_a_function_or_nothing() {
    let files = [("a.py", "def f(p):\n    return p\ndef g(p):\n    return p\n")];
    let read = |sentence: &str| read_rename(sentence).remove(0);
    check(
        &files,
        &read("rename the parameter p to arg in f"),
        "-- a.py\ndef f(arg):\n    return arg\ndef g(p):\n    return p\n",
    );
    check(
        &files,
        &read("rename g to h in production"),
        "-- a.py\ndef f(p):\n    return p\ndef h(p):\n    return p\n",
    );
}

#[test]
fn the_last_part_of_a_path_is_enough_where_one_file_has_it() {
    let text = "def total(): ...\n";
    let mut request = named("total", "amount");
    request.file = RelPath::parse("cart.py").ok();
    check(
        &[("shop/cart.py", text), ("other.py", text)],
        &request,
        "-- shop/cart.py\ndef amount(): ...\n",
    );
    check(
        &[("shop/cart.py", text), ("old/cart.py", text)],
        &request,
        "nothing",
    );
}

#[test]
fn the_place_in_a_sentence_is_read() {
    let request = read_rename("rename total at shop/cart.py:12:5 to amount").remove(0);
    assert_eq!(
        (
            request.file.as_ref().map(RelPath::as_str),
            request.line,
            request.column
        ),
        (Some("shop/cart.py"), Some(12), Some(5))
    );
    let request =
        read_rename("rename total in the class Cart in shop/cart.py to amount, also in comments")
            .remove(0);
    assert_eq!(
        (
            request.file.as_ref().map(RelPath::as_str),
            request.class.as_deref(),
            request.in_comments
        ),
        (Some("shop/cart.py"), Some("Cart"), true)
    );
}
