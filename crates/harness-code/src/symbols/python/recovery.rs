//! Definitions that an unclosed bracket or string before them swallowed: they start at the margin, so they are read again.

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::visitor::Visitor;
use ruff_text_size::Ranged;
use rustc_hash::FxHashSet;

use crate::language::python::{ParsedModule, with_module};
use crate::symbols::python::Reader;

/// A file with more unclosed brackets than this is not worth more time.
const TRIES: usize = 8;

/// Reads what the first pass missed.
pub(super) fn recover(content: &str, module: &ParsedModule, reader: &mut Reader<'_>) {
    let mut missed = swallowed(content, module, reader, 0);
    for _ in 0..TRIES {
        let Some(at) = missed else { return };
        reader.cut(at);
        // Blanks keep every offset as it is.
        let mut rest: String = content[..at as usize].bytes().map(blank).collect();
        rest.push_str(&content[at as usize..]);
        missed = with_module(&rest, |module| {
            reader.visit_body(module.suite());
            swallowed(content, module, reader, at + 1)
        })
        .flatten();
    }
}

/// Returns a blank for every byte; line breaks stay.
fn blank(byte: u8) -> char {
    match byte {
        b'\n' => '\n',
        b'\r' => '\r',
        _ => ' ',
    }
}

/// Returns the first definition at the margin, from this offset on, that is not among those read.
fn swallowed(content: &str, module: &ParsedModule, reader: &Reader<'_>, from: u32) -> Option<u32> {
    let known: FxHashSet<u32> = reader.facts.definitions.iter().map(|d| d.header).collect();
    let strings: Vec<(u32, u32)> = module
        .tokens()
        .iter()
        .filter(|token| {
            matches!(
                token.kind(),
                TokenKind::String | TokenKind::FStringMiddle | TokenKind::TStringMiddle
            )
        })
        .map(|token| (token.start().to_u32(), token.end().to_u32()))
        .collect();
    let mut offset = 0usize;
    for line in content.split_inclusive('\n') {
        let at = offset as u32;
        offset += line.len();
        let defines = ["def ", "class ", "async def "]
            .iter()
            .any(|keyword| line.starts_with(keyword));
        if !defines || at < from || known.contains(&at) {
            continue;
        }
        let before = strings.partition_point(|string| string.0 <= at);
        let in_string = before > 0 && strings[before - 1].1 > at;
        if !in_string {
            return Some(at);
        }
    }
    None
}
