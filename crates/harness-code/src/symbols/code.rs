//! The code of a file as tokens: what is left when comments, documentation and layout do not count.

use std::ops::Range;

use ruff_python_ast::token::TokenKind;
use ruff_text_size::Ranged;

#[cfg(feature = "grammar")]
use crate::language::{self, grammar};
use crate::language::{Language, python};

/// One token of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeToken {
    /// Its place in the content.
    pub range: Range<usize>,
    /// Its text; a sign for what only layout shows, such as the end of a block.
    pub text: String,
}

/// Returns the tokens of `content` without comments, documentation and layout. In a language that is not understood a
/// token is a word.
pub fn code_tokens(language: Language, content: &str) -> Vec<CodeToken> {
    if language == Language::Python {
        return without_documentation(python_tokens(content));
    }
    leaves(language, content).unwrap_or_else(|| {
        let base = content.as_ptr() as usize;
        let word = |word: &str| {
            let start = word.as_ptr() as usize - base;
            token(content, start..start + word.len())
        };
        content.split_whitespace().map(word).collect()
    })
}

/// Returns the leaves of the syntax tree that are no comments.
#[cfg(feature = "grammar")]
fn leaves(language: Language, content: &str) -> Option<Vec<CodeToken>> {
    let known = language::grammar_of(language)?;
    let tree = grammar::parse(known, content)?;
    let mut cursor = tree.walk();
    let mut found = Vec::new();
    loop {
        let node = cursor.node();
        let is_comment = node.kind().contains("comment");
        if node.child_count() == 0 && !is_comment {
            found.push(token(content, node.byte_range()));
        }
        if !is_comment && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(found);
            }
        }
    }
}

#[cfg(not(feature = "grammar"))]
fn leaves(_language: Language, _content: &str) -> Option<Vec<CodeToken>> {
    None
}

fn token(content: &str, range: Range<usize>) -> CodeToken {
    let text = content.get(range.clone()).unwrap_or_default().to_owned();
    CodeToken { range, text }
}

/// Returns the tokens of Python code, documentation included; ends of lines and blocks have signs of their own.
pub(crate) fn python_tokens(content: &str) -> Vec<CodeToken> {
    let read = python::with_module(content, |module| {
        let tokens = module.tokens().iter();
        let tokens = tokens.filter_map(|one| {
            let range = one.range();
            let range = range.start().into()..range.end().into();
            let sign = match one.kind() {
                TokenKind::Comment | TokenKind::NonLogicalNewline => return None,
                TokenKind::Newline => "\n",
                TokenKind::Indent => "{",
                TokenKind::Dedent => "}",
                _ => return Some(token(content, range)),
            };
            let text = sign.to_owned();
            Some(CodeToken { range, text })
        });
        tokens.collect()
    });
    read.unwrap_or_default()
}

/// Leaves out statements that are nothing but a text.
fn without_documentation(tokens: Vec<CodeToken>) -> Vec<CodeToken> {
    let is_text = |one: &CodeToken| {
        let body = one
            .text
            .trim_start_matches(|c: char| c.is_ascii_alphabetic());
        body.starts_with(['"', '\'']) && !one.text.starts_with(['f', 'F'])
    };
    let is_edge = |one: &CodeToken| matches!(one.text.as_str(), "\n" | "{" | "}");
    let mut kept: Vec<CodeToken> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let starts = kept.last().is_none_or(is_edge);
        let end = at + tokens[at..].iter().take_while(|one| is_text(one)).count();
        let is_statement = starts && end > at && tokens.get(end).is_none_or(|one| one.text == "\n");
        if is_statement {
            at = end + 1;
            continue;
        }
        kept.push(tokens[at].clone());
        at += 1;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::code_tokens;
    use crate::language::Language;

    fn code(language: Language, content: &str) -> String {
        let tokens = code_tokens(language, content);
        let texts: Vec<String> = tokens.into_iter().map(|one| one.text).collect();
        texts.join(" ")
    }

    #[test]
    fn comments_documentation_and_layout_do_not_count() {
        let one = "\"\"\"A module.\"\"\"\n\ndef f(a):  # why\n    \"\"\"Says.\"\"\"\n    return a + \"x\"\n";
        let two = "def f( a ):\n\n    # other\n    'Says more.'\n    return (a +\n     \"x\")\n"
            .replace("(a +\n     \"x\")", "a + \"x\"");
        assert_eq!(code(Language::Python, one), code(Language::Python, &two));
        let other = one.replace("a + ", "b + ");
        assert_ne!(code(Language::Python, one), code(Language::Python, &other));
    }

    #[test]
    fn the_block_that_a_line_is_in_counts() {
        let inside = "for x in y:\n    f()\n    g()\n";
        let outside = "for x in y:\n    f()\ng()\n";
        assert_ne!(
            code(Language::Python, inside),
            code(Language::Python, outside)
        );
    }

    #[test]
    fn other_languages_have_tokens_too() {
        let one = "// why\nfn f() -> u8 { 1 /* one */ }\n";
        let two = "fn f() -> u8 {\n    1\n}\n";
        assert_eq!(code(Language::Rust, one), code(Language::Rust, two));
        assert_ne!(
            code(Language::Rust, one),
            code(Language::Rust, &two.replace('1', "2"))
        );
    }
}
