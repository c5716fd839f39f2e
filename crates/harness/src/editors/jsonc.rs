//! Tasks in JSON with comments: ours are put at the end of each list and taken out again. Everything else stays.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstRootNode};

/// What an item is named by.
const NAMES: [&str; 2] = ["label", "id"];

/// Deeper files are no settings: nobody writes them, and a parser must not be led down.
const DEEPEST: usize = 200;

/// Returns the text with the items of our own file at the end of its lists, or why that cannot be done.
pub(super) fn put_in(before: &str, ours: &str) -> Result<String, String> {
    let (root, ours) = (parse(before)?, parse(ours)?);
    for (name, wanted) in lists(&ours)? {
        let list = match &name {
            None => root.array_value().ok_or("it is not a list")?,
            Some(name) => {
                let object = root.object_value().ok_or("it is not an object")?;
                object
                    .array_value_or_create(name)
                    .ok_or_else(|| format!("`{name}` in it is not a list"))?
            }
        };
        for item in wanted.elements() {
            list.append(input(&item));
        }
    }
    Ok(root.to_string())
}

/// Returns the text without the items that one of our own files has in the same list. Lists that held nothing else go
/// too.
pub(super) fn take_out(before: &str, ours: &[String]) -> Result<String, String> {
    let root = parse(before)?;
    let mut names = Vec::new();
    for text in ours {
        for (list, items) in lists(&parse(text)?)? {
            names.extend(
                items
                    .elements()
                    .iter()
                    .map(|item| (list.clone(), name_of(item))),
            );
        }
    }
    for (name, list) in lists(&root)? {
        let is_ours = |item: &CstNode| {
            let called = name_of(item);
            called.is_some() && names.contains(&(name.clone(), called))
        };
        let (ours, others): (Vec<CstNode>, Vec<CstNode>) =
            list.elements().into_iter().partition(is_ours);
        let held_ours = !ours.is_empty();
        ours.into_iter().for_each(CstNode::remove);
        let is_bare = list.children().iter().all(|child| !child.is_comment());
        if let Some(property) = name.and_then(|name| root.object_value()?.get(&name))
            && held_ours
            && others.is_empty()
            && is_bare
        {
            property.remove();
        }
    }
    Ok(root.to_string())
}

fn parse(text: &str) -> Result<CstRootNode, String> {
    let mut depth = 0usize;
    for byte in text.bytes() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return Err("it is nested too deeply".to_owned());
        }
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
    let root = CstRootNode::parse(text, &options)
        .map_err(|error| format!("it cannot be read: {error}"))?;
    match root.value() {
        Some(_) => Ok(root),
        None => Err("it holds no value".to_owned()),
    }
}

/// Returns the lists of a file, with the names of the properties that hold them.
fn lists(root: &CstRootNode) -> Result<Vec<(Option<String>, CstArray)>, String> {
    let mut found: Vec<(Option<String>, CstArray)> = Vec::new();
    found.extend(root.array_value().map(|list| (None, list)));
    let object = root.object_value();
    let mut known = Vec::new();
    for property in object.iter().flat_map(|object| object.properties()) {
        let name = property.decoded_name();
        if known.contains(&name) {
            let name = name.unwrap_or_default();
            return Err(format!("`{name}` is in it more than once"));
        }
        known.push(name.clone());
        found.extend(property.array_value().map(|list| (name, list)));
    }
    Ok(found)
}

fn name_of(item: &CstNode) -> Option<String> {
    let object = item.as_object()?;
    let property = NAMES.iter().find_map(|name| object.get(name))?;
    property.value()?.as_string_lit()?.decoded_value().ok()
}

fn input(node: &CstNode) -> CstInputValue {
    if let Some(object) = node.as_object() {
        let properties = object.properties().into_iter();
        let pairs = properties.filter_map(|one| Some((one.decoded_name()?, input(&one.value()?))));
        CstInputValue::Object(pairs.collect())
    } else if let Some(array) = node.as_array() {
        CstInputValue::Array(array.elements().iter().map(input).collect())
    } else if let Some(text) = node.as_string_lit() {
        CstInputValue::String(text.decoded_value().unwrap_or_default())
    } else if let Some(flag) = node.as_boolean_lit() {
        CstInputValue::Bool(flag.value())
    } else {
        CstInputValue::Number(node.to_string())
    }
}
