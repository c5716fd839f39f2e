//! What is suspected, seen from outside: the right change is among the suspects, early, and all of them parse.

use super::*;
use crate::language::Language;
use crate::symbols;

fn all(code: &str, name: &str) -> Vec<(Mutation, String)> {
    let definitions = symbols::definitions(Language::Python, code);
    let found = definitions
        .iter()
        .find(|known| &*known.qualified == name)
        .unwrap();
    mutations(code, found.span(), |_| 1.0)
        .into_iter()
        .map(|mutation| {
            let text = mutation.applied(code).unwrap();
            (mutation, text)
        })
        .collect()
}

/// The right code is among the first `within` suspects.
#[track_caller]
fn check(name: &str, wrong: &str, right: &str, within: usize) {
    let found = all(wrong, name);
    let wanted = fingerprint(right);
    assert!(wanted.is_some(), "the right code does not parse");
    let at = found
        .iter()
        .position(|(_, text)| fingerprint(text) == wanted);
    assert!(
        at.is_some_and(|at| at < within),
        "found at {at:?} of {}",
        found.len()
    );
}

#[test]
fn boundaries_operators_and_constants_come_early() {
    check(
        "f",
        "def f(a, b):\n    return a < b\n",
        "def f(a, b):\n    return a <= b\n",
        5,
    );
    check(
        "f",
        "def f(a, b):\n    return a - b\n",
        "def f(a, b):\n    return a + b\n",
        5,
    );
    check(
        "f",
        "def f(a):\n    return a[1]\n",
        "def f(a):\n    return a[0]\n",
        10,
    );
    check(
        "f",
        "def f(a):\n    n = 0\n    for x in a:\n        n -= x\n    return n\n",
        "def f(a):\n    n = 0\n    for x in a:\n        n += x\n    return n\n",
        20,
    );
    check(
        "f",
        "def f(a):\n    return min(a)\n",
        "def f(a):\n    return max(a)\n",
        5,
    );
    check(
        "f",
        "def f(a, b):\n    return a and b\n",
        "def f(a, b):\n    return a or b\n",
        10,
    );
}

#[test]
fn lines_move_go_and_come() {
    check(
        "f",
        "def f(a):\n    for x in a:\n        if x:\n            return True\n        return False\n",
        "def f(a):\n    for x in a:\n        if x:\n            return True\n    return False\n",
        60,
    );
    check(
        "f",
        "def f(tree):\n    for x in tree:\n        f(x)\n",
        "def f(tree):\n    for x in tree:\n        yield from f(x)\n",
        80,
    );
    check(
        "C.__init__",
        "class C:\n    def __init__(self, size):\n        self.items = []\n",
        "class C:\n    def __init__(self, size):\n        self.size = size\n        self.items = []\n",
        10_000,
    );
    check(
        "f",
        "def f(seen, start):\n    queue = [start]\n    while queue:\n        node = queue.pop()\n        if node not in seen:\n            queue.extend(node.next)\n    return seen\n",
        "def f(seen, start):\n    queue = [start]\n    while queue:\n        node = queue.pop()\n        if node not in seen:\n            queue.extend(node.next)\n        seen.add(node)\n    return seen\n",
        400,
    );
}

#[test]
fn every_suspect_parses_and_is_another_program() {
    let code = "import os\n\nclass Box:\n    def fill(self, items, limit=3, *rest, **more):\n        \"\"\"Doc.\"\"\"\n        total = 0\n        for index, item in enumerate(items[1:]):\n            if item is None or not item.size > limit:\n                continue\n            total += item.size * 2 - 1\n            self.items[item.name] = [x for x in rest if x]\n        try:\n            return total / len(items), f\"{total} of {limit}\"\n        except (KeyError, ZeroDivisionError):\n            pass\n        return more.get('a') if more else os.path.join('a', 'b')\n";
    let found = all(code, "Box.fill");
    assert!(found.len() > 300, "{}", found.len());
    let mut seen = std::collections::HashSet::new();
    for (mutation, text) in &found {
        assert!(python::parses(text), "{mutation:?}");
        assert!(seen.insert(text.clone()) && text != code);
    }
    // What is destructive comes last.
    let first_destructive = found
        .iter()
        .position(|(mutation, _)| mutation.destructive)
        .unwrap();
    assert!(
        found[first_destructive..]
            .iter()
            .all(|(mutation, _)| mutation.destructive)
    );
}

#[test]
fn evidence_moves_a_line_to_the_front() {
    let code = "def f(a, b):\n    x = a < b\n    y = a < b\n    return x, y\n";
    let definitions = symbols::definitions(Language::Python, code);
    let found = mutations(code, definitions[0].span(), |line| {
        if line == 3 { 5.0 } else { 1.0 }
    });
    assert!(found[..5].iter().all(|mutation| mutation.line == 3));
}

#[test]
fn crlf_and_broken_code_do_no_harm() {
    let code = "def f(a):\r\n    if a:\r\n        return 1\r\n    return 2\r\n";
    for (_, text) in all(code, "f") {
        assert!(!text.replace("\r\n", "").contains('\n'), "{text:?}");
    }
    assert!(mutations("def f(:\n", 0..7, |_| 1.0).is_empty());
    assert!(mutations("", 0..0, |_| 1.0).is_empty());
    assert!(mutations("x = 1\n", 3..900, |_| 1.0).is_empty());
}

#[test]
fn a_draft_is_taken_apart() {
    let before = "def f(a):\n    b = a + 1\n    c = b * 2\n    return c\n";
    let draft = "def f(a):\n    b = a - 1\n    c = b * 3\n    return c\n";
    let texts: Vec<String> = hunks(before, draft)
        .iter()
        .filter_map(|hunk| hunk.applied(before))
        .collect();
    assert!(texts.contains(&before.replace("+ 1", "- 1")));
    assert!(texts.contains(&before.replace("* 2", "* 3")));
    assert!(texts.contains(&draft.to_owned()));
}

#[test]
fn names_that_mean_nothing_are_replaced_by_those_in_sight() {
    let file = |body: &str| {
        format!(
            "import re\nimport zlib\n\n\ndef plural(word):\n    return re.sub('a', 'b', word)\n\n\nclass Table:\n    def size(self):\n        return self.rows\n\n    def name(self, word, number):\n        {body}\n"
        )
    };
    let wrong_and_right = [
        ("return months.rows", "return self.rows"),
        ("return number.rows", "return self.rows"),
        ("return word(word)", "return plural(word)"),
        ("return zlib(word)", "return plural(word)"),
        ("return int % 100", "return number % 100"),
        ("return '{}'.number(number)", "return '{}'.format(number)"),
        (
            "return word.encode('ascii' 'ignore')",
            "return word.encode('ascii', 'ignore')",
        ),
        (
            "return zlib.sub('x', 'y', word)",
            "return re.sub('x', 'y', word)",
        ),
    ];
    for (wrong, right) in wrong_and_right {
        let found = all(&file(wrong), "Table.name");
        let at = found.iter().position(|(_, text)| *text == file(right));
        assert!(at.is_some_and(|at| at < 80), "{wrong}: found at {at:?}");
    }
}

#[test]
fn a_statement_that_does_nothing_any_more_was_taken_away() {
    let code = "def f(a, b):\n    a * b()\n    return a\n";
    let found = all(code, "f");
    let idle = found.iter().find(|(_, text)| text.contains("\n    a\n"));
    assert!(idle.is_some_and(|(mutation, _)| mutation.destructive));
    let last = found.last().map(|(mutation, _)| mutation.destructive);
    assert_eq!(last, Some(true), "what is destructive comes last");
}

#[test]
fn a_statement_that_stands_twice_may_be_one_too_many() {
    let code = "def f(values):\n    total = 0\n    for value in values:\n        total = 0\n        total += value\n    print(total)\n    return total\n";
    let without = |line: &str| {
        let at = code.rfind(line).unwrap();
        format!("{}{}", &code[..at], &code[at + line.len()..])
    };
    let destructive = |text: String| {
        let found = all(code, "f");
        let found = found.iter().find(|(_, changed)| *changed == text);
        found.map(|(mutation, _)| mutation.destructive)
    };
    assert_eq!(destructive(without("        total = 0\n")), Some(false));
    assert_eq!(destructive(without("    print(total)\n")), Some(true));
}

#[test]
fn a_statement_that_follows_itself_is_suspected_first() {
    let once = "def f(a):\n    out = []\n    for x in a:\n        out.extend(x)\n    return out\n";
    let twice = once.replace(
        "        out.extend(x)\n",
        "        out.extend(x)\n        out.extend(x)\n",
    );
    check("f", &twice, once, 2);
}

#[test]
fn a_misspelled_method_of_a_built_in_type_is_suspected_early() {
    let right = "def f(names):\n    first = names[0].capitalize()\n    return first\n";
    check("f", &right.replace("capitalize", "capitalise"), right, 5);
}

#[test]
fn names_of_a_function_inside_are_in_sight() {
    let right = "def f(size):\n    def inner(func):\n        func.size = size\n        return func\n    return inner\n";
    check("f", &right.replace("return func", "return"), right, 20);
}

#[test]
fn nobody_suspects_nonsense() {
    let code = "def f(a):\n    if hasattr(a, \"__len__\"):\n        raise ValueError(\"too long for us\")\n    return NotImplemented\n";
    let found = all(code, "f");
    assert!(
        found
            .iter()
            .all(|(_, text)| !text.contains("(NotImplemented"))
    );
    assert!(
        found
            .iter()
            .all(|(_, text)| !text.contains("hasattr(a, \"too long") && !text.contains("-_len"))
    );
}

#[test]
fn a_parameter_that_is_not_used_is_suspected_first() {
    let right = "def first(items, default=None, test=None):\n    return next(filter(test, items), default)\n";
    check("first", &right.replace("default)", "iter)"), right, 6);
    let right = "def f(s, invisible, numbers=True):\n    return convert(s, invisible, numbers)\n";
    check("f", &right.replace(", numbers)", ")"), right, 6);
}

#[test]
fn a_name_that_nobody_sets_may_be_what_was_to_be_set() {
    let right = "def f(sigs):\n    checks = [len(sig) for sig in sigs]\n    if all(checks):\n        return True\n    return any(checks)\n";
    check("f", &right.replace("checks = ", "sig = "), right, 20);
}

#[test]
fn padding_is_no_fix_when_less_would_do() {
    let code = "def f(xs):\n    return len(xs) + 1\n";
    let place = |text: &str| {
        let found = all(code, "f");
        found.iter().position(|(_, changed)| changed.contains(text))
    };
    assert!(place("return len(xs)\n") < place("len(xs) + 0"));
}

#[test]
fn branches_that_end_alike_are_believed_never_alone() {
    let code = "def f(a):\n    if a:\n        return True\n    return False\n";
    let found = all(code, "f");
    let alike = found
        .iter()
        .find(|(_, text)| *text == code.replace("False", "True"));
    assert!(alike.is_some_and(|(mutation, _)| mutation.destructive));
}
