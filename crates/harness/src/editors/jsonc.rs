//! Settings in JSON with comments: ours are put at the end of each list and object and taken out again. Everything else
//! stays.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};

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
    for (name, wanted) in objects(&ours)? {
        let object = root.object_value().ok_or("it is not an object")?;
        let holder = object
            .object_value_or_create(&name)
            .ok_or_else(|| format!("`{name}` in it is not an object"))?;
        for (key, entry) in entries(&wanted, &name)? {
            if holder.get(&key).is_some() {
                return Err(format!("`{key}` in `{name}` is there, and it is not ours"));
            }
            let Some(value) = entry.value() else { continue };
            holder.append(&key, input(&value));
        }
    }
    Ok(root.to_string())
}

/// Returns the command of the entry or of the items that one of our own files has, as they stand in a text, and the
/// project of an entry.
pub(super) fn command_in(text: &str, ours: &str) -> Option<(String, Option<String>)> {
    let root = parse(text.trim_start_matches('\u{feff}')).ok()?;
    let ours = parse(ours).ok()?;
    let Some((name, wanted)) = objects(&ours).ok()?.into_iter().next() else {
        return Some((task_command(&root, &ours)?, None));
    };
    let (key, _) = entries(&wanted, &name).ok()?.into_iter().next()?;
    let (command, words) = entry(&root, &name, &key)?;
    Some((command, Some(words.into_iter().nth(1)?)))
}

/// Returns the command and the words of an entry of ours in a text.
pub(super) fn entry_in(text: &str, holder: &str, key: &str) -> Option<(String, Vec<String>)> {
    let root = parse(text.trim_start_matches('\u{feff}')).ok()?;
    entry(&root, holder, key)
}

fn entry(root: &CstRootNode, holder: &str, key: &str) -> Option<(String, Vec<String>)> {
    let entry = root.object_value()?.object_value(holder)?.get(key)?;
    let entry = entry.object_value().filter(|_| is_ours(&entry))?;
    let command = string(&entry.get("command")?.value()?)?;
    let words = entry.array_value("args")?.elements();
    Some((command, words.iter().filter_map(string).collect()))
}

/// Returns the command of the first item that one of our own lists has.
fn task_command(root: &CstRootNode, ours: &CstRootNode) -> Option<String> {
    let (list, items) = lists(ours).ok()?.into_iter().next()?;
    let names: Vec<Option<String>> = items.elements().iter().map(name_of).collect();
    let mut all = lists(root).ok()?.into_iter();
    let (_, theirs) = all.find(|(name, _)| *name == list)?;
    let theirs = theirs.elements();
    let item = theirs
        .iter()
        .find(|item| name_of(item).is_some() && names.contains(&name_of(item)))?;
    string(&item.as_object()?.get("command")?.value()?)
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
    take_entries_out(&root, ours)?;
    Ok(root.to_string())
}

/// Takes out the entries that our own files have. An object that held nothing else goes too.
fn take_entries_out(root: &CstRootNode, ours: &[String]) -> Result<(), String> {
    for text in ours {
        for (name, wanted) in objects(&parse(text)?)? {
            let Some(holder) = root
                .object_value()
                .and_then(|object| object.object_value(&name))
            else {
                continue;
            };
            let theirs = entries(&holder, &name)?;
            for (key, _) in entries(&wanted, &name)? {
                let found = theirs.iter().find(|(theirs, _)| *theirs == key);
                let Some((_, entry)) = found.filter(|(_, entry)| is_ours(entry)) else {
                    continue;
                };
                entry.clone().remove();
                let is_bare = holder.children().iter().all(|child| !child.is_comment());
                let property = root.object_value().and_then(|object| object.get(&name));
                if let Some(property) = property
                    && is_bare
                    && holder.properties().is_empty()
                {
                    property.remove();
                }
            }
        }
    }
    Ok(())
}

/// Says whether an entry starts our program for a protocol.
fn is_ours(entry: &CstObjectProp) -> bool {
    let fields = || {
        let entry = entry.object_value()?;
        let command = string(&entry.get("command")?.value()?)?;
        let first = string(entry.array_value("args")?.elements().first()?)?;
        let name = command.rsplit(['/', '\\']).next()?;
        let is_program = name.strip_suffix(".exe").unwrap_or(name) == "harness";
        Some(is_program && ["mcp", "acp"].contains(&first.as_str()))
    };
    fields().unwrap_or(false)
}

fn string(node: &CstNode) -> Option<String> {
    node.as_string_lit()?.decoded_value().ok()
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

/// Returns the objects that the properties of a file hold, with their names.
fn objects(root: &CstRootNode) -> Result<Vec<(String, CstObject)>, String> {
    let Some(object) = root.object_value() else {
        return Ok(Vec::new());
    };
    let all = entries(&object, "it")?.into_iter();
    Ok(all
        .filter_map(|(name, property)| Some((name, property.object_value()?)))
        .collect())
}

/// Returns the entries of an object by their names, each of which stands there once.
fn entries(object: &CstObject, called: &str) -> Result<Vec<(String, CstObjectProp)>, String> {
    let mut found: Vec<(String, CstObjectProp)> = Vec::new();
    for property in object.properties() {
        let name = property.decoded_name().unwrap_or_default();
        if found.iter().any(|(known, _)| *known == name) {
            return Err(format!("`{name}` is in `{called}` more than once"));
        }
        found.push((name, property));
    }
    Ok(found)
}

fn name_of(item: &CstNode) -> Option<String> {
    let object = item.as_object()?;
    let property = NAMES.iter().find_map(|name| object.get(name))?;
    string(&property.value()?)
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
