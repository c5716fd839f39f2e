//! Settings in JSON with comments: items are put at the end of a list and taken out again, as splices
//! of text. Everything else keeps its bytes: comments, order, indentation, line endings.

use jsonc_parser::ast::{Array, Object, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::Serialize;
use serde_json::Value;

use crate::editors::text;

/// The items that belong into one list of a settings file.
#[derive(Clone, Debug)]
pub(super) struct Items {
    /// The property that holds the list; `None` when the whole file is the list.
    pub(super) list: Option<&'static str>,
    /// The property that names an item.
    pub(super) name: &'static str,
    /// How the names of our own items begin.
    pub(super) prefix: &'static str,
    /// Our items.
    pub(super) items: Vec<Value>,
}

/// Deeper files are no settings: nobody writes them, and a parser must not be led down.
const DEEPEST: usize = 200;

/// Returns the text with our items at the end of their lists, or why that cannot be done.
pub(super) fn put_in(before: &str, wanted: &[Items]) -> Result<String, String> {
    let mut now = before.to_owned();
    for items in wanted {
        now = put_list(&now, items)?;
    }
    // What cannot be read back was not written right: better to leave the file alone.
    parsed(&now, |_| Ok(()))?;
    Ok(now)
}

/// Returns the text without our items. Lists that held nothing else go too.
pub(super) fn take_out(before: &str, wanted: &[Items]) -> Result<String, String> {
    let mut now = before.to_owned();
    for items in wanted.iter().rev() {
        while let Some(cut) = parsed(&now, |root| Ok(last_of_ours(&now, root, items)))? {
            now = text::without(&now, &cut);
        }
    }
    Ok(now)
}

/// Calls `look` with the root value of a text.
fn parsed<T>(source: &str, look: impl FnOnce(&Node<'_>) -> Result<T, String>) -> Result<T, String> {
    if too_deep(source) {
        return Err("it is nested too deeply".to_owned());
    }
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let tree = parse_to_ast(source, &CollectOptions::default(), &options)
        .map_err(|error| format!("it cannot be read: {error}"))?;
    match &tree.value {
        Some(root) => look(root),
        None => Err("it holds no value".to_owned()),
    }
}

fn too_deep(source: &str) -> bool {
    let mut depth = 0usize;
    let mut deepest = 0usize;
    for byte in source.bytes() {
        match byte {
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest > DEEPEST
}

fn put_list(before: &str, wanted: &Items) -> Result<String, String> {
    let splices = parsed(before, |root| match (wanted.list, root) {
        (None, Node::Array(array)) => Ok(append(before, &Holder::of_array(array), &wanted.items)),
        (None, _) => Err("it is not a list".to_owned()),
        (Some(key), Node::Object(object)) => {
            let same = object
                .properties
                .iter()
                .filter(|property| property.name.as_str() == key);
            match same.collect::<Vec<_>>().as_slice() {
                [] => {
                    let property = Property {
                        key,
                        items: &wanted.items,
                    };
                    Ok(append(before, &Holder::of_object(object), &[property]))
                }
                [property] => match &property.value {
                    Node::Array(array) => {
                        Ok(append(before, &Holder::of_array(array), &wanted.items))
                    }
                    _ => Err(format!("`{key}` in it is not a list")),
                },
                _ => Err(format!("`{key}` is in it more than once")),
            }
        }
        (Some(_), _) => Err("it is not an object".to_owned()),
    })?;
    Ok(text::with(before, splices))
}

/// A list or an object: where its brackets and its members are.
struct Holder {
    open: usize,
    close: usize,
    members: Vec<(usize, usize)>,
}

impl Holder {
    fn of_array(array: &Array<'_>) -> Holder {
        let members = array.elements.iter().map(|element| element.range());
        Holder {
            open: array.range.start,
            close: array.range.end.saturating_sub(1),
            members: members.map(|range| (range.start, range.end)).collect(),
        }
    }

    fn of_object(object: &Object<'_>) -> Holder {
        let members = object.properties.iter().map(|property| property.range);
        Holder {
            open: object.range.start,
            close: object.range.end.saturating_sub(1),
            members: members.map(|range| (range.start, range.end)).collect(),
        }
    }
}

/// Something that can be written into a holder, on one line or over several.
trait Member {
    fn on_one_line(&self) -> String;
    fn on_lines(&self, unit: &str) -> String;
}

impl Member for Value {
    fn on_one_line(&self) -> String {
        self.to_string()
    }

    fn on_lines(&self, unit: &str) -> String {
        pretty(self, unit)
    }
}

struct Property<'a> {
    key: &'a str,
    items: &'a [Value],
}

impl Member for Property<'_> {
    fn on_one_line(&self) -> String {
        format!("\"{}\": {}", self.key, Value::from(self.items.to_vec()))
    }

    fn on_lines(&self, unit: &str) -> String {
        format!(
            "\"{}\": {}",
            self.key,
            pretty(&Value::from(self.items.to_vec()), unit)
        )
    }
}

fn pretty(value: &Value, unit: &str) -> String {
    let mut out = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
    match value.serialize(&mut serializer) {
        Ok(()) => String::from_utf8_lossy(&out).into_owned(),
        // A value is always writable; its plain form is as good.
        Err(_) => value.to_string(),
    }
}

/// Returns the splices that put members at the end of a holder.
fn append<M: Member>(source: &str, holder: &Holder, members: &[M]) -> Vec<(usize, String)> {
    let newline = text::newline(source);
    let unit = text::unit(source);
    let base = text::indent_of_line(source, holder.open);
    let lines = |indent: &str| -> Vec<String> {
        let written = members.iter().map(|member| {
            let body = member
                .on_lines(&unit)
                .replace('\n', &format!("{newline}{indent}"));
            format!("{newline}{indent}{body}")
        });
        written.collect()
    };
    let inner = &source[holder.open + 1..holder.close];
    let Some((_, last)) = holder.members.last().copied() else {
        let body = lines(&format!("{base}{unit}")).join(",");
        return match inner.rfind('\n') {
            Some(at) => {
                let at = if inner[..at].ends_with('\r') {
                    at - 1
                } else {
                    at
                };
                vec![(holder.open + 1 + at, body)]
            }
            None => vec![(holder.close, format!("{body}{newline}{base}"))],
        };
    };
    let comma = comma_after(source, last, holder.close);
    let anchor = comma.map_or(last, |comma| comma + 1);
    let place = after_comments_of_line(source, anchor, holder.close);
    let parts = if inner.contains('\n') {
        let first = holder
            .members
            .first()
            .map_or(holder.open, |member| member.0);
        lines(&text::indent_of_first(source, first).unwrap_or_else(|| format!("{base}{unit}")))
    } else {
        let written = members
            .iter()
            .map(|member| format!(" {}", member.on_one_line()));
        written.collect()
    };
    if comma.is_some() {
        let body: String = parts.iter().map(|part| format!("{part},")).collect();
        return vec![(place, body)];
    }
    vec![(last, ",".to_owned()), (place, parts.join(","))]
}

/// Returns the pieces of text to cut so that the last of our items is gone, or the list when it is empty then.
fn last_of_ours(source: &str, root: &Node<'_>, wanted: &Items) -> Option<Vec<(usize, usize)>> {
    let array = match (wanted.list, root) {
        (None, Node::Array(array)) => array,
        (Some(key), Node::Object(object)) => {
            let at = object
                .properties
                .iter()
                .position(|property| property.name.as_str() == key)?;
            let Node::Array(array) = &object.properties[at].value else {
                return None;
            };
            // A list that holds nothing but ours, not even a comment, goes as a whole: it came with us.
            let all = !array.elements.is_empty()
                && array.elements.iter().all(|item| is_ours(item, wanted))
                && only_elements(source, array);
            if all {
                return Some(cut(source, &Holder::of_object(object), at));
            }
            array
        }
        _ => return None,
    };
    let at = array
        .elements
        .iter()
        .rposition(|item| is_ours(item, wanted))?;
    Some(cut(source, &Holder::of_array(array), at))
}

/// Returns whether only white space stands before the first and after the last element.
fn only_elements(source: &str, array: &Array<'_>) -> bool {
    let (Some(first), Some(last)) = (array.elements.first(), array.elements.last()) else {
        return false;
    };
    let head = &source[array.range.start + 1..first.range().start];
    let tail = &source[last.range().end..array.range.end.saturating_sub(1)];
    head.trim().is_empty() && tail.trim().is_empty()
}

fn is_ours(item: &Node<'_>, wanted: &Items) -> bool {
    let Node::Object(object) = item else {
        return false;
    };
    object.properties.iter().any(|property| {
        let Node::StringLit(name) = &property.value else {
            return false;
        };
        property.name.as_str() == wanted.name && name.value.starts_with(wanted.prefix)
    })
}

/// Returns what to cut so that one member is gone: exactly what [`append`] put there.
fn cut(source: &str, holder: &Holder, at: usize) -> Vec<(usize, usize)> {
    let (start, end) = holder.members[at];
    let next = holder
        .members
        .get(at + 1)
        .map_or(holder.close, |next| next.0);
    let from = text::start_of_gap(source, start, holder.open + 1);
    if let Some(comma) = comma_after(source, end, next) {
        return vec![(from, comma + 1)];
    }
    let Some(before) = at.checked_sub(1).map(|at| holder.members[at].1) else {
        // The last one left: an empty pair of brackets closes up again.
        let rest = &source[end..holder.close];
        let base = text::indent_of_line(source, holder.open);
        let head = &source[holder.open + 1..from];
        let closes_up = !head.contains('\n')
            && !head.contains("//")
            && rest.strip_prefix('\r').unwrap_or(rest).strip_prefix('\n') == Some(base);
        return vec![(from, if closes_up { holder.close } else { end })];
    };
    match comma_after(source, before, start) {
        Some(comma) => vec![(comma, comma + 1), (from.max(comma + 1), end)],
        None => vec![(from, end)],
    }
}

/// Returns where the comma after a member is, past white space and comments.
fn comma_after(source: &str, from: usize, to: usize) -> Option<usize> {
    let mut at = from;
    while at < to {
        match comment_end(source, at) {
            Some(end) => at = end,
            None if source.as_bytes()[at] == b',' => return Some(at),
            None => at += 1,
        }
    }
    None
}

/// Returns the end of the last comment that stands on the same line, or `from` when there is none.
fn after_comments_of_line(source: &str, from: usize, to: usize) -> usize {
    let (mut at, mut place) = (from, from);
    while at < to {
        match (comment_end(source, at), source.as_bytes()[at]) {
            (Some(end), _) => {
                at = end;
                place = end;
            }
            (None, b' ' | b'\t') => at += 1,
            (None, _) => break,
        }
    }
    place
}

fn comment_end(source: &str, at: usize) -> Option<usize> {
    let rest = source.get(at..)?;
    if rest.starts_with("//") {
        let line = rest.find('\n').unwrap_or(rest.len());
        let line = if rest[..line].ends_with('\r') {
            line - 1
        } else {
            line
        };
        return Some(at + line);
    }
    let inner = rest.strip_prefix("/*")?;
    Some(at + 2 + inner.find("*/").map_or(inner.len(), |end| end + 2))
}
