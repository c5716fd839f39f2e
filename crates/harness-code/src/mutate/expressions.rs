//! The shapes of expressions.

use ruff_python_ast::{
    BoolOp, CmpOp, Comprehension, Expr, ExprAttribute, ExprBinOp, ExprBoolOp, ExprCall,
    ExprCompare, ExprContext, ExprName, ExprSlice, ExprSubscript, Number, Operator, UnaryOp,
};

use crate::mutate::piece::{Found, Piece};
use crate::mutate::role::ExpressionRole;
use crate::mutate::table;
use crate::scope::bytes;
use crate::scope::known::is_builtin;
use crate::{spelling, stdlib};

/// Suspects one expression.
pub(super) fn suspect(expr: &Expr, role: ExpressionRole, found: &mut Found<'_>) {
    values(expr, role, found);
    match expr {
        Expr::Compare(inner) => comparison(inner, found),
        Expr::BinOp(inner) => binary(inner, found),
        Expr::BoolOp(inner) => clauses(inner, found),
        Expr::UnaryOp(inner) if inner.op == UnaryOp::Not => {
            found.ask("not", expr, role, &[("operand", &inner.operand)]);
        }
        Expr::BooleanLiteral(inner) => {
            found.ask(if inner.value { "True" } else { "False" }, expr, role, &[]);
        }
        Expr::NoneLiteral(_) => found.ask("None", expr, role, &[]),
        Expr::List(inner) if inner.elts.is_empty() => found.ask("[]", expr, role, &[]),
        Expr::Dict(inner) if inner.items.is_empty() => found.ask("{}", expr, role, &[]),
        Expr::NumberLiteral(inner) => number(expr, &inner.value, role, found),
        Expr::StringLiteral(inner) => {
            text(expr, role, found);
            // Two texts with nothing between them: a comma is easily forgotten.
            let mut ends: Vec<usize> = inner.value.iter().map(|part| bytes(part).end).collect();
            ends.pop();
            for end in ends {
                found.suspect(found.span("two texts", end..end));
            }
        }
        Expr::If(inner) => {
            let (test, body, orelse) = (&inner.test, &inner.body, &inner.orelse);
            let parts = [("test", &**test), ("body", body), ("orelse", orelse)];
            found.ask("ternary", expr, role, &parts);
        }
        Expr::Slice(inner) => slice(expr, inner, found),
        Expr::Subscript(inner) => subscript(inner, found),
        Expr::Name(inner) => name(expr, inner, role, found),
        Expr::Attribute(inner) => attribute(expr, inner, role, found),
        Expr::Call(inner) => call(expr, inner, found),
        Expr::Tuple(inner) => {
            if let [first, second] = inner.elts.as_slice() {
                let piece = found.span("pair", bytes(first).start..bytes(second).end);
                found.suspect(
                    piece
                        .role(role)
                        .codes(&[("first", first), ("second", second)]),
                );
            }
        }
        Expr::Yield(inner) => {
            if let Some(value) = &inner.value {
                found.ask("yield", expr, role, &[("value", value)]);
            }
        }
        Expr::YieldFrom(inner) => {
            found.ask("yield from", expr, role, &[("value", &inner.value)]);
        }
        _ => {}
    }
}

/// Suspects the `for` part of a comprehension.
pub(super) fn comprehension(part: &Comprehension, found: &mut Found<'_>) {
    for test in &part.ifs {
        let test = bytes(test);
        let before = found.content.get(..test.start);
        if let Some(start) = before.and_then(|text| text.rfind("if")) {
            found.suspect(found.span("filter", start..test.end));
        }
    }
    if part.ifs.is_empty() {
        let end = bytes(&part.iter).end;
        let piece = found.span("unfiltered", end..end).at("end", end..end);
        found.suspect(piece.codes(&[("target", &part.target)]));
    }
}

/// What is suspected of anything that has a value, whatever it is.
fn values(expr: &Expr, role: ExpressionRole, found: &mut Found<'_>) {
    let code = found.code(expr);
    // `NotImplemented` stands for nothing but itself.
    let is_plain = !code.contains('\n') && code != "NotImplemented";
    let shapes: &[&'static str] = match expr {
        Expr::Compare(_) => &["comparison"],
        Expr::BooleanLiteral(_) => &[],
        _ if !is_plain => &["any"],
        Expr::Name(_) | Expr::Attribute(_) => &["any", "sequence", "quantity", "value"],
        Expr::Call(call) if found.code(call.func.as_ref()) == "len" => {
            &["any", "sequence", "length", "value"]
        }
        Expr::Call(_) => &["any", "sequence", "quantity", "value"],
        // `a + 1` made `a + 2` is the constant's business.
        Expr::BinOp(inner) if inner.right.is_number_literal_expr() => &["any", "value"],
        Expr::BinOp(_) | Expr::Subscript(_) => &["any", "quantity", "value"],
        Expr::Generator(_) => &["any", "generator"],
        _ => &["any"],
    };
    for shape in shapes {
        found.ask(shape, expr, role, &[("code", expr)]);
    }
}

fn comparison(compare: &ExprCompare, found: &mut Found<'_>) {
    let mut left = compare.left.as_ref();
    for (op, right) in compare.ops.iter().zip(&compare.comparators) {
        let place = found.between(left, right, op.as_str());
        found.suspect(
            found
                .piece(format!("compare {op}"), compare)
                .maybe_at("op", place),
        );
        left = right;
    }
    let left = compare.left.as_ref();
    match (compare.ops.as_ref(), compare.comparators.as_ref()) {
        ([op], [right]) => {
            let shape = match op {
                CmpOp::In | CmpOp::NotIn => "member",
                _ if !right.is_none_literal_expr() => return,
                CmpOp::Is | CmpOp::Eq => "is None",
                _ => "is not None",
            };
            let piece = found.piece(shape, compare).text("op", op.as_str());
            found.suspect(piece.codes(&[("left", left), ("right", right)]));
        }
        (_, [first, ..]) => {
            // One more comparison in a chain than there should be.
            let (whole, first) = (bytes(compare), bytes(first));
            let piece = found
                .piece("chain", compare)
                .at("tail", first.end..whole.end);
            found.suspect(piece.at("head", whole.start..first.start));
        }
        _ => {}
    }
}

fn binary(inner: &ExprBinOp, found: &mut Found<'_>) {
    let (left, right, op) = (inner.left.as_ref(), inner.right.as_ref(), inner.op.as_str());
    let is_text = |side: &Expr| matches!(side, Expr::StringLiteral(_) | Expr::FString(_));
    if is_text(left) && inner.op == Operator::Mod {
        return;
    }
    if !is_text(left) && !is_text(right) {
        let place = found.between(left, right, op);
        found.suspect(
            found
                .piece(format!("operator {op}"), inner)
                .maybe_at("op", place),
        );
    }
    let mut shapes = vec!["binary".to_owned(), format!("binary {op}")];
    for (side, shape) in [(left, "number left"), (right, "number right")] {
        if side.is_number_literal_expr() {
            shapes.push(shape.to_owned());
        }
    }
    for shape in shapes {
        let piece = found.piece(shape, inner).text("op", op);
        found.suspect(piece.codes(&[("left", left), ("right", right)]));
    }
}

fn clauses(boolean: &ExprBoolOp, found: &mut Found<'_>) {
    let word = match boolean.op {
        BoolOp::And => "and",
        BoolOp::Or => "or",
    };
    for pair in boolean.values.windows(2) {
        if let [left, right] = pair {
            let place = found.between(left, right, word);
            found.suspect(found.piece(word, boolean).maybe_at("op", place));
        }
    }
    for (index, value) in boolean.values.iter().enumerate() {
        let rest = boolean
            .values
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != index);
        let rest: Vec<String> = rest.map(|(_, value)| found.atom(value)).collect();
        let piece = found
            .piece("clause", boolean)
            .text("rest", rest.join(&format!(" {word} ")));
        found.suspect(match value {
            Expr::Compare(_) => piece.codes(&[("compared", value)]),
            _ => piece,
        });
    }
}

fn number(expr: &Expr, value: &Number, role: ExpressionRole, found: &mut Found<'_>) {
    let (shape, others, units) = match value {
        Number::Int(int) => {
            let Some(value) = int.as_i64() else { return };
            let others = vec![
                ("next", value.saturating_add(1).to_string()),
                ("previous", value.saturating_sub(1).to_string()),
                ("double", value.saturating_mul(2).to_string()),
                ("half", (value / 2).to_string()),
                ("tenfold", value.saturating_mul(10).to_string()),
                ("tenth", (value / 10).to_string()),
            ];
            let units = table::alternatives("units", &value.to_string());
            (
                if value <= 2 { "small int" } else { "large int" },
                others,
                units,
            )
        }
        Number::Float(value) => {
            let others = [
                ("next", value + 1.0),
                ("previous", value - 1.0),
                ("double", value * 2.0),
                ("half", value / 2.0),
                ("tenfold", value * 10.0),
                ("tenth", value / 10.0),
            ];
            let finite = others.into_iter().filter(|(_, value)| value.is_finite());
            let others = finite
                .map(|(name, value)| (name, format!("{value:?}")))
                .collect();
            ("float", others, Vec::new())
        }
        Number::Complex { .. } => return,
    };
    let mut piece = found
        .piece(shape, expr)
        .role(role)
        .set("unit", units.into_iter().flatten());
    for (name, other) in others {
        piece = piece.text(name, other);
    }
    let code = found.code(expr);
    if !code.trim_matches(['0', '.', '_']).is_empty() {
        piece = piece.text("negative", format!("-{code}"));
    }
    found.suspect(piece);
}

/// A longer text than this is a sentence for people.
const LONG_TEXT: usize = 60;

fn text(expr: &Expr, role: ExpressionRole, found: &mut Found<'_>) {
    let code = found.code(expr);
    let parts = code
        .chars()
        .next_back()
        .filter(|c| *c == '"' || *c == '\'')
        .and_then(|quote| {
            let (prefix, rest) = code.split_once(quote)?;
            Some((prefix, quote, rest.strip_suffix(quote)?))
        });
    let Some((prefix, quote, inner)) = parts else {
        return;
    };
    if code.contains('\n') || code.len() > LONG_TEXT || inner.starts_with(quote) {
        return;
    }
    // A word that could be a name is never mistaken for a sentence.
    let is_like = |other: &&String| inner.contains(' ') || inner.len() < 2 || !other.contains(' ');
    let like: Vec<String> = found
        .sight
        .set("string")
        .iter()
        .filter(is_like)
        .cloned()
        .collect();
    let (mut front, mut back) = (inner.chars(), inner.chars());
    front.next();
    back.next_back();
    let shape = if inner.is_empty() {
        "empty text"
    } else {
        "text"
    };
    let piece = found
        .piece(shape, expr)
        .role(role)
        .text("open", format!("{prefix}{quote}"));
    let piece = piece
        .text("close", quote.to_string())
        .text("trimmed", inner.trim());
    let piece = piece
        .text("lower", inner.to_lowercase())
        .text("first_cut", front.as_str());
    found.suspect(piece.text("last_cut", back.as_str()).set("like", like));
}

fn slice(expr: &Expr, slice: &ExprSlice, found: &mut Found<'_>) {
    let shape = match (&slice.lower, &slice.upper, &slice.step) {
        (_, _, Some(_)) => "stepped",
        (None, None, None) => "slice",
        (Some(_), None, None) => "slice a:",
        (None, Some(_), None) => "slice :b",
        (Some(_), Some(_), None) => "slice a:b",
    };
    let bound = |bound: &Option<Box<Expr>>| bound.as_ref().map_or("", |it| found.code(it.as_ref()));
    let piece = found.piece(shape, expr).text("lower", bound(&slice.lower));
    found.suspect(piece.text("upper", bound(&slice.upper)));
}

fn subscript(inner: &ExprSubscript, found: &mut Found<'_>) {
    let (owner, key) = (inner.value.as_ref(), inner.slice.as_ref());
    let shape = match inner.ctx {
        _ if key.is_slice_expr() => "sliced",
        ExprContext::Load => "subscript",
        _ => "stored subscript",
    };
    let parts = [("owner", owner), ("key", key)];
    found.suspect(found.piece(shape, inner).codes(&parts));
    if let Expr::Tuple(pair) = key
        && let [first, second] = pair.elts.as_slice()
    {
        let holes = [("first", first), ("second", second)];
        found.suspect(found.piece("index pair", key).codes(&holes));
    }
    if let Expr::Subscript(before) = owner {
        let holes = [
            ("owner", &*before.value),
            ("first", &*before.slice),
            ("second", key),
        ];
        found.suspect(found.piece("two indexes", inner).codes(&holes));
    }
}

fn name(expr: &Expr, name: &ExprName, role: ExpressionRole, found: &mut Found<'_>) {
    let (id, sight) = (name.id.as_str(), found.sight);
    let is_local = sight.has("local", id);
    let shape = match name.ctx {
        ExprContext::Load if is_local => "local name",
        ExprContext::Load if sight.has("global", id) => "global name",
        ExprContext::Load if is_builtin(id) => "built-in name",
        ExprContext::Load => "unknown name",
        _ if is_local => "stored name",
        _ => return,
    };
    let same = sight.has("own", id).then(|| id.to_owned());
    let is_upper = |name: &str| name.starts_with(char::is_uppercase);
    let akin = sight
        .set("global")
        .iter()
        .filter(|other| is_upper(other) == is_upper(id));
    let piece = found.piece(shape, expr).role(role).set("same", same);
    found.suspect(piece.set("akin", akin.cloned()));
    if !is_local {
        let types = table::alternatives("types", id).into_iter().flatten();
        let piece = found.piece("free name", expr).role(role).set("type", types);
        found.suspect(twins(piece, id));
    }
}

/// Adds the names that are taken for this one.
fn twins<'a>(piece: Piece<'a>, id: &str) -> Piece<'a> {
    let families = table::alternatives("names", id).into_iter();
    let (one, several): (Vec<_>, Vec<_>) = families.partition(|others| others.len() == 1);
    piece
        .set("twin", one.into_iter().flatten())
        .set("kin", several.into_iter().flatten())
}

fn attribute(expr: &Expr, inner: &ExprAttribute, role: ExpressionRole, found: &mut Found<'_>) {
    let (id, owner, sight) = (
        inner.attr.as_str(),
        found.code(inner.value.as_ref()),
        found.sight,
    );
    let siblings = sight.attributes.get(owner).cloned().unwrap_or_default();
    let piece = found
        .piece("attribute", expr)
        .role(role)
        .at("attr", bytes(&inner.attr));
    let mut piece = piece.codes(&[("owner", &inner.value)]);
    if owner == "self" {
        // The underscore of the stored value behind a property.
        let other = id
            .strip_prefix('_')
            .map_or_else(|| format!("_{id}"), str::to_owned);
        let local = sight.has("local", id).then(|| id.to_owned());
        piece = piece.set("underscored", siblings.contains(&other).then_some(other));
        piece = piece.set("local_of_name", local);
    }
    if role == ExpressionRole::Callee {
        piece = piece.set("misspelled", misspelled(id));
    }
    found.suspect(twins(piece.set("sibling", siblings), id));
    if inner.value.is_string_literal_expr() {
        let piece = found.piece("attribute of a text", expr).role(role);
        found.suspect(piece.at("attr", bytes(&inner.attr)));
    }
}

/// Types whose methods everybody calls, and misspells.
const BUILT_IN: [&str; 5] = ["str", "list", "dict", "set", "bytes"];

/// Returns the methods of built-in types that a name is one slip away from, when no class that is known has it.
fn misspelled(id: &str) -> Vec<String> {
    if stdlib::is_attribute(id) {
        return Vec::new();
    }
    let classes = BUILT_IN
        .iter()
        .filter_map(|name| stdlib::class("builtins", name));
    let members = classes.flat_map(|(_, class)| class.members().collect::<Vec<_>>());
    let is_near = |name: &&str| !name.starts_with('_') && spelling::nearness(id, name).is_some();
    let mut near: Vec<String> = members.filter(is_near).map(str::to_owned).collect();
    near.sort_unstable();
    near.dedup();
    near
}

fn call(expr: &Expr, call: &ExprCall, found: &mut Found<'_>) {
    arguments(call, found);
    let (args, keywords) = (&call.arguments.args, &call.arguments.keywords);
    let callee = match call.func.as_ref() {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => "",
    };
    let known = found
        .sight
        .callables
        .iter()
        .find(|known| known.name == callee);
    let named = |name: &&String| {
        keywords
            .iter()
            .any(|it| it.arg.as_deref() == Some(name.as_str()))
    };
    let missing = known
        .iter()
        .flat_map(|known| known.parameters.iter().skip(args.len()));
    let missing: Vec<String> = missing
        .filter(|name| !named(name))
        .take(6)
        .cloned()
        .collect();
    let given = args.len() + keywords.len();
    let short = match known {
        Some(_) => "short call of our own",
        None => "short call",
    };
    let mut shapes = vec!["call".to_owned(), format!("call {callee}")];
    shapes.extend((given < 4 && !callee.is_empty()).then(|| short.to_owned()));
    let owner = call
        .func
        .as_attribute_expr()
        .map(|attribute| ("owner", &*attribute.value));
    let alone = match call.func.as_ref() {
        Expr::Attribute(_) if given == 0 => Some(("method_alone", &*call.func)),
        Expr::Name(_) if given == 0 => Some(("function_alone", &*call.func)),
        _ => None,
    };
    let values = ["first", "second"].into_iter().zip(args);
    let values = values.filter(|(_, argument)| !argument.is_starred_expr());
    let holes: Vec<(&str, &Expr)> = values.chain(owner).chain(alone).collect();
    let start = args
        .first()
        .map(|first| bytes(first).start..bytes(first).start);
    let end = bytes(call).end.saturating_sub(1);
    let part = |set: &str| -> Vec<String> {
        let known = missing.iter().filter(|name| found.sight.has(set, name));
        known.cloned().collect()
    };
    let (wanted, wanted_own) = (part("local"), part("own"));
    for shape in shapes {
        let piece = found
            .piece(shape, expr)
            .at("end", end..end)
            .maybe_at("start", start.clone());
        let piece = piece
            .text("comma", if given == 0 { "" } else { ", " })
            .codes(&holes);
        let piece = piece
            .set("wanted", wanted.clone())
            .set("wanted_own", wanted_own.clone());
        found.suspect(piece.set("not_given", missing.clone()));
    }
}

/// Arguments in the wrong order, and one too many.
fn arguments(call: &ExprCall, found: &mut Found<'_>) {
    let args = &call.arguments.args;
    let any_starred = args.iter().any(Expr::is_starred_expr);
    for (index, first) in args.iter().enumerate() {
        let place = bytes(first);
        for second in args.iter().skip(index + 1).take(2).filter(|_| !any_starred) {
            let piece = found.span("two arguments", place.start..bytes(second).end);
            let piece = piece.at("between", place.end..bytes(second).start);
            found.suspect(piece.codes(&[("first", first), ("second", second)]));
        }
        // With the comma before it, or behind it.
        let before = index.checked_sub(1).and_then(|before| args.get(before));
        let (shape, whole) = match (before, args.get(index + 1)) {
            (Some(before), _) => ("argument", bytes(before).end..place.end),
            (None, Some(next)) => ("argument", place.start..bytes(next).start),
            (None, None) => ("only argument", place),
        };
        found.suspect(found.span(shape, whole));
    }
    for keyword in &call.arguments.keywords {
        let start = bytes(keyword).start;
        let before = found.content.get(..start).unwrap_or_default().trim_end();
        let start = if before.ends_with(',') {
            before.len() - 1
        } else {
            start
        };
        found.suspect(found.span("argument", start..bytes(keyword).end));
    }
}
