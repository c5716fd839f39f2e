//! A definition that the task asks for does something: `pass` and "not implemented" are promises, not work.

use harness_code::edit::FileChange;
use harness_code::language::Language;
use harness_code::symbols::code::code_tokens;
use harness_code::symbols::{self, Definition};

use super::GuardInput;
use crate::history::Refusal;

/// Words of tasks for which a body without work is right.
const MEANT: [&str; 14] = [
    "stub",
    "stubs",
    "placeholder",
    "skeleton",
    "nothing",
    "no-op",
    "noop",
    "empty",
    "abstract",
    "interface",
    "protocol",
    "hook",
    "NotImplementedError",
    "pass",
];

pub(super) fn check(input: &GuardInput<'_, '_>) -> Option<Refusal> {
    let GuardInput { change, task, .. } = *input;
    if MEANT.iter().any(|word| task.speaks_of(word)) {
        return None;
    }
    let before = change.old_text();
    let old = symbols::definitions(change.language(), before);
    let new = symbols::definitions(change.language(), change.new_text());
    let was_there = |one: &Definition| {
        let text = change.new_text().get(one.span());
        let mut old = old.iter().filter(|known| known.qualified == one.qualified);
        old.any(|known| before.get(known.span()) == text)
    };
    let stub = new.iter().find(|one| {
        one.kind.is_function()
            && task.speaks_of(one.name())
            && !was_there(one)
            && !is_declared_only(change, &new, one)
            && is_stub(change.language(), change.new_text(), one)
    })?;
    let (name, path) = (&stub.qualified, &change.path);
    let reason = format!("`{name}` does nothing yet: write what it should do");
    Some(Refusal::new("draft.stub", reason, path.as_str()))
}

/// Says whether a definition is one that others fill in: abstract, an overload, part of a protocol.
fn is_declared_only(change: &FileChange, all: &[Definition], one: &Definition) -> bool {
    let marks = change
        .new_text()
        .get(one.span().start..one.header_start())
        .unwrap_or_default();
    let around = one.parent.and_then(|at| all.get(at as usize));
    let head = around.and_then(|class| change.new_text().get(class.header_start()..));
    let head = head
        .and_then(|text| text.lines().next())
        .unwrap_or_default();
    marks.contains("abstract")
        || marks.contains("overload")
        || ["Protocol", "ABC", "interface", "trait", "abstract"]
            .iter()
            .any(|word| head.contains(word))
}

/// Says whether the body of a function holds no work.
fn is_stub(language: Language, text: &str, one: &Definition) -> bool {
    let tokens = code_tokens(language, text).into_iter();
    let inside = tokens.filter(|token| {
        let start = token.range.start;
        one.header_start() <= start && start < one.span().end
    });
    // What only layout shows is no work.
    let written = inside.filter(|token| text.get(token.range.clone()) == Some(token.text.as_str()));
    let words = written.map(|token| token.text);
    let tokens: Vec<String> = words.filter(|text| !text.trim().is_empty()).collect();
    let opening = if language == Language::Python {
        ":"
    } else {
        "{"
    };
    let mut depth = 0;
    let body = tokens.iter().position(|token| {
        depth += match token.as_str() {
            "(" | "[" => 1,
            ")" | "]" => -1,
            _ => 0,
        };
        depth == 0 && token == opening
    });
    let Some(body) = body.and_then(|at| tokens.get(at + 1..)) else {
        return false;
    };
    let body: Vec<&str> = body.iter().map(String::as_str).collect();
    let body = match (language, body.as_slice()) {
        (Language::Python, body) => body,
        (_, [body @ .., "}"]) => body,
        (_, body) => body,
    };
    let source = text.get(one.span()).unwrap_or_default().to_lowercase();
    let says_later = [
        "todo",
        "fixme",
        "not implemented",
        "implement me",
        "placeholder",
    ]
    .iter()
    .any(|words| source.contains(words));
    match body {
        [] | ["pass"] | ["..."] => true,
        ["raise", "NotImplementedError", ..] => true,
        ["todo" | "unimplemented", "!", ..] | ["todo!" | "unimplemented!", ..] => true,
        ["throw", "new", "Error", ..] => says_later,
        ["return"] | ["return", "None" | "null" | "undefined"] | ["return", _, ";"] => says_later,
        ["print", "(", ..] => says_later && !body.contains(&"return"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{change, verdict};

    #[test]
    fn what_is_asked_for_does_something() {
        let rule = |task: &str, body: &str| {
            let after = format!("A = 1\n\n\ndef mean(values):\n{body}");
            verdict(super::check, task, &change("a.py", "A = 1\n", &after))
        };
        let add = "add a function mean to a.py";
        for body in [
            "    pass\n",
            "    ...\n",
            "    \"\"\"The mean.\"\"\"\n",
            "    raise NotImplementedError\n",
            "    # TODO: implement\n    return None\n",
            "    print('not implemented')\n",
        ] {
            assert_eq!(rule(add, body), "draft.stub", "{body}");
        }
        assert_eq!(rule(add, "    return sum(values)\n"), "ok");
        assert_eq!(rule(add, "    return None\n"), "ok");
        assert_eq!(rule("add a stub mean to a.py", "    pass\n"), "ok");
        assert_eq!(rule("add logging to a.py", "    pass\n"), "ok");
    }

    #[test]
    fn other_languages_have_stubs_too() {
        let rule =
            |path: &str, after: &str| verdict(super::check, "add mean", &change(path, "", after));
        assert_eq!(
            rule("a.rs", "pub fn mean(v: &[u8]) -> u8 {\n    todo!()\n}\n"),
            "draft.stub"
        );
        assert_eq!(rule("a.js", "function mean(v) {\n}\n"), "draft.stub");
        assert_eq!(
            rule("a.js", "function mean(v) {\n  return v[0];\n}\n"),
            "ok"
        );
        let declared =
            "from typing import Protocol\n\n\nclass P(Protocol):\n    def mean(self): ...\n";
        assert_eq!(rule("a.py", declared), "ok");
    }
}
