//! One piece of code with the shape that the table knows it by, and what the table's rules make of it.

use std::borrow::Cow;
use std::ops::Range;

use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use crate::mutate::Mutation;
use crate::mutate::kind::MutationKind;
use crate::mutate::role::ExpressionRole;
use crate::mutate::sight::Sight;
use crate::mutate::table::{self, MutationRule, Part};
use crate::scope::bytes;
use crate::text::{line_end, line_start};

/// One piece of code: its shape, its parts, and names that could stand in it.
pub(super) struct Piece<'a> {
    content: &'a str,
    shape: Cow<'a, str>,
    role: ExpressionRole,
    range: Range<usize>,
    /// Whole lines are added, with this indentation.
    indent: Option<&'a str>,
    holes: Vec<Hole<'a>>,
    sets: Vec<(&'static str, Vec<String>)>,
}

/// One part of a piece.
struct Hole<'a> {
    name: &'static str,
    text: Cow<'a, str>,
    range: Range<usize>,
    /// Needs no brackets beside an operator.
    is_atom: bool,
}

impl<'a> Piece<'a> {
    /// Adds expressions as parts.
    pub(super) fn codes(self, parts: &[(&'static str, &Expr)]) -> Self {
        let add = |piece: Self, (name, expr): &(&'static str, &Expr)| {
            piece.part(name, bytes(*expr), is_atom(expr))
        };
        parts.iter().fold(self, add)
    }

    /// Adds bytes as a part.
    pub(super) fn at(self, name: &'static str, range: Range<usize>) -> Self {
        self.part(name, range, true)
    }

    /// Adds bytes as a part when there are some.
    pub(super) fn maybe_at(self, name: &'static str, range: Option<Range<usize>>) -> Self {
        match range {
            Some(range) => self.at(name, range),
            None => self,
        }
    }

    fn part(mut self, name: &'static str, range: Range<usize>, is_atom: bool) -> Self {
        let text = Cow::Borrowed(self.content.get(range.clone()).unwrap_or_default());
        self.holes.push(Hole {
            name,
            text,
            range,
            is_atom,
        });
        self
    }

    /// Adds a text that stands nowhere as a part.
    pub(super) fn text(mut self, name: &'static str, text: impl Into<Cow<'a, str>>) -> Self {
        self.holes.push(Hole {
            name,
            text: text.into(),
            range: self.range.clone(),
            is_atom: true,
        });
        self
    }

    /// Adds names of which each may be tried.
    pub(super) fn set(
        mut self,
        name: &'static str,
        names: impl IntoIterator<Item = String>,
    ) -> Self {
        self.sets.push((name, names.into_iter().collect()));
        self
    }

    /// Says in what role the piece stands.
    pub(super) fn role(mut self, role: ExpressionRole) -> Self {
        self.role = role;
        self
    }

    fn hole(&self, name: &str) -> Option<&Hole<'a>> {
        self.holes.iter().find(|hole| hole.name == name)
    }
}

/// What was found so far, and what is in sight.
pub(super) struct Found<'a> {
    pub(super) content: &'a str,
    pub(super) sight: &'a Sight,
    lines: Vec<usize>,
    pub(super) mutations: Vec<Mutation>,
}

impl<'a> Found<'a> {
    /// Begins with nothing.
    pub(super) fn new(content: &'a str, sight: &'a Sight) -> Self {
        let starts = content.match_indices('\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        Found {
            content,
            sight,
            lines,
            mutations: Vec::new(),
        }
    }

    /// Begins a piece of code.
    pub(super) fn piece(&self, shape: impl Into<Cow<'a, str>>, node: &impl Ranged) -> Piece<'a> {
        self.span(shape, bytes(node))
    }

    /// Begins a piece of code by its bytes.
    pub(super) fn span(&self, shape: impl Into<Cow<'a, str>>, range: Range<usize>) -> Piece<'a> {
        Piece {
            content: self.content,
            shape: shape.into(),
            role: ExpressionRole::Other,
            range,
            indent: None,
            holes: Vec::new(),
            sets: Vec::new(),
        }
    }

    /// Begins a piece that whole lines are added to, before a statement or behind it.
    pub(super) fn line(&self, shape: &'static str, stmt: &Stmt, behind: bool) -> Option<Piece<'a>> {
        let (lines, indent) = self.whole_lines(stmt)?;
        let at = if behind { lines.end } else { lines.start };
        Some(Piece {
            indent: Some(indent),
            ..self.span(shape, at..at)
        })
    }

    /// Adds what the table suspects of a piece.
    pub(super) fn suspect(&mut self, mut piece: Piece<'a>) {
        let code = self.content.get(piece.range.clone()).unwrap_or_default();
        if piece.hole("code").is_none() {
            piece.holes.push(Hole {
                name: "code",
                text: Cow::Borrowed(code),
                range: piece.range.clone(),
                is_atom: true,
            });
        }
        for (rule, prior) in table::rules(&piece.shape, piece.role) {
            let target = match rule.target {
                None => piece.range.clone(),
                Some(name) => match piece.hole(name) {
                    Some(hole) => hole.range.clone(),
                    None => continue,
                },
            };
            self.apply(rule, prior, &piece, target);
        }
    }

    /// Adds what the table suspects of a node with these parts.
    pub(super) fn ask(
        &mut self,
        shape: &'static str,
        node: &impl Ranged,
        role: ExpressionRole,
        parts: &[(&'static str, &Expr)],
    ) {
        self.suspect(self.piece(shape, node).role(role).codes(parts));
    }

    fn apply(&mut self, rule: &MutationRule, prior: f32, piece: &Piece<'a>, target: Range<usize>) {
        let replaced = self.content.get(target.clone()).unwrap_or_default();
        if stands_already(&rule.template, replaced) {
            return;
        }
        let sight = self.sight;
        for chosen in choices(sight, rule, piece, replaced) {
            let Some(text) = self.render(&rule.template, piece, &chosen) else {
                return;
            };
            let likeness = match chosen.first() {
                Some((_, name)) if rule.by_likeness => likeness(replaced, name),
                _ => 1.0,
            };
            self.add(rule.kind, prior * likeness, target.clone(), text);
            if rule.destructive {
                self.last_is_destructive();
            }
        }
    }

    fn render(
        &self,
        template: &[Part],
        piece: &Piece<'_>,
        chosen: &[(&str, &str)],
    ) -> Option<String> {
        let (newline, indent) = (self.newline(), piece.indent.unwrap_or_default());
        let mut text = String::new();
        for part in template {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::NewLine => text.extend([newline, indent]),
                Part::Level => text.push_str(if indent.contains('\t') { "\t" } else { "    " }),
                Part::Hole { name, operand, .. } => {
                    match chosen.iter().find(|(set, _)| set == name) {
                        Some((_, name)) => text.push_str(name),
                        None => match piece.hole(name)? {
                            hole if *operand && !hole.is_atom => {
                                text.extend(["(", &hole.text, ")"])
                            }
                            hole => text.push_str(&hole.text),
                        },
                    }
                }
            }
        }
        if piece.indent.is_none() {
            return Some(text);
        }
        let before = self.content.get(..piece.range.start)?;
        Some(match before.is_empty() || before.ends_with('\n') {
            true => format!("{indent}{text}{newline}"),
            false => format!("{newline}{indent}{text}"),
        })
    }

    /// Adds a change.
    pub(super) fn add(
        &mut self,
        kind: MutationKind,
        prior: f32,
        range: Range<usize>,
        text: impl Into<String>,
    ) {
        let line = self.lines.partition_point(|start| *start <= range.start) as u32;
        self.mutations.push(Mutation {
            kind,
            range,
            text: text.into(),
            line,
            prior,
            destructive: false,
        });
    }

    /// Says that the last change takes code away or makes a result constant.
    pub(super) fn last_is_destructive(&mut self) {
        if let Some(last) = self.mutations.last_mut() {
            last.destructive = true;
        }
    }

    /// Returns the code of a node.
    pub(super) fn code(&self, node: &impl Ranged) -> &'a str {
        self.content.get(bytes(node)).unwrap_or_default()
    }

    /// Returns the code of an expression so that it can stand beside an operator.
    pub(super) fn atom(&self, expr: &Expr) -> String {
        let code = self.code(expr);
        if is_atom(expr) {
            code.to_owned()
        } else {
            format!("({code})")
        }
    }

    /// Returns where an operator stands between two expressions.
    pub(super) fn between(
        &self,
        left: &impl Ranged,
        right: &impl Ranged,
        operator: &str,
    ) -> Option<Range<usize>> {
        let (start, end) = (bytes(left).end, bytes(right).start);
        let at = start + self.content.get(start..end)?.find(operator)?;
        Some(at..at + operator.len())
    }

    /// Returns the whole lines of a statement that has its lines for itself, and its indentation.
    pub(super) fn whole_lines(&self, stmt: &Stmt) -> Option<(Range<usize>, &'a str)> {
        let span = bytes(stmt);
        let start = line_start(self.content, span.start);
        let indent = self.content.get(start..span.start)?;
        if !indent.chars().all(|c| c == ' ' || c == '\t') {
            return None;
        }
        let end = line_end(self.content, span.end);
        let tail = self.content.get(span.end..end)?.trim();
        let alone = tail.is_empty() || tail.starts_with('#');
        alone.then_some((start..end, indent))
    }

    /// Returns how a line ends in this file.
    pub(super) fn newline(&self) -> &'static str {
        if self.content.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }
}

/// Returns whether an expression can stand beside any operator as it is.
fn is_atom(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Name(_)
            | Expr::Attribute(_)
            | Expr::Call(_)
            | Expr::Subscript(_)
            | Expr::NumberLiteral(_)
            | Expr::StringLiteral(_)
            | Expr::BooleanLiteral(_)
            | Expr::NoneLiteral(_)
            | Expr::List(_)
            | Expr::Dict(_)
            | Expr::Set(_)
            | Expr::ListComp(_)
            | Expr::DictComp(_)
            | Expr::SetComp(_)
    )
}

/// Returns whether a piece already has what a template puts around it: `len(x)` needs no other `len`.
fn stands_already(template: &[Part], code: &str) -> bool {
    let around = |before: &str, after: &str| code.starts_with(before) && code.ends_with(after);
    match template {
        [Part::Text(before), Part::Hole { name: "code", .. }] => around(before, ""),
        [Part::Hole { name: "code", .. }, Part::Text(after)] => around("", after),
        [
            Part::Text(before),
            Part::Hole { name: "code", .. },
            Part::Text(after),
        ] => around(before, after),
        _ => false,
    }
}

/// Names that look alike are mixed up more often.
fn likeness(one: &str, other: &str) -> f32 {
    0.7 + strsim::jaro_winkler(one, other) as f32 * 0.8
}

/// Returns every way to fill the sets of a template: one name each, and no name twice.
fn choices<'s>(
    sight: &'s Sight,
    rule: &MutationRule,
    piece: &'s Piece<'_>,
    replaced: &str,
) -> Vec<Vec<(&'static str, &'s str)>> {
    let mut choices: Vec<Vec<(&str, &str)>> = vec![Vec::new()];
    for part in &rule.template {
        let Part::Hole { name, most, .. } = part else {
            continue;
        };
        let known = choices.iter().flatten().any(|(set, _)| set == name);
        if piece.hole(name).is_some() || known {
            continue;
        }
        let own = piece.sets.iter().find(|(set, _)| set == name);
        let names = own.map_or_else(|| sight.set(name), |(_, names)| names);
        let others = names.iter().filter(|other| *other != replaced);
        let mut others: Vec<&str> = others.map(String::as_str).collect();
        if rule.by_likeness && others.len() > *most {
            others.sort_by(|a, b| likeness(replaced, b).total_cmp(&likeness(replaced, a)));
        }
        others.truncate(*most);
        let with = |chosen: &Vec<(&'static str, &'s str)>, other: &'s str| {
            let taken = chosen.iter().any(|(_, taken)| *taken == other);
            (!taken).then(|| [chosen.as_slice(), &[(*name, other)]].concat())
        };
        let filled = choices
            .iter()
            .map(|chosen| others.iter().filter_map(|other| with(chosen, other)));
        choices = filled.flatten().collect();
    }
    choices
}
