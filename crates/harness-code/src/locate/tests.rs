//! Whole searches in small projects: what a person would expect to come first.
#![expect(
    clippy::disallowed_methods,
    reason = "tests lay out a project to search in"
)]

use std::path::Path;

use proptest::prelude::*;

use crate::locate::{LocateOptions, Located, TaskOccurrences, locate, mentioned, signals, weights};
use crate::mention::Mentions;
use crate::request::Request;
use crate::tree::SourceTree;

/// A shop in five files.
const SHOP: &[(&str, &str)] = &[
    ("shop/__init__.py", "from .cart import Cart\n"),
    (
        "shop/cart.py",
        "\"\"\"The basket of a customer.\"\"\"\n\n\nclass Cart:\n    def total(self):\n        return sum(line.price for line in self.lines)\n\n    def apply_coupon(self, code):\n        raise ValueError(f\"no such coupon: {code}\")\n",
    ),
    (
        "shop/mailer.py",
        "def send_reminder(customer):\n    \"\"\"Sends a mail about unpaid invoices.\"\"\"\n    return customer.mail\n",
    ),
    (
        "shop/dates.py",
        "def parse_iso(text):\n    return text.split('-')\n",
    ),
    (
        "tests/test_cart.py",
        "from shop import Cart\n\n\ndef test_total():\n    assert Cart().total() == 0\n",
    ),
];

fn lay_out(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let full = folder.path().join(path);
        std::fs::create_dir_all(full.parent().unwrap_or(Path::new("."))).unwrap();
        std::fs::write(full, content).unwrap();
    }
    folder
}

fn search(text: &str) -> (Located, Mentions) {
    let folder = lay_out(SHOP);
    let (tree, occurrences) =
        TaskOccurrences::read(folder.path(), None, &Request::read(text)).unwrap();
    let (mentions, located) = locate(&tree, &occurrences, LocateOptions::default());
    (located, mentions)
}

#[track_caller]
fn check(text: &str, file: &str, definition: &str) {
    let (located, _) = search(text);
    assert_eq!(located.files[0].path.as_str(), file, "{:#?}", located.files);
    assert_eq!(
        located.definitions[0].name, definition,
        "{:#?}",
        located.definitions
    );
}

#[test]
fn a_named_method_comes_first() {
    check("Cart.total is one too low", "shop/cart.py", "Cart.total");
}

#[test]
fn words_of_a_docstring_are_enough() {
    check(
        "customers get no mail about their unpaid invoices",
        "shop/mailer.py",
        "send_reminder",
    );
}

#[test]
fn an_error_message_leads_to_the_line_that_raises_it() {
    check(
        "ValueError: no such coupon: XMAS",
        "shop/cart.py",
        "Cart.apply_coupon",
    );
}

#[test]
fn a_traceback_leads_to_its_last_frame() {
    let text = "crash\n\n  File \"/home/me/shop/cart.py\", line 6, in total\n    return sum()\n  File \"/home/me/shop/dates.py\", line 2, in parse_iso\n    return text.split('-')\nAttributeError: 'int' object has no attribute 'split'\n";
    check(text, "shop/dates.py", "parse_iso");
}

#[test]
fn every_signal_has_a_weight() {
    let folder = lay_out(SHOP);
    let (tree, occurrences) =
        TaskOccurrences::read(folder.path(), None, &Request::read("fix total")).unwrap();
    let (files, definitions) = signals(&tree, &occurrences, LocateOptions::default());
    for (signals, table) in [(files, weights::FILES), (definitions, weights::DEFINITIONS)] {
        let mut computed: Vec<&str> = signals.columns.iter().map(|(name, _)| *name).collect();
        let mut weighed = weights::names(table);
        computed.sort_unstable();
        weighed.sort_unstable();
        assert_eq!(computed, weighed);
    }
}

/// Files that no word of the task stands in, and that are meant all the same.
const UNITS: &[(&str, &str)] = &[
    ("units/__init__.py", ""),
    (
        "units/core.py",
        "class Unit:\n    def __pow__(self, other):\n        return self\n\n    def _eval_scale(self):\n        return 1\n\n    def copy(self):\n        return self\n",
    ),
    (
        "units/ascii/rst.py",
        "class Writer:\n    def write(self):\n        return ''\n",
    ),
    (
        "units/ascii/html.py",
        "class Writer:\n    def write(self):\n        return ''\n",
    ),
    ("units/other.py", "def other():\n    return 2\n"),
];

#[test]
fn what_is_not_written_is_found_by_what_it_does() {
    for (text, file, definition) in [
        (
            "wrong result\n\n```\nmetre ** 2\n```\n",
            "units/core.py",
            "Unit.__pow__",
        ),
        (
            "wrong result of metre.scale()",
            "units/core.py",
            "Unit._eval_scale",
        ),
        (
            "wrong header with format \"ascii.rst\"",
            "units/ascii/rst.py",
            "",
        ),
    ] {
        let folder = lay_out(UNITS);
        let (tree, occurrences) =
            TaskOccurrences::read(folder.path(), None, &Request::read(text)).unwrap();
        let (_, located) = locate(&tree, &occurrences, LocateOptions::default());
        assert_eq!(located.files[0].path.as_str(), file, "{text}");
        let found = &located.definitions[0];
        assert!(
            definition.is_empty() || found.name == definition,
            "{text}: {found:?}"
        );
    }
}

#[test]
fn tests_are_candidates_only_when_wanted() {
    let (located, _) = search("test_total fails in tests/test_cart.py");
    assert!(
        located
            .files
            .iter()
            .all(|hit| !hit.path.as_str().starts_with("tests/"))
    );
    let folder = lay_out(SHOP);
    let text = "test_total fails in tests/test_cart.py";
    let (tree, occurrences) =
        TaskOccurrences::read(folder.path(), None, &Request::read(text)).unwrap();
    let with_tests = LocateOptions {
        include_tests: true,
    };
    let (_, located) = locate(&tree, &occurrences, with_tests);
    assert!(
        located
            .files
            .iter()
            .any(|hit| hit.path.as_str() == "tests/test_cart.py")
    );
}

#[test]
fn an_everyday_word_is_a_name_where_its_file_is_told() {
    for (text, names) in [
        ("fix total in cart.py: it is too low", &["Cart.total"][..]),
        ("fix total in shop/cart.py.", &["Cart.total"]),
        ("fix `total` from ./shop/cart.py", &["Cart.total"]),
        ("fix total in dates.py", &[]),
        ("fix total in art.py", &[]),
        ("the total in the cart is wrong", &[]),
    ] {
        let found = search(text).1.definitions;
        let found: Vec<&str> = found.iter().map(|hit| &*hit.qualified).collect();
        assert_eq!(found, names, "{text}");
    }
}

#[test]
fn a_place_is_named_or_it_is_not() {
    for (text, named) in [
        ("clean up the code", false),
        ("make it faster", false),
        ("the totals come out one too low", false),
        ("improve error handling", false),
        ("fix apply_coupon", true),
        ("fix shop/dates.py", true),
        ("clean up the mailer", true),
        ("it says \"no such coupon\"", true),
        ("tests/test_cart.py::test_total fails", true),
        ("in `total` the sum is wrong", true),
        ("fix sending in shop.mailer", true),
    ] {
        assert_eq!(search(text).1.names_a_place(), named, "{text}");
    }
}

#[test]
fn the_words_of_a_task_are_known_by_the_files_that_hold_them() {
    let folder = lay_out(SHOP);
    let text = "apply_coupon says no such coupon";
    let (tree, occurrences) =
        TaskOccurrences::read(folder.path(), None, &Request::read(text)).unwrap();
    let again = TaskOccurrences::of(&tree, &Request::read(text));
    for occurrences in [occurrences, again] {
        let files_with = |word: &str| {
            let files = occurrences.files_with(&tree, word)?;
            Some(files.iter().map(|path| path.to_string()).collect())
        };
        assert_eq!(
            files_with("apply_coupon"),
            Some(vec!["shop/cart.py".to_string()])
        );
        assert_eq!(files_with("says"), Some(Vec::new()));
        assert_eq!(files_with("apply"), None);
    }
}

#[test]
fn an_empty_project_and_an_empty_task_find_nothing() {
    let folder = lay_out(&[]);
    let (tree, occurrences) =
        TaskOccurrences::read(folder.path(), None, &Request::read("")).unwrap();
    let (_, located) = locate(&tree, &occurrences, LocateOptions::default());
    assert_eq!(located, Located::default());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_task_makes_it_fail(text in "(\\PC|\n|`|\"|File \"|Error: |::|\\.py|/|import ){0,80}") {
        let (located, _) = search(&text);
        prop_assert_eq!(located.files.len(), 4);
    }
}

#[test]
fn an_ordinary_word_names_no_attribute() {
    let folder = tempfile::tempdir().unwrap();
    let text = "class Parts:\n    cookies: int = 0\n\n\ndef redirected(url):\n    return url\n";
    std::fs::write(folder.path().join("parts.py"), text).unwrap();
    let tree = SourceTree::read(folder.path(), None).unwrap();
    let named = |task: &str| {
        let mentions = mentioned(&tree, &TaskOccurrences::of(&tree, &Request::read(task)));
        let names = mentions.definitions.into_iter().map(|one| one.qualified);
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(named("cookies get lost"), "");
    assert_eq!(named("`cookies` is always zero"), "Parts.cookies");
    assert_eq!(named("redirected gives the old one"), "redirected");
}

#[test]
fn a_method_beside_its_type_is_named_by_both() {
    let folder = lay_out(&[
        (
            "version.go",
            "package semver\n\ntype Version struct {\n\tmajor uint64\n}\n",
        ),
        (
            "compare.go",
            "package semver\n\nfunc (v *Version) Equal(o *Version) bool {\n\treturn v.major == o.major\n}\n",
        ),
    ]);
    let (tree, occurrences) = TaskOccurrences::read(
        folder.path(),
        None,
        &Request::read("nil equality\nVersion.Equal"),
    )
    .unwrap();
    let named = mentioned(&tree, &occurrences).definitions;
    let named: Vec<&str> = named.iter().map(|one| &*one.qualified).collect();
    assert_eq!(named, ["Version.Equal"]);
}

#[test]
fn of_things_of_one_name_the_projects_own_come_first() {
    let meta = "class Book:\n    class Meta:\n        many = 1\n";
    let folder = lay_out(&[
        ("examples/a.py", meta),
        ("examples/b.py", meta),
        (
            "lib/url.py",
            "class Url:\n    pass\n\n\nclass Link:\n    pass\n",
        ),
        (
            "lib/fields.py",
            "from lib.url import Link as Url\n\nLink = Url\n",
        ),
        (
            "src/schema.py",
            "class Schema:\n    class Meta:\n        many = 2\n",
        ),
    ]);
    let named = |task: &str| {
        let (tree, occurrences) =
            TaskOccurrences::read(folder.path(), None, &Request::read(task)).unwrap();
        let named = mentioned(&tree, &occurrences).definitions.into_iter();
        named.map(|one| one.path.to_string()).next().unwrap()
    };
    assert_eq!(named("Add a many `Meta` option"), "src/schema.py");
    assert_eq!(named("Improve `Link`"), "lib/url.py");
}
