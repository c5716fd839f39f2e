//! Names: the wrong variable, the wrong attribute, `self.` too many or too few.

use std::ops::Range;

use ruff_python_ast::{Expr, ExprContext};

use crate::mutate::bytes;
use crate::mutate::site::{Found, Node, Role};
use crate::scope::known::is_builtin;
use crate::{spelling, stdlib};

/// More other names than this for one place are guesses.
const MOST: usize = 24;

pub(super) fn suspect(node: &Node<'_>, found: &mut Found<'_>) {
    let Node::Expr(expr, role) = node else {
        return;
    };
    match expr {
        Expr::Name(name) => {
            let id = name.id.as_str();
            let stored = name.ctx != ExprContext::Load;
            let base = if stored { 0.12 } else { 0.35 };
            let is_local = found.sight.locals.iter().any(|known| known == id);
            let callee = *role == Role::Callee;
            if let Some(receiver) = found.sight.receiver.clone()
                && receiver != id
                && !stored
            {
                let prior = if is_local { 0.12 } else { 0.2 };
                found.add("wrong name", prior, bytes(*expr), receiver);
            }
            if is_local && callee {
                // What is called is a function more often than a value.
                called(found, expr, id);
            }
            if is_local {
                for other in found.sight.locals.clone().iter().take(MOST) {
                    if other != id {
                        found.add(
                            "wrong name",
                            base * likeness(id, other),
                            bytes(*expr),
                            other.clone(),
                        );
                    }
                }
                let own = found
                    .sight
                    .attributes
                    .get("self")
                    .cloned()
                    .unwrap_or_default();
                if !stored && own.iter().any(|known| known == id) {
                    found.add("wrong name", 0.4, bytes(*expr), format!("self.{id}"));
                }
                if !stored {
                    let attributes = found.sight.attributes.get(id).cloned().unwrap_or_default();
                    for attribute in attributes.iter().take(8) {
                        found.add(
                            "attribute missing",
                            0.08,
                            bytes(*expr),
                            format!("{id}.{attribute}"),
                        );
                    }
                    for attribute in own.iter().take(10) {
                        found.add(
                            "wrong name",
                            0.1 * likeness(id, attribute),
                            bytes(*expr),
                            format!("self.{attribute}"),
                        );
                    }
                }
            } else if found.sight.globals.iter().any(|known| known == id) {
                for other in found.sight.globals.clone().iter().take(MOST) {
                    if other != id {
                        let same_case = id.chars().next().map(char::is_uppercase)
                            == other.chars().next().map(char::is_uppercase);
                        let prior = if same_case { 0.2 } else { 0.05 };
                        found.add(
                            "wrong name",
                            prior * likeness(id, other),
                            bytes(*expr),
                            other.clone(),
                        );
                    }
                }
                if !callee {
                    for other in found.sight.locals.clone().iter().take(8) {
                        found.add("wrong name", 0.06, bytes(*expr), other.clone());
                    }
                }
            } else if !stored {
                unknown(found, expr, id, callee);
            }
        }
        Expr::Attribute(attribute) => {
            let id = attribute.attr.as_str();
            let owner = found.code(attribute.value.as_ref());
            let range = bytes(&attribute.attr);
            let called = *role == Role::Callee;
            let known = found
                .sight
                .attributes
                .get(owner)
                .cloned()
                .unwrap_or_default();
            for other in known.iter().filter(|other| *other != id).take(MOST) {
                found.add(
                    "wrong attribute",
                    0.3 * likeness(id, other),
                    range.clone(),
                    other.clone(),
                );
            }
            if called {
                let methods = found.sight.methods.clone();
                let others = methods.iter().filter(|other| *other != id);
                for (place, other) in others.take(MOST).enumerate() {
                    // The further away, the more of them there are.
                    let prior = if place < 10 { 0.06 } else { 0.03 };
                    let prior = prior * likeness(id, other);
                    found.add("wrong method", prior, range.clone(), other.clone());
                }
                misspelled(found, &range, id);
                if matches!(attribute.value.as_ref(), Expr::StringLiteral(_)) {
                    for other in TEXT_METHODS.iter().filter(|other| **other != id) {
                        found.add("wrong method", 0.15, range.clone(), *other);
                    }
                }
            } else {
                found.add("attribute too many", 0.15, bytes(*expr), owner);
            }
            if owner == "self" && found.sight.locals.iter().any(|known| known == id) {
                found.add("wrong name", 0.4, bytes(*expr), id.to_owned());
            }
            // The underscore of the stored value behind a property.
            if owner == "self" {
                let other = match id.strip_prefix('_') {
                    Some(bare) => bare.to_owned(),
                    None => format!("_{id}"),
                };
                if known.contains(&other) {
                    found.add("wrong attribute", 0.35, range, other);
                }
            }
        }
        Expr::Tuple(tuple) if matches!(role, Role::Result | Role::Assigned) => {
            if let [one, other] = tuple.elts.as_slice() {
                let (start, end) = (bytes(one).start, bytes(other).end);
                let text = format!("{}, {}", found.code(other), found.code(one));
                found.add("operand order", 0.35, start..end, text);
            }
        }
        _ => {}
    }
}

/// What texts are asked for most, where one is written out.
const TEXT_METHODS: [&str; 4] = ["format", "join", "encode", "split"];

/// Types whose methods everybody calls, and misspells.
const BUILT_IN: [&str; 5] = ["str", "list", "dict", "set", "bytes"];

/// A method that no class around has, and that is one slip away from one that everybody knows.
fn misspelled(found: &mut Found<'_>, range: &Range<usize>, id: &str) {
    if stdlib::is_attribute(id) {
        return;
    }
    let classes = BUILT_IN
        .iter()
        .filter_map(|name| stdlib::class("builtins", name));
    let mut meant: Vec<&str> = classes
        .flat_map(|(_, class)| class.members().collect::<Vec<_>>())
        .filter(|name| !name.starts_with('_') && spelling::nearness(id, name).is_some())
        .collect();
    meant.sort_unstable();
    meant.dedup();
    for name in meant {
        found.add("wrong method", 0.6, range.clone(), name);
    }
}

/// A value is called: a function of the file may have been meant.
fn called(found: &mut Found<'_>, expr: &Expr, id: &str) {
    let functions: Vec<String> = found
        .sight
        .callables
        .iter()
        .map(|callable| callable.name.clone())
        .filter(|name| name != id && found.sight.globals.contains(name))
        .collect();
    let imported = found.sight.globals.clone();
    for other in functions.iter().take(MOST) {
        let prior = 0.2 * likeness(id, other);
        found.add("wrong name", prior, bytes(expr), other.clone());
    }
    for other in imported
        .iter()
        .filter(|name| !functions.contains(name))
        .take(MOST)
    {
        let prior = 0.08 * likeness(id, other);
        found.add("wrong name", prior, bytes(expr), other.clone());
    }
}

/// A name that the file does not bind: a built-in at best.
fn unknown(found: &mut Found<'_>, expr: &Expr, id: &str, callee: bool) {
    let built_in = is_builtin(id);
    let own = found
        .sight
        .attributes
        .get("self")
        .cloned()
        .unwrap_or_default();
    if own.iter().any(|known| known == id) {
        found.add("wrong name", 0.4, bytes(expr), format!("self.{id}"));
    }
    let (near, far) = match (built_in, callee) {
        (true, true) => (0.02, 0.02),
        (true, false) => (0.15, 0.02),
        (false, true) => (0.2, 0.35),
        (false, false) => (0.4, 0.2),
    };
    for other in found.sight.locals.clone().iter().take(MOST) {
        let prior = near * likeness(id, other);
        found.add("wrong name", prior, bytes(expr), other.clone());
    }
    for other in found.sight.globals.clone().iter().take(MOST) {
        let prior = far * likeness(id, other);
        found.add("wrong name", prior, bytes(expr), other.clone());
    }
}

/// Names that look alike are mixed up more often.
fn likeness(one: &str, other: &str) -> f32 {
    0.7 + strsim::jaro_winkler(one, other) as f32 * 0.8
}
