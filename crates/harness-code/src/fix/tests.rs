//! Misspellings and missing imports, as a person sees them.

use super::*;
use crate::edit::apply;
use crate::request::rename::Rename;
use crate::tree::SourceTree;

/// Looks for misspellings in a project of these files; shows the changed files, the question, or nothing.
fn corrected(files: &[(&str, &str)], request: &MisspellingRequest) -> String {
    let folder = tempfile::tempdir().unwrap();
    lay_out(folder.path(), files);
    let tree = SourceTree::read(folder.path(), None).unwrap();
    match misspelled(&tree, request) {
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
                if !edits.is_empty() {
                    shown.push_str(&format!("-- {path}\n{}", apply(text, &edits).unwrap()));
                }
            }
            shown
        }
        Answer::Ask { text, options } => format!("ask: {text} {options:?}"),
        Answer::Refuse { reason, .. } => format!("refused: {reason}"),
        Answer::Nothing => "nothing".to_string(),
    }
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

/// One file, named by the task.
#[track_caller]
fn check(code: &str, expected: &str) {
    let shown = corrected(&[("a.py", code)], &named_file("a.py"));
    assert_eq!(
        shown.strip_prefix("-- a.py\n").unwrap_or(&shown),
        expected,
        "{code}"
    );
}

#[track_caller]
fn untouched(code: &str) {
    check(code, "nothing");
}

#[test]
fn every_kind_of_name_is_corrected() {
    check("total = 1\nprint(totla)\n", "total = 1\nprint(total)\n");
    check(
        "def f(value):\n    return vlaue\n",
        "def f(value):\n    return value\n",
    );
    check("print(lenn([]))\n", "print(len([]))\n");
    check(
        "import itertools\nitertools.chian([])\n",
        "import itertools\nitertools.chain([])\n",
    );
    check(
        "from math import ceeil\nceil(1)\n",
        "from math import ceil\nceil(1)\n",
    );
    check(
        "from math import ceeil\nceeil(1)\n",
        "from math import ceil\nceil(1)\n",
    );
    check(
        "try:\n    pass\nexcept ValueErorr:\n    pass\n",
        "try:\n    pass\nexcept ValueError:\n    pass\n",
    );
    check(
        "class A:\n    @Classmethod\n    def f(cls): ...\n",
        "class A:\n    @classmethod\n    def f(cls): ...\n",
    );
    check(
        "class A:\n    def __init__(self):\n        self.items = []\n    def f(self):\n        return self.itmes\n",
        "class A:\n    def __init__(self):\n        self.items = []\n    def f(self):\n        return self.items\n",
    );
    check(
        "def f(size): ...\nf(siz=1)\n",
        "def f(size): ...\nf(size=1)\n",
    );
    check(
        "__all__ = ['publc']\ndef public(): ...\n",
        "__all__ = ['public']\ndef public(): ...\n",
    );
    check(
        "import jsno\nprint(json.dumps(1))\n",
        "import json\nprint(json.dumps(1))\n",
    );
    check(
        "x: 'Lits[int]' = []\nclass List: ...\n",
        "x: 'List[int]' = []\nclass List: ...\n",
    );
    check(
        "name = 1\nprint(f'{nmae}')\n",
        "name = 1\nprint(f'{name}')\n",
    );
}

#[test]
fn imports_from_the_project_are_corrected() {
    let files = [
        ("pkg/__init__.py", ""),
        ("pkg/core.py", "def compute(): ...\nclass Engine: ...\n"),
        (
            "pkg/use.py",
            "from .core import Engien\nfrom .coer import compute\nEngine(), compute()\n",
        ),
    ];
    let request = MisspellingRequest {
        files: vec![RelPath::parse("pkg/use.py").unwrap()],
        ..MisspellingRequest::default()
    };
    assert_eq!(
        corrected(&files, &request),
        "-- pkg/use.py\nfrom .core import Engine\nfrom .core import compute\nEngine(), compute()\n"
    );
}

#[test]
fn two_names_that_are_as_near_are_asked_about() {
    check(
        "port = pow\nprint(pot)\n",
        "ask: `pot` in a.py:2 is not defined; which name is meant? [\"port\", \"pow\"]",
    );
}

#[test]
fn what_may_be_right_after_all_is_left_alone() {
    untouched("from somewhere import *\nprint(totla)\ntotal = 1\n");
    untouched("try:\n    unicode\nexcept NameError:\n    unicode = str\n");
    untouched("total = 1\nglobals()['totla'] = 2\nprint(totla)\n");
    untouched("total = 1\nexec('totla = 2')\nprint(totla)\n");
    untouched("for i in xrange(3): print(i)\n");
    untouched("import ujson, lxml, ConfigParser\n");
    untouched("try:\n    import jsno\nexcept ImportError:\n    json = None\n");
    untouched(
        "class A:\n    def __getattr__(self, name): ...\n    item = 1\n    def f(self):\n        return self.itme\n",
    );
    untouched(
        "from x import Base\nclass A(Base):\n    item = 1\n    def f(self):\n        return self.itme\n",
    );
    untouched(
        "class A:\n    item = 1\n    def f(self):\n        if hasattr(self, 'itme'):\n            return self.itme\n",
    );
    untouched(
        "class Mixin:\n    item = 1\n    def f(self):\n        return self.itme\nclass B(Mixin):\n    itme = 2\n",
    );
    untouched("def f(size, **more): ...\nf(siz=1)\n");
    untouched("x1 = 1\nprint(x2)\n");
    untouched("def f():\n    global totla\n    totla = 1\ntotal = 2\ndef g():\n    return totla\n");
    untouched("print(totla)\ntotal = 1\n");
    untouched("");
}

#[test]
fn a_name_that_an_error_message_calls_undefined_is_corrected_in_dynamic_code_too() {
    let code = "total = 1\nglobals()['other'] = 2\ntotla = None\ndel totla\ndef f():\n    return tottal\n# tottal\n";
    let request = MisspellingRequest {
        names: vec!["tottal".into()],
        ..MisspellingRequest::default()
    };
    assert_eq!(
        corrected(&[("a.py", code)], &request),
        format!("-- a.py\n{}", code.replace("return tottal", "return total"))
    );
}

#[test]
fn a_missing_import_is_added_where_one_module_has_the_name() {
    check(
        "\"\"\"Doc.\"\"\"\nimport sys\n\nprint(sys.path, json.dumps(1))\n",
        "\"\"\"Doc.\"\"\"\nimport sys\nimport json\n\nprint(sys.path, json.dumps(1))\n",
    );
    check(
        "d = defaultdict(list)\n",
        "from collections import defaultdict\nd = defaultdict(list)\n",
    );
    check(
        "x = OrderedDict()\n",
        "ask: `OrderedDict` in a.py:1 is not defined; which name is meant? [\"from collections import OrderedDict\", \"from typing import OrderedDict\", \"from typing_extensions import OrderedDict\"]",
    );
}

#[test]
fn a_missing_import_is_as_other_files_have_it() {
    let rich =
        "from rich.prompt import Confirm, InvalidResponse\n\nprint(Confirm, InvalidResponse)\n";
    let numpy = "import numpy as np\n\nprint(np.pi)\n";
    let caught = "try:\n    f = 1\nexcept InvalidResponse:\n    f = 2\n";
    let added = format!("-- a.py\nfrom rich.prompt import InvalidResponse\n{caught}");
    let told = |files: &[(&str, &str)]| corrected(files, &named_file("a.py"));
    assert_eq!(told(&[("a.py", caught), ("b.py", rich)]), added);
    assert_eq!(
        told(&[("a.py", "print(np.e)\n"), ("b.py", numpy)]),
        "-- a.py\nimport numpy as np\nprint(np.e)\n"
    );
    let other = "from other import InvalidResponse\n\nprint(InvalidResponse)\n";
    let two = told(&[("a.py", caught), ("b.py", rich), ("c.py", other)]);
    assert!(two.starts_with("ask: "), "{two}");
    // What only tests or type checkers import, and a variable of that name.
    let checked =
        "if TYPE_CHECKING:\n    from rich import InvalidResponse\n\nx: \"InvalidResponse\"\n";
    for (path, text) in [("tests/test_b.py", rich), ("b.py", checked)] {
        let said = told(&[("a.py", caught), (path, text)]);
        assert!(!said.contains("import"), "{said}");
    }
    let said = told(&[("a.py", "print(np + 1)\n"), ("b.py", numpy)]);
    assert!(!said.contains("import"), "{said}");
    // What is said to the compiler is no name.
    let settings = "from __future__ import annotations\n";
    let said = told(&[("a.py", "print(annotations)\n"), ("b.py", settings)]);
    assert!(!said.contains("import"), "{said}");
}

#[test]
fn of_several_modules_the_one_that_the_file_imports_from_is_meant() {
    check(
        "from xml.sax.saxutils import quoteattr\n\nprint(quoteattr(\"a\"), escape(\"b\"))\n",
        "from xml.sax.saxutils import quoteattr\nfrom xml.sax.saxutils import escape\n\nprint(quoteattr(\"a\"), escape(\"b\"))\n",
    );
    check(
        "from typing import List\nx: List = OrderedDict()\n",
        "ask: `OrderedDict` in a.py:2 is not defined; which name is meant? [\"from collections import OrderedDict\", \"from typing import OrderedDict\", \"from typing_extensions import OrderedDict\"]",
    );
    // What `typing_extensions` has too is `typing`'s, unless the file takes from the former.
    check(
        "@overload\ndef f(): ...\n",
        "from typing import overload\n@overload\ndef f(): ...\n",
    );
    check(
        "x: Self = 1\n",
        "ask: `Self` in a.py:1 is not defined; which name is meant? [\"from typing import Self\", \"from typing_extensions import Self\"]",
    );
    check(
        "from typing_extensions import Self\nx: Literal = Self\n",
        "from typing_extensions import Self\nfrom typing_extensions import Literal\nx: Literal = Self\n",
    );
    check(
        "from typing import List\nfrom typing_extensions import Self\nx: Literal = Self, List\n",
        "ask: `Literal` in a.py:3 is not defined; which name is meant? [\"from typing import Literal\", \"from typing_extensions import Literal\"]",
    );
}

#[test]
fn what_a_call_is_assigned_to_is_not_called() {
    let files = [
        ("m.py", "class TextResult: ...\n"),
        ("v.py", "text_result = TextResult()\n"),
    ];
    let request = MisspellingRequest {
        names: vec!["TextResult".into()],
        ..MisspellingRequest::default()
    };
    assert_eq!(
        corrected(&files, &request),
        "-- v.py\nfrom m import TextResult\ntext_result = TextResult()\n"
    );
}

#[test]
fn an_import_of_a_name_that_moved_is_pointed_at_its_new_module() {
    let files = [
        ("pkg/__init__.py", ""),
        ("pkg/old.py", "def kept(): ...\n"),
        ("pkg/fresh.py", "def moved_away(): ...\n"),
        (
            "pkg/use.py",
            "from pkg.old import moved_away\nmoved_away()\n",
        ),
    ];
    let request = MisspellingRequest {
        files: vec![RelPath::parse("pkg/use.py").unwrap()],
        ..MisspellingRequest::default()
    };
    assert_eq!(
        corrected(&files, &request),
        "-- pkg/use.py\nfrom pkg.fresh import moved_away\nmoved_away()\n"
    );
}

#[test]
fn a_file_named_like_a_standard_module_imports_that_one() {
    let files = [
        ("__init__.py", ""),
        (
            "sysconfig.py",
            "import sysconfig\n_config_vars = sysconfig._CONFIG_VARS\n",
        ),
    ];
    assert_eq!(corrected(&files, &MisspellingRequest::default()), "nothing");
}

#[test]
fn conflict_markers_are_reported() {
    check(
        "<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> other\n",
        "refused: a merge left conflict markers behind; which side is right only a person knows",
    );
}

#[test]
fn broken_files_do_not_stop_the_rest() {
    let files = [
        ("a.py", "total = 1\nprint(totla)\n"),
        ("b.py", "def (:\n"),
        ("c.py", "print 'x'\n"),
    ];
    assert_eq!(
        corrected(&files, &MisspellingRequest::default()),
        "-- a.py\ntotal = 1\nprint(total)\n"
    );
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a test lays out a project in a temporary folder"
)]
fn files_in_other_encodings_and_of_other_sizes_do_not_stop_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("a.py", b"total = 1\nprint(totla)\n");
    write("latin.py", b"# coding: latin-1\nname = 'caf\xe9'\n");
    write("undeclared.py", b"name = 'caf\xe9'\n");
    write("bytes.py", b"\x00\xff\xfe\x01");
    let huge = std::fs::File::create(folder.path().join("huge.py")).unwrap();
    huge.set_len(crate::tree::LARGEST_SOURCE + 1).unwrap();
    let tree = SourceTree::read(folder.path(), None).unwrap();
    let Answer::Certain(proposal) = misspelled(&tree, &MisspellingRequest::default()) else {
        panic!("the misspelling in a.py is certain");
    };
    let paths: Vec<&str> = proposal
        .edits
        .iter()
        .map(|edit| edit.path.as_str())
        .collect();
    assert_eq!(
        (paths, proposal.edits[0].text.as_str()),
        (vec!["a.py"], "total")
    );
    let request = Rename {
        old: "total".to_string(),
        new: "sum_of".to_string(),
        ..Rename::default()
    };
    assert!(matches!(
        rename(&tree, &request, &Surroundings::default()),
        Answer::Certain(_)
    ));
}

#[test]
fn keyword_arguments_of_records_exceptions_and_partial_calls_are_known() {
    check(
        "from dataclasses import dataclass\n@dataclass\nclass Box:\n    width: int = 0\n    height: int = 0\nBox(widht=2)\n",
        "from dataclasses import dataclass\n@dataclass\nclass Box:\n    width: int = 0\n    height: int = 0\nBox(width=2)\n",
    );
    check(
        "class Bad(Exception):\n    def __init__(self, details=None): ...\nraise Bad(dettails=1)\n",
        "class Bad(Exception):\n    def __init__(self, details=None): ...\nraise Bad(details=1)\n",
    );
    check(
        "from functools import partial\ndef send(message): ...\nhello = partial(send, mesage=1)\n",
        "from functools import partial\ndef send(message): ...\nhello = partial(send, message=1)\n",
    );
    // A method that overrides it takes the keyword.
    check(
        "class A:\n    def run(self, count=1): ...\n    def go(self): return self.run(cuont=2)\nclass B(A):\n    def run(self, cuont=1): ...\n",
        "nothing",
    );
}

#[test]
fn attributes_of_known_classes_and_instances_are_corrected() {
    check(
        "import enum\nclass Color(enum.Enum):\n    GREEN = 1\nprint(Color.GREEEN)\n",
        "import enum\nclass Color(enum.Enum):\n    GREEN = 1\nprint(Color.GREEN)\n",
    );
    check(
        "class A:\n    def __init__(self): self.total = 0\na = A()\nprint(a.totla)\n",
        "class A:\n    def __init__(self): self.total = 0\na = A()\nprint(a.total)\n",
    );
    check(
        "class A:\n    def __init__(self): self.total = 0\na = A()\nsetattr(a, 'totla', 1)\nprint(a.totla)\n",
        "nothing",
    );
}

#[test]
fn names_that_the_project_declares_or_adds_as_builtins_are_left_alone() {
    for (path, text) in [
        ("setup.cfg", "[flake8]\nbuiltins = totla\n"),
        ("pyproject.toml", "[tool.ruff]\nbuiltins = [\"totla\"]\n"),
        ("start.py", "import builtins\nbuiltins.totla = 1\n"),
    ] {
        let files = [(path, text), ("a.py", "total = 1\nprint(totla)\n")];
        assert_eq!(
            corrected(&files, &MisspellingRequest::default()),
            "nothing",
            "{path}"
        );
    }
}

#[test]
fn a_correction_must_resolve_where_it_stands() {
    check("total = 1\ndel total\nprint(totla)\n", "nothing");
}

#[test]
fn one_capital_is_a_slip_unless_the_project_has_to_do_with_the_other_thing() {
    check(
        "def show(value):\n    return Value\n",
        "def show(value):\n    return value\n",
    );
    check(
        "import multiprocessing\ndef show(value):\n    return Value\n",
        "ask: `Value` in a.py:3 is not defined; which name is meant? [\"value\", \"from multiprocessing import Value\", \"from multiprocessing.dummy import Value\", \"from multiprocessing.managers import Value\"]",
    );
}

#[test]
fn only_the_names_that_it_may_be_about_are_corrected() {
    let files = [
        ("a.py", "total = 1\nprint(totla)\n"),
        ("b.py", "price = 1\nprint(prcie)\n"),
    ];
    let about = |names: &[&str]| MisspellingRequest {
        about: Some(names.iter().map(|name| (*name).to_string()).collect()),
        ..MisspellingRequest::default()
    };
    assert_eq!(
        corrected(&files, &about(&["prcie"])),
        "-- b.py\nprice = 1\nprint(price)\n"
    );
    assert_eq!(corrected(&files, &about(&["price", "wrong"])), "nothing");
    assert_eq!(corrected(&files, &about(&[])), "nothing");
    // What is known of where a name stands is not looked for again.
    let elsewhere = MisspellingRequest {
        holding: [("prcie".to_string(), vec![RelPath::parse("a.py").unwrap()])].into(),
        ..about(&["prcie"])
    };
    assert_eq!(corrected(&files, &elsewhere), "nothing");
}

#[test]
fn a_flag_is_not_called() {
    let base = |line: &str| {
        format!(
            "class Base:\n    def __init__(self):\n        self.closed = False\n    def __exit__(self, *_):\n        {line}\n"
        )
    };
    untouched(&base("self.close()"));
    check(&base("return self.clsoed"), &base("return self.closed"));
    untouched(
        "class Base:\n    @property\n    def closed(self):\n        return True\n    def __exit__(self, *_):\n        self.close()\n",
    );
    check(
        "class Base:\n    def __init__(self, handler=None):\n        self.handler = None\n    def run(self):\n        self.hadnler()\n",
        "class Base:\n    def __init__(self, handler=None):\n        self.handler = None\n    def run(self):\n        self.handler()\n",
    );
}

#[test]
fn what_a_subclass_defines_is_not_misspelled() {
    let files = [
        (
            "a.py",
            "class Base:\n    def clone(self): ...\n    def __exit__(self, *_):\n        self.close()\n",
        ),
        (
            "b.py",
            "from a import Base\nclass File(Base):\n    def close(self): ...\n",
        ),
    ];
    assert_eq!(corrected(&files, &named_file("a.py")), "nothing");
}

#[test]
fn a_module_does_not_import_from_itself() {
    let code = "def start():\n    return getaddrinfo(None, 1), getnameinfo\n";
    assert_eq!(
        corrected(&[("socket.py", code)], &named_file("socket.py")),
        "nothing"
    );
    let stub = [
        ("net.py", "def start():\n    return open_line()\n"),
        ("net.pyi", "def open_line(): ...\n"),
    ];
    assert_eq!(corrected(&stub, &named_file("net.py")), "nothing");
}

#[test]
fn an_import_that_two_places_lack_is_inserted_once() {
    let code = "def f():\n    return namedtuple(), dataclass, namedtuple()\n";
    check(
        code,
        "from collections import namedtuple\nfrom dataclasses import dataclass\ndef f():\n    return namedtuple(), dataclass, namedtuple()\n",
    );
}

#[test]
fn what_stays_unresolved_is_said() {
    let folder = tempfile::tempdir().unwrap();
    lay_out(
        folder.path(),
        &[(
            "a.py",
            "total = 1\nprint(totla)\nprint(frobnicate, frobnicate)\n",
        )],
    );
    let tree = SourceTree::read(folder.path(), None).unwrap();
    let Answer::Certain(proposal) = misspelled(&tree, &named_file("a.py")) else {
        panic!("the first name is certain");
    };
    assert_eq!(
        proposal.summary,
        "`totla` is now `total` in a.py; still unresolved: `frobnicate` at a.py:3"
    );
}

#[test]
fn one_option_is_no_question() {
    let files = [
        (
            "a.py",
            "import b\ndef f():\n    return make_line()\ndef g():\n    return b\n",
        ),
        ("b.py", "import a\ndef make_line():\n    return a\n"),
    ];
    assert_eq!(corrected(&files, &named_file("a.py")), "nothing");
}

fn named_file(path: &str) -> MisspellingRequest {
    MisspellingRequest {
        files: vec![RelPath::parse(path).unwrap()],
        ..MisspellingRequest::default()
    }
}
