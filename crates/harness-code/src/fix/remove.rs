//! Removing a definition that nothing uses: the code itself, the imports of it, and its name in `__all__`.

use std::ops::Range;

use super::{Answer, Proposal};
use crate::edit::{self, Edit};
use crate::language::Language;
use crate::path::RelPath;
use crate::symbols::code::{CodeToken, code_tokens};
use crate::symbols::{self, Definition};
use crate::tree::{SourceFile, SourceTree};

/// What should be gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemovalRequest {
    /// Its name, with its class or without.
    pub name: String,
    /// The files that it may lie in; empty means any.
    pub files: Vec<RelPath>,
    /// The folder that may change.
    pub scope: Option<RelPath>,
}

/// Proposes to remove a definition where its name stands nowhere else in code, in strings or in settings.
pub fn removed(tree: &SourceTree, request: &RemovalRequest) -> Answer {
    match proposal(tree, request) {
        Some(proposal) => Answer::Certain(proposal),
        None => Answer::Nothing,
    }
}

fn proposal(tree: &SourceTree, request: &RemovalRequest) -> Option<Proposal> {
    let last = request.name.rsplit('.').next()?;
    let is_meant = |file: &SourceFile, one: &Definition| {
        let is_here = request.files.is_empty() || request.files.contains(&file.path);
        is_here && !file.test && (*one.qualified == *request.name || one.name() == request.name)
    };
    let mut found = tree.definitions().filter(|(file, one)| is_meant(file, one));
    let (home, one) = found.next()?;
    // What a decorator registers, and what has its name from somewhere else, may be used without being named.
    let is_plain = one.decorators.is_empty() && !one.name().starts_with("__");
    if found.next().is_some() || !is_plain || !(one.kind.is_function() || one.parent.is_none()) {
        return None;
    }
    let mut edits = vec![removal(tree, home, one)?];
    for file in tree.files() {
        let Ok(text) = tree.text(&file.path) else {
            continue;
        };
        let content = text.content();
        if !content.contains(last) {
            continue;
        }
        let own = (file.path == home.path).then(|| one.span());
        if !file.language.is_source() {
            // Settings and scripts start things by their name; documents only speak of them.
            let is_document = matches!(file.path.extension(), Some("md" | "rst" | "txt" | "adoc"));
            if !is_document && has_word(content, last) {
                return None;
            }
            continue;
        }
        let outside = |at: usize| own.as_ref().is_none_or(|own| !own.contains(&at));
        edits.extend(uses(file, content, last, &outside)?);
    }
    let scope = request.scope.as_ref();
    let is_allowed = |edit: &Edit| scope.is_none_or(|scope| edit.path.starts_with(scope));
    let still_parses = |path: &RelPath| {
        let text = tree.text(path).ok()?;
        let own = edits.iter().filter(|edit| edit.path == *path).cloned();
        let after = edit::apply(text.content(), &own.collect::<Vec<_>>()).ok()?;
        symbols::parses(Language::of(path), &after).then_some(())
    };
    if !edits.iter().all(is_allowed) || edits.iter().any(|edit| still_parses(&edit.path).is_none())
    {
        return None;
    }
    Some(Proposal {
        kind: "removal",
        summary: format!("`{}` is gone from {}", one.qualified, home.path),
        edits,
        moves: Vec::new(),
        names: Vec::new(),
    })
}

/// Returns the splice that takes a definition away, with the comment right above it and the blank lines that set it
/// apart. A class that would be left empty is not touched.
fn removal(tree: &SourceTree, home: &SourceFile, one: &Definition) -> Option<Edit> {
    let text = tree.text(&home.path).ok()?;
    let content = text.content();
    let span = one.span();
    let line_start = |at: usize| content[..at].rfind('\n').map_or(0, |at| at + 1);
    let mut start = line_start(span.start);
    if !content[start..span.start].trim().is_empty() {
        return None;
    }
    while start > 0 {
        let above = line_start(start - 1);
        let line = content[above..start].trim();
        if !(line.starts_with('#') || line.starts_with("//")) {
            break;
        }
        start = above;
    }
    let mut end = content[span.end..]
        .find('\n')
        .map_or(content.len(), |at| span.end + at + 1);
    if !content[span.end..end].trim().is_empty() {
        return None;
    }
    let blank = |from: usize| -> usize {
        let lines = content[from..].split_inclusive('\n');
        let blank = lines.take_while(|line| line.trim().is_empty());
        blank.map(str::len).sum()
    };
    end += blank(end);
    if end == content.len() {
        // The last definition of a file takes the blank lines above with it.
        start = content[..start].trim_end().len();
        start += content[start..].find('\n').map_or(0, |at| at + 1);
    }
    if let Some(parent) = one.parent {
        let class = home.facts.definitions.get(parent as usize)?;
        let same = home.facts.definitions.iter();
        let others = same.filter(|other| other.parent == Some(parent) && other.line != one.line);
        if others.count() == 0 || class.span().end < end && class.span().end > span.end {
            return None;
        }
    }
    Some(Edit {
        path: home.path.clone(),
        range: start..end,
        text: String::new(),
    })
}

/// Returns the splices that take a name out of the imports and the `__all__` of a file, or nothing where it is used.
fn uses(
    file: &SourceFile,
    content: &str,
    name: &str,
    outside: &dyn Fn(usize) -> bool,
) -> Option<Vec<Edit>> {
    let tokens = code_tokens(file.language, content);
    let mut edits = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let is_quoted = token.text.trim_matches(['"', '\'']) == name;
        let is_named = token.text == name || is_quoted || quotes(&token.text, name);
        if !is_named || !outside(token.range.start) {
            continue;
        }
        let is_listed = is_imported(&tokens, at) || is_quoted && is_in_all(&tokens, at);
        if file.language != Language::Python || !is_listed {
            return None;
        }
        edits.push(Edit {
            path: file.path.clone(),
            range: with_comma(content, &tokens, at)?,
            text: String::new(),
        });
    }
    Some(edits)
}

/// Says whether a longer string names it, as `"shop.price.rounded"` does.
fn quotes(token: &str, name: &str) -> bool {
    token.starts_with(['"', '\'']) && has_word(token, name)
}

fn has_word(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// Says whether a token is a name that a `from … import` takes as it is.
fn is_imported(tokens: &[CodeToken], at: usize) -> bool {
    let next = tokens.get(at + 1).map_or("", |token| token.text.as_str());
    let mut before = tokens[..at].iter().rev();
    let stop = before.find(|token| {
        let is_name = token.text.chars().all(|c| c.is_alphanumeric() || c == '_');
        let goes_on = token.text == "," || token.text == "(" || is_name && token.text != "import";
        !goes_on || token.text == "from"
    });
    next != "as" && stop.is_some_and(|token| token.text == "import")
}

/// Says whether a token is an entry of `__all__`.
fn is_in_all(tokens: &[CodeToken], at: usize) -> bool {
    let mut before = tokens[..at].iter().rev();
    let opened = before.find(|token| token.text == "[" || token.text == "(");
    let Some(opened) = opened else {
        return false;
    };
    let mut head = tokens
        .iter()
        .rev()
        .skip_while(|token| token.range.start >= opened.range.start);
    let sign = head.next().map_or("", |token| token.text.as_str());
    let name = head.next().map_or("", |token| token.text.as_str());
    matches!(sign, "=" | "+=") && name == "__all__"
}

/// Returns the bytes of one entry of a list of names with its comma; of the whole statement where it is the only one.
fn with_comma(content: &str, tokens: &[CodeToken], at: usize) -> Option<Range<usize>> {
    let own = tokens[at].range.clone();
    let text = |at: Option<usize>| {
        at.and_then(|at| tokens.get(at))
            .map(|one| one.text.as_str())
    };
    if text(at.checked_add(1)) == Some(",") && text(at.checked_add(2)) != Some(")") {
        let next = tokens.get(at + 2).map(|one| one.range.start);
        return Some(own.start..next.unwrap_or(tokens[at + 1].range.end));
    }
    if text(at.checked_sub(1)) == Some(",") {
        return Some(tokens[at - 1].range.start..own.end);
    }
    if tokens[at].text.starts_with(['"', '\'']) {
        return Some(own);
    }
    // The only name of its import: the line goes.
    let start = content[..own.start].rfind('\n').map_or(0, |at| at + 1);
    let end = content[own.end..]
        .find('\n')
        .map_or(content.len(), |at| own.end + at + 1);
    let line = content.get(start..end)?;
    line.trim_start().starts_with("from ").then_some(start..end)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests lay files out")]
mod tests {
    use super::*;

    const PRICE: &str = "import math\n\n\ndef net(cents):\n    return cents\n\n\n# Of old.\ndef rounded(cents):\n    return rounded(cents - 1)\n\n\nclass Tax:\n    def rate(self):\n        return 1\n\n    def old(self):\n        return 2\n";

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
    fn a_definition_goes_with_its_comment_and_blank_lines() {
        let rest = PRICE.replace(
            "# Of old.\ndef rounded(cents):\n    return rounded(cents - 1)\n\n\n",
            "",
        );
        assert_eq!(
            without("rounded", &[("a.py", PRICE)]),
            format!("-- a.py\n{rest}")
        );
        let rest = PRICE.replace("\n    def old(self):\n        return 2\n", "");
        assert_eq!(
            without("Tax.old", &[("a.py", PRICE)]),
            format!("-- a.py\n{rest}")
        );
        let class = PRICE.find("\n\nclass").unwrap();
        let expected = format!("-- a.py\n{}", &PRICE[..class]);
        assert_eq!(without("Tax", &[("a.py", PRICE)]), expected);
        assert_eq!(
            without(
                "lone",
                &[(
                    "m.go",
                    "package m\n\nfunc lone() int {\n\treturn 1\n}\n\nfunc two() int {\n\treturn 2\n}\n"
                )]
            ),
            "-- m.go\npackage m\n\nfunc two() int {\n\treturn 2\n}\n"
        );
    }

    #[test]
    fn imports_and_lists_of_names_follow() {
        let init = "from shop.a import net, rounded\nfrom shop.b import x\n\n__all__ = [\"net\", \"rounded\"]\n";
        let shown = without(
            "rounded",
            &[("shop/a.py", PRICE), ("shop/__init__.py", init)],
        );
        let expected = "-- shop/__init__.py\nfrom shop.a import net\nfrom shop.b import x\n\n__all__ = [\"net\"]\n";
        assert!(shown.ends_with(expected), "{shown}");
        let alone = "import os\nfrom shop.a import rounded\nprint(os)\n";
        let shown = without("rounded", &[("shop/a.py", PRICE), ("shop/c.py", alone)]);
        assert!(
            shown.ends_with("-- shop/c.py\nimport os\nprint(os)\n"),
            "{shown}"
        );
        let several = "from shop.a import (\n    net,\n    rounded,\n)\n";
        let shown = without("rounded", &[("shop/a.py", PRICE), ("shop/c.py", several)]);
        assert!(shown.contains("import (\n    net,\n)"), "{shown}");
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
            ("b.py", "import a\ngetattr(a, 'rounded')(1)\n"),
            (
                "b.py",
                "from unittest import mock\nmock.patch('a.rounded')\n",
            ),
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
        assert_eq!(
            without("f", &[("a.py", "@app.route('/')\ndef f():\n    pass\n")]),
            "nothing"
        );
        assert_eq!(
            without(
                "f",
                &[("a.py", "class A:\n    def f(self):\n        pass\n")]
            ),
            "nothing"
        );
        assert_eq!(without("nobody", &[("a.py", PRICE)]), "nothing");
    }
}
