//! The strings of a file, and which of them can spell a name: whole, or with gaps that are filled while a program runs.

use std::ops::Range;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{self as ast, Expr, Operator, Stmt};
use ruff_text_size::{Ranged, TextRange};

use crate::fix::members::last_name;
use crate::fix::program::File;

/// A part of a string that a program puts together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StringPart {
    /// As it stands.
    Fixed(String),
    /// Filled while the program runs, with letters of this kind.
    Gap(Letters),
}

/// What a gap can be filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letters {
    Any,
    /// `%d`, `{:d}`.
    Digits,
    /// `%x`, `{:02X}`.
    Hex,
}

impl Letters {
    fn of(conversion: char) -> Letters {
        match conversion {
            'd' | 'i' | 'u' | 'o' | 'b' | 'e' | 'f' | 'g' | 'F' | 'G' | 'E' => Letters::Digits,
            'x' | 'X' => Letters::Hex,
            _ => Letters::Any,
        }
    }

    fn include(self, letter: char) -> bool {
        match self {
            Letters::Any => true,
            Letters::Digits => letter.is_ascii_digit(),
            Letters::Hex => letter.is_ascii_hexdigit(),
        }
    }
}

/// No name is made of more gaps than this; it bounds the ways to fill them that are tried.
const MOST_GAPS: usize = 6;

/// A string of a file.
#[derive(Debug)]
pub(super) struct FoundString {
    pub(super) span: TextRange,
    pub(super) pieces: Vec<StringPart>,
    /// Whether it documents something and is no value.
    pub(super) is_docstring: bool,
    /// Whether it says again which name it is assigned to: `T = TypeVar("T")`.
    pub(super) says_itself: bool,
}

impl FoundString {
    /// What stands in the string; gaps are left out.
    pub(super) fn fixed(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            StringPart::Fixed(text) => Some(text.as_str()),
            StringPart::Gap(_) => None,
        })
    }

    /// Whether the string is the name, and nothing else.
    pub(super) fn is(&self, name: &str) -> bool {
        matches!(self.pieces.as_slice(), [StringPart::Fixed(text)] if text == name)
    }

    /// Whether nearly every name can be made of it: `"_" + name`, `unit + "s"`.
    pub(super) fn says_little(&self) -> bool {
        let letters = self.fixed().flat_map(str::chars);
        self.pieces.len() > 1 && letters.filter(|letter| letter.is_alphanumeric()).count() < 2
    }

    /// Whether the string is the name or may become it.
    pub(super) fn spells(&self, name: &str) -> bool {
        !self.is_docstring && !self.says_itself && (self.is(name) || becomes(&self.pieces, name))
    }
}

/// Whether filling the gaps of a string that has some can give a name. What stands around the gaps must fit on both
/// sides, and so must what would fill them.
fn becomes(pieces: &[StringPart], name: &str) -> bool {
    let gaps = pieces
        .iter()
        .filter(|piece| matches!(piece, StringPart::Gap(_)));
    let has_fixed = pieces
        .iter()
        .any(|piece| matches!(piece, StringPart::Fixed(text) if !text.is_empty()));
    has_fixed && (1..=MOST_GAPS).contains(&gaps.count()) && fits(pieces, name)
}

fn fits(pieces: &[StringPart], rest: &str) -> bool {
    match pieces.split_first() {
        None => rest.is_empty(),
        Some((StringPart::Fixed(text), more)) => rest
            .strip_prefix(text.as_str())
            .is_some_and(|rest| fits(more, rest)),
        Some((StringPart::Gap(letters), more)) => rest
            .char_indices()
            .take_while(|(_, letter)| letters.include(*letter))
            .any(|(at, letter)| fits(more, &rest[at + letter.len_utf8()..])),
    }
}

/// The pieces of a string, read as a pattern for `%` or `format` where it looks like one.
fn pattern(text: &str) -> Vec<StringPart> {
    let mut pieces = Vec::new();
    let mut fixed = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let after = &rest[letter.len_utf8()..];
        let (gap, behind) = match letter {
            '%' | '{' | '}' if after.starts_with(letter) => {
                fixed.push(letter);
                (None, &after[1..])
            }
            '%' => percent(after),
            '{' => braces(after),
            _ => (None, rest),
        };
        if let Some(letters) = gap {
            pieces.push(StringPart::Fixed(std::mem::take(&mut fixed)));
            pieces.push(StringPart::Gap(letters));
        } else if behind.len() == rest.len() {
            fixed.push(letter);
            rest = after;
            continue;
        }
        rest = behind;
    }
    pieces.push(StringPart::Fixed(fixed));
    tidy(pieces)
}

/// Reads what stands behind `%`: `s`, `02X`, `(key)d`.
fn percent(text: &str) -> (Option<Letters>, &str) {
    let keyed = text
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(')'))
        .map_or(text, |(_, rest)| rest);
    let flags = keyed.trim_start_matches(|c: char| "#0- +.*".contains(c) || c.is_ascii_digit());
    match flags.chars().next() {
        Some(letter) if "diouxXeEfFgGcrsa".contains(letter) => {
            (Some(Letters::of(letter)), &flags[1..])
        }
        _ => (Some(Letters::Any), text),
    }
}

/// Reads what stands behind `{`: `}`, `0}`, `item.name!r}`, `:02x}`.
fn braces(text: &str) -> (Option<Letters>, &str) {
    match text.split_once('}') {
        Some((field, rest)) => {
            let format = field.split_once(':').map_or("", |(_, format)| format);
            let letters = format.chars().next_back().map_or(Letters::Any, Letters::of);
            (Some(letters), rest)
        }
        None => (Some(Letters::Any), ""),
    }
}

/// Leaves out what is empty, and joins what belongs together.
fn tidy(pieces: Vec<StringPart>) -> Vec<StringPart> {
    let mut joined: Vec<StringPart> = Vec::new();
    for piece in pieces {
        match (joined.last_mut(), piece) {
            (_, StringPart::Fixed(text)) if text.is_empty() => {}
            (Some(StringPart::Fixed(before)), StringPart::Fixed(text)) => before.push_str(&text),
            (Some(StringPart::Gap(before)), StringPart::Gap(_)) => *before = Letters::Any,
            (_, piece) => joined.push(piece),
        }
    }
    joined
}

/// Functions whose first argument says again which name their result gets.
const SAYS_ITSELF: &str = "TypeVar TypeVarTuple ParamSpec NewType namedtuple NamedTuple TypedDict";

/// Returns the strings of a file.
pub(super) fn strings(file: &File<'_>) -> Vec<FoundString> {
    let mut walk = Walk::default();
    walk.visit_body(file.source.body());
    walk.found
}

#[derive(Default)]
struct Walk {
    found: Vec<FoundString>,
    docstring: Option<TextRange>,
    says_itself: Option<TextRange>,
}

impl<'a> Visitor<'a> for Walk {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if let Stmt::Expr(node) = statement {
            self.docstring = Some(node.value.range());
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Call(call) = expression
            && let Some(first) = call.arguments.args.first()
            && last_name(&call.func)
                .is_some_and(|name| SAYS_ITSELF.split(' ').any(|maker| maker == name))
        {
            self.says_itself = Some(first.range());
        }
        let Some(pieces) = pieces(expression) else {
            return walk_expr(self, expression);
        };
        let span = expression.range();
        self.found.push(FoundString {
            span,
            pieces,
            is_docstring: self.docstring == Some(span) && expression.is_string_literal_expr(),
            says_itself: self.says_itself == Some(span),
        });
        match expression {
            Expr::BinOp(node) if node.op == Operator::Add => self.visit_added(expression),
            _ => walk_expr(self, expression),
        }
    }
}

impl Walk {
    /// Looks inside what is added together; the strings among it are pieces of the whole.
    fn visit_added(&mut self, expression: &Expr) {
        match expression {
            Expr::BinOp(node) if node.op == Operator::Add => {
                self.visit_added(&node.left);
                self.visit_added(&node.right);
            }
            Expr::StringLiteral(_) => {}
            Expr::FString(_) => walk_expr(self, expression),
            _ => self.visit_expr(expression),
        }
    }
}

/// The pieces of a string that an expression makes; none where it makes no string.
fn pieces(expression: &Expr) -> Option<Vec<StringPart>> {
    match expression {
        Expr::StringLiteral(node) => Some(vec![StringPart::Fixed(node.value.to_str().to_owned())]),
        Expr::FString(node) => Some(tidy(in_f_string(node))),
        Expr::BinOp(node) if node.op == Operator::Mod => match node.left.as_ref() {
            Expr::StringLiteral(text) => Some(pattern(text.value.to_str())),
            _ => None,
        },
        Expr::BinOp(node) if node.op == Operator::Add => {
            let (left, right) = (pieces(&node.left), pieces(&node.right));
            if left.is_none() && right.is_none() {
                return None;
            }
            let filled =
                |side: Option<Vec<StringPart>>| side.unwrap_or(vec![StringPart::Gap(Letters::Any)]);
            Some(tidy([filled(left), filled(right)].concat()))
        }
        Expr::Call(node) => match node.func.as_ref() {
            Expr::Attribute(method) if method.attr.as_str() == "format" => {
                match method.value.as_ref() {
                    Expr::StringLiteral(text) => Some(pattern(text.value.to_str())),
                    _ => None,
                }
            }
            _ => None,
        },
        _ => None,
    }
}

fn in_f_string(node: &ast::ExprFString) -> Vec<StringPart> {
    let gap = |format: &Option<Box<ast::InterpolatedStringFormatSpec>>| {
        let spelled = format.as_ref().and_then(|format| format.elements.last());
        match spelled.and_then(|last| last.as_literal()) {
            Some(last) => last
                .value
                .chars()
                .next_back()
                .map_or(Letters::Any, Letters::of),
            None => Letters::Any,
        }
    };
    let parts = node.value.iter().flat_map(|part| match part {
        ast::FStringPart::Literal(text) => vec![StringPart::Fixed(text.value.to_string())],
        ast::FStringPart::FString(text) => text
            .elements
            .iter()
            .map(|element| match element {
                ast::InterpolatedStringElement::Literal(text) => {
                    StringPart::Fixed(text.value.to_string())
                }
                ast::InterpolatedStringElement::Interpolation(inner) => {
                    StringPart::Gap(gap(&inner.format_spec))
                }
            })
            .collect(),
    });
    parts.collect()
}

/// Whether a text may hold a string that becomes a name: a quick look at what stands between quotes, before parsing.
pub(super) fn may_become(text: &str, name: &str) -> bool {
    let quotes = memchr::memchr2_iter(b'"', b'\'', text.as_bytes());
    quotes.into_iter().any(|at| {
        let (quote, rest) = text[at..].split_at(1);
        let line = rest.split('\n').next().unwrap_or_default();
        let inner = line.split(quote).next().unwrap_or_default();
        // An added string has its gap outside the quotes.
        let behind = rest.get(inner.len() + 1..).unwrap_or_default();
        let is_added = !inner.is_empty()
            && (name.starts_with(inner) && behind.trim_start().starts_with('+')
                || name.ends_with(inner) && text[..at].trim_end().ends_with('+'));
        is_added
            || inner.len() <= 2 * name.len() + 40
                && inner.contains(['%', '{'])
                && becomes(&pattern(inner), name)
    })
}

/// Where a name stands in a string of a file, as a word of its own.
pub(super) fn words_in(file: &File<'_>, span: TextRange, name: &str) -> Vec<Range<usize>> {
    let start = usize::from(span.start());
    crate::text::whole_words(file.text(span), name)
        .map(|at| start + at..start + at + name.len())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern_text: &str, name: &str, expected: bool) {
        assert_eq!(
            becomes(&pattern(pattern_text), name),
            expected,
            "{pattern_text} {name}"
        );
    }

    #[test]
    fn both_ends_of_a_pattern_must_fit() {
        check("get_%s_permissions", "get_user_permissions", true);
        check("get_%s_permissions", "get_user", false);
        check("get_%s_permissions", "user_permissions", false);
        check("get_{}_permissions", "get_all_permissions", true);
        check("get_%(kind)s", "get_all", true);
        check("%s", "total", false);
        check("100%% of %s", "total", false);
    }

    #[test]
    fn a_gap_holds_something_that_its_conversion_gives() {
        check("_%02X", "_0F", true);
        check("_%02X", "_escape", false);
        check("step_%d", "step_2", true);
        check("step_%d", "step_two", false);
        check("step_{:d}", "step_two", false);
        check("step_{:02x}", "step_fe", true);
        check("step_%s", "step_", false);
    }
}
