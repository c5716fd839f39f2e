//! Settings in JSON with comments: ours are put at the end of each list and object and taken out again. Everything else
//! stays.

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use jsonc_parser::tokens::Token;
use jsonc_parser::{ParseOptions, Scanner, ScannerOptions};

/// What an item is named by.
const NAMES: [&str; 2] = ["label", "id"];

/// Deeper files are no settings: nobody writes them, and a parser must not be led down.
const DEEPEST: usize = 200;

/// What stands for the program and for the project in our own files.
const PROGRAM: &str = "{program}";
const PROJECT: &str = "{project}";

/// Our own file in every version, with what stands for the program and the project.
pub(super) struct Ours<'a> {
    /// The texts.
    pub(super) templates: &'a [String],
    /// The program as it is now; it may have another name than `harness`.
    pub(super) program: &'a str,
}

/// What is left of a file without ours.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// The text without ours.
    Text(String),
    /// Somebody changed what we wrote; this says what.
    Changed(String),
    /// Nothing is ours, and something has the name of ours; this says what.
    NamedAlike(String),
}

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

/// Returns the program that the first of ours starts, as it stands in a text, changed or not, and the project of an
/// entry.
pub(super) fn command_in(text: &str, ours: &Ours<'_>) -> Option<(String, Option<String>)> {
    let root = parse(text.trim_start_matches('\u{feff}')).ok()?;
    let found = named_alike(&root, ours).ok()?;
    let (command, words) = found.iter().find_map(|one| one.started.clone())?;
    let is_entry = words.first().is_some_and(|word| word == "mcp");
    let project = words
        .into_iter()
        .skip(1)
        .find(|word| !word.starts_with('-'));
    Some((command, project.filter(|_| is_entry)))
}

/// Returns the command and the words of an entry of ours in a text, or why the text cannot be read.
pub(super) fn entry_in(
    text: &str,
    (holder, key): (&str, &str),
    program: &str,
) -> Result<Option<(String, Vec<String>)>, String> {
    let root = parse(text.trim_start_matches('\u{feff}'))?;
    let entry = || {
        let entry = root.object_value()?.object_value(holder)?.get(key)?;
        started(&entry.value()?, program)
    };
    Ok(entry())
}

/// Something in a file that has the name of ours.
struct NamedAlike {
    /// Where it is and what it is called, for a sentence.
    place: String,
    /// Whether it is as we write it, whatever program and project it names.
    is_ours: bool,
    /// The program that it starts and its words, where it is our program.
    started: Option<(String, Vec<String>)>,
}

/// Returns what has a name of ours in the same list or object as ours.
fn named_alike(root: &CstRootNode, ours: &Ours<'_>) -> Result<Vec<NamedAlike>, String> {
    let mut written = Vec::new();
    for template in ours.templates {
        written.extend(named(&parse(template)?)?);
    }
    let mut found = Vec::new();
    for (holder, name, node) in named(root)? {
        let alike = |(in_holder, called, _): &&(Option<String>, String, CstNode)| {
            *in_holder == holder && *called == name
        };
        let alike: Vec<_> = written.iter().filter(alike).collect();
        if alike.is_empty() {
            continue;
        }
        found.push(NamedAlike {
            place: match &holder {
                Some(holder) => format!("`{name}` in `{holder}`"),
                None => format!("`{name}` in it"),
            },
            is_ours: alike
                .iter()
                .any(|(_, _, template)| is_written_so(&node, template, ours.program)),
            started: started(&node, ours.program),
        });
    }
    Ok(found)
}

/// Returns every item and every entry that has a name, with the name of the list or object that holds it.
fn named(root: &CstRootNode) -> Result<Vec<(Option<String>, String, CstNode)>, String> {
    let mut found = Vec::new();
    for (holder, list) in lists(root)? {
        let items = list.elements().into_iter();
        found.extend(items.filter_map(|item| Some((holder.clone(), name_of(&item)?, item))));
    }
    for (holder, object) in objects(root)? {
        let all = object.properties().into_iter();
        found.extend(all.filter_map(|entry| {
            Some((Some(holder.clone()), entry.decoded_name()?, entry.value()?))
        }));
    }
    Ok(found)
}

/// Says whether a value is that of a template, in which a program and a project may stand.
fn is_written_so(node: &CstNode, template: &CstNode, program: &str) -> bool {
    // A person's comment is a change too.
    if node.children().iter().any(CstNode::is_comment) {
        return false;
    }
    if let (Some(object), Some(wanted)) = (node.as_object(), template.as_object()) {
        let (fields, wanted) = (object.properties(), wanted.properties());
        return fields.len() == wanted.len()
            && wanted.iter().all(|wanted| {
                let name = wanted.decoded_name().unwrap_or_default();
                let field = object.get(&name).filter(|field| {
                    let mut parts = field.children().into_iter();
                    parts.all(|part| !part.is_comment())
                });
                let values = field.and_then(|field| Some((field.value()?, wanted.value()?)));
                values.is_some_and(|(value, wanted)| is_written_so(&value, &wanted, program))
            });
    }
    if let (Some(list), Some(wanted)) = (node.as_array(), template.as_array()) {
        let (items, wanted) = (list.elements(), wanted.elements());
        let mut pairs = items.iter().zip(&wanted);
        return items.len() == wanted.len()
            && pairs.all(|(item, wanted)| is_written_so(item, wanted, program));
    }
    match (string(node), string(template)) {
        (Some(text), Some(wanted)) if wanted == PROGRAM => is_program(&text, program),
        (Some(_), Some(wanted)) if wanted == PROJECT => true,
        (Some(text), Some(wanted)) => text == wanted,
        (None, None) => node.to_string() == template.to_string(),
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// Returns the command of an item or an entry and its words, where the command is our program.
fn started(node: &CstNode, program: &str) -> Option<(String, Vec<String>)> {
    let object = node.as_object()?;
    let command = string(&object.get("command")?.value()?)?;
    let words = object.array_value("args")?.elements();
    let words = words.iter().filter_map(string).collect();
    is_program(&command, program).then_some((command, words))
}

/// Says whether a command is our program, wherever it lies or lay.
fn is_program(command: &str, program: &str) -> bool {
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    command == program || name.strip_suffix(".exe").unwrap_or(name) == "harness"
}

/// Returns the text without ours. Lists and objects that held nothing else go too. Where somebody changed one of ours,
/// or has one of its name, nothing is taken out: another one may need the rest.
pub(super) fn take_out(before: &str, ours: &Ours<'_>) -> Result<Rest, String> {
    let root = parse(before)?;
    let found = named_alike(&root, ours)?;
    let has_ours = found.iter().any(|one| one.is_ours);
    if let Some(other) = found.iter().find(|one| !one.is_ours) {
        let place = &other.place;
        return Ok(match (has_ours, &other.started) {
            (_, Some(_)) => Rest::Changed(format!("{place} was changed since it was written")),
            (true, None) => Rest::Changed(format!("{place} is not ours, and the rest is")),
            (false, None) => Rest::NamedAlike(format!("{place} is there, and it is not ours")),
        });
    }
    let mut names = Vec::new();
    for template in ours.templates {
        for (list, items) in lists(&parse(template)?)? {
            let items = items.elements();
            names.extend(items.iter().map(|item| (list.clone(), name_of(item))));
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
    take_entries_out(&root, ours.templates)?;
    Ok(Rest::Text(root.to_string()))
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
                let Some((_, entry)) = found else {
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

fn string(node: &CstNode) -> Option<String> {
    node.as_string_lit()?.decoded_value().ok()
}

fn parse(text: &str) -> Result<CstRootNode, String> {
    if is_deep(text) {
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
    let root = CstRootNode::parse(text, &options)
        .map_err(|error| format!("it cannot be read: {error}"))?;
    match root.value() {
        Some(_) => Ok(root),
        None => Err("it holds no value".to_owned()),
    }
}

/// Says whether the brackets of a text are nested too deeply, up to what is no JSON; a parser gets no further.
fn is_deep(text: &str) -> bool {
    let mut scanner = Scanner::new(text, &ScannerOptions::default());
    let mut depth = 0usize;
    while let Ok(Some(token)) = scanner.scan() {
        match token {
            Token::OpenBrace | Token::OpenBracket => depth += 1,
            Token::CloseBrace | Token::CloseBracket => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return true;
        }
    }
    false
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
