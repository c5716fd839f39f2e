//! Sentences made from what happened: the failing test to show, the closing words of a draft that is proven.

use harness_code::path::RelPath;
use harness_code::tree::SourceTree;
use harness_hands::suite::Failure;

use crate::plan::Plan;
use crate::run::context::Context;
use crate::run::trial::Trial;
use harness_code::request::kind::Kind;

/// A longer line tells less than the message does, in bytes.
const LONGEST_LINE: usize = 300;

/// Returns the failing test that the task is about, for the first prompt.
pub(in crate::run) fn failure_to_show(context: &Context<'_>, plan: &Plan, trial: &Trial) -> String {
    let Some(before) = trial.now() else {
        return String::new();
    };
    if plan.task.kind() != Kind::Fix {
        return String::new();
    }
    let named = |id: &str| plan.names_test(id);
    let name = plan
        .spots()
        .first()
        .map(|spot| spot.name.rsplit('.').next().unwrap_or_default().to_owned())
        .unwrap_or_default();
    let touches = |text: &str| !name.is_empty() && text.contains(&name);
    let chosen = before
        .failures
        .iter()
        .find(|failure| named(&failure.id))
        .or_else(|| {
            before
                .failures
                .iter()
                .find(|failure| touches(&failure.traceback))
        });
    let Some(failure) = chosen else {
        return String::new();
    };
    // The line that failed says more than any message: it is a call and what should come of it.
    match failing_line(context.tree(), failure) {
        Some(line) => format!("{}\n{}", as_assertion(&line), failure.message),
        None => failure.shown(),
    }
}

/// Returns a line of a unittest as the assertion it stands for: that is the form of the worked example.
fn as_assertion(line: &str) -> String {
    const SIGNS: [(&str, &str); 8] = [
        ("assertEqual", "=="),
        ("assertNotEqual", "!="),
        ("assertIs", "is"),
        ("assertIsNot", "is not"),
        ("assertIn", "in"),
        ("assertNotIn", "not in"),
        ("assertGreater", ">"),
        ("assertLess", "<"),
    ];
    let whole = || -> Option<String> {
        let (name, rest) = line.strip_prefix("self.")?.split_once('(')?;
        let inside = rest.strip_suffix(')')?;
        let parts = top_level_parts(inside);
        match (name, parts.as_slice()) {
            ("assertTrue", [one]) => Some(format!("assert {one}")),
            ("assertFalse", [one]) => Some(format!("assert not {one}")),
            ("assertIsNone", [one]) => Some(format!("assert {one} is None")),
            (_, [left, right]) => {
                let (_, sign) = SIGNS.iter().find(|(known, _)| *known == name)?;
                Some(format!("assert {left} {sign} {right}"))
            }
            _ => None,
        }
    };
    whole().unwrap_or_else(|| line.to_owned())
}

/// Returns a failing assertion and its message as one sentence: what must be, and what is.
pub(in crate::run) fn as_sentence(failure: &str) -> Option<String> {
    let (line, message) = failure.split_once('\n').unwrap_or((failure, ""));
    let told = line.strip_prefix("assert ")?;
    let message = message.lines().next().unwrap_or_default();
    if let Some((call, wanted)) = told.split_once(" == ") {
        let unittest = message
            .strip_prefix("AssertionError: ")
            .and_then(|rest| rest.rsplit_once(" != "));
        let pytest = message
            .strip_prefix("assert ")
            .and_then(|rest| rest.split_once(" == "));
        let (is, _) = unittest.or(pytest)?;
        return Some(format!("{call} must be {wanted}, but it is {is}."));
    }
    let truth = |call: &str, must: &str, is: &str| {
        let plain = !call.contains([' ', '<', '>']) || call.ends_with(')');
        plain.then(|| format!("{call} must be {must}, but it is {is}."))
    };
    match told.strip_prefix("not ") {
        Some(call) => truth(call, "False", "True"),
        None => truth(told, "True", "False"),
    }
}

/// Returns the arguments of a call, as far as brackets and quotes tell them apart.
fn top_level_parts(inside: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut quote, mut start) = (Vec::new(), 0_i32, None, 0);
    let mut skip = false;
    for (at, sign) in inside.char_indices() {
        match (quote, sign) {
            _ if std::mem::take(&mut skip) => {}
            (Some(_), '\\') => skip = true,
            (Some(open), _) if open == sign => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(sign),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.push(inside[start..at].trim());
                start = at + 1;
            }
            (None, _) => {}
        }
    }
    parts.push(inside[start..].trim());
    parts
}

/// Returns the line of a test that failed, as it stands in its file.
fn failing_line(tree: &SourceTree, failure: &Failure) -> Option<String> {
    let path = RelPath::parse(failure.file.as_deref()?).ok()?;
    let at = usize::try_from(failure.line?).ok()?.checked_sub(1)?;
    let text = tree.text(&path).ok()?;
    let line = text.content().lines().nth(at)?.trim();
    let tells = line.to_ascii_lowercase().contains("assert");
    (tells && line.len() <= LONGEST_LINE).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{as_assertion, as_sentence};

    #[test]
    fn failures_become_sentences() {
        let cases = [
            (
                "assert f(2) == 4\nAssertionError: 5 != 4",
                Some("f(2) must be 4, but it is 5."),
            ),
            (
                "assert f(2) == 4\nassert 5 == 4",
                Some("f(2) must be 4, but it is 5."),
            ),
            (
                "assert ok([1, 2])\nAssertionError: False is not true",
                Some("ok([1, 2]) must be True, but it is False."),
            ),
            (
                "assert not ok(1)\nAssertionError: True is not false",
                Some("ok(1) must be False, but it is True."),
            ),
            ("assert f(2) == 4\nTypeError: no", None),
            ("assert a < b\nAssertionError", None),
            ("test_x (a.py:3): TypeError: no", None),
            ("", None),
        ];
        for (failure, expected) in cases {
            assert_eq!(as_sentence(failure).as_deref(), expected, "{failure}");
        }
    }

    #[test]
    fn unittest_lines_become_assertions() {
        let cases = [
            (
                "self.assertEqual(total([1, 2]), 3)",
                "assert total([1, 2]) == 3",
            ),
            (
                "self.assertEqual(join(\"a,b\", ')'), 'x')",
                "assert join(\"a,b\", ')') == 'x'",
            ),
            ("self.assertTrue(ok(1))", "assert ok(1)"),
            ("self.assertIsNone(find(1))", "assert find(1) is None"),
            (
                "self.assertEqual(a, b, 'why')",
                "self.assertEqual(a, b, 'why')",
            ),
            ("self.assertEqual(", "self.assertEqual("),
            ("assert f(2) == 4", "assert f(2) == 4"),
        ];
        for (line, expected) in cases {
            assert_eq!(as_assertion(line), expected);
        }
    }
}
