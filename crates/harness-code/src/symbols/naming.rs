//! Where a grammar keeps the name of what is defined or called.

use tree_sitter::Node;

use crate::language::grammar::NameAt;

/// Longer names are data, not names.
pub(super) const LONGEST_NAME: usize = 200;

/// Returns the node of the name and what qualifies it.
pub(super) fn name_of<'t>(
    content: &str,
    node: &Node<'t>,
    at: NameAt,
) -> Option<(Node<'t>, String)> {
    let text = |node: &Node<'_>| content.get(node.byte_range()).unwrap_or("");
    match at {
        NameAt::Field(field) => {
            let name = node.child_by_field_name(field)?;
            // Ruby and PHP write `class A::B`.
            match name.child_by_field_name("name") {
                Some(last) if name.kind() == "scope_resolution" => {
                    let scope = name
                        .child_by_field_name("scope")
                        .map_or("", |scope| text(&scope));
                    Some((last, scope.replace("::", ".")))
                }
                Some(_) | None => Some((name, String::new())),
            }
        }
        NameAt::Receiver => {
            let receiver = node
                .child_by_field_name("receiver")
                .map_or("", |receiver| text(&receiver));
            let bare = receiver.trim_matches(['(', ')', ' ']);
            let bare = bare.split('[').next().unwrap_or(bare);
            let name = bare.rsplit([' ', '*']).next().unwrap_or("").to_string();
            Some((node.child_by_field_name("name")?, name))
        }
        NameAt::Declarator => {
            let mut at = node.child_by_field_name("declarator")?;
            let mut qualifier = String::new();
            // A declarator nests once for each pointer, array and parenthesis: a person writes few.
            for _ in 0..32 {
                if at.kind() == "qualified_identifier" {
                    if let Some(scope) = at.child_by_field_name("scope") {
                        let scope = text(&scope)
                            .split('<')
                            .next()
                            .unwrap_or("")
                            .replace("::", ".");
                        qualifier = if qualifier.is_empty() {
                            scope
                        } else {
                            format!("{qualifier}.{scope}")
                        };
                    }
                    at = at.child_by_field_name("name")?;
                    continue;
                }
                match at
                    .child_by_field_name("declarator")
                    .or_else(|| inner_declarator(&at))
                {
                    Some(inner) => at = inner,
                    None => break,
                }
            }
            Some((at, qualifier))
        }
    }
}

/// Returns the last part of `a.b.c`, `a::b`, `a->b`.
pub(super) fn last_part(node: Node<'_>) -> Node<'_> {
    let mut at = node;
    // A chain of calls nests in the object, not in the name, so the way to the name is short.
    for _ in 0..8 {
        let next = ["property", "field", "name", "method", "function"]
            .iter()
            .find_map(|field| at.child_by_field_name(field));
        match next {
            Some(next) => at = next,
            None => break,
        }
    }
    at
}

/// C keeps the inside of `(*name)` and of references without a field.
fn inner_declarator<'t>(node: &Node<'t>) -> Option<Node<'t>> {
    let wraps = matches!(
        node.kind(),
        "parenthesized_declarator" | "reference_declarator" | "attributed_declarator"
    );
    wraps.then(|| node.named_child(0)).flatten()
}

/// Says whether a text can be a name in any of the languages; operators and destructors are.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= LONGEST_NAME
        && !text.contains(char::is_whitespace)
        && text.chars().next().is_some_and(|c| {
            c.is_alphabetic()
                || matches!(c, '_' | '$' | '#' | '~' | '@' | '[' | '=' | '<' | '+' | '!')
        })
}
