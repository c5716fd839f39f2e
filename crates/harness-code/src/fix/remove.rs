//! Removing a definition that nothing names: the code itself, the imports of it, and its name in `__all__`.
//!
//! Strict on purpose: where its name stands as a word anywhere else, be it a comment, the removal is left to others.

use std::ops::Range;

use super::{Answer, Proposal};
use crate::edit::{self, Edit};
use crate::language::Language;
use crate::path::RelPath;
use crate::symbols::code::{CodeToken, code_tokens};
use crate::symbols::{self, Definition, DefinitionKind};
use crate::text::{line_end, line_start, whole_words};
use crate::tree::{SourceFile, SourceTree};

/// What should be gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemovalRequest {
    /// The name of a function or class of Python outside of others.
    pub name: String,
    /// The files that it may lie in; empty means any.
    pub files: Vec<RelPath>,
    /// The folder that may change.
    pub scope: Option<RelPath>,
}

/// Proposes to remove a definition whose name stands nowhere else but in imports of it and in `__all__`.
pub fn removed(tree: &SourceTree, request: &RemovalRequest) -> Answer {
    match proposal(tree, request) {
        Some(proposal) => Answer::Certain(proposal),
        None => Answer::Nothing,
    }
}

fn proposal(tree: &SourceTree, request: &RemovalRequest) -> Option<Proposal> {
    let name = request.name.as_str();
    let mut found = tree.definitions().filter(|(_, one)| one.name() == name);
    let (home, one) = found.next()?;
    let is_here = request.files.is_empty() || request.files.contains(&home.path);
    let is_plain = matches!(one.kind, DefinitionKind::Function | DefinitionKind::Class)
        && one.parent.is_none()
        // What a decorator registers may be used without being named.
        && one.decorators.is_empty()
        && !name.starts_with("__");
    let is_python = home.language == Language::Python && !home.test;
    if found.next().is_some() || !(is_here && is_plain && is_python) {
        return None;
    }
    let mut edits = vec![removal(tree, home, one)?];
    for file in tree.files() {
        // Documents only speak of things.
        let is_document = matches!(file.path.extension(), Some("md" | "rst" | "txt" | "adoc"));
        let Ok(text) = tree.text(&file.path) else {
            continue;
        };
        let content = text.content();
        let own = (file.path == home.path).then(|| one.span());
        let is_outside = |at: &usize| own.as_ref().is_none_or(|own| !own.contains(at));
        let named = whole_words(content, name).filter(is_outside).count();
        if is_document || named == 0 {
            continue;
        }
        let listed = lists(file, content, name, &home.path);
        if listed.len() != named {
            return None;
        }
        edits.extend(listed);
    }
    let scope = request.scope.as_ref();
    let is_allowed = |edit: &Edit| scope.is_none_or(|scope| edit.path.starts_with(scope));
    let still_parses = |path: &RelPath| {
        let text = tree.text(path).ok()?;
        let own = edits.iter().filter(|edit| edit.path == *path).cloned();
        let after = edit::apply(text.content(), &own.collect::<Vec<_>>()).ok()?;
        symbols::parses(Language::Python, &after).then_some(())
    };
    let is_sound = |edit: &Edit| is_allowed(edit) && still_parses(&edit.path).is_some();
    if !edits.iter().all(is_sound) {
        return None;
    }
    Some(Proposal {
        kind: "removal",
        summary: format!("`{name}` is gone from {}", home.path),
        edits,
        moves: Vec::new(),
        names: Vec::new(),
    })
}

/// Returns the splice that takes a definition away with the blank lines that set it apart. Where anything stands right
/// above it, or beside it on its lines, it may belong to it: that is not certain.
fn removal(tree: &SourceTree, home: &SourceFile, one: &Definition) -> Option<Edit> {
    let text = tree.text(&home.path).ok()?;
    let content = text.content();
    let span = one.span();
    let start = line_start(content, span.start);
    let end = line_end(content, span.end.saturating_sub(1));
    let is_alone =
        content[start..span.start].is_empty() && content[span.end..end].trim().is_empty();
    let above = content[..start].strip_suffix('\n').unwrap_or_default();
    let above = above.rsplit('\n').next().unwrap_or_default();
    if !is_alone || !above.trim().is_empty() {
        return None;
    }
    Some(Edit {
        path: home.path.clone(),
        range: edit::lines_of(home.language, content, &span)?,
        text: String::new(),
    })
}

/// Returns the splices that take a name out of imports from its home and out of `__all__`.
fn lists(file: &SourceFile, content: &str, name: &str, home: &RelPath) -> Vec<Edit> {
    if file.language != Language::Python {
        return Vec::new();
    }
    let tokens = code_tokens(file.language, content);
    let splice = |at: usize| {
        let token = &tokens[at].text;
        let is_entry = match token == name {
            true => is_imported(&tokens, at, &file.path, home),
            false => {
                token.len() == name.len() + 2 && is_quoted(token, name) && is_in_all(&tokens, at)
            }
        };
        let range = is_entry.then(|| entry(content, &tokens, at)).flatten()?;
        Some(Edit {
            path: file.path.clone(),
            range,
            text: String::new(),
        })
    };
    (0..tokens.len()).filter_map(splice).collect()
}

fn is_quoted(token: &str, name: &str) -> bool {
    ['"', '\''].iter().any(|quote| {
        let inside = token
            .strip_prefix(*quote)
            .and_then(|rest| rest.strip_suffix(*quote));
        inside == Some(name)
    })
}

/// Says whether a token is a name that a `from … import` takes from its home as it is.
fn is_imported(tokens: &[CodeToken], at: usize, file: &RelPath, home: &RelPath) -> bool {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    if text(at + 1) == "as" || at == 0 || text(at - 1) == "as" {
        return false;
    }
    let is_list = |token: &CodeToken| {
        let is_name = token.text.chars().all(|c| c.is_alphanumeric() || c == '_');
        token.text == "," || token.text == "(" || is_name && token.text != "import"
    };
    let mut before = (0..at).rev().skip_while(|at| is_list(&tokens[*at]));
    let Some(import) = before.next().filter(|at| text(*at) == "import") else {
        return false;
    };
    let Some(from) = (0..import).rev().find(|at| text(*at) == "from") else {
        return false;
    };
    let module: String = tokens[from + 1..import]
        .iter()
        .map(|one| one.text.as_str())
        .collect();
    let path = module.trim_start_matches('.');
    let dots = module.len() - path.len();
    let mut wanted = path.replace('.', "/");
    if dots > 0 {
        let mut folder = file.parent();
        for _ in 1..dots {
            folder = folder.and_then(|folder| folder.parent());
        }
        let folder = folder.map_or(String::new(), |folder| format!("{folder}/"));
        wanted = format!("{folder}{wanted}");
        return home.as_str() == format!("{wanted}.py");
    }
    let wanted = format!("{wanted}.py");
    // Sources may lie below a folder that is no package.
    let below = ["src/", "lib/", "python/"].map(|root| format!("{root}{wanted}"));
    home.as_str() == wanted || below.iter().any(|path| path == home.as_str())
}

/// Says whether a token is an entry of a list that is `__all__`.
fn is_in_all(tokens: &[CodeToken], at: usize) -> bool {
    let is_entry = |token: &CodeToken| token.text == "," || token.text.starts_with(['"', '\'']);
    let mut before = tokens[..at]
        .iter()
        .rev()
        .skip_while(|token| is_entry(token));
    let mut next = || before.next().map_or("", |token| token.text.as_str());
    next() == "[" && next() == "=" && next() == "__all__"
}

/// Returns the bytes of one entry of a list of names: its line where it has one of its own, the entry with its comma, or
/// the whole import where it is the only one. What else stands there is not certain.
fn entry(content: &str, tokens: &[CodeToken], at: usize) -> Option<Range<usize>> {
    let own = tokens[at].range.clone();
    let (start, end) = (line_start(content, own.start), line_end(content, own.start));
    let line = content[start..end].trim();
    let text = |at: Option<usize>| {
        at.and_then(|at| tokens.get(at))
            .map(|one| one.text.as_str())
    };
    let is_alone = line == tokens[at].text || line.strip_suffix(',') == Some(&tokens[at].text);
    if is_alone {
        return Some(start..end);
    }
    if line.contains(['#', ';', '\\']) {
        return None;
    }
    if text(at.checked_sub(1)) == Some(",") {
        let before = tokens[at - 1].range.start;
        return (before >= start).then_some(before..own.end);
    }
    if text(at.checked_add(1)) == Some(",") {
        let next = tokens.get(at + 2)?.range.start;
        return (next < end).then_some(own.start..next);
    }
    let is_import = line.starts_with("from ") && line.ends_with(&tokens[at].text);
    match tokens[at].text.starts_with(['"', '\'']) {
        true => Some(own),
        false => is_import.then_some(start..end),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests lay files out")]
mod tests {
    use super::*;

    const PRICE: &str = "import math\n\n\ndef net(cents):\n    return cents\n\n\ndef rounded(cents):\n    return rounded(cents - 1)\n\n\nclass Tax:\n    def rate(self):\n        return 1\n\n    def old(self):\n        return 2\n";

    /// Removes a name from a project of these files; shows the files that change.
    fn without(name: &str, files: &[(&str, &str)]) -> String {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let tree = SourceTree::read(folder.path(), None).unwrap();
        let request = RemovalRequest {
            name: name.to_owned(),
            ..RemovalRequest::default()
        };
        let Answer::Certain(proposal) = removed(&tree, &request) else {
            return "nothing".to_owned();
        };
        let mut shown = String::new();
        for (path, text) in files {
            let own = proposal
                .edits
                .iter()
                .filter(|edit| edit.path.as_str() == *path);
            let own: Vec<Edit> = own.cloned().collect();
            if !own.is_empty() {
                let after = edit::apply(text, &own).unwrap();
                shown.push_str(&format!("-- {path}\n{after}"));
            }
        }
        shown
    }

    #[test]
    fn a_definition_goes_with_its_blank_lines() {
        let rest = PRICE.replace(
            "def rounded(cents):\n    return rounded(cents - 1)\n\n\n",
            "",
        );
        assert_eq!(
            without("rounded", &[("a.py", PRICE)]),
            format!("-- a.py\n{rest}")
        );
        let class = PRICE.find("\n\nclass").unwrap();
        let expected = format!("-- a.py\n{}", &PRICE[..class]);
        assert_eq!(without("Tax", &[("a.py", PRICE)]), expected);
        let bare = "def f():\n    return 1\n\n\ndef g():\n    return 2";
        assert_eq!(
            without("g", &[("a.py", bare)]),
            "-- a.py\ndef f():\n    return 1\n"
        );
        assert_eq!(without("f", &[("a.py", "def f(): pass\n")]), "-- a.py\n");
        let crlf = PRICE.replace('\n', "\r\n");
        assert_eq!(
            without("rounded", &[("a.py", &crlf)]),
            format!("-- a.py\n{}", rest.replace('\n', "\r\n"))
        );
    }

    #[test]
    fn imports_and_lists_of_names_follow() {
        let shown = |text: &str| {
            let shown = without("rounded", &[("shop/a.py", PRICE), ("shop/c.py", text)]);
            shown
                .split_once("-- shop/c.py\n")
                .map(|(_, after)| after.to_owned())
        };
        for (before, after) in [
            (
                "from shop.a import net, rounded\n",
                "from shop.a import net\n",
            ),
            ("from .a import rounded, net\n", "from .a import net\n"),
            (
                "import os\nfrom shop.a import rounded\nprint(os)\n",
                "import os\nprint(os)\n",
            ),
            (
                "from shop.a import (\n    net,\n    rounded,\n)\n",
                "from shop.a import (\n    net,\n)\n",
            ),
            (
                "__all__ = [\"net\", \"rounded\"]\n",
                "__all__ = [\"net\"]\n",
            ),
            (
                "__all__ = [\n    'net',\n    'rounded',\n]\n",
                "__all__ = [\n    'net',\n]\n",
            ),
            ("__all__ = ['rounded']\n", "__all__ = []\n"),
        ] {
            assert_eq!(shown(before).as_deref(), Some(after), "{before}");
        }
        assert!(
            without(
                "rounded",
                &[("a.py", PRICE), ("README.md", "`rounded` rounds.\n")]
            ) != "nothing"
        );
    }

    #[test]
    fn what_may_be_used_stays() {
        for (path, text) in [
            ("b.py", "from a import rounded\nprint(rounded(1))\n"),
            ("b.py", "import a\na.rounded(1)\n"),
            ("b.py", "from a import rounded as r\n"),
            ("b.py", "from c import fast as rounded, other\n"),
            ("b.py", "from c import fast as rounded\n"),
            ("b.py", "from numpy import rounded\n__all__ = ['rounded']\n"),
            ("b.py", "import os, rounded\n"),
            (
                "b.py",
                "import os\nfrom a import rounded; os.environ['A'] = '1'\n",
            ),
            ("b.py", "from a import net, rounded  # why\n"),
            ("b.py", "from a import (net,  # keep\n    rounded)\n"),
            ("b.py", "__all__ = ('net', 'rounded')\n"),
            ("b.py", "X = ['rounded']\n"),
            ("b.py", "import a\ngetattr(a, 'rounded')(1)\n"),
            ("b.py", "import a\ngetattr(a, r'rounded')(1)\n"),
            ("b.py", "import a\neval(f'a.rounded(1) + {a}')\n"),
            ("b.py", "# type: rounded\n"),
            (
                "b.py",
                "from unittest import mock\nmock.patch('a.rounded')\n",
            ),
            ("b.sh", "python -c 'import a; a.rounded(1)'\n"),
            ("b.js", "eval('rounded()')\n"),
            (
                "tests/test_a.py",
                "from a import rounded\n\n\ndef test_it():\n    assert rounded(1)\n",
            ),
            (
                "pyproject.toml",
                "[project.scripts]\nround = \"a:rounded\"\n",
            ),
            ("b.py", "def rounded():\n    pass\n"),
        ] {
            assert_eq!(
                without("rounded", &[("a.py", PRICE), (path, text)]),
                "nothing",
                "{text}"
            );
        }
        for (path, text) in [
            ("a.py", "@app.route('/')\ndef f():\n    pass\n"),
            ("a.py", "class A:\n    def f(self):\n        pass\n"),
            ("a.py", "#!/usr/bin/env python\ndef f():\n    pass\n"),
            ("a.py", "# Helpers\ndef f():\n    pass\n"),
            ("a.py", "x = 1\ndef f():\n    pass\n"),
            ("a.py", "if x:\n\n    def f():\n        pass\n"),
            ("a.c", "int f(void) { return 1; }\n"),
            ("a.go", "package a\n\nfunc f() int {\n\treturn 1\n}\n"),
        ] {
            assert_eq!(without("f", &[(path, text)]), "nothing", "{text}");
        }
        assert_eq!(without("nobody", &[("a.py", PRICE)]), "nothing");
    }
}
