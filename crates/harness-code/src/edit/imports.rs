//! Imports that a reply brings along, in the languages that are read by a grammar. Go's are put right by their uses.

use std::ops::Range;

use crate::language::Language;
#[cfg(feature = "grammar")]
use crate::language::{self, grammar};
use crate::text::{line_ending, whole_words};

/// Statements at the top of a file that bring names of other files.
const IMPORTS: &[&str] = &[
    "use_declaration",
    "import_statement",
    "import_declaration",
    "preproc_include",
    "using_directive",
    "namespace_use_declaration",
];
/// What may stand above the first import.
const ABOVE: &[&str] = &[
    "inner_attribute_item",
    "package_declaration",
    "hash_bang_line",
    "php_tag",
    "preproc_def",
];

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
            kind => IMPORTS.contains(&kind),
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

/// Says whether code is nothing but imports.
pub fn is_only_imports(language: Language, code: &str) -> bool {
    let is_import = |one: &Statement| one.is_import(code) || one.kind.contains("comment");
    let found = statements(language, code).unwrap_or_default();
    found.iter().all(is_import) && found.iter().any(|one| one.is_import(code))
}

/// Puts an import among those of its kind, in their order; else behind the last import, else at the top.
fn with_import(language: Language, content: &str, kind: &str, import: &str) -> Option<String> {
    let known = statements(language, content)?;
    let text_of = |one: &Statement| content[one.span.clone()].trim();
    let imports = || known.iter().filter(|one| one.is_import(content));
    let is_there = |one: &Statement| binds_all(text_of(one), import);
    if imports().any(is_there) {
        return Some(content.to_owned());
    }
    let line_end = |at: usize| {
        let rest = &content[at..];
        at + rest.find('\n').map_or(rest.len(), |newline| newline + 1)
    };
    let same: Vec<&Statement> = imports().filter(|one| one.kind == kind).collect();
    let lower = same.iter().rev().find(|one| text_of(one) < import);
    let top = known.iter().take_while(|one| is_head(content, one)).last();
    let (at, gap) = match (lower, same.first(), imports().next_back()) {
        (Some(one), _, _) => (line_end(one.span.end.saturating_sub(1)), false),
        (None, Some(first), _) => (first.span.start, false),
        (None, None, Some(last)) => (line_end(last.span.end.saturating_sub(1)), false),
        (None, None, None) => (
            top.map_or(0, |one| line_end(one.span.end.saturating_sub(1))),
            true,
        ),
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

/// Says whether a statement belongs to the head of a file: what is said of the whole of it.
fn is_head(content: &str, one: &Statement) -> bool {
    let text = &content[one.span.clone()];
    ABOVE.contains(&one.kind.as_str())
        || one.kind.contains("comment") && (text.starts_with("//!") || one.span.start == 0)
        || text.trim_end_matches(';').trim_matches(['"', '\'']) == "use strict"
}

/// Says whether an import has all the names of another one.
fn binds_all(known: &str, wanted: &str) -> bool {
    let is_sign = |sign: char| !(sign.is_alphanumeric() || "_$./@-".contains(sign));
    let words = |text: &str| -> Vec<String> {
        let text = text.replace("::", " ");
        let words = text.split(is_sign).map(str::to_owned);
        words
            .filter(|word| !word.is_empty() && word != "pub")
            .collect()
    };
    words(wanted)
        .iter()
        .all(|word| whole_words(known, word).next().is_some())
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
            "//! Shop.\n\n#![deny(warnings)]\n\nmod a;\nmod c;\n\nuse std::fmt;\n\nfn f() {}\n",
            "use std::io;\nuse std::fmt;\nmod b;\n\nfn f() {}\n",
            "//! Shop.\n\n#![deny(warnings)]\n\nmod a;\nmod b;\nmod c;\n\nuse std::fmt;\nuse std::io;\n\nfn f() {}\n",
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
    fn what_a_file_has_is_not_added_again() {
        for (content, code) in [
            ("use std::{fmt, io};\n", "use std::io;\n"),
            ("pub mod a;\n", "mod a;\n"),
            ("use std::io;\n", "mod a {\n    fn f() {}\n}\n"),
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
