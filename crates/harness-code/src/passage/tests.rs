//! What a person would see of passages that models wrote from memory.

use super::{PassageProblem, places, replace, replace_all, replace_in};
use crate::language::Language;

const FILE: &str = "def f():\n    x = 1\n    return x\n\n\ndef g():\n    y = 2\n    return y\n";

#[track_caller]
fn check(old: &str, new: &str, expected: &str) {
    assert_eq!(replace(FILE, old, new).as_deref(), Ok(expected));
}

#[test]
fn exact_text_is_replaced() {
    check(
        "    x = 1\n",
        "    x = 3\n",
        &FILE.replace("x = 1", "x = 3"),
    );
    check("x = 1", "x = 3", &FILE.replace("x = 1", "x = 3"));
}

#[test]
fn wrong_indentation_is_put_right() {
    check(
        "x = 1\nreturn x\n",
        "x = 3\nreturn x\n",
        &FILE.replace("x = 1", "x = 3"),
    );
    check(
        "        x = 1\n        return x\n",
        "        x = 3\n        if x:\n            return x\n",
        &FILE.replace(
            "    x = 1\n    return x\n",
            "    x = 3\n    if x:\n        return x\n",
        ),
    );
}

#[test]
fn trailing_blanks_and_curly_quotes_do_not_matter() {
    check(
        "    x = 1   \n    return x  \n",
        "    return 1\n",
        &FILE.replace("    x = 1\n    return x\n", "    return 1\n"),
    );
    let file = "print('a')\n";
    assert_eq!(
        replace(file, "print(\u{2018}a\u{2019})", "print('b')").as_deref(),
        Ok("print('b')\n")
    );
}

#[test]
fn line_endings_are_the_file_s_own() {
    let file = FILE.replace('\n', "\r\n");
    let expected = file.replace("x = 1", "x = 3");
    assert_eq!(
        replace(
            &file,
            "    x = 1\n    return x\n",
            "    x = 3\n    return x\n"
        ),
        Ok(expected)
    );
}

#[test]
fn what_stands_twice_or_nowhere_is_not_guessed() {
    assert_eq!(
        replace(FILE, "return", "yield"),
        Err(PassageProblem::Several(vec![3, 8]))
    );
    assert_eq!(
        replace(FILE, "    x = 12\n", ""),
        Err(PassageProblem::Absent {
            closest: "def f():\n    x = 1\n    return x\n\n".to_owned()
        })
    );
    assert_eq!(replace(FILE, " \n", "x"), Err(PassageProblem::Empty));
}

#[test]
fn lines_that_stay_keep_the_file_s_own_bytes() {
    let file = "if x:\n\tprint(\u{2018}a\u{2019})  \n\ty = 1\n";
    assert_eq!(
        replace(
            file,
            "if x:\n    print('a')\n    y = 1\n",
            "if x:\n    print('a')\n    if y:\n        y = 2\n"
        )
        .as_deref(),
        Ok("if x:\n\tprint(\u{2018}a\u{2019})  \n\tif y:\n\t\ty = 2\n")
    );
}

#[test]
fn two_blanks_for_four_are_put_back_to_four() {
    check(
        "def f():\n  x = 1\n  return x\n",
        "def f():\n  x = 1\n  if x:\n    return x\n",
        &FILE.replace("    return x\n", "    if x:\n        return x\n"),
    );
}

#[test]
fn line_numbers_are_not_part_of_the_text() {
    check(
        "2 |     x = 1\n3 |     return x\n",
        "2 |     x = 3\n3 |     return x\n",
        &FILE.replace("x = 1", "x = 3"),
    );
    assert_eq!(
        replace("1: a\n2: b\n", "1: a\n", "1: c\n").as_deref(),
        Ok("1: c\n2: b\n")
    );
}

#[test]
fn blank_lines_may_be_more_or_fewer() {
    check(
        "    return x\n\ndef g():\n",
        "    return x\n\ndef h():\n",
        &FILE.replace("def g", "def h"),
    );
}

#[test]
fn an_elided_middle_stays() {
    let file = "def f():\n    a = 1\n    b = 2\n    c = 3\n    return a\n";
    assert_eq!(
        replace(
            file,
            "def f():\n    ...\n    return a\n",
            "def f(x):\n    ...\n    return x\n"
        )
        .as_deref(),
        Ok("def f(x):\n    a = 1\n    b = 2\n    c = 3\n    return x\n")
    );
    assert_eq!(
        replace(
            file,
            "def f():\n    # ... existing code ...\n    return a\n",
            "def f():\n    return 1\n"
        )
        .as_deref(),
        Ok("def f():\n    return 1\n")
    );
}

#[test]
fn a_change_lands_though_other_lines_are_remembered_wrongly() {
    let file = "def f():\n    a = 1\n    b = 2\n    c = 3\n    d = 4\n    return a\n";
    assert_eq!(
        replace(
            file,
            "def f(x):\n    a = 1\n    b = 2\n    c = 3\n    d = 4\n",
            "def f(x):\n    a = 1\n    b = 2\n    c = 5\n    d = 4\n"
        )
        .as_deref(),
        Ok("def f():\n    a = 1\n    b = 2\n    c = 5\n    d = 4\n    return a\n")
    );
}

#[test]
fn what_changes_must_stand_there() {
    let file = "def f():\n    a = 1\n    b = 2\n    c = 3\n    d = 4\n    return a\n";
    let wrong = replace(
        file,
        "def f():\n    a = 1\n    b = 7\n    c = 3\n    d = 4\n",
        "def f():\n    a = 1\n    b = 8\n    c = 3\n    d = 4\n",
    );
    assert!(matches!(wrong, Err(PassageProblem::Absent { closest }) if closest.contains("b = 2")));
}

#[test]
fn a_word_is_not_found_inside_another() {
    assert_eq!(
        replace("limit = 1\nmax = 10\n", "x = 1", "x = 2"),
        Err(PassageProblem::InsideWords(vec![2]))
    );
    assert_eq!(
        replace("x = 12\ny(x = 1)\n", "x = 1", "x = 2").as_deref(),
        Ok("x = 12\ny(x = 2)\n")
    );
}

#[test]
fn escapes_of_another_level_are_taken_off() {
    assert_eq!(
        replace("s = 'it'\n", "s = \\'it\\'", "s = \\'that\\'").as_deref(),
        Ok("s = 'that'\n")
    );
}

#[test]
fn blanks_and_line_ends_alone_do_not_hide_a_passage() {
    let file = "function test() {\n  return true;\n}\n";
    assert_eq!(
        replace(
            file,
            "function test(){return true;}",
            "function test() {\n  return false;\n}"
        )
        .as_deref(),
        Ok("function test() {\n  return false;\n}\n")
    );
}

#[test]
fn of_two_ways_to_indent_the_one_that_parses_is_taken() {
    let file =
        "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n";
    assert_eq!(
        replace_in(
            Language::Python,
            file,
            "def f(self):\n        return 1\n",
            "def f(self):\n        x = 1\n        return x\n"
        )
        .as_deref(),
        Ok(file
            .replace("        return 1\n", "        x = 1\n        return x\n")
            .as_str())
    );
    assert_eq!(
        replace_in(
            Language::Python,
            file,
            "        return 1\n",
            "        return (\n"
        ),
        Err(PassageProblem::Broken)
    );
}

#[test]
fn lines_that_go_leave_no_empty_line() {
    check("    x = 1", "", &FILE.replace("    x = 1\n", ""));
    assert_eq!(replace("a\nb", "b", "c\n").as_deref(), Ok("a\nc\n"));
}

#[test]
fn all_places_are_found_and_replaced_when_asked_for() {
    assert_eq!(replace_all("x y x", "x", "z").as_deref(), Ok("z y z"));
    assert_eq!(places("foo\nFoo\nfoo", "foo"), [0..3, 8..11]);
    assert_eq!(places("foo", "   "), vec![0..0; 1]);
    assert_eq!(places("foo(a, b)", "foo(a,b)"), vec![0..9; 1]);
}

#[test]
fn a_passage_that_was_moved_by_a_blank_or_two_keeps_its_own_steps() {
    let file = "class A:\n    def f(self):\n        x = 1\n        return x\n";
    for moved in [" ", "  ", "   "] {
        let old = format!("{moved}x = 1\n{moved}return x\n");
        let new = format!("{moved}x = 1\n{moved}if x:\n{moved}    return x\n");
        assert_eq!(
            replace(file, &old, &new).as_deref(),
            Ok("class A:\n    def f(self):\n        x = 1\n        if x:\n            return x\n"),
            "{moved:?}"
        );
    }
}

#[test]
fn a_line_that_ends_in_a_lone_carriage_return_keeps_it() {
    let file = "a = 1\rb = 2\r\nc = 3\r\n";
    assert_eq!(
        replace(file, "a = 1\nb = 2\n", "a = 1\nb = 5\n").as_deref(),
        Ok("a = 1\rb = 5\r\nc = 3\r\n")
    );
    let file = "a = 1\r\nb = 2\r\nc = 3\r";
    assert_eq!(
        replace(file, " b = 2\n c = 3", " b = 2\n c = 3\n d = 4").as_deref(),
        Ok("a = 1\r\nb = 2\r\nc = 3\rd = 4\r\n")
    );
}
