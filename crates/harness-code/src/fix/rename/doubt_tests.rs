//! Names that a program may reach while it runs: asked about with the places, and done as the user says.

use super::tests::{at, check, named, renamed};
use crate::request::rename::{Doubts, Rename};

const TAKEN: &str = "all names of `Box` are taken at once, `size_of` among them";

/// The first reason of a question about doubts; what else is shown stays as it is.
fn reason(shown: &str) -> &str {
    let doubt = shown.strip_prefix("doubt: `");
    doubt
        .and_then(|doubt| doubt.split_once("`: "))
        .map_or(shown, |(_, reason)| reason)
}

/// A class with the member `size_of`, and more code after it.
#[track_caller]
fn in_class(more: &str, expected: &str) {
    let code = format!("class Box:\n    def size_of(self): return 1\n{more}");
    let shown = renamed(&[("a.py", &code)], &named("Box.size_of", "extent"));
    assert_eq!(reason(&shown), expected, "{code}");
}

/// A class whose instances hold the attribute `size_of`, and more methods.
#[track_caller]
fn in_instances(more: &str, expected: &str) {
    let code = format!("class Box:\n    def __init__(self): self.size_of = 1\n{more}");
    let shown = renamed(&[("a.py", &code)], &named("Box.size_of", "extent"));
    let shown = match reason(&shown) {
        changed if changed.starts_with("-- a.py") => "renamed",
        reason => reason,
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
        &format!("doubt: `a.py:5`: {TAKEN}"),
    );
    let colours = "import enum\nclass Box(enum.Enum):\n    size_of = 1\n    RED = 2\n";
    check(
        &[(
            "a.py",
            &format!("{colours}def find(name): return Box[name]\n"),
        )],
        &named("Box.size_of", "extent"),
        "doubt: `a.py:5`: members of `Box` are looked up by computed names, `size_of` may be one",
    );
}

#[test]
fn a_maker_of_classes_that_walks_them_keeps_their_names() {
    let expected =
        "doubt: `a.py:5`: `Meta` takes all names of the classes it makes, `size_of` among them";
    let meta = "class Meta(type):\n    def __new__(mcs, name, bases, names):\n        for key, value in names.items(): print(key)\n        return super().__new__(mcs, name, bases, names)\n";
    check(
        &[(
            "a.py",
            &format!("{meta}class Box(metaclass=Meta):\n    size_of = 1\n"),
        )],
        &named("Box.size_of", "extent"),
        expected,
    );
    let decorator = "def listed(cls):\n    print(dir(cls))\n    return cls\n@listed\nclass Box:\n    size_of = 1\n";
    check(
        &[("a.py", decorator)],
        &named("Box.size_of", "extent"),
        "doubt: `a.py:4`: `listed` takes all names of the classes it makes, `size_of` among them",
    );
}

#[test]
fn a_string_that_spells_the_name_beside_computed_access_refuses() {
    let reason = "attributes are reached by computed names, and a string may spell `size_of`";
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
        "doubt: `base.py:3`: attributes are reached by computed names, and a string may spell `visit_call`",
    );
    check(
        &[(
            "a.py",
            "class Box:\n    def __init__(self): self.size_of = 1\nprint('{0.size_of!r}'.format(Box()))\n",
        )],
        &named("Box.size_of", "extent"),
        "doubt: `a.py:3`: `size_of` is reached by its name from a template",
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
        "doubt: `m.py:2`: all names of the module are taken at once, `drop_it` among them",
    );
    check(
        &[(
            "m.py",
            "def drop_it(): ...\ndef call(kind):\n    name = 'drop_' + kind\n    return globals()[name]()\n",
        )],
        &named("drop_it", "lose_it"),
        "doubt: `m.py:3`: attributes are reached by computed names, and a string may spell `drop_it`",
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
fn a_name_that_is_shown_as_text_is_asked_about_where_a_string_expects_it() {
    let shown = "the name `Foo` is shown as text, and a string may expect it";
    check(
        &[(
            "a.py",
            "class Foo:\n    def __repr__(self): return type(self).__name__ + '()'\nassert repr(Foo()) == 'Foo()'\n",
        )],
        &named("Foo", "Bar"),
        &format!("doubt: `a.py:3`: {shown}"),
    );
    check(
        &[(
            "a.py",
            "import enum\nclass Foo(enum.Enum):\n    RED = 1\nassert str(Foo.RED) == 'Foo.RED'\n",
        )],
        &named("Foo", "Bar"),
        &format!("doubt: `a.py:4`: {shown}"),
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
        "doubt: `a.py:2`: texts are run as code, and one holds `fff`",
    );
}

#[test]
fn a_keyword_that_others_collect_and_give_on_is_asked_about() {
    let files = |call: &str| {
        format!(
            "def cached(size=1, typed=False): return typed\nclass Base:\n    made = staticmethod(cached)\n    def make(self, **more): return self.made(1, **more)\n{call}\n"
        )
    };
    let reason = "doubt: `a.py:5`: `cached` is handed on as a value, and calls of something unknown pass `typed`";
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
        "doubt: `b.py:2`: a call passes a dictionary, which may hold `typed`",
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
            "doubt: `walk.py:4`: functions are found through names like `CallBlock`, and one is named after it",
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
    for template in [
        "'%if order.total:\\n<p>To pay: {{repr(order.total)}}</p>\\n%end'",
        "'<p>{{order.total}}</p>'",
    ] {
        let code = format!(
            "class Order:\n    def __init__(self):\n        self.total = 1\nPAGE = {template}\n"
        );
        check(
            &[("a.py", &code)],
            &named("Order.total", "sum_of"),
            "doubt: `a.py:4`: `total` is reached by its name from a template",
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

#[test]
fn a_pattern_counts_where_both_ends_fit_and_the_gap_can_be_filled() {
    let asked = "attributes are reached by computed names, and a string may spell `size_of`";
    for (pattern, expected) in [
        ("'size_%s' % kind", asked),
        ("'%s_of' % kind", asked),
        ("'si%s_of' % kind", asked),
        ("'si' + kind + '_of'", asked),
        ("f'{kind}_of'", asked),
        ("f's{kind}f'", asked),
        ("'size_%s_all' % kind", "renamed"),
        ("'get_%s_of' % kind", "renamed"),
        ("'get_' + kind + '_of'", "renamed"),
        ("'size_%d' % kind", "renamed"),
        ("'size_%02X' % kind", "renamed"),
        ("'size_{:d}'.format(kind)", "renamed"),
        ("f'size_{kind:02x}'", "renamed"),
        ("'%s' % kind", "renamed"),
    ] {
        in_instances(
            &format!(
                "    def one(self, kind):\n        name = {pattern}\n        return getattr(self, name)\n"
            ),
            expected,
        );
    }
}

#[test]
fn a_pattern_that_fits_nearly_every_name_counts_where_names_of_the_class_are_computed() {
    let asked = "attributes are reached by computed names, and a string may spell `_size`";
    let code = |thing: &str| {
        format!(
            "class Box:\n    def _size(self): return 1\n    def one(self, kind, other):\n        name = '_' + kind\n        return getattr({thing}, name)\n"
        )
    };
    let shown = |thing| renamed(&[("a.py", &code(thing))], &named("Box._size", "_extent"));
    assert_eq!(reason(&shown("self")), asked);
    assert!(shown("other").starts_with("-- a.py"), "{}", shown("other"));
}

#[test]
fn the_globals_of_another_module_are_not_reached() {
    let other = (
        "other.py",
        "def call(kind):\n    name = 'drop_' + kind\n    return globals()[name]()\n",
    );
    check(
        &[("m.py", "def drop_it(): ...\n"), other],
        &named("drop_it", "lose_it"),
        "-- m.py\ndef lose_it(): ...\n",
    );
}

const SHOP: &[(&str, &str)] = &[
    (
        "shop.py",
        "class Cart:\n    def total(self): return 1\nclass Till:\n    def total(self): return 2\ndef pay(thing): return thing.total()\nCart().total()\n",
    ),
    (
        "test_shop.py",
        "from shop import Cart\ndef test_it():\n    assert getattr(Cart(), 'total')() == 1\n",
    ),
];

fn with(doubts: Doubts) -> Rename {
    Rename {
        doubts,
        ..named("Cart.total", "subtotal")
    }
}

#[test]
fn the_question_says_what_is_certain_what_is_not_and_how_to_go_on() {
    assert_eq!(
        super::tests::asked(SHOP, &with(Doubts::Ask)),
        "2 places are certain; `shop.py:5`: what `.total` belongs to is not known, and `Till` has one too; \
         `test_shop.py:3`: `total` is reached through a string. Rename it there too, leave it, or stop?\n\
         rename `Cart.total` to `subtotal` in strings too\n\
         rename `Cart.total` to `subtotal` and leave the rest\n\
         stop"
    );
    // Where no whole name stands there is nothing to rename too.
    let code = "class Box:\n    def size_of(self): return 1\nnames = dir(Box)\n";
    assert_eq!(
        super::tests::asked(
            &[("a.py", code)],
            &Rename {
                in_comments: true,
                ..at("a.py", 2, "size_of", "extent")
            }
        ),
        "1 place is certain; `a.py:3`: all names of `Box` are taken at once, `size_of` among them. \
         Leave that and rename the rest, or stop?\n\
         rename `size_of` at a.py:2 to `extent`, also in comments, and leave the rest\n\
         stop"
    );
}

#[test]
fn both_answers_are_done() {
    check(
        SHOP,
        &with(Doubts::Leave),
        "-- shop.py\nclass Cart:\n    def subtotal(self): return 1\nclass Till:\n    def total(self): return 2\ndef pay(thing): return thing.total()\nCart().subtotal()\n",
    );
    check(
        SHOP,
        &with(Doubts::Include),
        "-- shop.py\nclass Cart:\n    def subtotal(self): return 1\nclass Till:\n    def total(self): return 2\ndef pay(thing): return thing.subtotal()\nCart().subtotal()\n-- test_shop.py\nfrom shop import Cart\ndef test_it():\n    assert getattr(Cart(), 'subtotal')() == 1\n",
    );
    let settings = [
        ("m.py", "def main_cmd(): ...\n"),
        ("pyproject.toml", "tool = \"m:main_cmd\"\n"),
    ];
    check(
        &settings,
        &Rename {
            doubts: Doubts::Include,
            ..named("main_cmd", "entry")
        },
        "-- m.py\ndef entry(): ...\n-- pyproject.toml\ntool = \"m:entry\"\n",
    );
}

#[test]
fn the_options_are_sentences_that_are_read() {
    let read = |task: &str| match super::tests::read_rename(task).as_slice() {
        [one] => Some((one.old.clone(), one.new.clone(), one.doubts)),
        _ => None,
    };
    let some = |old: &str, new: &str, doubts| Some((old.to_string(), new.to_string(), doubts));
    for (task, expected) in [
        (
            "rename foo to bar and leave the rest",
            some("foo", "bar", Doubts::Leave),
        ),
        (
            "rename `foo` to `bar`, leave everything else alone.",
            some("foo", "bar", Doubts::Leave),
        ),
        (
            "rename foo to bar but leave the strings",
            some("foo", "bar", Doubts::Leave),
        ),
        (
            "rename foo to bar in strings too",
            some("foo", "bar", Doubts::Include),
        ),
        (
            "rename `foo` to `bar`, also in comments, in strings too",
            some("foo", "bar", Doubts::Include),
        ),
        (
            "rename foo to bar including strings",
            some("foo", "bar", Doubts::Include),
        ),
        // An answer stands below the task, whole or in short.
        (
            "rename the method foo to bar\nrename `A.foo` to `bar` and leave the rest",
            some("A.foo", "bar", Doubts::Leave),
        ),
        (
            "rename foo to bar\nleave it",
            some("foo", "bar", Doubts::Leave),
        ),
        (
            "rename foo to bar\nrename it there too",
            some("foo", "bar", Doubts::Include),
        ),
        ("rename foo to bar", some("foo", "bar", Doubts::Ask)),
        ("rename foo to bar and leave a note about it", None),
    ] {
        assert_eq!(read(task), expected, "{task}");
    }
}

#[test]
fn an_example_in_a_docstring_follows_where_it_makes_its_own_receiver() {
    let code = |example: &str, call: &str| {
        format!(
            "class Span:\n    '''Time.\n\n    >>> {example}{call}()\n    '''\n    def plain(self): return self\nclass Other:\n    def plain(self): ...\n"
        )
    };
    for example in ["Span(days=1).", "s = Span()\n    >>> s."] {
        check(
            &[("a.py", &code(example, "plain"))],
            &named("Span.plain", "normal"),
            &format!(
                "-- a.py\n{}",
                code(example, "normal").replacen("def plain", "def normal", 1)
            ),
        );
    }
    check(
        &[("a.py", &code("thing.", "plain"))],
        &named("Span.plain", "normal"),
        "doubt: `a.py:4`: what `.plain` belongs to is not known, and `Other` has one too",
    );
}
