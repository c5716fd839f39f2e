//! Renames that reach further than one definition, and there-and-back on made-up programs.

use proptest::prelude::*;

use super::tests::{at, check, named, renamed};

#[test]
fn a_stub_changes_with_its_module() {
    let files = [
        (
            "m.py",
            "def send(a): ...\nclass Box:\n    def open_it(self): ...\n",
        ),
        (
            "m.pyi",
            "def send(a: int) -> None: ...\nclass Box:\n    def open_it(self) -> None: ...\n",
        ),
        ("u.py", "from m import send\nsend(a=1)\n"),
    ];
    check(
        &files,
        &named("send", "post"),
        "-- m.py\ndef post(a): ...\nclass Box:\n    def open_it(self): ...\n-- m.pyi\ndef post(a: int) -> None: ...\nclass Box:\n    def open_it(self) -> None: ...\n-- u.py\nfrom m import post\npost(a=1)\n",
    );
    check(
        &files,
        &named("Box.open_it", "unlock_it"),
        "-- m.py\ndef send(a): ...\nclass Box:\n    def unlock_it(self): ...\n-- m.pyi\ndef send(a: int) -> None: ...\nclass Box:\n    def unlock_it(self) -> None: ...\n",
    );
    check(
        &files,
        &at("m.py", 1, "a", "text"),
        "-- m.py\ndef send(text): ...\nclass Box:\n    def open_it(self): ...\n-- m.pyi\ndef send(text: int) -> None: ...\nclass Box:\n    def open_it(self) -> None: ...\n-- u.py\nfrom m import send\nsend(text=1)\n",
    );
}

#[test]
fn a_file_of_text_moves_where_nothing_speaks_of_it() {
    let notes = ("docs/notes.txt", "Notes.\n");
    check(
        &[notes, ("a.py", "A = 1\n")],
        &named("docs/notes.txt", "ideas.txt"),
        "-- docs/ideas.txt\nNotes.\n",
    );
    check(
        &[notes, ("a.py", "open('docs/notes.txt')\n")],
        &named("docs/notes.txt", "ideas.txt"),
        "nothing",
    );
    check(
        &[notes, ("docs/ideas.txt", "")],
        &named("docs/notes.txt", "ideas.txt"),
        "refused: `docs/ideas.txt` exists already []",
    );
}

#[test]
fn what_a_script_starts_keeps_its_name() {
    let code = ("m.py", "def send_all(): ...\n");
    let script = ("run.sh", "python -c 'import m; m.send_all()'\n");
    check(
        &[code, script],
        &named("send_all", "post_all"),
        "doubt: `run.sh:1`: `send_all` is reached by its name from a script",
    );
    // A command of the same name is another thing.
    check(
        &[code, ("run.sh", "send_all --now\n")],
        &named("send_all", "post_all"),
        "-- m.py\ndef post_all(): ...\n",
    );
    let module = ("old_mod.py", "A = 1\n");
    check(
        &[module, ("Makefile", "go:\n\tpython -m old_mod\n")],
        &named("old_mod.py", "new_mod.py"),
        "doubt: `Makefile:2`: `old_mod` is reached by its name from a script",
    );
    check(
        &[
            module,
            (
                "u.py",
                "import importlib\nimportlib.import_module('old_mod')\n",
            ),
        ],
        &named("old_mod.py", "new_mod.py"),
        "refused: `old_mod` is named in text that is no import [\"u.py:2\"]",
    );
}

#[test]
fn overloads_share_their_parameters() {
    check(
        &[(
            "a.py",
            "from typing import overload\n@overload\ndef f(a: int) -> int: ...\n@overload\ndef f(a: str) -> str: ...\ndef f(a): return a\nf(a=1)\n",
        )],
        &at("a.py", 6, "a", "b"),
        "-- a.py\nfrom typing import overload\n@overload\ndef f(b: int) -> int: ...\n@overload\ndef f(b: str) -> str: ...\ndef f(b): return b\nf(b=1)\n",
    );
}

#[test]
fn classes_that_a_subclass_joins_are_one_family() {
    check(
        &[(
            "a.py",
            "class A:\n    def hop_up(self): ...\nclass B:\n    def hop_up(self): ...\nclass C(A, B): ...\nC().hop_up()\n",
        )],
        &named("A.hop_up", "jump"),
        "-- a.py\nclass A:\n    def jump(self): ...\nclass B:\n    def jump(self): ...\nclass C(A, B): ...\nC().jump()\n",
    );
}

#[test]
fn a_class_body_reads_names_from_outside_until_it_binds_them() {
    check(
        &[(
            "a.py",
            "x = 1\nclass A:\n    x = x\n    z = x\n    def f(self): return x\n",
        )],
        &at("a.py", 1, "x", "y"),
        "-- a.py\ny = 1\nclass A:\n    x = y\n    z = x\n    def f(self): return y\n",
    );
}

#[test]
fn what_other_files_reach_by_name_is_refused() {
    let code = (
        "m.py",
        "def main_cmd(): ...\nclass View:\n    def title_x(self): ...\n",
    );
    check(
        &[
            code,
            (
                "pyproject.toml",
                "[project.scripts]\ntool = \"m:main_cmd\"\n",
            ),
        ],
        &named("main_cmd", "entry"),
        "doubt: `pyproject.toml:2`: `main_cmd` is reached by its name from settings",
    );
    check(
        &[code, ("page.html", "<p>{{ view.title_x }}</p>\n")],
        &named("View.title_x", "title_y"),
        "doubt: `page.html:1`: `title_x` is reached by its name from a template",
    );
    check(
        &[(
            "m.py",
            "try:\n    from fast import speedup\nexcept ImportError:\n    def speedup(): ...\nspeedup()\n",
        )],
        &named("speedup", "boost"),
        "refused: `speedup` is also imported from elsewhere [\"m.py:2\"]",
    );
    check(
        &[
            ("m.py", "def f(): ...\n"),
            ("u.py", "from m import *\nf()\n"),
        ],
        &named("f", "_f"),
        "refused: star imports would no longer bring `_f` []",
    );
}

#[test]
fn a_module_whose_names_are_taken_at_once_keeps_them() {
    check(
        &[
            ("m.py", "def drop_it(): ...\n"),
            ("t.py", "import m\nnames = vars(m)\n"),
        ],
        &named("drop_it", "lose_it"),
        "doubt: `t.py:2`: all names of the module are taken at once, `drop_it` among them",
    );
}

#[test]
fn an_attribute_that_another_module_may_have_is_refused() {
    let files = [
        ("lib/__init__.py", "from .core import *\n"),
        ("lib/core.py", "def valmap(): ...\n"),
        (
            "lib/curried.py",
            "import lib\nvalmap = lib.valmap\ndel lib\n",
        ),
    ];
    check(
        &files,
        &at("lib/curried.py", 2, "valmap", "map_it"),
        "doubt: `lib/curried.py:2`: what `.valmap` belongs to is not known",
    );
}

#[test]
fn a_parameter_of_a_function_that_is_handed_on_is_refused() {
    check(
        &[(
            "m.py",
            "def handler(event): return event\nfor h in [handler]:\n    h(event=1)\n",
        )],
        &at("m.py", 1, "event", "ev"),
        "doubt: `m.py:3`: `handler` is handed on as a value, and calls of something unknown pass `event`",
    );
}

#[test]
fn sentences_that_say_whose_the_name_is_are_read() {
    let read = |task: &str| {
        super::tests::read_rename(task)
            .into_iter()
            .next()
            .map(|request| {
                (
                    request.old,
                    request.new,
                    request.class.unwrap_or_default(),
                    request.in_comments,
                )
            })
    };
    let some = |old: &str, new: &str, class: &str| {
        Some((old.to_string(), new.to_string(), class.to_string(), false))
    };
    for (task, expected) in [
        ("rename f's parameter x to y", some("x", "y", "f")),
        ("rename the argument x of f to y", some("x", "y", "f")),
        ("rename param `x` in `f()` to `y`", some("x", "y", "f")),
        (
            "rename attribute size on Box to extent",
            some("size", "extent", "Box"),
        ),
        ("change foo's name to bar", some("foo", "bar", "")),
        ("replace the name foo with bar", some("foo", "bar", "")),
        ("call foo bar instead", some("foo", "bar", "")),
        ("rename all uses of foo to bar", some("foo", "bar", "")),
        ("rename the decorator @foo to @bar", some("foo", "bar", "")),
        (
            "rename foo to bar and update all callers",
            some("foo", "bar", ""),
        ),
        ("rename shop/cart.py:12:5 to amount", some("", "amount", "")),
        ("shop/cart.py:12:5 -> amount", some("", "amount", "")),
        (
            "rename the variable at shop/cart.py:3:1 to total",
            some("", "total", ""),
        ),
        ("rename shop/cart.py:12 foo to bar", some("foo", "bar", "")),
        ("rename foo to bar and add a docstring", None),
    ] {
        assert_eq!(read(task), expected, "{task}");
    }
}

#[test]
fn a_place_alone_names_what_stands_there() {
    let files = [(
        "a.py",
        "def total(count):\n    return count\ntotal(count=1)\n",
    )];
    let place = |line, column| crate::request::rename::Rename {
        line: Some(line),
        column,
        ..at("a.py", line, "", "amount")
    };
    check(
        &files,
        &place(1, Some(13)),
        "-- a.py\ndef total(amount):\n    return amount\ntotal(amount=1)\n",
    );
    check(
        &files,
        &place(1, None),
        "-- a.py\ndef amount(count):\n    return count\namount(count=1)\n",
    );
}

/// One statement of a made-up program; `name` is defined somewhere in every program.
fn statement() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["alpha", "beta_x", "Gamma", "delta", "eps"]);
    let other = prop::sample::select(vec!["alpha", "beta_x", "Gamma", "delta", "eps"]);
    (name, other, 0usize..12).prop_map(|(name, other, form)| match form {
        0 => format!("{name} = 1\n"),
        1 => format!("def {name}({other}=1):\n    return {other}\n"),
        2 => format!("class {name}:\n    {other} = 2\n    def run(self):\n        return self.{other}\n"),
        3 => format!("print(f\"{{{name}!r}} {{{other}=}}\")\n"),
        4 => format!("value = [{name} for {name} in range(3) if {other}]\n"),
        5 => format!("def make():\n    global {name}\n    {name} = {other}\n"),
        6 => format!("{name}({other}=3)\n"),
        7 => format!("try:\n    {name}\nexcept {other} as {name}:\n    print({name})\n"),
        8 => format!("def note(x: \"{name}\") -> \"list[{other}]\": ...\n"),
        9 => format!("match 1:\n    case [{name}, *{other}] if {name}:\n        print({name})\n"),
        10 => format!("__all__ = [\"{name}\"]\n"),
        _ => format!("def inner():\n    {name} = 1\n    def deep():\n        nonlocal {name}\n        {name} += {other}\n    return deep\n"),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn there_and_back_gives_the_same_bytes(
        statements in prop::collection::vec(statement(), 1..9),
        old in prop::sample::select(vec!["alpha", "beta_x", "Gamma", "delta", "eps"]),
    ) {
        let code: String = statements.concat();
        let first = renamed(&[("prog.py", &code)], &named(old, "zeta_new"));
        if let Some(text) = first.strip_prefix("-- prog.py\n") {
            let line = text.lines().position(|line| line.contains("zeta_new")).map_or(1, |at| at + 1);
            let by_name = renamed(&[("prog.py", text)], &named("zeta_new", old));
            let expected = format!("-- prog.py\n{code}");
            // Where the name alone says too little, the first place says it.
            if by_name != expected {
                let by_place = renamed(&[("prog.py", text)], &at("prog.py", u32::try_from(line).unwrap(), "zeta_new", old));
                prop_assert_eq!(by_place, expected, "by name: {}", by_name);
            }
        }
    }
}
