//! How the names of something are used at a place: one by one, in a loop that only looks each up again, or as a whole.

use ruff_python_ast::Expr;
use ruff_python_ast::token::{Token, TokenKind};
use ruff_text_size::{Ranged, TextRange};

use super::super::members::last_name;
use super::super::program::File;
use super::Renaming;
use crate::scope::Role;
use crate::text::is_among;

/// Methods of a namespace that read or set single names, or copy it as it is.
const ONE_BY_ONE: &str =
    "update copy get pop setdefault clear values __contains__ __getitem__ __setitem__";

/// How the names of something are used at a place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NameUse {
    /// One name after the other: `x.__dict__[name]`, `name in vars(x)`, `x.__dict__.update(...)`.
    OneByOne,
    /// Walked, printed, handed on.
    Whole,
}

impl Renaming<'_, '_> {
    /// Whether the names taken at a place go into a loop that uses each only as the name of an attribute:
    /// `for name in vars(cls): getattr(cls, name)`.
    pub(super) fn only_looks_up(&self, file: &File<'_>, place: TextRange) -> bool {
        let Some(target) = loop_name(file, place) else {
            return false;
        };
        let scopes = &file.scopes;
        let symbol = scopes
            .occurrences
            .iter()
            .find(|occurrence| occurrence.span == target)
            .and_then(|occurrence| occurrence.symbol);
        symbol.is_some()
            && scopes
                .occurrences
                .iter()
                .filter(|occurrence| occurrence.symbol == symbol && occurrence.role == Role::Load)
                .all(|occurrence| self.looks_up(file, occurrence.span))
    }

    /// Whether a name in a variable is only used to reach what it names, or to ask something that both names answer alike.
    fn looks_up(&self, file: &File<'_>, span: TextRange) -> bool {
        let as_attribute = file.scopes.calls.iter().any(|call| {
            let second = call.node.arguments.args.get(1);
            second.is_some_and(|second| second.range() == span)
                && matches!(
                    last_name(&call.node.func),
                    Some("getattr" | "setattr" | "hasattr" | "delattr")
                )
        });
        let asked = file.scopes.calls.iter().any(|call| {
            let Expr::Attribute(method) = call.node.func.as_ref() else {
                return false;
            };
            let [Expr::StringLiteral(part)] = &*call.node.arguments.args else {
                return false;
            };
            let part = part.value.to_str();
            method.value.range() == span
                && match method.attr.as_str() {
                    "startswith" => self.old.starts_with(part) == self.new.starts_with(part),
                    "endswith" => self.old.ends_with(part) == self.new.ends_with(part),
                    _ => false,
                }
        });
        let previous = before(file, span).next().map(Token::kind);
        let next = after(file, span).first().map(|token| token.kind());
        let as_key = previous == Some(TokenKind::Lsqb) && next == Some(TokenKind::Rsqb);
        // A name that a string is compared with stands in that string, which is looked for on its own.
        let compared = matches!(
            next,
            Some(TokenKind::In | TokenKind::Not | TokenKind::EqEqual | TokenKind::NotEqual)
        );
        as_attribute || asked || as_key || compared
    }
}

/// The variable that a loop over the names at a place puts each name in.
fn loop_name(file: &File<'_>, place: TextRange) -> Option<TextRange> {
    let next = after(file, place);
    let method = next.get(1).map(|token| file.text(token.range()));
    let in_pairs = match next.first().map(|token| token.kind()) {
        Some(TokenKind::Dot) => match method {
            Some("items") => true,
            Some("keys") => false,
            _ => return None,
        },
        // The end of the loop's head, or of a comprehension.
        Some(
            TokenKind::Colon
            | TokenKind::If
            | TokenKind::Rsqb
            | TokenKind::Rpar
            | TokenKind::Rbrace,
        ) => file.text(place).contains("getmembers"),
        _ => return None,
    };
    let mut earlier = before(file, place);
    if earlier.next().map(Token::kind) != Some(TokenKind::In) {
        return None;
    }
    let mut names: Vec<TextRange> = Vec::new();
    for token in earlier {
        match token.kind() {
            TokenKind::Name => names.push(token.range()),
            TokenKind::Comma | TokenKind::Lpar | TokenKind::Rpar => {}
            TokenKind::For => {
                let whole = names.len() == if in_pairs { 2 } else { 1 };
                return names.last().copied().filter(|_| whole);
            }
            _ => return None,
        }
    }
    None
}

/// The tokens after a place, comments and line ends inside brackets left out.
pub(super) fn after<'f>(file: &File<'f>, place: TextRange) -> Vec<&'f Token> {
    let tokens = file.source.parsed().tokens();
    let at = tokens.partition_point(|token| token.start() < place.end());
    let rest = tokens.get(at..).unwrap_or_default();
    rest.iter()
        .filter(|token| !is_blank(token.kind()))
        .take(2)
        .collect()
}

/// The tokens before a place, the nearest first.
pub(super) fn before<'f>(file: &File<'f>, place: TextRange) -> impl Iterator<Item = &'f Token> {
    let tokens = file.source.parsed().tokens();
    let at = tokens.partition_point(|token| token.start() < place.start());
    let rest = tokens.get(..at).unwrap_or_default();
    rest.iter().rev().filter(|token| !is_blank(token.kind()))
}

fn is_blank(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Comment | TokenKind::NonLogicalNewline)
}

/// How a namespace is used at a place.
pub(super) fn used(file: &File<'_>, place: TextRange) -> NameUse {
    let next = after(file, place);
    let text = |token: &Token| file.text(token.range());
    match next.first().map(|token| token.kind()) {
        Some(TokenKind::Lsqb | TokenKind::Equal | TokenKind::EqEqual | TokenKind::NotEqual) => {
            return NameUse::OneByOne;
        }
        Some(TokenKind::Dot)
            if next
                .get(1)
                .is_some_and(|name| is_among(ONE_BY_ONE, text(name))) =>
        {
            return NameUse::OneByOne;
        }
        _ => {}
    }
    let mut earlier = before(file, place);
    match earlier.next().map(|token| token.kind()) {
        Some(TokenKind::EqEqual | TokenKind::NotEqual | TokenKind::Del) => NameUse::OneByOne,
        Some(TokenKind::In) if !is_loop(earlier.by_ref().map(|token| token.kind())) => {
            NameUse::OneByOne
        }
        Some(TokenKind::Lpar) => {
            let callee: Vec<&str> = earlier.take(3).map(text).collect();
            match callee.as_slice() {
                ["len" | "bool", ..] | ["update", ".", "__dict__"] => NameUse::OneByOne,
                _ => NameUse::Whole,
            }
        }
        _ => NameUse::Whole,
    }
}

/// Whether the `in` that these tokens lead up to, nearest first, is that of a `for`.
fn is_loop(tokens: impl Iterator<Item = TokenKind>) -> bool {
    for kind in tokens {
        match kind {
            TokenKind::For => return true,
            TokenKind::Name
            | TokenKind::Comma
            | TokenKind::Lpar
            | TokenKind::Rpar
            | TokenKind::Lsqb
            | TokenKind::Rsqb
            | TokenKind::Star
            | TokenKind::Dot => {}
            _ => return false,
        }
    }
    false
}
