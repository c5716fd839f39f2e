//! Scopes, as a person sees them.

use super::*;
use crate::path::RelPath;

#[track_caller]
fn check(code: &str, expected: &[&str]) {
    let path = RelPath::parse("a.py").unwrap();
    let found = unresolved(&path, code);
    let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, expected, "{code}");
    for one in &found {
        assert_eq!(code.get(one.span.clone()), Some(one.name.as_str()));
    }
}

#[test]
fn a_name_that_nothing_binds_is_found() {
    check("total = 1\nprint(totl)\n", &["totl"]);
}

#[test]
fn every_way_of_binding_counts() {
    check("def f(a, /, b, *c, d, **e): return a, b, c, d, e\n", &[]);
    check("for i, (j, *k) in []: print(i, j, k)\n", &[]);
    check(
        "with open('x') as f, g() as (a, b): print(f, a, b)\n",
        &["g"],
    );
    check(
        "match x:\n    case {'a': b, **rest}: print(b, rest)\n    case [c, *d] | P(e=c, f=d) as g: print(c, d, g)\n",
        &["x", "P"],
    );
    check(
        "if (n := 1): print(n)\n[m := i for i in []]\nprint(m)\n",
        &[],
    );
    check(
        "import a.b, c as d\nfrom e import f as g, h\nprint(a, d, g, h)\n",
        &[],
    );
    check(
        "type A[T: int = str] = list[T]\ndef f[U](x: U) -> A[U]: ...\nclass C[V]:\n    x: V\n",
        &[],
    );
    check("x: int\ndef f() -> 'C': ...\nclass C: ...\n", &[]);
    check(
        "class A:\n    x = 1\n    y = [x for _ in range(x)]\n    def f(self): return x\n",
        &["x"],
    );
    check("def f():\n    global g\n    g = 1\nprint(g)\n", &[]);
    check(
        "def f():\n    x = 1\n    def h():\n        nonlocal x\n        x = 2\n    return x\n",
        &[],
    );
    check(
        "print(f'{a!r:>{b}}', f\"{c + f'{d}'}\")\n",
        &["a", "b", "c", "d"],
    );
    check("lambda x, y=z: x + y + w\n", &["z", "w"]);
    check(
        "try: ...\nexcept* E as group: print(group)\nprint(group)\n",
        &["E", "group"],
    );
    check("x = 1\ndel x\nx\n", &["x"]);
    check(
        "class A:\n    def f(self): return __class__, __module__\n    print(__qualname__)\n",
        &["__module__"],
    );
}

#[test]
fn strings_are_code_only_in_annotations() {
    check(
        "from typing import Optional, Literal, cast\nx: Optional['A']\ny: Literal['B']\nz = cast('C', 1)\nw = 'D'\n",
        &["A", "C"],
    );
    check("x: \"list['Y']\" = []\n", &["Y"]);
    check(
        "from __future__ import annotations\ndef f(a: Later): ...\nclass Later: ...\n",
        &[],
    );
}

#[test]
fn a_star_import_makes_every_name_possible() {
    check("from os.path import *\nprint(join)\n", &[]);
}

#[test]
fn broken_and_endless_code_ends() {
    check("def f(:\n    return )\n", &[]);
    let deep = format!("x = {}1{}\n", "(".repeat(150), ")".repeat(150));
    check(&deep, &[]);
    let long = format!("x = 1{}\n", " + 1".repeat(5000));
    check(&long, &[]);
    let nested = format!(
        "{}pass\n",
        (0..90)
            .map(|depth| format!("{}if 1:\n", " ".repeat(depth)))
            .collect::<String>()
            + &" ".repeat(90)
    );
    check(&nested, &[]);
    check("\u{feff}x = 1\r\nprint(y)\r\n", &["y"]);
}
