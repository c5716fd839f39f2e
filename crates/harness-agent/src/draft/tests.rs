//! Actions on files that are only text, and what would become of them.

use std::collections::BTreeMap;

use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::symbols;

use super::{Files, Focus, drafted};
use crate::action::{Action, Hunk};
use crate::history::Refusal;

struct Map(BTreeMap<String, String>);

impl Files for Map {
    fn open(&self, path: &str) -> Result<(RelPath, Option<String>), Refusal> {
        let path = RelPath::parse(path)
            .map_err(|problem| Refusal::new("path.bad", problem.to_string(), path))?;
        let content = self.0.get(path.as_str()).cloned();
        Ok((path, content))
    }

    fn ending_with(&self, path: &str) -> Option<RelPath> {
        let mut all = self
            .0
            .keys()
            .filter(|known| known.ends_with(&format!("/{path}")));
        all.next().and_then(|known| RelPath::parse(known).ok())
    }

    fn home_of(&self, name: &str) -> Option<RelPath> {
        let defines = |content: &String| {
            symbols::definitions(Language::Python, content)
                .iter()
                .any(|known| known.name() == name)
        };
        let home = self.0.iter().find(|(_, content)| defines(content))?;
        RelPath::parse(home.0).ok()
    }
}

const A: &str = "import os\n\n\ndef f():\n    return 1\n\n\nclass C:\n    \"\"\"About.\"\"\"\n\n    x = 1\n\n    def m(self):\n        return 1\n\n    def n(self):\n        return 2\n";
const B: &str = "def g():\n    return 3\n";

#[track_caller]
fn check(action: &Action, expected: &[(&str, Option<&str>)]) {
    let files = Map(BTreeMap::from([
        ("shop/a.py".to_owned(), A.to_owned()),
        ("shop/b.py".to_owned(), B.to_owned()),
    ]));
    let focus = Focus {
        path: RelPath::parse("shop/a.py").unwrap(),
        name: "C.m".to_owned(),
    };
    let drafts = drafted(&files, Some(&focus), action).map_err(|refusal| refusal.reason);
    let seen: Vec<(String, Option<String>)> = drafts
        .unwrap()
        .files
        .into_iter()
        .map(|draft| (draft.path.to_string(), draft.after))
        .collect();
    let wanted: Vec<(String, Option<String>)> = expected
        .iter()
        .map(|(path, after)| ((*path).to_owned(), after.map(str::to_owned)))
        .collect();
    assert_eq!(seen, wanted);
}

#[track_caller]
fn refused(action: &Action, rule: &str) {
    let files = Map(BTreeMap::from([("shop/a.py".to_owned(), A.to_owned())]));
    let focus = Focus {
        path: RelPath::parse("shop/a.py").unwrap(),
        name: "f".to_owned(),
    };
    let refusal = drafted(&files, Some(&focus), action).unwrap_err();
    assert_eq!(refusal.rule, rule, "{}", refusal.reason);
}

fn edit(path: &str, name: &str, content: &str) -> Action {
    Action::Edit {
        path: path.to_owned(),
        name: name.to_owned(),
        content: content.to_owned(),
    }
}

fn patch(path: &str, old: &str, new: &str) -> Action {
    Action::Patch {
        path: path.to_owned(),
        hunks: vec![Hunk::new(old, new)],
    }
}

#[test]
fn a_method_without_its_class_goes_where_the_prompt_looked() {
    let after = A.replace(
        "        return 1\n\n    def n",
        "        return 5\n\n    def n",
    );
    check(
        &edit("", "", "def m(self):\n    return 5\n"),
        &[("shop/a.py", Some(&after))],
    );
}

#[test]
fn a_definition_without_its_first_lines_keeps_those_that_stand_there() {
    let long = "def net(total, rate):\n    \"\"\"Less the rate.\"\"\"\n    if rate > 100:\n        raise ValueError(rate)\n\n    def part(cents):\n        return cents * rate\n\n    return total - part(total)\n\n\ndef far():\n    return 1\n";
    let after = |code: &str| {
        let files = Map(BTreeMap::from([("a.py".to_owned(), long.to_owned())]));
        let focus = Focus {
            path: RelPath::parse("a.py").unwrap(),
            name: "net".to_owned(),
        };
        match drafted(&files, Some(&focus), &edit("", "", code)) {
            Ok(drafts) => drafts.files[0].after.clone().unwrap(),
            Err(refusal) => refusal.rule,
        }
    };
    let fixed = long.replace("cents * rate", "cents * rate // 100");
    let whole = fixed
        .strip_suffix("\n\n\ndef far():\n    return 1\n")
        .unwrap();
    let (_, body) = whole.split_once('\n').unwrap();
    assert_eq!(after(body), fixed);
    let left: String = body
        .lines()
        .map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line)))
        .collect();
    assert_eq!(after(&left), fixed);
    let (_, end) = whole.split_once("rate)\n\n").unwrap();
    assert_eq!(after(end), fixed);
    // A piece out of the middle is none.
    let middle = "    if rate > 99:\n        raise ValueError(rate)\n";
    assert_eq!(after(middle), "draft.fragment");
    let wide = "\u{3000}\u{3000}if rate > 100:\n\u{3000}return total - part(total)\n";
    assert_eq!(after(wide), "draft.syntax");
}

#[test]
fn a_piece_that_could_be_an_earlier_one_too_is_not_taken_for_the_rest() {
    let check = |before: &str, name: &str, code: &str| {
        let files = Map(BTreeMap::from([("a.py".to_owned(), before.to_owned())]));
        let focus = Focus {
            path: RelPath::parse("a.py").unwrap(),
            name: name.to_owned(),
        };
        let drafts = drafted(&files, Some(&focus), &edit("", "", code));
        assert_eq!(drafts.unwrap_err().rule, "draft.fragment", "{code}");
    };
    let loops = "def save(rows):\n    for row in rows:\n        check(row)\n    for row in rows:\n        write(row)\n    return len(rows)\n";
    check(
        loops,
        "save",
        "    for row in rows:\n        write(row.strip())\n    return len(rows)\n",
    );
    let ends = "def find(items, key):\n    if not items:\n        return None\n    for one in items:\n        if one == key:\n            return one\n    return None\n";
    check(
        ends,
        "find",
        "    if not items:\n        log()\n        return None\n",
    );
}

#[test]
fn a_class_given_in_part_keeps_its_other_members() {
    let after = A.replace("        return 2\n", "        return 7\n");
    check(
        &edit("", "", "class C:\n    def n(self):\n        return 7\n"),
        &[("shop/a.py", Some(&after))],
    );
    let after = format!("{after}\n    y = 2\n");
    let attribute = "class C:\n    y = 2\n\n    def n(self):\n        return 7\n";
    check(&edit("", "", attribute), &[("shop/a.py", Some(&after))]);
    refused(
        &edit("", "", &attribute.replace("y = 2", "print(2)")),
        "draft.partial_class",
    );
}

#[test]
fn imports_come_along() {
    let after = A
        .replace(
            "import os\n",
            "import os\nimport re\nfrom math import ceil\n",
        )
        .replace("    return 1\n\n\nclass", "    return re, ceil\n\n\nclass");
    check(
        &edit(
            "",
            "",
            "import re\nfrom math import (\n    ceil,\n)\nimport os\n\ndef f():\n    return re, ceil\n",
        ),
        &[("shop/a.py", Some(&after))],
    );
}

#[test]
fn code_for_another_place_goes_there() {
    check(
        &edit("", "", "def g():\n    return 4\n"),
        &[("shop/b.py", Some("def g():\n    return 4\n"))],
    );
}

#[test]
fn a_path_may_lack_its_folder() {
    check(
        &patch("b.py", "return 3", "return 4"),
        &[("shop/b.py", Some("def g():\n    return 4\n"))],
    );
}

#[test]
fn several_files_change_together_or_not_at_all() {
    let both = Action::Several {
        parts: vec![
            patch("shop/b.py", "return 3", "return 4"),
            edit("shop/c.py", "", "x = 1\n"),
        ],
    };
    check(
        &both,
        &[
            ("shop/b.py", Some("def g():\n    return 4\n")),
            ("shop/c.py", Some("x = 1\n")),
        ],
    );
    let half = Action::Several {
        parts: vec![
            patch("shop/a.py", "import os", "import re"),
            patch("no.py", "a", "b"),
        ],
    };
    refused(&half, "draft.no_such_file");
}

#[test]
fn what_stands_twice_is_looked_for_where_the_prompt_looked() {
    let after = A.replace("        return 1\n", "        return 9\n");
    check(
        &patch("", "return 1", "return 9"),
        &[("shop/a.py", Some(&after))],
    );
}

#[test]
fn a_file_moves_and_goes() {
    check(
        &Action::Move {
            path: "shop/b.py".to_owned(),
            to: "shop/d.py".to_owned(),
            hunks: vec![Hunk::new("return 3", "return 4")],
        },
        &[
            ("shop/b.py", None),
            ("shop/d.py", Some("def g():\n    return 4\n")),
        ],
    );
}

#[test]
fn the_last_part_of_a_path_is_enough_where_one_file_has_it() {
    let after = "def g():\n    return 4\n";
    check(
        &patch("b.py", "return 3", "return 4"),
        &[("shop/b.py", Some(after))],
    );
    check(&edit("b.py", "g", after), &[("shop/b.py", Some(after))]);
    let path = "b.py".to_owned();
    check(&Action::Remove { path }, &[("shop/b.py", None)]);
}

#[test]
fn code_without_a_place_is_refused_where_the_prompt_showed_none() {
    let files = Map(BTreeMap::new());
    let refusal = drafted(&files, None, &edit("", "", "x = 1\n")).unwrap_err();
    assert_eq!(refusal.rule, "draft.no_path");
}

#[test]
fn the_whole_file_without_something_takes_it_away() {
    let shorter = A.replace("def f():\n    return 1\n\n\n", "");
    check(
        &edit("shop/a.py", "", &shorter),
        &[("shop/a.py", Some(&shorter))],
    );
    // One definition as it is says nothing of the others.
    refused(
        &edit("shop/a.py", "", "def f():\n    return 1\n"),
        "draft.no_change",
    );
}

#[test]
fn what_is_no_change_is_refused_with_what_to_do() {
    refused(&patch("", "return 1", "return 1"), "draft.no_change");
    refused(&edit("", "", "return 5\n"), "draft.fragment");
    refused(&edit("", "", " \n"), "draft.empty");
    refused(&patch("", "return 77", "return 1"), "patch.misplaced");
    refused(&patch("", "def f():\n", "def f(:\n"), "draft.syntax");
}

/// Returns what becomes of the only file of a project when code comes for what was asked for.
fn after(path: &str, content: &str, asked: &str, code: &str) -> String {
    let files = Map(BTreeMap::from([(path.to_owned(), content.to_owned())]));
    let focus = Focus {
        path: RelPath::parse(path).unwrap(),
        name: asked.to_owned(),
    };
    let drafts = drafted(&files, Some(&focus), &edit("", "", code)).unwrap();
    drafts.files[0].after.clone().unwrap()
}

#[test]
fn what_is_asked_for_in_a_file_goes_there_whoever_else_has_the_name() {
    let files = Map(BTreeMap::from([
        ("shop/a.py".to_owned(), A.to_owned()),
        ("shop/b.py".to_owned(), B.to_owned()),
    ]));
    let focus = Focus {
        path: RelPath::parse("shop/a.py").unwrap(),
        name: "g".to_owned(),
    };
    let drafts = drafted(
        &files,
        Some(&focus),
        &edit("", "", "def g():\n    return 4\n"),
    )
    .unwrap();
    assert_eq!(drafts.files[0].path.as_str(), "shop/a.py");
}

#[test]
fn a_function_and_a_method_of_one_name_are_two_things() {
    let class = "class Scheduler:\n    def jobs(self):\n        return 1\n";
    let function = "def jobs():\n    return Scheduler().jobs()\n";
    assert_eq!(
        after("a.py", class, "jobs", function),
        format!("{class}\n\n{function}")
    );
    let go = "package a\n\ntype Router struct{}\n\nfunc (r *Router) Use() {}\n";
    let method = "func (r *Route) Use() {}\n";
    let function = "func Use() {}\n";
    for (asked, code) in [
        ("Router", method),
        ("Router.Use", method),
        ("Router.Use", function),
    ] {
        assert_eq!(after("a.go", go, asked, code), format!("{go}\n{code}"));
    }
    let rust = "struct A;\n\nimpl A {\n    fn new() -> A {\n        A\n    }\n}\n\nstruct B;\n";
    let new = "fn new() -> B {\n    B\n}\n";
    assert_eq!(
        after("a.rs", rust, "B.new", new),
        format!("{rust}\nimpl B {{\n    fn new() -> B {{\n        B\n    }}\n}}\n")
    );
    // Methods of two types in one reply, where the first was asked for.
    let rust = "struct A {\n    size: u8,\n}\n\nimpl A {\n    fn a(&self) {}\n}\n\nstruct B {\n    pub name: u8,\n}\n\nimpl B {\n    fn b(&self) {}\n}\n";
    let methods = "    fn x(&self) -> u8 {\n        self.size\n    }\n\n    fn y(&mut self) -> u8 {\n        self.name\n    }\n";
    let both = after("a.rs", rust, "A", methods);
    let (a, b) = both.split_once("struct B").unwrap();
    assert!(
        a.contains("    fn x(&self)") && b.contains("    fn y(&mut self)"),
        "{both}"
    );
    let again = "func (r *Router) Use() { r.x() }\n";
    assert_eq!(
        after("a.go", go, "Router", again),
        go.replace("func (r *Router) Use() {}\n", again)
    );
}

#[test]
fn a_short_file_with_a_new_statement_is_the_file() {
    let before = "from shop.errors import OrderError\n\n__all__ = [\"OrderError\"]\n";
    let whole = format!("{before}\nOrderError.__module__ = \"shop\"\n");
    assert_eq!(after("shop/__init__.py", before, "", &whole), whole);
    let only = "__all__ = [\"OrderError\", \"Order\"]\n";
    let replaced = before.replace("[\"OrderError\"]", "[\"OrderError\", \"Order\"]");
    assert_eq!(after("shop/__init__.py", before, "", only), replaced);
}

#[test]
fn a_new_method_goes_into_a_class_and_never_beside_it() {
    let two = format!("{A}\n\nclass D:\n    def o(self):\n        return 3\n");
    let files = Map(BTreeMap::from([
        ("a.py".to_owned(), two),
        ("b.py".to_owned(), "class E:\n    pass\n".to_owned()),
        ("c.py".to_owned(), "x = 1\n".to_owned()),
    ]));
    let placed = |path: &str, focus: Option<&str>, code: &str| {
        let path = RelPath::parse(path).unwrap();
        let focus = focus.map(|name| Focus {
            path: path.clone(),
            name: name.to_owned(),
        });
        let action = Action::Edit {
            path: path.to_string(),
            name: String::new(),
            content: code.to_owned(),
        };
        let drafts = drafted(&files, focus.as_ref(), &action).map_err(|refusal| refusal.rule)?;
        let after = drafts
            .files
            .into_iter()
            .next()
            .and_then(|draft| draft.after)
            .unwrap();
        let defined = symbols::definitions(Language::Python, &after);
        Ok(defined
            .iter()
            .find(|one| one.name() == "new")
            .map(|one| one.qualified.to_string()))
    };
    let method = "def new(self, x):\n    return x\n";
    let said = |name: &str| Ok(Some(name.to_owned()));
    assert_eq!(placed("a.py", Some("D.o"), method), said("D.new"));
    assert_eq!(placed("a.py", Some("D"), method), said("D.new"));
    assert_eq!(placed("a.py", None, method), Err("draft.method".to_owned()));
    assert_eq!(placed("b.py", None, method), said("E.new"));
    assert_eq!(placed("c.py", None, method), said("new"));
    assert_eq!(
        placed("a.py", Some("D.o"), "def new(x):\n    return x\n"),
        said("new")
    );
}

#[test]
fn a_method_goes_to_the_class_that_has_what_it_uses() {
    let text = "class Field:\n    def __init__(self, name):\n        self.name = name\n\n\nclass Stats:\n    def __init__(self, data):\n        self.data = data\n\n    def _mean(self):\n        return sum(self.data)\n\n    mean = Field(_mean)\n\n\ndef far():\n    pass\n";
    let files = Map(BTreeMap::from([("a.py".to_owned(), text.to_owned())]));
    let code = "    def _most(self):\n        return max(self.data)\n\n    most = Field(_most)\n";
    let drafts = drafted(&files, None, &edit("a.py", "", code)).unwrap();
    let after = drafts.files[0].after.as_deref().unwrap();
    let expected = text.replace("Field(_mean)\n", &format!("Field(_mean)\n\n{code}"));
    assert_eq!(after, expected);
}

#[test]
fn passages_of_one_patch_need_only_parse_together() {
    let before = "def f(x):\n    return g(\n        x,\n        1,\n    )\n";
    let files = Map(BTreeMap::from([("a.py".to_owned(), before.to_owned())]));
    let hunk = |old: &str, new: &str| Hunk {
        old: old.to_owned(),
        new: new.to_owned(),
        under: String::new(),
    };
    let patched = |hunks: Vec<Hunk>| {
        let action = Action::Patch {
            path: "a.py".to_owned(),
            hunks,
        };
        let drafts = drafted(&files, None, &action).map_err(|refusal| refusal.rule)?;
        Ok(drafts
            .files
            .into_iter()
            .next()
            .and_then(|draft| draft.after)
            .unwrap())
    };
    let opens = || hunk("    return g(\n", "    return h(g(\n");
    let closes = || hunk("        1,\n    )\n", "        1,\n    ))\n");
    let after = "def f(x):\n    return h(g(\n        x,\n        1,\n    ))\n";
    assert_eq!(patched(vec![opens(), closes()]), Ok(after.to_owned()));
    assert_eq!(
        patched(vec![opens(), hunk("        1,\n", "        2,\n")]),
        Err("draft.syntax".to_owned())
    );
}

#[test]
fn passages_that_were_replaced_before_are_passed_over() {
    let text = "import a\nimport collections\n\n\ndef f():\n    return c\n";
    let files = Map(BTreeMap::from([("a.py".to_owned(), text.to_owned())]));
    let patch = |pairs: &[(&str, &str)]| {
        let hunk = |(old, new): &(&str, &str)| Hunk {
            old: (*old).to_owned(),
            new: (*new).to_owned(),
            under: String::new(),
        };
        let action = Action::Patch {
            path: "a.py".to_owned(),
            hunks: pairs.iter().map(hunk).collect(),
        };
        let drafts = drafted(&files, None, &action);
        drafts
            .map(|drafts| drafts.files[0].after.clone().unwrap_or_default())
            .map_err(|refusal| refusal.rule)
    };
    let after = text.replace("return c", "return a");
    let pairs = [
        ("import b\n", "import collections\n"),
        ("    return c\n", "    return a\n"),
    ];
    assert_eq!(patch(&pairs), Ok(after));
    assert!(patch(&pairs[..1]).is_err(), "nothing is left to do");
    assert!(
        patch(&[("import d\n", ""), pairs[1]]).is_err(),
        "it was not there"
    );
    assert!(
        patch(&[("import b\n", "import e\n"), pairs[1]]).is_err(),
        "it is not done"
    );
}

#[test]
fn a_method_that_is_indented_too_far_stands_where_it_was() {
    let text = "class A:\n    @overload\n    def f(self, o: int) -> int:\n        pass\n\n    def f(self, o):\n        return 2\n";
    let files = Map(BTreeMap::from([("a.py".to_owned(), text.to_owned())]));
    let focus = Focus {
        path: RelPath::parse("a.py").unwrap(),
        name: "A.f".to_owned(),
    };
    let code = "@overload\ndef f(self, o: int) -> int:\n    pass  # never run\n";
    for depth in [0, 4, 8] {
        let blank = " ".repeat(depth);
        let code: String = code
            .lines()
            .map(|line| format!("{blank}{line}\n"))
            .collect();
        let drafts = drafted(&files, Some(&focus), &edit("", "", &code)).unwrap();
        let expected = text.replacen("pass", "pass  # never run", 1);
        assert_eq!(
            drafts.files[0].after.as_deref(),
            Some(&*expected),
            "{depth}"
        );
    }
}

#[test]
fn a_new_attribute_of_a_class_goes_into_it() {
    let text = "class A:\n    def f(self):\n        return 1\n\n\nclass B:\n    pass\n";
    let files = Map(BTreeMap::from([("a.py".to_owned(), text.to_owned())]));
    let focus = Focus {
        path: RelPath::parse("a.py").unwrap(),
        name: "A.__wrapped__".to_owned(),
    };
    for code in [
        "    __wrapped__ = property(f)\n",
        "__wrapped__ = property(f)\n",
        "class A:\n    __wrapped__ = property(f)\n",
    ] {
        let drafts = drafted(&files, Some(&focus), &edit("", "", code)).unwrap();
        let expected = text.replacen(
            "return 1\n",
            "return 1\n\n    __wrapped__ = property(f)\n",
            1,
        );
        assert_eq!(drafts.files[0].after.as_deref(), Some(&*expected), "{code}");
    }
}

#[test]
fn a_method_behind_a_new_class_goes_where_it_was_asked_for() {
    let text = "class Term:\n    def eq(self):\n        return 1\n\n\nclass Other:\n    pass\n";
    let files = Map(BTreeMap::from([("a.py".to_owned(), text.to_owned())]));
    let focus = Focus {
        path: RelPath::parse("a.py").unwrap(),
        name: "Term.negate".to_owned(),
    };
    let class = "class Negation(Term):\n    def sql(self):\n        return \"-\"\n";
    let method = "    # The other sign.\n    def negate(self):\n        return Negation()\n";
    let code = format!("{class}\n{method}");
    let drafts = drafted(&files, Some(&focus), &edit("", "", &code)).unwrap();
    let expected = text.replacen("return 1\n", &format!("return 1\n\n{method}"), 1);
    assert_eq!(
        drafts.files[0].after.as_deref(),
        Some(&*format!("{expected}\n\n{class}"))
    );
}
