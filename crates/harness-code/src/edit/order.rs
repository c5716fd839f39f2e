//! Where new definitions of Python stand: above what needs them while the file is imported.

use std::collections::BTreeSet;
use std::ops::Range;

use ruff_python_ast::{Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};

use super::companions::bound;
use super::{Edit, apply, lines_of};
use crate::language::{Language, python};
use crate::path::RelPath;
use crate::symbols::code::code_tokens;
use crate::text::line_ending;

/// A statement at the top of a module.
struct Part {
    span: Range<usize>,
    names: Vec<String>,
    is_definition: bool,
    /// Whether code runs when the statement does, other than making a definition or an import.
    runs: bool,
    /// What it speaks of.
    uses: BTreeSet<String>,
    /// What must be there when it runs.
    needs: BTreeSet<String>,
}

/// Returns `content` with new functions and classes moved above the first statement that speaks of them, where that
/// statement, or one below it, runs while the file is imported and would not find them. None where all stand well.
pub fn above_what_needs_them(language: Language, content: &str, new: &[String]) -> Option<String> {
    if language != Language::Python || new.is_empty() {
        return None;
    }
    let mut text = content.to_owned();
    for _ in new {
        match moved_once(&text, new) {
            Some(after) => text = after,
            None => break,
        }
    }
    (text != content && python::parses(&text)).then_some(text)
}

fn moved_once(text: &str, new: &[String]) -> Option<String> {
    let parts = python::with_module(text, |module| {
        let body = module.syntax().body.iter();
        body.map(|one| Part::of(one, text)).collect::<Vec<_>>()
    })?;
    let is_new =
        |part: &Part| part.is_definition && part.names.iter().any(|name| new.contains(name));
    let late = parts.iter().enumerate().filter(|(_, part)| is_new(part));
    late.filter_map(|(at, part)| {
        let name = part.names.first()?;
        // Of several of one name the last counts.
        let is_it = |one: &&Part| one.names.contains(name);
        if parts.iter().filter(is_it).count() > 1 {
            return None;
        }
        let first = parts[..at].iter().position(|one| one.uses.contains(name))?;
        let is_needed =
            parts[first].needs.contains(name) || parts[first..at].iter().any(|one| one.runs);
        // What it needs itself comes along where that is new too; else it has to stay.
        let mut group = BTreeSet::from([at]);
        let mut open = vec![at];
        while let Some(one) = open.pop() {
            for below in first..at {
                let is_needed = parts[below]
                    .names
                    .iter()
                    .any(|name| parts[one].needs.contains(name));
                if is_needed && !is_new(&parts[below]) {
                    return None;
                }
                if is_needed && group.insert(below) {
                    open.push(below);
                }
            }
        }
        is_needed.then_some((first, group))
    })
    .find_map(|(first, group)| moved(text, &parts, first, &group))
}

fn moved(text: &str, parts: &[Part], first: usize, group: &BTreeSet<usize>) -> Option<String> {
    let path = RelPath::parse("module.py").ok()?;
    let edit = |range: Range<usize>, text: String| Edit {
        path: path.clone(),
        range,
        text,
    };
    let to = lines_of(Language::Python, text, &parts[first].span)?.start;
    // The blank lines above the last statement belong to it.
    let to = to + text[to..].len() - text[to..].trim_start_matches(['\r', '\n']).len();
    let mut edits = Vec::new();
    let mut code = String::new();
    let ending = line_ending(text).as_str();
    let mut end = 0;
    for at in group {
        let mut lines = lines_of(Language::Python, text, &parts[*at].span)?;
        // The last one of a file takes the blank lines above with it, as the one above takes those below.
        lines.start = lines.start.max(end);
        end = lines.end;
        code.push_str(text[lines.clone()].trim());
        code.push_str(&ending.repeat(3));
        edits.push(edit(lines, String::new()));
    }
    edits.push(edit(to..to, code));
    let after = apply(text, &edits).ok()?;
    Some(match end == text.len() {
        true => format!("{}{ending}", after.trim_end()),
        false => after,
    })
}

impl Part {
    fn of(statement: &Stmt, text: &str) -> Part {
        let span = statement.range();
        let mut needs = BTreeSet::new();
        gather(statement, text, &mut needs);
        let uses = match statement {
            Stmt::Import(_) | Stmt::ImportFrom(_) => BTreeSet::new(),
            _ => words(text, span),
        };
        let mut names = bound(std::slice::from_ref(statement));
        let binds = matches!(
            statement,
            Stmt::Assign(_) | Stmt::ImportFrom(_) | Stmt::For(_) | Stmt::With(_) | Stmt::Match(_)
        );
        let is_unread = |name: &String| name == "*" || name.is_empty();
        if binds && (names.is_empty() || names.iter().any(is_unread)) {
            // What it binds is not read: it may be anything that it speaks of.
            names = words(text, span).into_iter().collect();
        }
        Part {
            span: span.start().into()..span.end().into(),
            names,
            is_definition: matches!(statement, Stmt::FunctionDef(_) | Stmt::ClassDef(_)),
            runs: needs.contains("(") && !is_guarded(statement, text),
            uses,
            needs,
        }
    }
}

/// Says whether a statement runs only where the file is the program, or never.
fn is_guarded(statement: &Stmt, text: &str) -> bool {
    let Stmt::If(node) = statement else {
        return false;
    };
    let test = words(text, node.test.range());
    test.contains("__name__") || test.contains("TYPE_CHECKING")
}

/// Collects the words of a statement that are looked up when it runs, and the brackets of calls.
fn gather(statement: &Stmt, text: &str, needs: &mut BTreeSet<String>) {
    match statement {
        Stmt::FunctionDef(node) => head(node, text, needs),
        Stmt::ClassDef(StmtClassDef {
            decorator_list,
            arguments,
            body,
            ..
        }) => {
            for one in decorator_list {
                needs.extend(words(text, one.range()));
            }
            if let Some(arguments) = arguments {
                needs.extend(words(text, arguments.range()));
            }
            // A class without anything that is called makes itself and nothing else.
            needs.remove("(");
            body.iter().for_each(|one| gather(one, text, needs));
        }
        Stmt::Import(_) | Stmt::ImportFrom(_) => {}
        _ => needs.extend(words(text, statement.range())),
    }
}

fn head(node: &StmtFunctionDef, text: &str, needs: &mut BTreeSet<String>) {
    for one in &node.decorator_list {
        needs.extend(words(text, one.range()));
    }
    let mut own = words(text, node.parameters.range());
    if let Some(returns) = &node.returns {
        own.extend(words(text, returns.range()));
    }
    needs.extend(own.into_iter().filter(|word| word != "("));
}

fn words(text: &str, range: TextRange) -> BTreeSet<String> {
    let span: Range<usize> = range.start().into()..range.end().into();
    let code = text.get(span).unwrap_or_default();
    let tokens = code_tokens(Language::Python, code).into_iter();
    tokens.map(|token| token.text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &str, new: &[&str], after: Option<&str>) {
        let new: Vec<String> = new.iter().map(|name| (*name).to_owned()).collect();
        let found = above_what_needs_them(Language::Python, content, &new);
        assert_eq!(found.as_deref(), after, "{content}");
    }

    #[test]
    fn what_runs_at_import_finds_new_definitions_above_it() {
        // A base class, with what it needs itself.
        check(
            "import abc\n\n\nclass Line(Base):\n    pass\n\n\nclass Meta(type):\n    pass\n\n\nclass Base(metaclass=Meta):\n    pass\n",
            &["Meta", "Base"],
            Some(
                "import abc\n\n\nclass Meta(type):\n    pass\n\n\nclass Base(metaclass=Meta):\n    pass\n\n\nclass Line(Base):\n    pass\n",
            ),
        );
        // A decorator, and a comment that stays where it belongs.
        check(
            "X = 1\n\n# Adds.\n@logged\ndef add():\n    return X\n\n\n# Logs.\ndef logged(f):\n    return f\n",
            &["logged"],
            Some(
                "X = 1\n\n# Logs.\ndef logged(f):\n    return f\n\n\n# Adds.\n@logged\ndef add():\n    return X\n",
            ),
        );
        let windows = "class A(B):\r\n    pass\r\n\r\n\r\nclass B:\r\n    pass\r\n";
        let after = "class B:\r\n    pass\r\n\r\n\r\nclass A(B):\r\n    pass\r\n";
        check(windows, &["B"], Some(after));
        check(
            "register(row)\n\n\ndef row():\n    return 1\n",
            &["row"],
            Some("def row():\n    return 1\n\n\nregister(row)\n"),
        );
        // A function that a statement calls by way of another.
        check(
            "def table():\n    return row()\n\n\nTABLE = table()\n\n\ndef row():\n    return 1\n",
            &["row"],
            Some(
                "def row():\n    return 1\n\n\ndef table():\n    return row()\n\n\nTABLE = table()\n",
            ),
        );
    }

    #[test]
    fn what_stands_well_stays() {
        for (content, new) in [
            (
                "def a():\n    return b()\n\n\ndef b():\n    return 1\n",
                "b",
            ),
            (
                "def a():\n    return b()\n\n\nif __name__ == \"__main__\":\n    a()\n\n\ndef b():\n    return 1\n",
                "b",
            ),
            // Not new.
            ("class A(B):\n    pass\n\n\nclass B:\n    pass\n", "C"),
            // What it needs stands below.
            (
                "class A(B):\n    pass\n\n\nX = 1\n\n\nclass B(make(X)):\n    pass\n",
                "B",
            ),
            // What is returned is looked up too, and a pair of names is bound as one.
            (
                "def t():\n    return row()\n\n\nclass Row:\n    pass\n\n\nlog = make()\n\n\ndef row() -> Row:\n    return 1\n",
                "row",
            ),
            (
                "class A(B):\n    pass\n\n\nM, N = make(), 2\n\n\nclass B(M):\n    pass\n",
                "B",
            ),
            // Overloads stay in their order, and an import speaks of others.
            (
                "X = f(1)\n\n\n@overload\ndef f(a): ...\n\n\ndef f(a):\n    return a\n",
                "f",
            ),
            (
                "from copy import deepcopy\n\nx = deepcopy(1)\n\n\ndef copy():\n    return 1\n",
                "copy",
            ),
            // On a line with something else.
            ("x = f(); y = 2\n\n\ndef f():\n    return 1\n", "f"),
        ] {
            check(content, &[new], None);
        }
    }
}
