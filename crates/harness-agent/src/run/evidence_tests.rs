//! Stories with verdicts: a task, what was changed, what the tests said before and after.

use harness_code::locate::TaskOccurrences;
use harness_hands::process::sandbox::Sandbox;

use super::*;
use crate::env::Environment;
use crate::options::AgentOptions;

const PRICING: &str = "def line_total(price, quantity):\n    return price * quantity\n\n\ndef apply_discount(total, percent):\n    \"\"\"The total less percent per cent.\"\"\"\n    return total - percent\n";
const REPORT: &str = "from shop.pricing import line_total\n\n\ndef euros(cents):\n    return f\"{cents / 100:.2f}\"\n\n\ndef report(lines):\n    return sum(line_total(price, quantity) for price, quantity in lines)\n";
const TESTS: &str = "import copy\nimport unittest\n\nfrom shop.pricing import apply_discount, line_total\n\n\nclass PricingTest(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(line_total(2, 3), 6)\n\n    def test_discount(self):\n        self.assertEqual(apply_discount(200, 10), 180)\n\n    def test_odd(self):\n        self.assertEqual(report([]), 0)\n";
const RUST: &str = "pub fn lower(s: &str) -> String {\n    s.to_lowercase()\n}\n\npub fn shout(s: &str) -> String {\n    lower(s) + \"!\"\n}\n";

const PARSE: &str = "class Line:\n    def parse_line(self, text):\n        return text\n\n\nclass Word:\n    def parse_line(self, text):\n        return text\n";

const FAR: &str =
    "pub const FAR: u8 = 1;\n\npub struct Far {\n    at: u8,\n}\n\npub struct Near {}\n";

/// The project of every story.
const FILES: [(&str, &str); 14] = [
    ("a/parse.py", PARSE),
    ("b/parse.py", PARSE),
    ("shop/__init__.py", ""),
    ("shop/pricing.py", PRICING),
    ("shop/report.py", REPORT),
    ("shop/fee.py", "def fee(total):\n    return 1\n"),
    ("shop/fee.pyi", "def fee(total: int) -> int: ...\n"),
    ("tests/test_shop.py", TESTS),
    ("src/lib.rs", RUST),
    ("src/far.rs", FAR),
    (
        "tests/test_more.py",
        "from shop.pricing import subtotal\n\n\ndef test_subtotal():\n    assert subtotal([1]) == 1\n",
    ),
    (
        "tests/shout.rs",
        "#[test]\nfn test_shout() {\n    assert_eq!(shout(\"A\"), \"a!\");\n}\n",
    ),
    (
        "tests/test_cents.py",
        "def test_cents():\n    assert apply_discount(1, 1, in_cents=True)\n",
    ),
    ("README.md", "# Shop\n"),
];

/// Returns what a report says from a line such as `total+ discount-`: passed, failed, skipped (`~`). Behind `@` stands a
/// place that the traceback names. `more?` is a file of tests that lacks a package, `more/total-` a test of another file.
fn report(line: &str) -> SuiteReport {
    let mut report = SuiteReport::could_not_start(String::new(), Sandbox::None);
    report.outcome = Outcome::Ran;
    for word in line.split_whitespace() {
        let (word, place) = word.split_once('@').unwrap_or((word, ""));
        let (name, sign) = word.split_at(word.len() - 1);
        let id = match name.split_once('/') {
            Some((file, name)) => format!("tests/test_{file}.py::test_{name}"),
            None => format!("tests.test_shop.PricingTest.test_{name}"),
        };
        report.collected += 1;
        match sign {
            "+" => {
                report.passed += 1;
                report.passed_ids.push(id);
            }
            "~" => report.skipped += 1,
            "?" => {
                report.errors += 1;
                report.lacking.insert("whatever".to_owned(), 1);
                report.failures.push(Failure {
                    id: format!("tests/test_{name}.py"),
                    message: "E   ModuleNotFoundError: No module named 'whatever'".to_owned(),
                    traceback: String::new(),
                    file: None,
                    line: None,
                    hung: None,
                });
            }
            _ => {
                report.failed += 1;
                report.failures.push(Failure {
                    id,
                    // `!` fails in another way than `-`.
                    message: if sign == "!" {
                        "TypeError"
                    } else {
                        "AssertionError"
                    }
                    .to_owned(),
                    traceback: format!("tests/test_shop.py:11: in test_{name}\n{place}: in it\n"),
                    file: Some("tests/test_shop.py".to_owned()),
                    line: Some(11),
                    hung: None,
                });
            }
        }
    }
    report.passed_ids.sort();
    report
}

/// One story.
struct Story<'a> {
    task: &'a str,
    /// Files as the run would leave them; an empty text is a file that goes.
    files: &'a [(&'a str, &'a str)],
    before: Option<&'a str>,
    after: Option<&'a str>,
    observed: Observed,
    elsewhere: bool,
    /// Whether the model listed the places.
    is_listed: bool,
}

impl Story<'_> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the project of a test is a temporary folder"
    )]
    fn look<T>(&self, look: impl FnOnce(&Evidence<'_>) -> T) -> T {
        let folder = tempfile::tempdir().unwrap();
        // Without a report there are no tests at all.
        let is_there = |path: &str| self.after.is_some() || !path.starts_with("tests/");
        for (path, text) in FILES.into_iter().filter(|(path, _)| is_there(path)) {
            let place = folder.path().join(path);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, text).unwrap();
        }
        let tree = SourceTree::read(folder.path(), None).unwrap();
        let task = Request::read(self.task);
        let occurrences = TaskOccurrences::of(&tree, &task);
        let options = AgentOptions::new(folder.path());
        let mut plan = Plan::make(
            &task,
            &tree,
            &occurrences,
            &options,
            &Environment::default(),
        );
        if self.is_listed {
            plan = plan.with_listed_places();
        }
        let changes: Vec<FileChange> = self
            .files
            .iter()
            .map(|(path, after)| {
                let path = RelPath::parse(path).unwrap();
                let mut known = FILES.iter();
                let before = known.find(|(known, _)| *known == path.as_str());
                FileChange {
                    before: before.map(|(_, text)| (*text).to_owned()),
                    after: (!after.is_empty()).then(|| (*after).to_owned()),
                    path,
                }
            })
            .collect();
        let before = self.before.map(report);
        let mut after = self.after.map(report);
        if let (true, Some(after)) = (self.elsewhere, &mut after) {
            let path = "/usr/lib/python3/site-packages/shop/pricing.py".to_owned();
            after
                .imported_elsewhere
                .insert("shop.pricing".to_owned(), path);
        }
        let evidence = Evidence {
            task: &task,
            plan: &plan,
            changes: &changes,
            tree: &tree,
            has_suite: self.after.is_some(),
            before: before.as_ref(),
            after: after.as_ref(),
            observed: &self.observed,
        };
        look(&evidence)
    }

    fn verdict(&self) -> Verdict {
        self.look(|evidence| evidence.verdict())
    }
}

/// Returns the verdict in a word, with the rule that is not met.
fn word(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Proven(_) => "proven".to_owned(),
        Verdict::Worse(_) => "worse".to_owned(),
        Verdict::Unfinished { rule, .. } => (*rule).to_owned(),
        Verdict::Unverified(_) => "unverified".to_owned(),
    }
}

fn told(
    task: &str,
    files: &[(&str, &str)],
    before: &str,
    after: &str,
    observed: Observed,
) -> String {
    let story = Story {
        task,
        files,
        before: Some(before),
        after: Some(after),
        observed,
        elsewhere: false,
        is_listed: false,
    };
    word(&story.verdict())
}

fn id(name: &str) -> String {
    format!("tests.test_shop.PricingTest.test_{name}")
}

/// What it shows, the task, the files afterwards, the tests before and after, the verdict.
type Fixing<'a> = (&'a str, &'a str, Files<'a>, &'a str, &'a str, &'a str);
/// What it shows, the files afterwards, the tests before and after, what else was seen, the verdict.
type Seen<'a> = (
    &'a str,
    &'a [(&'a str, &'a str)],
    &'a str,
    &'a str,
    Observed,
    &'a str,
);
/// What it shows, the task, the files afterwards, the tests after, the verdict.
type Asking<'a> = (&'a str, &'a str, Files<'a>, &'a str, &'a str);
type Files<'a> = Vec<(&'a str, &'a str)>;

const FIX: &str = "fix apply_discount in shop/pricing.py: it subtracts the percentage";
const NOTHING: &str = "finish.nothing_changed";
const FAILING: &str = "finish.tests_failing";
const NOT_ADDED: &str = "finish.not_added";
const STILL_THERE: &str = "finish.still_there";

fn fixed() -> String {
    PRICING.replace("total - percent", "total * (100 - percent) / 100")
}

fn no_better() -> String {
    PRICING.replace("total - percent", "total - percent - 0")
}

#[test]
fn fixes_are_judged_by_the_tests_that_blame_what_the_task_names() {
    let (fixed, no_better) = (fixed(), no_better());
    let documented = PRICING.replace("The total less", "The whole less");
    let commented = PRICING.replace(
        "    return total - percent",
        "    # why\n    return total - percent",
    );
    let other = PRICING.replace("price * quantity", "quantity * price");
    let named_test = "fix tests/test_shop.py::PricingTest::test_discount";
    let by_function = "test_discount fails";
    let by_file = "fix apply_discount in shop/pricing.py so that tests/test_shop.py passes";
    let red = "total+ discount-";
    let far = "total+ discount- odd-@shop/report.py:9";
    let two = "total+ discount-@shop/pricing.py:7 odd-@shop/pricing.py:2";
    let left = "total+ discount+ odd-@shop/pricing.py:2";
    let pricing = "shop/pricing.py";
    #[rustfmt::skip]
    let stories: Vec<Fixing<'_>> = vec![
        ("a right fix", FIX, vec![(pricing, &fixed)], red, "total+ discount+", "proven"),
        ("an unrelated new file", FIX, vec![("shop/other.py", "OTHER = 1\n")], red, red, NOTHING),
        ("a readme", FIX, vec![("README.md", "# Shop\nfixed\n")], red, red, NOTHING),
        ("another definition", FIX, vec![(pricing, &other)], red, red, FAILING),
        ("no better", FIX, vec![(pricing, &no_better)], red, red, FAILING),
        ("skipped now", FIX, vec![(pricing, &no_better)], red, "total+ discount~", FAILING),
        ("not collected any more", FIX, vec![(pricing, &no_better)], red, "total+", FAILING),
        ("another test breaks", FIX, vec![(pricing, &fixed)], red, "total- discount+", "worse"),
        ("another test is skipped", FIX, vec![(pricing, &fixed)], red, "total~ discount+", "worse"),
        ("another test is gone", FIX, vec![(pricing, &fixed)], red, "discount+", "worse"),
        ("a new red test", FIX, vec![(pricing, &fixed)], "total+ discount-", "total+ discount+ new-", "proven"),
        ("one more red than before", FIX, vec![(pricing, &no_better)], red, "total+ discount- new-", "worse"),
        ("nothing passes", FIX, vec![(pricing, &no_better)], "discount-", "discount-", FAILING),
        ("only a test is changed", FIX, vec![("tests/test_shop.py", TESTS)], red, "total+ discount+", NOTHING),
        ("an unrelated red test stays", FIX, vec![(pricing, &fixed)], far, "total+ discount+ odd-@shop/report.py:9", "proven"),
        ("a file of tests that lacks a package stays", FIX, vec![(pricing, &fixed)], "total+ discount- more?", "total+ discount+ more?", "proven"),
        ("such a file speaks of it", FIX, vec![(pricing, &fixed)], "total+ shop?", "total+ shop?", FAILING),
        ("only such a file is named", "fix apply_discount so that tests/test_more.py passes", vec![(pricing, &fixed)], "total+ discount- more?", "total+ discount+ more?", FAILING),
        ("a red test that passes through it stays", FIX, vec![(pricing, &fixed)], "total+ discount- odd-@shop/pricing.py:7", "total+ discount+ odd-@shop/pricing.py:7", FAILING),
        ("no test is red and it is changed", FIX, vec![(pricing, &fixed)], "total+", "total+", "proven"),
        ("no test is red and another is changed", FIX, vec![(pricing, &other)], "total+", "total+", NOTHING),
        ("no test is red, a comment", FIX, vec![(pricing, &commented)], "total+", "total+", NOTHING),
        ("no test is red, its documentation", FIX, vec![(pricing, &documented)], "total+", "total+", NOTHING),
        ("no test is red, its documentation was asked for", "fix the docstring of apply_discount in shop/pricing.py", vec![(pricing, &documented)], "total+", "total+", "proven"),
        ("the named test passes", named_test, vec![(pricing, &fixed)], red, "total+ discount+", "proven"),
        ("the named test stays red", named_test, vec![(pricing, &no_better)], red, red, FAILING),
        ("the named test never ran", named_test, vec![(pricing, &fixed)], "total+ odd-", "total+ odd+", FAILING),
        ("the named case stays red", "fix tests/test_shop.py::PricingTest::test_discount[a-b]", vec![(pricing, &no_better)], "total+ discount[a-b]- odd-", "total+ discount[a-b]- odd+", FAILING),
        ("the named test is skipped", named_test, vec![(pricing, &no_better)], red, "total+ discount~", FAILING),
        ("a test named as a function stays red", by_function, vec![(pricing, &no_better)], red, red, FAILING),
        ("a test named as a function passes", by_function, vec![(pricing, &fixed)], red, "total+ discount+", "proven"),
        ("the named file of tests passes", by_file, vec![(pricing, &fixed)], red, "total+ discount+", "proven"),
        ("one of the named file stays red", by_file, vec![(pricing, &fixed)], "total- discount-", "total- discount+", FAILING),
        ("a named file, its traceback stays", "fix the error in shop/report.py", vec![("shop/report.py", "def report(lines):\n    return 0\n")], "total+ odd-@shop/report.py:9", "total+ odd-@shop/report.py:2", FAILING),
        ("red in another way", FIX, vec![(pricing, &fixed)], "total+ odd-", "total+ odd!", FAILING),
        ("one of two faults of the file that answered the question", "the discount comes out wrong somehow\nshop/pricing.py", vec![(pricing, &fixed)], two, left, "proven"),
        ("one of two faults in the same definition", "the discount comes out wrong somehow\nshop/pricing.py", vec![(pricing, &fixed)], "total+ discount- odd-@shop/pricing.py:7", "total+ discount+ odd-@shop/pricing.py:7", FAILING),
        ("none of them", "the discount comes out wrong somehow\nshop/pricing.py", vec![(pricing, &no_better)], two, two, FAILING),
        ("one of another file", "the discount comes out wrong somehow\nshop/pricing.py", vec![("shop/report.py", "def report(lines):\n    return 0\n")], far, "total+ discount- odd+", FAILING),
        ("one of another definition", "sums are wrong for bulk orders\napply_discount in shop/pricing.py", vec![(pricing, &other)], "total- discount-", "total+ discount-", FAILING),
        ("one of all that were meant", "fix all the bugs there\nshop/pricing.py", vec![(pricing, &fixed)], two, left, FAILING),
        ("one that a line between does not name", "the monthly sums are wrong\nline_total loses cents\nshop/pricing.py", vec![(pricing, &fixed)], "total- discount-", "total- discount+", FAILING),
        ("one of two faults of a file that the words name", "the discount comes out wrong in shop/pricing.py", vec![(pricing, &fixed)], two, left, FAILING),
        ("words that tell nothing", "fix it\nshop/pricing.py", vec![(pricing, &fixed)], two, left, FAILING),
        ("a named file, mended", "fix the error in shop/report.py", vec![("shop/report.py", "def report(lines):\n    return 0\n")], "total+ odd-@shop/report.py:9", "total+ odd+", "proven"),
    ];
    for (name, task, files, before, after, expected) in stories {
        let found = told(task, &files, before, after, Observed::default());
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn a_test_that_is_named_after_what_a_task_names_shows_a_change_elsewhere() {
    let beside = format!("TAB = 4\n\n\n{PARSE}");
    let elsewhere = [("a/parse.py", beside.as_str())];
    for (before, after, expected) in [
        (
            "total+ parse_line_tabs-",
            "total+ parse_line_tabs+",
            "proven",
        ),
        ("total+ odd-", "total+ odd+", NOTHING),
    ] {
        let story = Story {
            task: "fix Line.parse_line in a/parse.py",
            files: &elsewhere,
            before: Some(before),
            after: Some(after),
            observed: Observed::default(),
            elsewhere: false,
            is_listed: true,
        };
        assert_eq!(word(&story.verdict()), expected, "{before}");
    }
}

#[test]
fn something_new_in_another_class_is_not_what_a_red_test_waits_for() {
    let other = format!("{PARSE}\n\nclass Cents:\n    def in_cents(self):\n        return 1\n");
    let files = [("a/parse.py", other.as_str())];
    let task = "Add cents support and class (#825)\nLine.in_cents in a/parse.py";
    let red = "total+ cents-";
    assert_eq!(told(task, &files, red, red, Observed::default()), NOTHING);
    let task = task.replace("in_cents", "true");
    assert_eq!(
        told(&task, &files, red, red, Observed::default()),
        NOT_ADDED
    );
}

#[test]
fn words_that_name_nothing_and_a_file_are_about_that_file() {
    let euros = REPORT.replace(".2f", ".3f");
    let commented = REPORT.replace("def euros", "# Text.\ndef euros");
    for (file, after, expected) in [
        ("shop/report.py", &euros, "proven"),
        ("shop/report.py", &commented, NOTHING),
        ("shop/fee.py", &euros, NOTHING),
    ] {
        let task = format!("make finer sums the default from now on\n{file}");
        let files = [("shop/report.py", after.as_str())];
        let found = told(&task, &files, "total+", "total+", Observed::default());
        assert_eq!(found, expected, "{file} {after}");
    }
}

#[test]
fn a_red_test_that_is_called_like_the_task_must_pass() {
    let euros = REPORT.replace(".2f", ".3f");
    let files = [("shop/report.py", euros.as_str())];
    for (before, after, expected) in [
        ("total+ odd- far-", "total+ odd+ far-", "proven"),
        (
            "total+ odd- finer_sums-",
            "total+ odd+ finer_sums-",
            FAILING,
        ),
        (
            "total+ odd- other_sums-",
            "total+ odd+ other_sums-",
            "proven",
        ),
    ] {
        let task = "finer sums come out wrong\nshop/report.py";
        let found = told(task, &files, before, after, Observed::default());
        assert_eq!(found, expected, "{before}");
    }
}

#[test]
fn what_was_seen_beside_the_reports_counts() {
    let (fixed, no_better) = (fixed(), no_better());
    let right: [(&str, &str); 1] = [("shop/pricing.py", &fixed)];
    let wrong: [(&str, &str); 1] = [("shop/pricing.py", &no_better)];
    let (red, green) = ("total+ discount-", "total+ discount+");
    let unsteady_after = |name: &str| Observed {
        unsteady_after: vec![id(name)],
        ..Observed::default()
    };
    let both = |name: &str| Observed {
        unsteady_before: vec![id(name)],
        unsteady_after: vec![id(name)],
        ..Observed::default()
    };
    let ran = |lines: &[u32]| {
        let files = Lines::from([("shop/pricing.py".to_owned(), lines.to_vec())]);
        Observed {
            lines: BTreeMap::from([(id("other"), files)]),
            ..Observed::default()
        }
    };
    let without = |line: &str| Observed {
        without_new_tests: Some(report(line)),
        ..Observed::default()
    };
    let rewrites = || Observed {
        rewritten: vec![RelPath::parse("tests/test_shop.py").unwrap()],
        ..Observed::default()
    };
    let (odd, odd_after) = ("total+ discount- other-", "total+ discount+ other-");
    #[rustfmt::skip]
    let stories: Vec<Seen<'_>> = vec![
        ("the blamed test passes only sometimes", &wrong, red, green, unsteady_after("discount"), FAILING),
        ("a steady test became unsteady", &right, red, green, unsteady_after("total"), "worse"),
        ("an unsteady test stays so", &right, red, green, both("total"), "proven"),
        ("an unsteady test fails this time", &right, red, "total- discount+", both("total"), "proven"),
        ("an unsteady test fails, a steady one too", &right, "total+ more+ discount-", "total- more- discount+", both("total"), "worse"),
        ("a red test ran its lines", &right, odd, odd_after, ran(&[7]), FAILING),
        ("a red test ran other lines", &right, odd, odd_after, ran(&[2]), "proven"),
        ("its first line runs at import", &right, odd, odd_after, ran(&[5]), "proven"),
        ("green also without new tests", &right, red, green, without(green), "proven"),
        ("red without new tests", &wrong, red, green, without(red), "finish.hangs_on_new_tests"),
        ("broken without new tests", &right, red, green, without("total- discount+"), "finish.hangs_on_new_tests"),
        ("no report without new tests", &right, red, green, without(""), "finish.hangs_on_new_tests"),
        ("a file that the runner names", &right, red, green, Observed { run_by_name: vec![RelPath::parse("shop/pricing.py").unwrap()], ..Observed::default() }, "finish.changes_tests"),
        ("its tests did not run", &right, red, green, Observed { uncovered: Some("others ran".to_owned()), ..Observed::default() }, "unverified"),
        ("green without running it", &wrong, red, green, Observed { unreached: vec![id("discount")], ..Observed::default() }, "finish.unreached"),
        ("new tests that see nothing", &right, red, green, Observed { untested: Some("line_total".to_owned()), ..Observed::default() }, "finish.no_new_test"),
        ("running it rewrites tests", &wrong, red, green, rewrites(), "finish.rewrites"),
    ];
    for (name, files, before, after, observed, expected) in stories {
        let found = told(FIX, files, before, after, observed);
        assert_eq!(found, expected, "{name}");
    }
    let unrelated = told(
        FIX,
        &[
            ("shop/pricing.py", &fixed),
            ("src/lib.rs", "pub fn lower() {}\n"),
        ],
        red,
        "total+ discount+",
        Observed::default(),
    );
    assert_eq!(unrelated, "finish.unrelated");
    // An answer names one place; where nothing is red any more, the list told the others.
    let (lib, fixed) = ("pub fn lower() {}\n", fixed.as_str());
    let both = [("shop/pricing.py", fixed), ("src/lib.rs", lib)];
    for (task, is_listed, expected) in [
        (
            "fix issue #84\napply_discount in shop/pricing.py",
            true,
            "proven",
        ),
        (
            "fix issue #84\napply_discount in shop/pricing.py",
            false,
            "finish.unrelated",
        ),
        (FIX, true, "finish.unrelated"),
        (
            "fix issue #84\nline_total in shop/pricing.py",
            true,
            "finish.unrelated",
        ),
    ] {
        let story = Story {
            task,
            files: &both,
            before: Some(red),
            after: Some("total+ discount+"),
            observed: Observed::default(),
            elsewhere: false,
            is_listed,
        };
        assert_eq!(word(&story.verdict()), expected, "{task} {is_listed}");
    }
    let elsewhere = Story {
        task: FIX,
        files: &right,
        before: Some(red),
        after: Some(green),
        observed: Observed::default(),
        elsewhere: true,
        is_listed: false,
    };
    assert!(
        matches!(elsewhere.verdict(), Verdict::Unverified(words) if words.contains("site-packages"))
    );
}

#[test]
fn other_tasks_are_judged_by_what_they_ask_for() {
    let added = format!("{PRICING}\n\ndef subtotal(lines):\n    return sum(lines)\n");
    let comment = format!("{PRICING}\n# subtotal\n");
    let value = format!("{PRICING}\nX = \"subtotal\"\n");
    let never = format!("{PRICING}\n\nif False:\n    def subtotal(lines):\n        return 0\n");
    let inside = format!("{PRICING}\n\ndef later():\n    def subtotal(lines):\n        return 0\n");
    let gift = PRICING.replace("(price, quantity)", "(price, quantity, gift=False)");
    let passed = REPORT
        .replace("report(lines)", "report(lines, gift=False)")
        .replace("(price, quantity) for", "(price, quantity, gift) for");
    let removed = PRICING.replace(
        "def line_total(price, quantity):\n    return price * quantity\n\n\n",
        "",
    );
    let unused = REPORT
        .replace("from shop.pricing import line_total\n\n\n", "")
        .replace("line_total(price, quantity)", "price");
    let renamed = RUST
        .replace("lower(s)", "to_lower(s)")
        .replace("fn lower", "fn to_lower");
    let copied =
        format!("{RUST}\npub fn to_lower(s: &str) -> String {{\n    s.to_lowercase()\n}}\n");
    let half = RUST.replace("fn lower", "fn to_lower");
    let tests = format!(
        "{TESTS}\n    def test_more(self):\n        self.assertEqual(line_total(1, 1), 1)\n"
    );
    let empty_tests = format!("{TESTS}\n    def test_more(self):\n        pass\n");
    let remarked = REPORT.replace("):\n", "):  # Better now.\n");
    let parsed = PARSE.replace("return text", "return text.strip()");
    let one_parsed = PARSE.replacen("return text", "return text.strip()", 1);
    let no_uses = REPORT.replace(
        "return sum(line_total(price, quantity) for price, quantity in lines)",
        "return euros(0)",
    );
    let other_body = "def euros(cents):\n    return None\n";
    let moved = "def euros(cents):\n    return f\"{cents / 100:.2f}\"\n";
    let without_euros = REPORT.replace(
        "def euros(cents):\n    return f\"{cents / 100:.2f}\"\n\n\n",
        "",
    );
    let appended = format!("{REPORT}\n\ndef clean_lines(lines):\n    return lines\n");
    let empty_gift = REPORT.replace("(price, quantity) for", "(price, quantity, '') for");
    let called = added.replace(
        "return total - percent",
        "return subtotal([total, -percent])",
    );
    let used =
        format!("{TESTS}\n    def test_more(self):\n        self.assertEqual(subtotal([1]), 1)\n");
    let shorter = PRICING.replace("total - percent", "total -percent + 0");
    let beside = PRICING.replace("price * quantity", "quantity * price") + "\n\ngift = 1\n";
    let deleted = format!("{added}\n\ndel subtotal\n");
    let taken = format!("{added}\n\nsubtotal = None\n");
    let wrapped = format!("{added}\n\nsubtotal = cached(subtotal)\n");
    let default = format!("{PRICING}\n\ndef other(SUBTOTAL=None):\n    return SUBTOTAL\n");
    let constant = format!("{PRICING}\n\nSUBTOTAL = 10\n");
    let commented = PRICING.replace(
        "    return price",
        "    # The price of a line.\n    return price",
    );
    let explained = PRICING.replace(
        "    return price",
        "    \"\"\"The price of a line.\"\"\"\n    return price",
    );
    let documented = PRICING.replace("The total less", "The whole less");
    let (pricing, report, lib, suite) = (
        "shop/pricing.py",
        "shop/report.py",
        "src/lib.rs",
        "tests/test_shop.py",
    );
    let add = "add a function subtotal(lines) to shop/pricing.py";
    let parameter = "add a parameter gift=False to line_total in shop/pricing.py and pass it on from report in shop/report.py";
    let remove = "remove the function line_total from shop/pricing.py";
    let rename = "rename lower to to_lower in src/lib.rs";
    let write = "write tests for line_total";
    let imported = format!(
        "from shop.other import subtotal\n\n\n{}",
        PRICING.replace("price * quantity", "quantity * price")
    );
    let move_it = "move euros from shop/report.py to shop/money.py";
    let green = "total+ discount+";
    let (row, row_uses) = (
        PRICING.replace("line_total", "row_total"),
        REPORT.replace("line_total", "row_total"),
    );
    let (both, both_uses) = (
        row.replace("price", "cost"),
        row_uses.replace("price", "cost"),
    );
    let in_word = |line: &str| {
        PARSE.replace(
            "class Word:\n",
            &format!("class Word:\n    def widen(self):\n        {line}\n\n"),
        )
    };
    let (sets, reads) = (in_word("self.width = 1"), in_word("return self.width"));
    let sets_other = PARSE.replace(
        "class Line:\n",
        "class Line:\n    def widen(self):\n        self.width = 1\n\n",
    );
    #[rustfmt::skip]
    let stories: Vec<Asking<'_>> = vec![
        ("added as a definition", add, vec![(pricing, &added)], green, "proven"),
        ("added as a comment", add, vec![(pricing, &comment)], green, NOT_ADDED),
        ("added as a value", add, vec![(pricing, &value)], green, NOT_ADDED),
        ("added where it never runs", add, vec![(pricing, &never)], green, NOT_ADDED),
        ("added inside of another", add, vec![(pricing, &inside)], green, NOT_ADDED),
        ("an attribute that a method sets", "add Word.width in a/parse.py", vec![("a/parse.py", &sets)], green, "proven"),
        ("an attribute of another class", "add Word.width in a/parse.py", vec![("a/parse.py", &sets_other)], green, NOT_ADDED),
        ("an attribute that is only read", "add Word.width in a/parse.py", vec![("a/parse.py", &reads)], green, NOT_ADDED),
        ("added to a note", add, vec![("NOTES.md", "subtotal\n")], green, NOT_ADDED),
        ("added elsewhere", add, vec![("shop/other.py", "def subtotal(lines):\n    return sum(lines)\n")], green, NOT_ADDED),
        ("added elsewhere and imported", add, vec![("shop/other.py", "def subtotal(lines):\n    return sum(lines)\n"), (pricing, &imported)], green, NOT_ADDED),
        ("imported where an answer pointed to", "add a function subtotal(lines)\nline_total in shop/pricing.py", vec![("shop/other.py", "def subtotal(lines):\n    return sum(lines)\n"), (pricing, &imported)], green, "proven"),
        ("not imported where an answer pointed to", "add a function subtotal(lines)\nline_total in shop/pricing.py", vec![("shop/other.py", "def subtotal(lines):\n    return sum(lines)\n"), (pricing, &gift)], green, NOT_ADDED),
        ("a parameter and its caller", parameter, vec![(pricing, &gift), (report, &passed)], green, "proven"),
        ("a parameter without its caller", parameter, vec![(pricing, &gift)], green, NOTHING),
        ("a new file", "create shop/money.py with a function cents(x)", vec![("shop/money.py", "def cents(x):\n    return x\n")], green, "proven"),
        ("a new file without what it should hold", "create shop/money.py with a function cents(x)", vec![("shop/money.py", "SETTLED = True\n"), ("shop/coins.py", "def cents(x):\n    return x\n")], green, NOT_ADDED),
        ("a new file at another place", "create shop/money.py with a function cents(x)", vec![("shop/coins.py", "def cents(x):\n    return x\n")], green, NOT_ADDED),
        ("removed with its uses", remove, vec![(pricing, &removed), (report, &unused), (suite, "import unittest\n")], green, "proven"),
        ("removed, uses are left", remove, vec![(pricing, &removed)], green, STILL_THERE),
        ("not removed", remove, vec![(pricing, &gift)], green, STILL_THERE),
        ("a file removed", "remove src/lib.rs", vec![(lib, "")], green, "proven"),
        ("another file removed", "remove src/lib.rs", vec![(report, "")], green, STILL_THERE),
        ("renamed", rename, vec![(lib, &renamed)], green, "proven"),
        ("a copy with the new name", rename, vec![(lib, &copied)], green, STILL_THERE),
        ("renamed without its uses", rename, vec![(lib, &half)], green, STILL_THERE),
        ("a rename that cannot be read, and none made", "rename line_total to row_total as well as gift to present", vec![(pricing, &gift)], green, NOTHING),
        ("a rename that cannot be read", "rename line_total to row_total as well as price to cost", vec![(pricing, &row), (report, &row_uses)], green, NOTHING),
        ("renames that cannot be read", "rename line_total to row_total as well as price to cost", vec![(pricing, &both), (report, &both_uses)], green, "proven"),
        ("something else changed for a rename", rename, vec![(pricing, &gift)], green, NOT_ADDED),
        ("moved", move_it, vec![("shop/money.py", moved), (report, &without_euros)], green, "proven"),
        ("moved by a description", "move the formatting of money to shop/money.py", vec![("shop/money.py", moved), (report, &without_euros)], green, "proven"),
        ("described and left", "move the formatting of money to shop/money.py", vec![("shop/money.py", moved)], green, STILL_THERE),
        ("described and something else is new", "move the formatting of money to shop/money.py", vec![("shop/money.py", "def cents(x):\n    return x\n"), (report, &without_euros)], green, NOT_ADDED),
        ("moved and left", move_it, vec![("shop/money.py", moved)], green, STILL_THERE),
        ("moved nowhere", move_it, vec![(report, &without_euros)], green, NOT_ADDED),
        ("moved to a file whose name only ends alike", move_it, vec![("shop/other_money.py", moved), (report, &without_euros)], green, NOT_ADDED),
        ("another thing of the name at the new place", move_it, vec![("shop/money.py", other_body), (report, &without_euros)], green, NOT_ADDED),
        ("the same name in another file", "change Line.parse_line in a/parse.py to strip its text", vec![("b/parse.py", &parsed)], green, NOTHING),
        ("one of two classes", "change Line.parse_line and Word.parse_line in a/parse.py to strip", vec![("a/parse.py", &one_parsed)], green, NOTHING),
        ("both classes", "change Line.parse_line and Word.parse_line in a/parse.py to strip", vec![("a/parse.py", &parsed)], green, "proven"),
        ("a parameter and its value", "add a parameter gift to line_total in shop/pricing.py and pass \"\" from report in shop/report.py", vec![(pricing, &gift), (report, &empty_gift)], green, "proven"),
        ("one of two is tested", "write tests for line_total and apply_discount in shop/pricing.py", vec![(suite, &tests)], "total+ discount+ more+", "finish.no_new_test"),
        ("one of two is removed", "remove the functions line_total and apply_discount from shop/pricing.py", vec![(pricing, &removed), (report, &unused), (suite, "import unittest\n")], green, STILL_THERE),
        ("removed and imported still", "remove shop/pricing.py", vec![(pricing, ""), (report, &no_uses)], green, STILL_THERE),
        ("tests that use it", write, vec![(suite, &tests)], "total+ discount+ more+", "proven"),
        ("a later order left out", "fix line_total in shop/pricing.py, and delete apply_discount.", vec![(pricing, &gift)], green, STILL_THERE),
        ("a rename beside an addition", "Add a function `subtotal` to shop/pricing.py. Also rename `apply_discount` to `discounted`.", vec![(pricing, &added)], green, NOT_ADDED),
        ("an addition that nobody calls", "Add a function `subtotal` to shop/pricing.py and call it from `apply_discount`", vec![(pricing, &added)], green, NOTHING),
        ("a misspelled name that was answered", "add a parameter gift=False to lin_total\nline_total in shop/pricing.py", vec![(pricing, &gift)], green, "proven"),
        ("a misspelled name", "add a parameter gift=False to lin_total", vec![(pricing, &gift)], green, NOT_ADDED),
        ("an addition that is called", "Add a function `subtotal` to shop/pricing.py and call it from `apply_discount`", vec![(pricing, &called)], green, "proven"),
        ("an addition and a test of nothing", "Add a function `subtotal` to shop/pricing.py and a test for it", vec![(pricing, &added), (suite, &empty_tests)], "total+ discount+ more+", "finish.no_new_test"),
        ("an addition and its test", "Add a function `subtotal` to shop/pricing.py and a test for it", vec![(pricing, &added), (suite, &used)], "total+ discount+ more+", "proven"),
        ("a fix and no test", "Fix apply_discount in shop/pricing.py and add a test for it", vec![(pricing, &gift)], green, "finish.no_new_test"),
        ("tests stay green", "simplify apply_discount in shop/pricing.py, keep the tests green", vec![(pricing, &shorter)], green, "proven"),
        ("one of two moved", "move euros and report from shop/report.py to shop/money.py", vec![("shop/money.py", moved), (report, &without_euros)], green, NOT_ADDED),
        ("a parameter as a value", "add a parameter gift to line_total in shop/pricing.py", vec![(pricing, &beside)], green, NOT_ADDED),
        ("a parameter", "add a parameter gift to line_total in shop/pricing.py", vec![(pricing, &gift)], green, "proven"),
        ("a parameter that stays", "remove the parameter quantity from line_total in shop/pricing.py", vec![(pricing, &gift)], green, STILL_THERE),
        ("deleted right away", add, vec![(pricing, &deleted)], green, NOT_ADDED),
        ("another value right away", add, vec![(pricing, &taken)], green, NOT_ADDED),
        ("decorated later", add, vec![(pricing, &wrapped)], green, "proven"),
        ("a constant as a parameter", "add a constant SUBTOTAL to shop/pricing.py", vec![(pricing, &default)], green, NOT_ADDED),
        ("a constant", "add a constant SUBTOTAL to shop/pricing.py", vec![(pricing, &constant)], green, "proven"),
        ("a comment for a docstring", "add a docstring to line_total in shop/pricing.py", vec![(pricing, &commented)], green, NOT_ADDED),
        ("a docstring", "add a docstring to line_total in shop/pricing.py", vec![(pricing, &explained)], green, "proven"),
        ("tests that use nothing", write, vec![(suite, &empty_tests)], "total+ discount+ more+", "finish.no_new_test"),
        ("tests that do not run", write, vec![(suite, &tests)], green, "finish.no_new_test"),
        ("a change", "make line_total in shop/pricing.py take a gift flag", vec![(pricing, &gift)], green, "proven"),
        ("a change of another definition", "make report in shop/report.py faster", vec![(pricing, &gift)], green, NOTHING),
        ("a change of documentation only", "simplify apply_discount in shop/pricing.py", vec![(pricing, &documented)], green, NOTHING),
        ("taken away in place of changed", "simplify apply_discount in shop/pricing.py", vec![(pricing, "X = 1\n")], green, NOTHING),
        ("a readme for a change", "simplify apply_discount in shop/pricing.py", vec![("README.md", "# Simple\n")], green, NOTHING),
        ("comments where it was to be cleaned", "clean up shop/report.py", vec![(report, &remarked)], green, NOTHING),
        ("code beside what was to be cleaned", "clean up shop/report.py", vec![(report, &appended)], green, NOTHING),
        ("a file without definitions", "change the title in README.md", vec![("README.md", "# Shop two\n")], green, "proven"),
    ];
    let failing = told(
        write,
        &[(suite, &tests)],
        "total+ discount-",
        "total+ discount+ more-",
        Observed::default(),
    );
    assert_eq!(failing, "finish.new_test_fails");
    for (name, task, files, after, expected) in stories {
        let found = told(task, &files, green, after, Observed::default());
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn without_any_tests_what_is_asked_for_must_be_there() {
    let fixed = fixed();
    let stories = [
        (FIX, ("shop/pricing.py", fixed.as_str()), "proven"),
        (FIX, ("shop/other.py", "OTHER = 1\n"), NOTHING),
        (
            "add a function subtotal(lines) to shop/pricing.py",
            ("README.md", "subtotal\n"),
            NOT_ADDED,
        ),
    ];
    for (task, file, expected) in stories {
        let story = Story {
            task,
            files: &[file],
            before: None,
            after: None,
            observed: Observed::default(),
            elsewhere: false,
            is_listed: false,
        };
        assert_eq!(word(&story.verdict()), expected, "{task}");
    }
}

#[test]
fn a_part_of_a_task_is_met_where_it_can_be_told_apart() {
    let gift = PRICING.replace("(price, quantity):", "(price, quantity, gift=False):");
    let passed_on = REPORT.replace("quantity) for", "quantity, False) for");
    let both = "add a parameter gift=False to line_total in shop/pricing.py and pass it on from report in shop/report.py";
    let conftest = "import sys\n";
    let green = "total+ discount- odd+";
    let cases: [(&str, &str, Files, &str, &[bool]); 7] = [
        ("nothing is done", both, vec![], green, &[false, false]),
        (
            "the first half",
            both,
            vec![("shop/pricing.py", &gift)],
            green,
            &[true, false],
        ),
        (
            "something was begun for the other half",
            both,
            vec![("shop/pricing.py", &gift), ("shop/report.py", &passed_on)],
            green,
            &[false, false],
        ),
        (
            "it made something worse",
            both,
            vec![("shop/pricing.py", &gift)],
            "total- discount- odd+",
            &[false, false],
        ),
        (
            "one goal, not met",
            FIX,
            vec![("shop/pricing.py", &gift)],
            green,
            &[false],
        ),
        (
            "one goal, met",
            "add a parameter gift=False to line_total in shop/pricing.py",
            vec![("shop/pricing.py", &gift)],
            green,
            &[true],
        ),
        (
            "tests are changed beside it",
            both,
            vec![("shop/pricing.py", &gift), ("tests/conftest.py", conftest)],
            green,
            &[false, false],
        ),
    ];
    for (name, task, files, after, expected) in cases {
        let story = |observed| Story {
            task,
            files: &files,
            before: Some(green),
            after: Some(after),
            observed,
            elsewhere: false,
            is_listed: false,
        };
        let met = |observed: Observed| -> Vec<bool> {
            let goals = story(observed).look(|evidence| evidence.goals());
            goals.iter().map(|goal| goal.met).collect()
        };
        assert_eq!(met(Observed::default()), expected, "{name}");
        // Where the old tests pass only beside what the run adds, nothing is met.
        let doubtful = Observed {
            without_new_tests: Some(report("total- discount- odd+")),
            ..Observed::default()
        };
        if name == "the first half" {
            assert_eq!(met(doubtful), [false, false], "{name}");
        }
    }
}

#[test]
fn a_fix_beside_other_orders_is_judged_by_its_tests() {
    let wrapped = format!("{REPORT}\n\ndef wrap(text):\n    return f\"({{text}})\"\n");
    let (fixed, no_better) = (fixed(), no_better());
    let adds = "add a function wrap to shop/report.py and fix apply_discount in shop/pricing.py";
    let all = "add a function wrap to shop/report.py and fix the failing tests";
    let (red, green) = ("total+ discount- odd+", "total+ discount+ odd+");
    for task in [adds, all] {
        let verdict = |pricing: &str, after: &str| {
            let files = [
                ("shop/report.py", wrapped.as_str()),
                ("shop/pricing.py", pricing),
            ];
            told(task, &files, red, after, Observed::default())
        };
        assert_eq!(verdict(&fixed, green), "proven", "{task}");
        assert_eq!(verdict(&no_better, red), FAILING, "{task}");
    }
}

#[test]
fn a_test_that_passes_now_is_not_all_that_was_asked_for() {
    let added = format!("{PRICING}\n\ndef net(total):\n    return total\n");
    let files = [("shop/pricing.py", added.as_str())];
    let judged = |task: &str| {
        let (before, after) = ("total+ net-", "total+ net+");
        told(task, &files, before, after, Observed::default())
    };
    let both = "add functions `net` and `gross` to shop/pricing.py";
    assert_eq!(judged(both), "finish.not_added");
    assert_eq!(judged("add a function net to shop/pricing.py"), "proven");
}

#[test]
fn what_a_task_names_may_stay_where_its_red_tests_pass_by_the_places_that_were_listed() {
    let elsewhere = PRICING.replace("price * quantity", "quantity * price");
    let files = [("shop/pricing.py", elsewhere.as_str())];
    for (is_listed, before, after, expected) in [
        (true, "total+ discount-", "total+ discount+", "proven"),
        (false, "total+ discount-", "total+ discount+", NOTHING),
        (true, "total+ discount-", "total+ discount-", NOTHING),
        (true, "total+ discount-", "total+ discount~", NOTHING),
        // A red test that does not speak of it says nothing of it.
        (true, "total+ odd-", "total+ odd+", NOTHING),
        (true, "total+ discount+", "total+ discount+", NOTHING),
    ] {
        let mut story = Story {
            task: "make apply_discount take the whole order into account",
            files: &files,
            before: Some(before),
            after: Some(after),
            observed: Observed::default(),
            elsewhere: false,
            is_listed,
        };
        assert_eq!(word(&story.verdict()), expected, "{is_listed} {before}");
        // Of a file that is no code nothing shows that it need not change.
        story.task = "change README.md to speak of discounts";
        assert_eq!(word(&story.verdict()), NOTHING, "{is_listed} {before}");
    }
}

#[test]
fn what_is_listed_and_green_may_be_another_thing_of_that_name() {
    let other = PARSE.replacen("return text", "return text.strip()", 1);
    let words = PRICING.replace(
        "The total less percent per cent.",
        "The total less a part of it.",
    );
    let words = words.replace("price * quantity", "quantity * price");
    let two = "def fee(total):\n    return 1\n\n\ndef far():\n    return 2\n";
    for (task, file, is_listed, expected) in [
        (
            "make apply_discount take the order into account",
            ("shop/pricing.py", words.as_str()),
            true,
            NOTHING,
        ),
        (
            "make Word.parse_line in b/parse.py strip the text",
            ("a/parse.py", &other),
            true,
            NOTHING,
        ),
        (
            "make parse_line of Word strip the text",
            ("a/parse.py", &other),
            true,
            NOTHING,
        ),
        (
            "make parse_line strip the text",
            ("a/parse.py", &other),
            true,
            "proven",
        ),
        (
            "make fee round its result",
            ("shop/fee.py", two),
            true,
            NOTHING,
        ),
    ] {
        let story = Story {
            task,
            files: &[file],
            before: Some("total+ odd-"),
            after: Some("total+ odd+"),
            observed: Observed::default(),
            elsewhere: false,
            is_listed,
        };
        assert_eq!(word(&story.verdict()), expected, "{task} {is_listed}");
    }
}

#[test]
fn a_parameter_may_come_as_a_keyword_of_any_name_where_tests_pass_it() {
    let header = "def apply_discount(total, percent";
    for (more, is_listed, after, expected) in [
        (", **more", true, "total+ discount+", "proven"),
        (", **more", false, "total+ discount+", "finish.not_added"),
        (", **more", true, "total+ discount-", "finish.not_added"),
        (", more=0", true, "total+ discount+", "finish.not_added"),
    ] {
        let text = PRICING.replace(header, &format!("{header}{more}"));
        let story = Story {
            // A test writes it.
            task: "Add in_cents parameter to apply_discount()",
            files: &[("shop/pricing.py", &text)],
            before: Some("total+ discount-"),
            after: Some(after),
            observed: Observed::default(),
            elsewhere: false,
            is_listed,
        };
        assert_eq!(
            word(&story.verdict()),
            expected,
            "{more} {is_listed} {after}"
        );
    }
}

#[test]
fn code_that_does_not_compile_is_told_as_such() {
    let broken = RUST.replace("s.to_lowercase()", "s.to_lower()");
    let files = [("src/lib.rs", broken.as_str())];
    let said = |place: &str, before: Option<&SuiteReport>| {
        let story = Story {
            task: "make lower in src/lib.rs faster",
            files: &files,
            before: None,
            after: Some("total+"),
            observed: Observed::default(),
            elsewhere: false,
            is_listed: false,
        };
        let mut after = report("");
        after.outcome = Outcome::NoReport;
        after.output_tail = format!("error[E0599]: no method named `to_lower`\n --> {place}:2:7\n");
        let (before, after) = (before, Some(&after));
        word(&story.look(|evidence| {
            Evidence {
                before,
                after,
                ..*evidence
            }
            .verdict()
        }))
    };
    assert_eq!(said("src/lib.rs", Some(&report("total+"))), "worse");
    assert_eq!(said("src/lib.rs", None), "finish.does_not_compile");
    // What compiled before does not any more.
    assert_eq!(said("src/far.rs", Some(&report("total+"))), "worse");
    assert_eq!(said("src/far.rs", None), "unverified");
    // Nor does it where the compiler refused something else before.
    let refused = |place: &str| {
        let mut report = report("");
        report.outcome = Outcome::NoReport;
        let error = "error[E0599]: no method named `to_lower`";
        report.output_tail = format!("{error}\n --> {place}:2:7\n");
        report
    };
    let before = refused("src/lib.rs");
    assert_eq!(said("src/far.rs", Some(&before)), "finish.does_not_compile");
    let before = refused("src/far.rs");
    assert_eq!(said("src/far.rs", Some(&before)), "unverified");
    // A fault of what is not the project's.
    assert_eq!(
        said("vendor/other.rs", Some(&report("total+"))),
        "unverified"
    );
}

#[test]
fn what_a_compiler_refuses_is_asked_for_again() {
    let broken = RUST.replace("s.to_lowercase()", "s.to_lower()");
    let broken = broken.replace("lower(s) + \"!\"", "lower(s) + \"?\"");
    let story = Story {
        task: "make lower in src/lib.rs faster",
        files: &[("src/lib.rs", broken.as_str())],
        before: Some("total+"),
        after: Some("total+"),
        observed: Observed::default(),
        elsewhere: false,
        is_listed: true,
    };
    for (output, name) in [
        ("error[E0599]: no method\n --> src/lib.rs:2:7\n", "lower"),
        ("src/lib.rs(6,1): error: no such thing", "shout"),
        ("src/far.rs:1:1: error: no such thing", ""),
    ] {
        let mut after = report("");
        after.outcome = Outcome::NoReport;
        after.output_tail = output.to_owned();
        let after = Some(&after);
        let blamed = story.look(|evidence| Evidence { after, ..*evidence }.blamed_place());
        assert_eq!(blamed.map_or(String::new(), |one| one.name), name);
    }
}

#[test]
fn a_command_that_ends_with_an_error_is_no_test() {
    let fixed = fixed();
    let with_command = |line: &str, ends_badly: bool| {
        let mut report = report(line);
        if ends_badly {
            report.errors += 1;
            report.failures.push(Failure {
                id: COMMAND.to_owned(),
                message: "it ended with code 1, and no test failed".to_owned(),
                traceback: String::new(),
                file: None,
                line: None,
                hung: None,
            });
        }
        report
    };
    for (before, after, expected) in [
        (
            ("total+ discount+", true),
            ("total+ discount+", true),
            "proven",
        ),
        (
            ("total+ discount+", true),
            ("total+ discount+", false),
            "proven",
        ),
        (
            ("total+ discount-", false),
            ("total+ discount+", true),
            "proven",
        ),
        (
            ("total+ discount+", false),
            ("total+ discount+", true),
            "worse",
        ),
        // It hides no new red test.
        (("total+", true), ("total+ far-", false), "worse"),
    ] {
        let story = Story {
            task: FIX,
            files: &[("shop/pricing.py", fixed.as_str())],
            before: None,
            after: Some(""),
            observed: Observed::default(),
            elsewhere: false,
            is_listed: false,
        };
        let before = with_command(before.0, before.1);
        let after = with_command(after.0, after.1);
        let (before, after) = (Some(&before), Some(&after));
        let verdict = story.look(|evidence| {
            Evidence {
                before,
                after,
                ..*evidence
            }
            .verdict()
        });
        assert_eq!(word(&verdict), expected, "{before:?} {after:?}");
    }
}

#[test]
fn tests_that_do_not_run_any_more_are_broken() {
    let fixed = fixed();
    let files = [("shop/pricing.py", fixed.as_str())];
    for (before, after, expected) in [
        ("total+ discount-", "", "worse"),
        ("", "", "unverified"),
        ("discount-", "", "unverified"),
    ] {
        let found = told(FIX, &files, before, after, Observed::default());
        assert_eq!(found, expected, "{before}");
    }
}

#[test]
fn what_is_added_may_be_a_method_and_may_stand_for_what_is_imported() {
    let method = PARSE.replace(
        "        return text\n\n\nclass Word",
        "        return text\n\n    def double(self):\n        return 2\n\n\nclass Word",
    );
    let function = format!("{REPORT}\n\ndef twice(cents):\n    return cents * 2\n");
    let go = "package shop\n\nfunc Shout(s string) string {\n\treturn s + \"!\"\n}\n".to_owned();
    for (task, path, text) in [
        ("Add double() to a/parse.py", "a/parse.py", &method),
        ("add new method Shout to shop/a.go", "shop/a.go", &go),
        (
            "Add `twice` in shop/report.py to override pricing.lineTotal",
            "shop/report.py",
            &function,
        ),
    ] {
        let verdict = told(
            task,
            &[(path, text)],
            "total+",
            "total+",
            Observed::default(),
        );
        assert_eq!(verdict, "proven", "{task}");
    }
}

#[test]
fn an_example_of_the_documentation_that_only_moved_is_no_lost_test() {
    let passing = |ids: &[&str]| {
        let mut report = report("");
        report.passed_ids = ids.iter().map(|id| (*id).to_owned()).collect();
        report
    };
    let before = passing(&["src/lib.rs - Roff (line 37)"]);
    let moved = passing(&["src/lib.rs - Roff (line 36)"]);
    assert!(renumbered(&before, &moved, "src/lib.rs - Roff (line 37)"));
    let other = passing(&["src/lib.rs - Line (line 37)"]);
    assert!(!renumbered(&before, &other, "src/lib.rs - Roff (line 37)"));
}

#[test]
fn a_word_like_a_name_is_none_where_the_red_tests_pass_and_do_not_write_it() {
    const TASK: &str = "Support requiring anyOf some percentages";
    const CENTS: &str = "Implemented support for in_cents";
    let fixed = fixed();
    #[rustfmt::skip]
    let stories = [
        (TASK, "total+ discount-", "total+ discount+", "proven"),
        (TASK, "total+ discount-", "total+ discount-", NOT_ADDED),
        ("Support requiring a TestCase of percentages", "total+ discount-", "total+ discount+", NOT_ADDED),
        // What a mended test writes is shown by it.
        (CENTS, "total+ cents-", "total+ cents+", "proven"),
        (CENTS, "total+ discount-", "total+ discount+", NOT_ADDED),
        // A test of another file that fails as before, and speaks of something else.
        (TASK, "discount- more/subtotal-", "discount+ more/subtotal-", "proven"),
        (TASK, "discount- more/subtotal-", "discount+ more/subtotal!", NOT_ADDED),
        (TASK, "discount- odd-", "discount+ odd-", NOT_ADDED),
        (TASK, "discount- cents/cents-", "discount+ cents/cents-", NOT_ADDED),
        ("Support requiring anyOf subtotal", "discount- more/subtotal-", "discount+ more/subtotal-", NOT_ADDED),
    ];
    for (task, before, after, expected) in stories {
        let story = Story {
            task,
            files: &[("shop/pricing.py", &fixed)],
            before: Some(before),
            after: Some(after),
            observed: Observed::default(),
            elsewhere: false,
            is_listed: true,
        };
        assert_eq!(word(&story.verdict()), expected, "{task} {after}");
    }
}

#[test]
fn words_of_the_task_may_end_otherwise_in_a_test() {
    let files = [("shop/pricing.py", &*fixed())];
    for task in [
        "Preserve empty columns through transforms",
        "Preserve empty columns through transforms\nshop/pricing.py",
        "Change apply_discount in shop/pricing.py to preserve columns through transforms",
    ] {
        for (before, after, expected) in [
            (
                "total+ transform_preserves_columns-",
                "total+ transform_preserves_columns-",
                FAILING,
            ),
            (
                "total- transform_preserves_columns-",
                "total+ transform_preserves_columns-",
                FAILING,
            ),
            (
                "total- transform_preserves_columns-",
                "total+ transform_preserves_columns+",
                "proven",
            ),
        ] {
            let verdict = told(task, &files, before, after, Observed::default());
            assert_eq!(verdict, expected, "{task}: {before} {after}");
        }
    }
}

#[test]
fn a_type_of_rust_changes_where_it_gets_a_trait() {
    let task = "impl Send for Far in src/far.rs";
    for (line, expected) in [
        ("unsafe impl Send for Far {}\n", "proven"),
        ("unsafe impl Send for Near {}\n", NOTHING),
        (
            "impl Drop for Far {\n    fn drop(&mut self) {}\n}\n",
            NOTHING,
        ),
        ("impl Far {\n    fn send(&self) {}\n}\n", NOTHING),
    ] {
        let after = format!("{FAR}\n{line}");
        let files = [("src/far.rs", after.as_str())];
        let verdict = told(task, &files, "total-", "total+", Observed::default());
        assert_eq!(verdict, expected, "{line}");
    }
}

#[test]
fn what_moves_is_gone_from_its_file_and_new_in_another() {
    let task = "move apply_discount to a module of its own";
    let (head, rest) = PRICING.split_at(PRICING.find("def apply_discount").unwrap());
    let changed = PRICING.replace("total - percent", "total - percent + 0");
    let fee = format!(
        "def fee(total):\n    return 1\n\n\nclass Fee:\n    {}",
        rest.replace('\n', "\n    ")
    );
    for (files, expected) in [
        (
            vec![("shop/pricing.py", head), ("shop/discount.py", rest)],
            "proven",
        ),
        (vec![("shop/pricing.py", &*changed)], NOTHING),
        (
            vec![("shop/pricing.py", PRICING), ("shop/discount.py", rest)],
            NOTHING,
        ),
        (
            vec![("shop/pricing.py", head), ("shop/fee.py", &*fee)],
            NOTHING,
        ),
    ] {
        let verdict = told(task, &files, "total-", "total+", Observed::default());
        assert_eq!(verdict, expected, "{files:?}");
    }
}

#[test]
fn a_name_that_is_asked_for_is_not_waived_because_some_file_imports_it() {
    let files = [("shop/pricing.py", &*fixed())];
    for (task, expected) in [
        ("Support `line_total` and Decimals in `Frame`", NOT_ADDED),
        ("Add a simple function yell to shop/pricing.py", NOT_ADDED),
        (
            "add the following function double to shop/pricing.py",
            NOT_ADDED,
        ),
        ("add a function calls to shop/pricing.py", NOT_ADDED),
    ] {
        let verdict = told(task, &files, "discount-", "discount+", Observed::default());
        assert_eq!(verdict, expected, "{task}");
    }
}

#[test]
fn what_a_red_test_waited_for_may_be_called_like_a_word_of_the_task() {
    let task = "feat: subtotal line_total without rounding";
    for (name, expected) in [("subtotal", "proven"), ("other", NOTHING)] {
        let after = format!("{PRICING}\n\ndef {name}(lines):\n    return sum(lines)\n");
        let files = [("shop/pricing.py", after.as_str())];
        let (before, after) = ("total+ more/subtotal-", "total+ more/subtotal+");
        let verdict = told(task, &files, before, after, Observed::default());
        assert_eq!(verdict, expected, "{name}");
    }
}

#[test]
fn a_caller_of_what_is_named_may_change_with_it() {
    let pricing = PRICING.replace("price * quantity", "quantity * price");
    let caller = REPORT.replace("sum(", "0 + sum(");
    let other = REPORT.replace("cents / 100", "cents / 100.0");
    let task = "fix line_total in shop/pricing.py";
    for (report, expected) in [(caller, "proven"), (other, "finish.unrelated")] {
        let files = [("shop/pricing.py", &*pricing), ("shop/report.py", &*report)];
        let verdict = told(task, &files, "total-", "total+", Observed::default());
        assert_eq!(verdict, expected, "{report}");
    }
}

#[test]
fn a_red_test_that_calls_what_is_named_by_way_of_another_must_pass() {
    let faster = RUST.replace("s.to_lowercase()", "s.to_ascii_lowercase()");
    let files = [("src/lib.rs", faster.as_str())];
    let task = "fix lower in src/lib.rs: it is wrong for capitals";
    for (after, expected) in [("total+ shout-", FAILING), ("total+ shout+", "proven")] {
        let verdict = told(task, &files, "total+ shout-", after, Observed::default());
        assert_eq!(verdict, expected, "{after}");
    }
}

#[test]
fn a_red_test_of_what_is_to_be_added_must_pass() {
    let added = format!("{PRICING}\n\ndef subtotal(lines):\n    return 0\n");
    let files = [("shop/pricing.py", added.as_str())];
    let task = "add a function subtotal(lines) to shop/pricing.py";
    // Also where that is one of two orders.
    let both = format!("fix apply_discount in shop/pricing.py, and {task}");
    let fixed = added.replace("total - percent", "total * (100 - percent) / 100");
    let fixed = [("shop/pricing.py", fixed.as_str())];
    let before = "total+ discount- subtotal-";
    for (after, expected) in [
        ("total+ discount+ subtotal-", FAILING),
        ("total+ discount+ subtotal+", "proven"),
    ] {
        let verdict = told(&both, &fixed, before, after, Observed::default());
        assert_eq!(verdict, expected, "{after}");
    }
    for (after, expected) in [
        ("total+ subtotal-", FAILING),
        ("total+ subtotal+", "proven"),
        ("total+ discount- subtotal+", "proven"),
    ] {
        let verdict = told(task, &files, before, after, Observed::default());
        assert_eq!(verdict, expected, "{after}");
    }
}

#[test]
fn a_red_test_that_is_called_like_what_is_new_must_pass() {
    let added = format!("__slots__ = ()\n{PRICING}");
    let files = [("shop/pricing.py", added.as_str())];
    let task = "define `__slots__` in shop/pricing.py to save memory";
    for (after, expected) in [("total+ slots-", FAILING), ("total+ slots+", "proven")] {
        let verdict = told(task, &files, "total+ slots-", after, Observed::default());
        assert_eq!(verdict, expected, "{after}");
    }
}

#[test]
fn an_answer_names_one_home_of_what_is_new() {
    let added = format!("{PRICING}\n\ndef subtotal(lines):\n    return 0\n");
    let files = [("shop/pricing.py", added.as_str())];
    let said = |task: &str, is_listed: bool| {
        let story = Story {
            task,
            files: &files,
            before: Some("total+ subtotal-"),
            after: Some("total+ subtotal+"),
            observed: Observed::default(),
            elsewhere: false,
            is_listed,
        };
        word(&story.verdict())
    };
    // The model listed the places and the red test passes: the other file is where it belongs.
    let answered = "add `subtotal`\nshop/report.py";
    assert_eq!(said(answered, true), "proven");
    assert_eq!(said(answered, false), NOT_ADDED);
    for told in [
        "add `subtotal` to shop/report.py",
        "add `subtotal`.\nIt goes into shop/report.py",
        "add `subtotal` to shop.report",
    ] {
        assert_eq!(said(told, true), NOT_ADDED, "{told}");
    }
}

#[test]
fn names_behind_a_plural_or_a_verb_are_asked_for() {
    let one = PRICING.replace("price * quantity", "quantity * price");
    let other = format!("{PRICING}\n\ndef slugify(text):\n    return text\n");
    let report = REPORT
        .replace("return sum(", "return euros(sum(")
        .replace("lines)", "lines))");
    let report = report.replace("def report(lines)):", "def report(lines):");
    for (task, path, text, expected) in [
        (
            "add a timeout to the functions `line_total` and `apply_discount`",
            "shop/pricing.py",
            &one,
            NOTHING,
        ),
        (
            "implement rounding in the functions line_total and apply_discount",
            "shop/pricing.py",
            &one,
            NOTHING,
        ),
        (
            "expose `retry_count` in shop/pricing.py",
            "shop/pricing.py",
            &other,
            NOT_ADDED,
        ),
        (
            "export `retry_count` from shop/pricing.py",
            "shop/pricing.py",
            &other,
            NOT_ADDED,
        ),
        (
            "include `tax_rate` in the result of line_total",
            "shop/pricing.py",
            &one,
            NOT_ADDED,
        ),
        (
            "include `euros` in `report`",
            "shop/report.py",
            &report,
            "proven",
        ),
        (
            "include `apply_discount` in `line_total`",
            "shop/pricing.py",
            &one,
            NOTHING,
        ),
    ] {
        let files = [(path, text.as_str())];
        let verdict = told(task, &files, "total+", "total+", Observed::default());
        assert_eq!(verdict, expected, "{task}");
    }
}

#[test]
fn cases_may_be_named_by_the_time_of_day() {
    let files = [("shop/pricing.py", PRICING)];
    let changed = PRICING.replace("total - percent", "total * (100 - percent) / 100");
    let files = files.map(|(path, _)| (path, changed.as_str()));
    for (before, after, expected) in [
        (
            "total[10:01]+ total[b]+",
            "total[10:02]+ total[b]+",
            "proven",
        ),
        ("total[11-17-2026]+", "total[11-18-2026]+", "proven"),
        (
            "total[10:01]+ total[b]+",
            "total[10:02]+ total[b]-",
            "worse",
        ),
        ("total[10:01]+ total[b]+", "total[b]+", "worse"),
        // Other values are other cases.
        ("total[8080]+", "total[8081]+", "worse"),
        ("total[1.5]+", "total[1.6]+", "worse"),
    ] {
        let (before, after) = (format!("{before} discount-"), format!("{after} discount+"));
        let verdict = told(FIX, &files, &before, &after, Observed::default());
        assert!(verdict.starts_with(expected), "{after}: {verdict}");
    }
}

#[test]
fn a_stub_need_not_change_with_its_code() {
    let files = [("shop/fee.py", "def fee(total):\n    return 2\n")];
    let green = "total+ discount+";
    let said = |task: &str| told(task, &files, green, green, Observed::default());
    assert_eq!(said("change fee to return two"), "proven");
    assert_eq!(said("change fee in shop/fee.pyi to take a float"), NOTHING);
}

#[test]
fn what_something_is_for_need_only_be_used_where_everything_is_green_by_it() {
    let far = PRICING.replace("price * quantity", "quantity * price");
    let served =
        format!("{PRICING}\n\ndef reduced(total):\n    return apply_discount(total, 10)\n");
    let task = "Add some presets for apply_discount";
    let said = |task: &str, text: &str, is_listed: bool, before: &SuiteReport, after: &str| {
        let story = Story {
            task,
            files: &[("shop/pricing.py", text)],
            before: None,
            after: Some(after),
            observed: Observed::default(),
            elsewhere: false,
            is_listed,
        };
        let before = Some(before);
        word(&story.look(|evidence| {
            Evidence {
                before,
                ..*evidence
            }
            .verdict()
        }))
    };
    let red = report("total+ odd-");
    assert_eq!(said(task, &served, true, &red, "total+ odd+"), "proven");
    assert_eq!(said(task, &served, false, &red, "total+ odd+"), NOTHING);
    assert_eq!(said(task, &served, true, &red, "total+ odd-"), NOTHING);
    assert_eq!(said(task, &far, true, &red, "total+ odd+"), NOTHING);
    let told = far.replace(
        "return quantity",
        "\"\"\"See apply_discount.\"\"\"\n    return quantity",
    );
    assert_eq!(said(task, &told, true, &red, "total+ odd+"), NOTHING);
    let green = report("total+ odd+");
    assert_eq!(said(task, &served, true, &green, "total+ odd+"), NOTHING);
    let other = "Change apply_discount to take presets";
    assert_eq!(said(other, &served, true, &red, "total+ odd+"), NOTHING);
    // Tests that did not compile were red too.
    let mut refused = report("");
    refused.outcome = Outcome::NoReport;
    for (place, expected) in [("src/lib.rs", "proven"), ("vendor/other.rs", NOTHING)] {
        refused.output_tail = format!("error[E0425]: cannot find `reduced`\n --> {place}:2:7\n");
        let verdict = said(task, &served, true, &refused, "total+ odd+");
        assert_eq!(verdict, expected, "{place}");
    }
}
