//! Loops over all names of something that only look each name up again: renaming one changes nothing for them.

use ruff_python_ast::Expr;
use ruff_python_ast::token::{Token, TokenKind};
use ruff_text_size::{Ranged, TextRange};

use super::super::members::last_name;
use super::super::program::File;
use super::Renaming;
use super::taken::{after, before};
use crate::scope::Role;

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
