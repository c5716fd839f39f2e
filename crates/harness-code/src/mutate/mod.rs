//! The small single changes that a person would suspect in one Python definition: text in, edits out.
//! Which of them is right is for the tests to say; nothing is tried here.

mod draft;
mod expressions;
mod kind;
mod lines;
mod piece;
mod role;
mod sight;
mod site;
mod statements;
mod table;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::ops::Range;

use ruff_python_ast::comparable::ComparableStmt;
use ruff_python_ast::visitor::{Visitor, walk_body, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Number, Operator, Stmt};
use rustc_hash::{FxHashSet, FxHasher};

use crate::language::python;
use crate::text::{line_end, line_start};

pub use draft::hunks;
pub use kind::MutationKind;

/// One small change of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Mutation {
    /// What kind of change it is.
    pub kind: MutationKind,
    /// The bytes that go; empty for an insertion.
    pub range: Range<usize>,
    /// What comes in their place.
    pub text: String,
    /// The line where it happens, from 1.
    pub line: u32,
    /// How often bugs are of this kind; only the order means something.
    pub prior: f32,
    /// The change takes code away or makes a result constant: never believed alone.
    pub destructive: bool,
}

impl Mutation {
    /// Returns the file with the change made; nothing when it does not fit.
    pub fn applied(&self, content: &str) -> Option<String> {
        let (before, after) = (
            content.get(..self.range.start)?,
            content.get(self.range.end..)?,
        );
        Some(format!("{before}{}{after}", self.text))
    }

    /// Returns how many characters go and come.
    pub fn size(&self) -> usize {
        self.range.len() + self.text.len()
    }
}

/// More changes of one definition than this are not worth trying.
const MOST: usize = 6_000;

/// Returns the changes of the definition at `span`, likeliest first, each parsing and each a different program.
/// `weight` says how much the evidence points at a line; 1 where nothing is known.
pub fn mutations(content: &str, span: Range<usize>, weight: impl Fn(u32) -> f32) -> Vec<Mutation> {
    let found = python::with_module(content, |module| {
        if module.has_invalid_syntax() {
            return Vec::new();
        }
        let Some(path) = role::path_to(module.suite(), &span) else {
            return Vec::new();
        };
        site::look(content, module.suite(), &path)
    });
    let mut found = found.unwrap_or_default();
    for mutation in &mut found {
        mutation.prior *= weight(mutation.line);
    }
    found.sort_by(likeliest_first);
    found.truncate(MOST);
    distinct(content, &span, found)
}

fn likeliest_first(a: &Mutation, b: &Mutation) -> Ordering {
    (a.destructive.cmp(&b.destructive))
        .then(b.prior.total_cmp(&a.prior))
        .then(a.size().cmp(&b.size()))
        .then(a.range.start.cmp(&b.range.start))
}

/// How much less likely a change is that adds nothing to a value: `len(xs)` is meant rather than `len(xs) + 0`.
const PADDED: f32 = 0.3;

/// Keeps the changes after which the definition parses and is a program not seen yet.
fn distinct(content: &str, span: &Range<usize>, found: Vec<Mutation>) -> Vec<Mutation> {
    let start = line_start(content, span.start);
    // Lines may be added behind the last one.
    let end = line_end(content, span.end);
    let Some(piece) = content.get(start..end) else {
        return Vec::new();
    };
    let base = program(piece);
    let mut seen: FxHashSet<u64> = base.iter().map(|base| base.print).collect();
    let (idle, padding) = base.map_or((0, 0), |base| (base.idle, base.padding));
    let mut kept = found;
    kept.retain_mut(|mutation| {
        let inside = mutation.range.start >= start && mutation.range.end <= end;
        if !inside {
            return false;
        }
        let local = Mutation {
            range: mutation.range.start - start..mutation.range.end - start,
            ..mutation.clone()
        };
        let Some(changed) = local.applied(piece).and_then(|text| program(&text)) else {
            return false;
        };
        // A statement that does nothing any more was taken away, whatever the change is called.
        mutation.destructive |= changed.idle > idle;
        if changed.padding > padding {
            mutation.prior *= PADDED;
        }
        seen.insert(changed.print)
    });
    kept.sort_by(likeliest_first);
    kept
}

/// What is to be known of one definition, whatever its layout.
struct Program {
    /// Tells it from others.
    print: u64,
    /// Statements and branches without any effect.
    idle: usize,
    /// Sums with nothing and products with one.
    padding: usize,
}

/// Returns what tells one definition from another whatever their layout; nothing when it does not parse.
/// The text is one definition with its own indentation. Benches tell by it which suspect is the right one.
pub fn fingerprint(piece: &str) -> Option<u64> {
    program(piece).map(|program| program.print)
}

fn program(piece: &str) -> Option<Program> {
    let indented = piece.starts_with([' ', '\t']);
    let text = if indented {
        format!("if 1:\n{piece}")
    } else {
        piece.to_owned()
    };
    python::with_module(&text, |module| {
        if module.has_invalid_syntax() {
            return None;
        }
        // One definition in, one definition out.
        let body: &[Stmt] = match module.suite().first() {
            Some(Stmt::If(wrapper)) if indented => &wrapper.body,
            _ => module.suite(),
        };
        let [only] = body else { return None };
        if indented && module.suite().len() > 1 {
            return None;
        }
        let mut hasher = FxHasher::default();
        ComparableStmt::from(only).hash(&mut hasher);
        let mut idle = Idle::default();
        idle.visit_stmt(only);
        Some(Program {
            print: hasher.finish(),
            idle: idle.statements,
            padding: idle.padding,
        })
    })
    .flatten()
}

/// Counts code without any effect.
#[derive(Default)]
struct Idle {
    /// Statements that only name a value, or give one to itself; branches that end like what follows them.
    statements: usize,
    padding: usize,
}

impl Visitor<'_> for Idle {
    fn visit_body(&mut self, body: &[Stmt]) {
        for pair in body.windows(2) {
            if let [Stmt::If(branch), after @ Stmt::Return(_)] = pair
                && let ([only], []) = (branch.body.as_slice(), branch.elif_else_clauses.as_slice())
            {
                let same = ComparableStmt::from(only) == ComparableStmt::from(after);
                self.statements += usize::from(same);
            }
        }
        walk_body(self, body);
    }

    fn visit_stmt(&mut self, stmt: &Stmt) {
        if let Stmt::Expr(statement) = stmt {
            let names_a_value = matches!(
                statement.value.as_ref(),
                Expr::Name(_) | Expr::Attribute(_) | Expr::NumberLiteral(_) | Expr::Subscript(_)
            );
            self.statements += usize::from(names_a_value);
        }
        if let Stmt::Assign(assign) = stmt
            && let ([Expr::Name(target)], Expr::Name(value)) =
                (assign.targets.as_slice(), assign.value.as_ref())
        {
            self.statements += usize::from(target.id == value.id);
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &Expr) {
        if let Expr::BinOp(binary) = expr
            && let Expr::NumberLiteral(number) = binary.right.as_ref()
            && let Number::Int(number) = &number.value
        {
            let neutral = match binary.op {
                Operator::Add | Operator::Sub => 0,
                Operator::Mult | Operator::Div | Operator::FloorDiv | Operator::Pow => 1,
                _ => return walk_expr(self, expr),
            };
            self.padding += usize::from(number.as_i64() == Some(neutral));
        }
        walk_expr(self, expr);
    }
}
