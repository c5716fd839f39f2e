//! Import statements of the languages that are read by grammar, each as it is written there.

use tree_sitter::Node;

use crate::language::grammar::Importing;
use crate::symbols::{Import, ImportTime, ImportedName};
use crate::text::is_among;

/// Appends what one import statement imports.
pub(super) fn read(
    content: &str,
    node: &Node<'_>,
    importing: Importing,
    when: ImportTime,
    imports: &mut Vec<Import>,
) {
    let text = |node: Node<'_>| content.get(node.byte_range()).unwrap_or("");
    let line = node.start_position().row as u32 + 1;
    let mut push = |module: &str, names: Box<[ImportedName]>, when: ImportTime| {
        let module = module.trim();
        if !module.is_empty() && module.len() <= LONGEST_MODULE {
            imports.push(Import {
                module: module.into(),
                level: 0,
                names,
                alias: None,
                line,
                when,
            });
        }
    };
    match importing {
        Importing::Field(field) => {
            let module = node.child_by_field_name(field).map(text);
            push(unquoted(module.unwrap_or("")), Box::default(), when);
        }
        Importing::Words(words) => push(after_words(text(*node), words), Box::default(), when),
        Importing::JavaScript => {
            let source = node.child_by_field_name("source").map(text);
            let is_type = text(*node)
                .trim_start_matches("import")
                .trim_start_matches("export")
                .trim_start()
                .starts_with("type ");
            push(
                unquoted(source.unwrap_or("")),
                clause(content, node),
                if is_type { ImportTime::Typing } else { when },
            );
        }
        Importing::Call(functions) => {
            let module = called_with(content, node, functions);
            push(&module.unwrap_or_default(), Box::default(), when);
        }
        Importing::RustUse => {
            let tree = node.child_by_field_name("argument").map(text);
            let mut paths = Vec::new();
            use_tree(tree.unwrap_or(""), "", 0, &mut paths);
            for (module, name) in paths {
                let name = ImportedName {
                    name: name.into(),
                    alias: None,
                };
                push(&module, Box::from([name]), when);
            }
        }
        Importing::RustMod => {
            if node.child_by_field_name("body").is_none()
                && let Some(name) = node.child_by_field_name("name").map(text)
            {
                push(&format!("self::{name}"), Box::default(), when);
            }
        }
    }
}

/// Returns what follows the words that begin an import statement.
fn after_words<'c>(statement: &'c str, words: &str) -> &'c str {
    let mut rest = statement.trim().trim_end_matches(';').trim();
    while let Some(shorter) = words
        .split_ascii_whitespace()
        .find_map(|word| rest.strip_prefix(word))
        .filter(|rest| !rest.starts_with(char::is_alphanumeric))
    {
        rest = shorter.trim_start();
    }
    unquoted(rest.trim_matches(['(', ')']))
}

/// Returns the module that one of these functions is called with, unless it is computed.
fn called_with(content: &str, node: &Node<'_>, functions: &str) -> Option<String> {
    let text = |node: Node<'_>| content.get(node.byte_range()).unwrap_or("");
    let called = ["function", "method", "name"]
        .iter()
        .find_map(|field| node.child_by_field_name(field))
        .map(text)
        .filter(|called| is_among(functions, called))?;
    let arguments = node.child_by_field_name("arguments");
    let first = arguments
        .and_then(|arguments| arguments.named_child(0))
        .or_else(|| node.child_by_field_name("argument"))?;
    let plain = unquoted(text(first));
    if plain.contains(['$', '{', '(', '\n']) {
        return None;
    }
    let is_beside = called == "require_relative" && !plain.starts_with('.');
    Some(if is_beside {
        format!("./{plain}")
    } else {
        plain.to_owned()
    })
}

/// Longer module names are not module names.
const LONGEST_MODULE: usize = 300;

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '\'', '`'])
}

/// Returns the names of `import d, {a as b, c} from` and `import * as n from`.
fn clause(content: &str, node: &Node<'_>) -> Box<[ImportedName]> {
    let text = |node: Option<Node<'_>>| {
        node.and_then(|node| content.get(node.byte_range()))
            .map(Box::<str>::from)
    };
    let mut names = Vec::new();
    let mut queue = vec![*node];
    while let Some(at) = queue.pop() {
        let mut cursor = at.walk();
        for child in at.named_children(&mut cursor) {
            match child.kind() {
                "import_clause" | "named_imports" | "export_clause" => queue.push(child),
                "import_specifier" | "export_specifier" => {
                    if let Some(name) = text(child.child_by_field_name("name")) {
                        names.push(ImportedName {
                            name,
                            alias: text(child.child_by_field_name("alias")),
                        });
                    }
                }
                "namespace_import" | "namespace_export" => names.push(ImportedName {
                    name: "*".into(),
                    alias: text(child.named_child(0)),
                }),
                "identifier" if at.kind() == "import_clause" => names.push(ImportedName {
                    name: "default".into(),
                    alias: text(Some(child)),
                }),
                _ => {}
            }
        }
    }
    names.into()
}

/// Deeper braces than this nobody writes.
const DEEPEST_USE: usize = 16;

/// Splits `a::{b, c::{d, e}}` into its module and name pairs.
fn use_tree(text: &str, prefix: &str, depth: usize, paths: &mut Vec<(String, String)>) {
    let text = text.trim();
    if depth > DEEPEST_USE || text.is_empty() {
        return;
    }
    if let Some(open) = text.find('{') {
        let head = text[..open].trim().trim_end_matches("::");
        let inner = text[open + 1..]
            .trim_end()
            .strip_suffix('}')
            .unwrap_or(&text[open + 1..]);
        let joined = if prefix.is_empty() {
            head.to_string()
        } else if head.is_empty() {
            prefix.to_string()
        } else {
            format!("{prefix}::{head}")
        };
        for part in split_outside_braces(inner) {
            use_tree(part, &joined, depth + 1, paths);
        }
        return;
    }
    let path = text.split(" as ").next().unwrap_or(text).trim();
    let whole = if prefix.is_empty() {
        path.to_string()
    } else {
        format!("{prefix}::{path}")
    };
    match whole.rsplit_once("::") {
        Some((module, "self")) => match module.rsplit_once("::") {
            Some((outer, name)) => paths.push((outer.to_string(), name.to_string())),
            None => paths.push((module.to_string(), "self".to_string())),
        },
        Some((module, name)) => paths.push((module.to_string(), name.to_string())),
        None => paths.push((whole.clone(), "self".to_string())),
    }
}

fn split_outside_braces(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0usize, 0);
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}
