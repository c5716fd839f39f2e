//! The one door to the Python parser. Parses anything, never overflows the stack, tells how it went.

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{Expr, ModModule};
use ruff_python_parser::{Mode, ParseOptions, Parsed, parse_unchecked};

/// A parsed module that is safe to walk on this thread, as long as it is walked inside [`with_module`].
pub(crate) type ParsedModule = Parsed<ModModule>;

/// Deeper nesting than this is not Python: CPython's own parser gives up at 6000 levels.
const DEEPEST: usize = 6_000;

/// What one level of nesting may cost on the stack when a tree is walked, compared or dropped.
/// Measured at about 700 bytes without optimisation for the largest visitor; doubled.
const STACK_TO_WALK: usize = 2_048;

/// What one level costs when a tree is only dropped.
const STACK_TO_DROP: usize = 512;

/// The parser does not take more text than its offsets can count.
const LARGEST: usize = u32::MAX as usize;

/// Parses `content` and hands the module to `look`, with enough stack to walk its deepest expression.
///
/// Broken code gives the tree of what could be read; `module.errors()` says what was wrong.
/// `look` is given `None` for text that no Python accepts because it is nested too deeply.
pub(crate) fn with_parsed<T>(content: &str, look: impl FnOnce(Option<&ParsedModule>) -> T) -> T {
    let parsed = (content.len() < LARGEST)
        .then(|| parse_unchecked(content, ParseOptions::from(Mode::Module)))
        .and_then(|parsed| parsed.try_into_module());
    let Some(parsed) = parsed else {
        return look(None);
    };
    let levels = nesting(&parsed);
    if levels > DEEPEST {
        on_stack(levels * STACK_TO_DROP, move || drop(parsed));
        return look(None);
    }
    on_stack((levels + 64) * STACK_TO_WALK, move || {
        let seen = look(Some(&parsed));
        drop(parsed);
        seen
    })
}

/// Parses `content` and hands the module to `look`; `None` for text that no Python accepts.
pub(crate) fn with_module<T>(content: &str, look: impl FnOnce(&ParsedModule) -> T) -> Option<T> {
    with_parsed(content, |module| module.map(look))
}

fn on_stack<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(bytes, bytes + 64 * 1024, work)
}

/// Says whether `content` is Python without a syntax error.
pub fn parses(content: &str) -> bool {
    with_module(content, |module| module.has_valid_syntax()).unwrap_or(false)
}

/// Says whether this is the test of `if TYPE_CHECKING`.
pub(crate) fn is_type_checking(test: &Expr) -> bool {
    match test {
        Expr::Name(name) => name.id.as_str() == "TYPE_CHECKING",
        Expr::Attribute(attribute) => attribute.attr.as_str() == "TYPE_CHECKING",
        _ => false,
    }
}

/// Returns an upper bound of the depth of the tree, read from the flat list of tokens.
fn nesting(parsed: &ParsedModule) -> usize {
    // One entry a bracket: the depth at its start, and what commas inside it do not take back.
    let mut levels: Vec<(usize, usize)> = Vec::new();
    let (mut base, mut depth, mut indents, mut deepest) = (0usize, 0usize, 0usize, 0usize);
    for token in parsed.tokens() {
        match token.kind() {
            TokenKind::Lpar
            | TokenKind::Lsqb
            | TokenKind::Lbrace
            | TokenKind::FStringStart
            | TokenKind::TStringStart => {
                depth += 1;
                levels.push((base, depth));
                base = depth;
            }
            TokenKind::Rpar
            | TokenKind::Rsqb
            | TokenKind::Rbrace
            | TokenKind::FStringEnd
            | TokenKind::TStringEnd => {
                if let Some((outer, at)) = levels.pop() {
                    base = outer;
                    depth = at;
                }
            }
            TokenKind::Comma => depth = base,
            TokenKind::Newline | TokenKind::Semi => {
                levels.clear();
                (base, depth) = (0, 0);
            }
            TokenKind::Indent => indents += 1,
            TokenKind::Dedent => indents = indents.saturating_sub(1),
            TokenKind::Lambda => {
                base += 1;
                depth += 1;
            }
            TokenKind::Name
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::String
            | TokenKind::Comment
            | TokenKind::NonLogicalNewline => {}
            _ => depth += 1,
        }
        deepest = deepest.max(depth + indents * 2);
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_code_still_gives_a_tree() {
        let statements = with_module("def f(:\n  pass\nx = 1\n", |module| module.suite().len());
        assert!(statements.is_some_and(|n| n >= 2));
        assert!(!parses("def f(:\n"));
        assert!(parses("x = 1"));
        assert!(parses(""));
    }

    #[test]
    fn no_depth_overflows_the_stack() {
        let deep: [String; 9] = [
            "(".repeat(100_000),
            format!("x = {}1", "1+".repeat(200_000)),
            format!("x = {}1{}", "(".repeat(50_000), ")".repeat(50_000)),
            format!("x = a{}", ".b".repeat(200_000)),
            format!("x = a{}", "()".repeat(200_000)),
            "not ".repeat(100_000) + "x",
            "lambda x, y: ".repeat(50_000) + "x",
            "x = a if b else ".repeat(30_000) + "c",
            (0..400)
                .map(|n| format!("{}if x:\n", " ".repeat(n)))
                .collect(),
        ];
        for content in deep {
            with_module(&content, |module| module.suite().len());
        }
    }
}
