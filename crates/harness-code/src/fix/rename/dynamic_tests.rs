//! Names that a program reaches while it runs: renamed never, refused with the places.

use super::tests::{at, check, named, renamed};

const TAKEN: &str = "refused: all names of `Box` are taken at once, `size_of` among them";

/// A class with the member `size_of`, and more code after it.
#[track_caller]
fn in_class(more: &str, expected: &str) {
    let code = format!("class Box:\n    def size_of(self): return 1\n{more}");
    let shown = renamed(&[("a.py", &code)], &named("Box.size_of", "extent"));
    assert_eq!(
        shown
            .split_once(" [")
            .map_or(shown.as_str(), |(text, _)| text),
        expected,
        "{code}"
    );
}

/// A class whose instances hold the attribute `size_of`, and more methods.
#[track_caller]
fn in_instances(more: &str, expected: &str) {
    let code = format!("class Box:\n    def __init__(self): self.size_of = 1\n{more}");
    let shown = renamed(&[("a.py", &code)], &named("Box.size_of", "extent"));
    let shown = shown
        .split_once(" [")
        .map_or(shown.as_str(), |(text, _)| text);
    let shown = if shown.starts_with("-- a.py") {
        "renamed"
    } else {
        shown
    };
    assert_eq!(shown, expected, "{code}");
}

#[test]
fn a_class_whose_names_are_taken_at_once_keeps_them() {
    for more in [
        "for name in Box.__dict__: print(name)\n",
        "for name in vars(Box):\n    if name.startswith('size'): print(getattr(Box, name))\n",
        "for name, value in vars(Box).items(): print(name)\n",
        "names = dir(Box)\n",
        "names = dir(Box())\n",
        "import inspect\nfound = inspect.getmembers(Box)\n",
        "class Lid(Box):\n    def show(self): return dir(self)\n",
        "    @classmethod\n    def names(cls): return list(cls.__dict__)\n",
        "    def names(self): return [n for n in type(self).__dict__]\n",
    ] {
        in_class(more, TAKEN);
    }
}

#[test]
fn what_an_instance_holds_is_not_what_its_class_holds() {
    for more in [
        "    def show(self): return str(self.__dict__)\n",
        "    def show(self): return [k for k in vars(self)]\n",
        "    def copy(self): return Box(**self.__dict__)\n",
        "    def show(self): return '%(size_of)s' % self.__dict__\n",
        "    def show(self): return dir(self)\n",
    ] {
        in_instances(more, TAKEN);
    }
    for more in [
        "    def fill(self, more): self.__dict__.update(more)\n",
        "    def __getstate__(self): return self.__dict__.copy()\n",
        "    def __setstate__(self, state): self.__dict__ = state\n",
        "    def __eq__(self, other): return self.__dict__ == other.__dict__\n",
        "    def has(self, name): return name in self.__dict__\n",
        "    def has(self, name): return len(vars(self))\n",
        "    def twin(self, new): new.__dict__.update(self.__dict__)\n",
        "names = list(Box.__dict__)\n",
        "def show(thing): return vars(thing)\n",
    ] {
        in_instances(more, "renamed");
    }
    // A method is not kept in the instance.
    let code = "class Box:\n    def size_of(self): return 1\n    def show(self): return list(self.__dict__)\n";
    check(
        &[("a.py", code)],
        &named("Box.size_of", "extent"),
        &format!("-- a.py\n{}", code.replace("size_of", "extent")),
    );
}

#[test]
fn records_and_enumerations_whose_names_are_data_keep_them() {
    let record =
        "from dataclasses import dataclass, asdict\n@dataclass\nclass Box:\n    size_of: int = 0\n";
    check(
        &[("a.py", &format!("{record}print(asdict(Box()))\n"))],
        &named("Box.size_of", "extent"),
        &format!("{TAKEN} [\"a.py:5\"]"),
    );
    let colours = "import enum\nclass Box(enum.Enum):\n    size_of = 1\n    RED = 2\n";
    check(
        &[(
            "a.py",
            &format!("{colours}def find(name): return Box[name]\n"),
        )],
        &named("Box.size_of", "extent"),
        "refused: members of `Box` are looked up by computed names, `size_of` may be one [\"a.py:5\"]",
    );
}

#[test]
fn a_maker_of_classes_that_walks_them_keeps_their_names() {
    let expected = "refused: `Meta` takes all names of the classes it makes, `size_of` among them";
    let meta = "class Meta(type):\n    def __new__(mcs, name, bases, names):\n        for key, value in names.items(): print(key)\n        return super().__new__(mcs, name, bases, names)\n";
    check(
        &[(
            "a.py",
            &format!("{meta}class Box(metaclass=Meta):\n    size_of = 1\n"),
        )],
        &named("Box.size_of", "extent"),
        &format!("{expected} [\"a.py:5\"]"),
    );
    let decorator = "def listed(cls):\n    print(dir(cls))\n    return cls\n@listed\nclass Box:\n    size_of = 1\n";
    check(
        &[("a.py", decorator)],
        &named("Box.size_of", "extent"),
        "refused: `listed` takes all names of the classes it makes, `size_of` among them [\"a.py:4\"]",
    );
}

#[test]
fn a_string_that_spells_the_name_beside_computed_access_refuses() {
    let reason =
        "refused: attributes are reached by computed names, and a string may spell `size_of`";
    for more in [
        "    def all(self): return [getattr(self, name) for name in ('size_of', 'other')]\n",
        "    def one(self, kind):\n        name = 'size_' + kind\n        return getattr(self, name)\n",
        "    def one(self, kind):\n        name = f'size_{kind}'\n        return getattr(self, name, None)\n",
        "    def one(self, kind):\n        name = '%s_of' % kind\n        return self.__dict__[name]\n",
        "    def one(self, kind):\n        name = 'size_{}'.format(kind)\n        return vars(self).get(name)\n",
        "def pick(thing, name='size_of'): return getattr(thing, name)\n",
        "    def fill(self, **more): self.__dict__.update(more)\nBox(size_of=2)\n",
    ] {
        in_instances(more, reason);
    }
    // A string alone, or a computed name alone, says nothing.
    in_instances(
        "    def other(self, name): return getattr(self, name)\n",
        "renamed",
    );
    in_instances("key = {'size_of': 1}\n", "renamed");
    in_instances("key = 'size_' + 'x'\n", "renamed");
    // Where the dispatcher stands in another file that does not hold the name.
    check(
        &[
            (
                "base.py",
                "class Base:\n    def go(self, kind):\n        name = 'visit_' + kind\n        return getattr(self, name)()\n",
            ),
            (
                "more.py",
                "from base import Base\nclass More(Base):\n    def visit_call(self): ...\n",
            ),
        ],
        &named("More.visit_call", "see_call"),
        "refused: attributes are reached by computed names, and a string may spell `visit_call` [\"base.py:3\"]",
    );
    check(
        &[(
            "a.py",
            "class Box:\n    def __init__(self): self.size_of = 1\nprint('{0.size_of!r}'.format(Box()))\n",
        )],
        &named("Box.size_of", "extent"),
        "refused: `size_of` is reached through a string [\"a.py:3\"]",
    );
}

#[test]
fn a_module_that_walks_its_own_names_keeps_them() {
    check(
        &[(
            "m.py",
            "def drop_it(): ...\n__all__ = [name for name in dir() if name[0] != '_']\n",
        )],
        &named("drop_it", "lose_it"),
        "refused: all names of the module are taken at once, `drop_it` among them [\"m.py:2\"]",
    );
    check(
        &[(
            "m.py",
            "def drop_it(): ...\ndef call(kind):\n    name = 'drop_' + kind\n    return globals()[name]()\n",
        )],
        &named("drop_it", "lose_it"),
        "refused: attributes are reached by computed names, and a string may spell `drop_it` [\"m.py:3\"]",
    );
    check(
        &[("m.py", "def drop_it(): ...\nglobals()['other'] = 1\n")],
        &at("m.py", 1, "drop_it", "lose_it"),
        "-- m.py\ndef lose_it(): ...\nglobals()['other'] = 1\n",
    );
}

#[test]
fn what_is_found_by_its_name_keeps_being_found() {
    let lost =
        "refused: tests are found by their names, and `check_one` would not be found any more []";
    check(
        &[("test_a.py", "def test_one(): ...\n")],
        &named("test_one", "check_one"),
        lost,
    );
    check(
        &[(
            "a.py",
            "import unittest\nclass T(unittest.TestCase):\n    def test_one(self): ...\n",
        )],
        &named("test_one", "check_one"),
        lost,
    );
    check(
        &[("test_a.py", "def helper(): ...\n")],
        &named("helper", "test_it"),
        "refused: tests are found by their names, and `test_it` would be taken for one []",
    );
    check(
        &[("test_a.py", "def test_one(): ...\n")],
        &named("test_one", "test_two"),
        "-- test_a.py\ndef test_two(): ...\n",
    );
    check(
        &[(
            "a.py",
            "from http.server import BaseHTTPRequestHandler\nclass H(BaseHTTPRequestHandler):\n    def do_GET(self): ...\n",
        )],
        &named("H.do_GET", "get_it"),
        "refused: `BaseHTTPRequestHandler` calls methods whose names begin with `do_` []",
    );
}

#[test]
fn a_name_that_is_shown_as_text_is_refused_where_a_string_expects_it() {
    let shown = "refused: the name `Foo` is shown as text, and a string may expect it";
    check(
        &[(
            "a.py",
            "class Foo:\n    def __repr__(self): return type(self).__name__ + '()'\nassert repr(Foo()) == 'Foo()'\n",
        )],
        &named("Foo", "Bar"),
        &format!("{shown} [\"a.py:3\"]"),
    );
    check(
        &[(
            "a.py",
            "import enum\nclass Foo(enum.Enum):\n    RED = 1\nassert str(Foo.RED) == 'Foo.RED'\n",
        )],
        &named("Foo", "Bar"),
        &format!("{shown} [\"a.py:4\"]"),
    );
    check(
        &[(
            "a.py",
            "class Foo:\n    def __repr__(self): return type(self).__name__\nprint(Foo(), 'Foo is here')\n",
        )],
        &named("Foo", "Bar"),
        "-- a.py\nclass Bar:\n    def __repr__(self): return type(self).__name__\nprint(Bar(), 'Foo is here')\n",
    );
    check(
        &[("a.py", "def fff(): ...\ncode = 'fff()'\nexec(code)\n")],
        &named("fff", "ggg"),
        "refused: texts are run as code, and one holds `fff` [\"a.py:2\"]",
    );
}

#[test]
fn a_keyword_that_others_collect_and_give_on_is_refused() {
    let files = |call: &str| {
        format!(
            "def cached(size=1, typed=False): return typed\nclass Base:\n    made = staticmethod(cached)\n    def make(self, **more): return self.made(1, **more)\n{call}\n"
        )
    };
    let reason = "refused: `cached` is handed on as a value, and calls of something unknown pass `typed` [\"a.py:5\"]";
    for call in ["Base().make(typed=True)", "options = dict(typed=True)"] {
        check(
            &[("a.py", &files(call))],
            &at("a.py", 1, "typed", "kind"),
            reason,
        );
    }
    // A dictionary of arguments that comes from a file which does not hold the name.
    check(
        &[
            ("a.py", "def cached(size=1, typed=False): return typed\n"),
            (
                "b.py",
                "from a import cached\ndef make(**more): return cached(**more)\n",
            ),
        ],
        &at("a.py", 1, "typed", "kind"),
        "refused: a call passes a dictionary, which may hold `typed` [\"b.py:2\"]",
    );
}

#[test]
fn a_class_that_functions_are_named_after_keeps_its_name() {
    let visitor = |dispatch: &str, method: &str| {
        format!(
            "class Visitor:\n    def visit(self, node):\n        return getattr(self, {dispatch})(node)\n    def {method}(self, node): ...\n"
        )
    };
    for (dispatch, method) in [
        ("f'visit_{type(node).__name__}'", "visit_CallBlock"),
        (
            "'visit_' + node.__class__.__name__.lower()",
            "visit_callblock",
        ),
        (
            "'visit_%s' % snake(type(node).__name__)",
            "visit_call_block",
        ),
    ] {
        check(
            &[
                ("nodes.py", "class CallBlock: ...\n"),
                ("walk.py", &visitor(dispatch, method)),
            ],
            &named("CallBlock", "Block"),
            "refused: functions are found through names like `CallBlock`, and one is named after it [\"walk.py:4\"]",
        );
    }
}

#[test]
fn a_loop_that_only_looks_the_names_up_again_does_not_count() {
    for more in [
        "    def __init_subclass__(cls):\n        for name in vars(cls):\n            if name.startswith('_'): continue\n            made = getattr(cls, name)\n",
        "found = [getattr(Box, name) for name in dir(Box) if callable(getattr(Box, name))]\n",
        "for name, value in Box.__dict__.items():\n    setattr(Box, name, value)\n",
        "import inspect\nfor name, value in inspect.getmembers(Box):\n    setattr(Box, name, value)\n",
        "for value in vars(Box).values(): print(value)\n",
    ] {
        let code = format!("class Box:\n    def size_of(self): return 1\n{more}");
        check(
            &[("a.py", &code)],
            &named("Box.size_of", "extent"),
            &format!("-- a.py\n{}", code.replace("size_of", "extent")),
        );
    }
}

#[test]
fn an_attribute_that_a_template_in_a_string_reaches_keeps_its_name() {
    for (template, why) in [
        (
            "'%if order.total:\\n<p>To pay: {{repr(order.total)}}</p>\\n%end'",
            "is reached by its name from a template",
        ),
        ("'<p>{{order.total}}</p>'", "is reached through a string"),
    ] {
        let code = format!(
            "class Order:\n    def __init__(self):\n        self.total = 1\nPAGE = {template}\n"
        );
        check(
            &[("a.py", &code)],
            &named("Order.total", "sum_of"),
            &format!("refused: `total` {why} [\"a.py:4\"]"),
        );
    }
    let code =
        "class Order:\n    def __init__(self):\n        self.total = 1\nHELP = 'see Order.total'\n";
    check(
        &[("a.py", code)],
        &named("Order.total", "sum_of"),
        &format!("-- a.py\n{}", code.replace("self.total", "self.sum_of")),
    );
}
