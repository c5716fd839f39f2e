//! A draft may not use a name that nothing binds. Only names that are new in it count.

use std::collections::HashSet;

use harness_code::edit::FileChange;
use harness_code::language::Language;
use harness_code::scope::{Unresolved, unresolved};

use super::GuardInput;
use crate::history::Refusal;

pub(super) fn check(input: &GuardInput<'_, '_>) -> Option<Refusal> {
    let change = input.change;
    let missing = missing(change).into_iter().next()?;
    let (name, path) = (&missing.name, &change.path);
    let line = change.new_text()[..missing.span.start]
        .matches('\n')
        .count()
        + 1;
    let reason = format!(
        "nothing defines `{name}` (line {line} of `{path}`): define or import it, or use a name that is there"
    );
    Some(Refusal::new("draft.unresolved", reason, path.as_str()))
}

/// Returns the names that a draft uses and nothing binds.
pub(crate) fn missing(change: &FileChange) -> Vec<Unresolved> {
    if change.language() != Language::Python {
        return Vec::new();
    }
    let before = change.old_text();
    let after = unresolved(&change.path, change.new_text());
    if after.is_empty() {
        return after;
    }
    let known: HashSet<String> = unresolved(&change.path, before)
        .into_iter()
        .map(|one| one.name)
        .collect();
    // A name that something binds later, or that dynamic code may bind, is not certainly missing.
    let is_missing =
        |one: &Unresolved| !known.contains(&one.name) && !one.doubtful && !one.bound_elsewhere;
    after.into_iter().filter(is_missing).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{change, verdict};

    const CODE: &str = "import os\n\n\ndef f(total):\n    return total\n";

    #[track_caller]
    fn check(before: &str, after: &str, expected: &str) {
        assert_eq!(
            verdict(super::check, "x", &change("a.py", before, after)),
            expected
        );
    }

    #[test]
    fn a_name_that_nothing_binds_is_refused() {
        check(
            CODE,
            &CODE.replace("return total", "return totl"),
            "draft.unresolved",
        );
        check(
            CODE,
            &CODE.replace("return total", "return math.ceil(total)"),
            "draft.unresolved",
        );
        check(
            CODE,
            &format!("{CODE}\n\ndef g():\n    return helper(1)\n"),
            "draft.unresolved",
        );
    }

    #[test]
    fn names_that_are_bound_or_may_be_pass() {
        check(
            CODE,
            &CODE.replace("return total", "return os.fspath(total)"),
            "ok",
        );
        check(
            CODE,
            &CODE.replace("return total", "return len(total)"),
            "ok",
        );
        let star = format!("from shop import *\n{CODE}");
        check(
            &star,
            &star.replace("return total", "return helper(total)"),
            "ok",
        );
        check(
            CODE,
            &CODE.replace(
                "return total",
                "try:\n        return unicode(total)\n    except NameError:\n        return total",
            ),
            "ok",
        );
        check(
            CODE,
            &format!("{CODE}\n\ndef g():\n    return LATER\n\n\nLATER = 1\n"),
            "ok",
        );
    }

    #[test]
    fn what_was_missing_already_is_not_the_change_s_fault() {
        let broken = CODE.replace("return total", "return totl");
        check(&broken, &format!("# why\n{broken}"), "ok");
        check("def f(:\n", "def f(:\n    x\n", "ok");
    }

    #[test]
    fn other_languages_are_not_judged() {
        assert_eq!(
            verdict(super::check, "x", &change("a.js", "", "f(totl)\n")),
            "ok"
        );
    }
}
