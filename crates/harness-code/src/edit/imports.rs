//! Imports that a reply brings along, in the languages that are read by a grammar. Go's are put right by their uses.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use ruff_python_ast::Stmt;

#[cfg(feature = "grammar")]
use crate::language::{self, grammar};
use crate::language::{Language, python};
use crate::symbols;
use crate::text::{is_among, line_end, line_ending, line_start, with_line_ending};

/// Statements at the top of a file that bring names of other files.
const IMPORTS: &str = "\
    use_declaration import_statement import_declaration preproc_include using_directive \
    namespace_use_declaration";
/// What may stand above the first import.
const ABOVE: &str = "\
    inner_attribute_item package_declaration hash_bang_line php_tag namespace_definition \
    declare_statement";

/// A statement at the top of a file.
struct Statement {
    kind: String,
    span: Range<usize>,
}

impl Statement {
    fn is_import(&self, text: &str) -> bool {
        let own = &text[self.span.clone()];
        match self.kind.as_str() {
            // A module with a body is a definition.
            "mod_item" => own.trim_end().ends_with(';'),
            "export_statement" => own.contains(" from "),
            "lexical_declaration" | "variable_declaration" => own.contains("require("),
            kind => is_among(IMPORTS, kind),
        }
    }
}

/// Returns `content` with the imports of `code` that it does not have.
pub(super) fn with_imports(language: Language, content: &str, code: &str) -> Option<String> {
    if language == Language::Go {
        return None;
    }
    let mut text = content.to_owned();
    for new in statements(language, code)? {
        if new.is_import(code) {
            text = with_import(language, &text, &new.kind, code[new.span.clone()].trim())?;
        }
    }
    Some(text)
}

/// Returns `after` without the imports that others repeat, where `before` repeats none. Of two the one that was there
/// goes: the new one stands where it was wanted. Only where importing twice is an error.
pub fn without_repeated_imports(language: Language, before: &str, after: &str) -> Option<String> {
    let is_error = matches!(language, Language::Go | Language::Rust);
    (is_error && repeated(language, "", before).is_none()).then_some(())?;
    let mut text = after.to_owned();
    while let Some(lines) = repeated(language, before, &text) {
        text.replace_range(lines, "");
    }
    (text != after).then_some(text)
}

/// Returns the lines of an import whose names all come from other imports too: first of those that `before` has. What
/// others may see, and what an attribute or documentation stands above, stays.
fn repeated(language: Language, before: &str, text: &str) -> Option<Range<usize>> {
    let known = statements(language, text)?;
    let is_bound = |at: usize| {
        let above = known[..at].iter().rev();
        let mut above =
            above.take_while(|one| one.kind.contains("comment") || one.kind == "attribute_item");
        above.any(|one| {
            !one.kind.contains("line_comment") || text[one.span.clone()].starts_with("///")
        })
    };
    let imports = (0..known.len()).filter(|at| known[*at].is_import(text));
    let mut lines: Vec<(Range<usize>, Vec<String>, bool)> = Vec::new();
    for at in imports {
        let span = known[at].span.clone();
        let may_go = !is_bound(at) && !text[span.clone()].trim_start().starts_with("pub");
        let own = match language {
            Language::Go => lines_of(text, span),
            _ => whole_lines(text, span).into_iter().collect(),
        };
        for line in own {
            let names = brought(text[line.clone()].trim());
            let is_import = language != Language::Go || names.iter().all(|one| one.ends_with('"'));
            lines.push((line, names, may_go && is_import));
        }
    }
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for name in lines.iter().flat_map(|(_, names, _)| names) {
        *counts.entry(name).or_default() += 1;
    }
    let is_repeated = |(_, names, may_go): &&(Range<usize>, Vec<String>, bool)| {
        *may_go && names.iter().all(|name| counts[name.as_str()] > 1)
    };
    let is_new = |span: &Range<usize>| !before.contains(&text[span.clone()]);
    let found = lines.iter().filter(is_repeated);
    let found = found.min_by_key(|(span, ..)| (is_new(span), Reverse(span.start)));
    found.map(|(span, ..)| span.clone())
}

/// Returns the lines of a statement, where nothing else stands on them.
fn whole_lines(text: &str, span: Range<usize>) -> Option<Range<usize>> {
    let start = line_start(text, span.start);
    let end = match text[span.clone()].ends_with('\n') {
        // Some grammars count the end of the line in.
        true => span.end,
        false => line_end(text, span.end),
    };
    let around = [&text[start..span.start], &text[span.end..end]].concat();
    around.trim().is_empty().then_some(start..end)
}

/// Returns each line of a span.
fn lines_of(text: &str, span: Range<usize>) -> Vec<Range<usize>> {
    let mut at = line_start(text, span.start);
    let lines = text[at..].split_inclusive('\n').map(|line| {
        at += line.len();
        at - line.len()..at
    });
    lines.take_while(|line| line.start < span.end).collect()
}

/// Takes over the blocks of a reply by which types of Rust implement traits, as they are: in the place of the block with
/// the same head, where that loses nothing, else at the end. Returns the file and what is left of the reply.
pub fn with_trait_blocks(content: &str, code: &str) -> Option<(String, String)> {
    let head = |text: &str| squeezed(text.split('{').next().unwrap_or_default());
    let is_block = |one: &Statement, text: &str| {
        let head = head(&text[one.span.clone()]);
        one.kind == "impl_item" && head.split(' ').any(|word| word == "for")
    };
    let names = |text: &str| -> Vec<String> {
        let definitions = symbols::definitions(Language::Rust, text).into_iter();
        definitions.map(|one| one.qualified.to_string()).collect()
    };
    let (mut text, mut rest) = (content.to_owned(), code.to_owned());
    loop {
        let found = statements(Language::Rust, &rest)?;
        let Some(at) = (0..found.len())
            .rev()
            .find(|at| is_block(&found[*at], &rest))
        else {
            break;
        };
        let start = above(&rest, &found, at);
        let ending = line_ending(content);
        let block = with_line_ending(&rest[start..found[at].span.end], ending).into_owned();
        let own = with_line_ending(&rest[found[at].span.clone()], ending).into_owned();
        let known = statements(Language::Rust, &text)?;
        let same = (0..known.len()).find(|at| {
            let old = &text[known[*at].span.clone()];
            is_block(&known[*at], &text) && head(old) == head(&own)
        });
        match same {
            Some(at) => {
                let old = &text[known[at].span.clone()];
                let new = names(&own);
                if names(old).iter().any(|name| !new.contains(name)) {
                    return None;
                }
                text.replace_range(known[at].span.clone(), &own);
            }
            None => {
                let (end, head) = (ending.as_str(), text.trim_end());
                text = format!("{head}{end}{end}{}{end}", block.trim());
            }
        }
        rest.replace_range(start..found[at].span.end, "");
    }
    (text != content).then_some((text, rest))
}

/// Says whether code is nothing but imports.
pub fn is_only_imports(language: Language, code: &str) -> bool {
    if language == Language::Python {
        let is_import = |one: &Stmt| matches!(one, Stmt::Import(_) | Stmt::ImportFrom(_));
        let found = python::with_module(code, |module| {
            let body = &module.syntax().body;
            !body.is_empty() && body.iter().all(is_import)
        });
        return found.unwrap_or(false);
    }
    let is_import = |one: &Statement| one.is_import(code) || one.kind.contains("comment");
    let found = statements(language, code).unwrap_or_default();
    found.iter().all(is_import) && found.iter().any(|one| one.is_import(code))
}

/// Puts an import among those of its kind, in their order; else behind the last import, else below the file's head.
fn with_import(language: Language, content: &str, kind: &str, import: &str) -> Option<String> {
    let known = statements(language, content)?;
    // What stands between the guards of a header is one statement.
    if known.iter().any(|one| one.kind.starts_with("preproc_if")) {
        return None;
    }
    let text_of = |one: &Statement| content[one.span.clone()].trim();
    let places: Vec<usize> = (0..known.len())
        .filter(|at| known[*at].is_import(content))
        .collect();
    let mut there: Vec<String> = places
        .iter()
        .flat_map(|at| brought(text_of(&known[*at])))
        .collect();
    // A module with a body is there too.
    let modules = known.iter().filter(|one| one.kind == "mod_item");
    let heads = modules.filter_map(|one| text_of(one).split('{').next());
    there.extend(heads.map(|head| without_visibility(&squeezed(head)).to_owned()));
    if brought(import).iter().all(|name| there.contains(name)) {
        return Some(content.to_owned());
    }
    let below = |at: usize| {
        let end = known[at].span.end;
        match content[..end].ends_with('\n') {
            true => end,
            false => line_end(content, end),
        }
    };
    let same: Vec<usize> = places
        .iter()
        .copied()
        .filter(|at| known[*at].kind == kind)
        .collect();
    let lower = same.iter().rev().find(|at| text_of(&known[**at]) < import);
    let top = known.iter().take_while(|one| is_head(content, one)).count();
    let (at, gap) = match (lower, same.first(), places.last()) {
        (Some(at), _, _) => (below(*at), false),
        (None, Some(first), _) => (above(content, &known, *first), false),
        (None, None, Some(last)) => (below(*last), false),
        (None, None, None) if top > 0 => (below(top - 1), true),
        (None, None, None) => (0, true),
    };
    let ending = line_ending(content).as_str();
    let (head, tail) = content.split_at(at);
    let open = if head.is_empty() || head.ends_with('\n') {
        ""
    } else {
        ending
    };
    let lead = if gap && !head.is_empty() { ending } else { "" };
    let close = match gap && !tail.starts_with(['\r', '\n']) {
        true => ending,
        false => "",
    };
    let import = import.replace('\n', ending);
    Some(format!("{head}{open}{lead}{import}{ending}{close}{tail}"))
}

/// Returns where a statement begins with the attributes and comments that stand right above it.
fn above(content: &str, known: &[Statement], at: usize) -> usize {
    let mut start = known[at].span.start;
    for one in known[..at].iter().rev() {
        let belongs = one.kind == "attribute_item" || one.kind.contains("comment");
        let between = content[..start].get(one.span.end..).unwrap_or_default();
        let is_next = between.trim().is_empty() && between.matches('\n').count() < 2;
        if !belongs || !is_next || is_head(content, one) {
            break;
        }
        start = one.span.start;
    }
    start
}

/// Says whether a statement belongs to the head of a file: what is said of the whole of it.
fn is_head(content: &str, one: &Statement) -> bool {
    let text = &content[one.span.clone()];
    let is_own = |word: &str| text.starts_with(word);
    let is_note = one.kind.contains("comment")
        && !["///", "/**"].into_iter().any(is_own)
        && content[..one.span.start].lines().all(|line| !is_code(line));
    // A namespace with a body is no head: what it holds is inside.
    is_among(ABOVE, &one.kind) && !text.contains('{')
        || is_note
        || text.trim_end_matches(';').trim_matches(['"', '\'']) == "use strict"
}

/// Says whether a line at the top of a file is more than a comment or a word on the whole of it.
fn is_code(line: &str) -> bool {
    let line = line.trim();
    let signs = "//|/*|*|#!|<?|package |namespace |declare|'use|\"use";
    !line.is_empty() && !signs.split('|').any(|sign| line.starts_with(sign))
}

/// Returns what an import brings, with where it comes from; all of its text where that is not understood.
fn brought(import: &str) -> Vec<String> {
    let text = squeezed(import.trim_end_matches(';'));
    let text = without_visibility(&text);
    let Some(path) = text.strip_prefix("use ") else {
        return vec![text.to_owned()];
    };
    match path.split_once("::{") {
        Some((from, names)) if !names.contains("::{") => {
            let names = names.trim_end_matches('}').split(',').map(str::trim);
            let names = names.filter(|name| !name.is_empty());
            names.map(|name| format!("{from}::{name}")).collect()
        }
        _ => vec![path.to_owned()],
    }
}

/// Returns a statement of Rust without who may use it: `pub`, `pub(crate)`.
fn without_visibility(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("pub") else {
        return text;
    };
    let rest = match rest.strip_prefix('(') {
        Some(inner) => inner.split_once(')').map_or(rest, |(_, rest)| rest),
        None => rest,
    };
    rest.strip_prefix(' ').unwrap_or(text)
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(feature = "grammar")]
fn statements(language: Language, text: &str) -> Option<Vec<Statement>> {
    let known = language::grammar_of(language)?;
    let tree = grammar::parse(known, text)?;
    let mut cursor = tree.walk();
    let root = tree.root_node();
    let found = root.named_children(&mut cursor).map(|node| Statement {
        kind: node.kind().to_owned(),
        span: node.byte_range(),
    });
    Some(found.collect())
}

#[cfg(not(feature = "grammar"))]
fn statements(_language: Language, _text: &str) -> Option<Vec<Statement>> {
    None
}

#[cfg(all(
    test,
    feature = "rust",
    feature = "javascript",
    feature = "java",
    feature = "c"
))]
mod tests {
    use super::*;

    #[track_caller]
    fn check(language: Language, content: &str, code: &str, after: &str) {
        assert_eq!(
            with_imports(language, content, code).as_deref(),
            Some(after)
        );
    }

    #[test]
    fn imports_of_a_reply_go_to_the_others() {
        check(
            Language::Rust,
            "//! Shop.\n\n#![deny(unused)]\n\nmod a;\nmod c;\n\nuse std::fmt;\n\nfn f() {}\n",
            "use std::io;\nuse std::fmt;\nmod b;\n\nfn f() {}\n",
            "//! Shop.\n\n#![deny(unused)]\n\nmod a;\nmod b;\nmod c;\n\nuse std::fmt;\nuse std::io;\n\nfn f() {}\n",
        );
        check(
            Language::Rust,
            "//! Shop.\n\nfn f() {}\n",
            "use std::io;\n",
            "//! Shop.\n\nuse std::io;\n\nfn f() {}\n",
        );
        check(
            Language::JavaScript,
            "'use strict';\r\n\r\nimport { b } from './b.js';\r\n",
            "import { a } from './a.js';\n\nexport function f() {}\n",
            "'use strict';\r\n\r\nimport { a } from './a.js';\r\nimport { b } from './b.js';\r\n",
        );
        check(
            Language::JavaScript,
            "const fs = require('fs');\nlet x = 1;\n",
            "const path = require('path');\n",
            "const fs = require('fs');\nconst path = require('path');\nlet x = 1;\n",
        );
        check(
            Language::Java,
            "package shop;\n\nclass A {}\n",
            "import java.util.List;\n",
            "package shop;\n\nimport java.util.List;\n\nclass A {}\n",
        );
        check(
            Language::C,
            "#include <stdio.h>\n\nint f(void);\n",
            "#include <string.h>\n#include <stdio.h>\n",
            "#include <stdio.h>\n#include <string.h>\n\nint f(void);\n",
        );
    }

    #[test]
    fn what_is_imported_twice_by_a_change_is_imported_once() {
        let once =
            |language, before: &str, after: &str| without_repeated_imports(language, before, after);
        let before = "use a::B;\nuse b::C;\n\nfn f() {}\n";
        let after = "use b::C;\nuse a::B;\nuse b::C;\n\nfn f() {}\n";
        let more = "use b::{C, D};\nuse a::B;\nuse b::C;\n\nfn f() {}\n";
        assert_eq!(
            once(Language::Rust, before, after).as_deref(),
            Some("use b::C;\nuse a::B;\n\nfn f() {}\n")
        );
        assert_eq!(
            once(Language::Rust, before, more).as_deref(),
            Some("use b::{C, D};\nuse a::B;\n\nfn f() {}\n")
        );
        // What was so before, and what a condition stands above, stays.
        assert_eq!(once(Language::Rust, after, after), None);
        let guarded = "#[cfg(test)]\nuse a::B;\n#[cfg(not(test))]\nuse a::B;\n";
        assert_eq!(once(Language::Rust, before, guarded), None);
        assert_eq!(once(Language::Rust, before, before), None);
        let go = "package a\n\nimport (\n\t\"fmt\"\n\t\"io\"\n)\n";
        let twice = go.replace("(\n", "(\n\t\"io\"\n");
        let single = "package a\n\nimport (\n\t\"io\"\n\t\"fmt\"\n)\n";
        assert_eq!(once(Language::Go, go, &twice).as_deref(), Some(single));
        // What others may see, and what an attribute binds, stays where it is.
        let shown = "pub use a::B;\n";
        let both = "use a::{B, C};\npub use a::B;\n";
        assert_eq!(once(Language::Rust, shown, both), None);
        let bound = "#[cfg(unix)]\n// There.\nuse a::B;\n\nfn f() {}\n";
        let more = format!("use a::B;\n{bound}");
        assert_eq!(once(Language::Rust, bound, &more).as_deref(), Some(bound));
        let includes = "#define X\n#include \"x.def\"\n";
        assert_eq!(once(Language::C, includes, &includes.repeat(2)), None);
    }

    #[test]
    fn a_type_gets_a_trait_with_its_whole_block() {
        let file = "struct V;\n\nimpl Add for V {\n    fn add(self) {}\n}\n";
        let sub = "impl Sub for V {\n    fn sub(self) {}\n}\n";
        let (text, rest) = with_trait_blocks(file, sub).unwrap();
        assert_eq!((text, rest.trim()), (format!("{file}\n{sub}"), ""));
        let dos = file.replace('\n', "\r\n");
        let (text, _) = with_trait_blocks(&dos, sub).unwrap();
        assert_eq!(text, format!("{file}\n{sub}").replace('\n', "\r\n"));
        let again = "use a::B;\n\nimpl Add for V {\n    fn add(self) {\n        1\n    }\n}\n";
        let (text, rest) = with_trait_blocks(file, again).unwrap();
        assert_eq!(text, format!("struct V;\n\n{}", &again[11..]));
        assert_eq!(rest.trim(), "use a::B;");
        assert_eq!(with_trait_blocks(file, "impl Add for V {}\n"), None);
        assert_eq!(
            with_trait_blocks(file, "impl V {\n    fn f(&self) {}\n}\n"),
            None
        );
    }

    #[test]
    fn an_import_tears_nothing_apart() {
        check(
            Language::Rust,
            "//! Shop.\n\n#[cfg(test)]\nmod tests;\n\npub fn f() {}\n",
            "mod alpha;\n",
            "//! Shop.\n\nmod alpha;\n#[cfg(test)]\nmod tests;\n\npub fn f() {}\n",
        );
        check(
            Language::JavaScript,
            "// Preise in \u{20ac}\n\nfunction f() {}\n",
            "import x from './x.js';\n",
            "// Preise in \u{20ac}\n\nimport x from './x.js';\n\nfunction f() {}\n",
        );
        check(
            Language::Java,
            "// Copyright X\n// License Y\npackage shop;\n\nclass A {}\n",
            "import java.util.List;\n",
            "// Copyright X\n// License Y\npackage shop;\n\nimport java.util.List;\n\nclass A {}\n",
        );
        check(
            Language::Rust,
            "// Copyright X\n// License Y\n\n//! Shop.\n#![deny(unused)]\n\nfn f() {}\n",
            "use std::io;\n",
            "// Copyright X\n// License Y\n\n//! Shop.\n#![deny(unused)]\n\nuse std::io;\n\nfn f() {}\n",
        );
        check(
            Language::Rust,
            "use std::fmt::Display;\n",
            "use std::fmt;\n",
            "use std::fmt::Display;\nuse std::fmt;\n",
        );
        let guarded = "#ifndef A_H\n#define A_H\n#include <stdio.h>\n#endif\n";
        assert_eq!(
            with_imports(Language::C, guarded, "#include <stdio.h>\n"),
            None
        );
    }

    #[test]
    fn what_a_file_has_is_not_added_again() {
        for (content, code) in [
            ("use std::{fmt, io};\n", "use std::io;\n"),
            ("pub mod a;\n", "mod a;\n"),
            ("pub(crate) use a::B;\n", "use a::B;\n"),
            ("use std::io;\n", "mod a {\n    fn f() {}\n}\n"),
            ("mod a {\n    fn f() {}\n}\n", "mod a;\n"),
        ] {
            check(Language::Rust, content, code, content);
        }
    }

    #[test]
    fn code_that_is_only_imports_is_told_from_other_code() {
        assert!(is_only_imports(
            Language::Rust,
            "// All.\nmod a;\npub use a::A;\n"
        ));
        assert!(!is_only_imports(Language::Rust, "mod a;\nfn f() {}\n"));
        assert!(!is_only_imports(Language::Rust, ""));
    }
}
