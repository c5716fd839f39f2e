//! A rename in a sentence: "rename A to B", "call it B instead of A", `A -> B`, with a file, a class or a place.

use std::sync::LazyLock;

use regex::Regex;

use super::RenameRequest;
use crate::path::RelPath;

/// A dotted name or the path of a Python file, in quotes of any kind or none.
const NAME: &str = r#"[`'"“‘]?([A-Za-z_][\w]*(?:[./][A-Za-z_][\w]*)*)(?:\(\))?[`'"”’]?"#;
/// Words that say what kind of thing a name is.
const KIND: &str = r"(?:(?:the|a|my|our|this|every|all|private|public|local|global|class|instance|static|module|python)\s+)*(?:(?:function|method|class|variable|parameter|argument|param|arg|attribute|attr|field|property|constant|module|package|file|name|symbol|identifier|helper|decorator|exception|type|enum|member)\s+)?";

static FORMS: LazyLock<Vec<(Regex, bool)>> = LazyLock::new(|| {
    // Each form with whether the new name comes first.
    let forms = [
        (
            format!(
                r"(?i)\b(?:rename|renaming)\s+{KIND}{NAME}(?:.*?)\s+(?:to|into|as|->|=>|→)\s+{KIND}{NAME}"
            ),
            false,
        ),
        (
            format!(
                r"(?i)\bchange\s+the\s+name\s+of\s+{KIND}{NAME}(?:.*?)\s+(?:to|into)\s+{KIND}{NAME}"
            ),
            false,
        ),
        (
            format!(
                r"(?i)\bchange\s+{KIND}name\s+(?:from\s+)?{NAME}(?:.*?)\s+(?:to|into)\s+{KIND}{NAME}"
            ),
            false,
        ),
        (
            format!(r"(?i)\bcall\s+(?:it|this|that|{KIND})\s*{NAME}\s+instead\s+of\s+{NAME}"),
            true,
        ),
        (
            format!(r"(?i)\buse\s+the\s+name\s+{NAME}\s+instead\s+of\s+{NAME}"),
            true,
        ),
        (
            format!(r"(?i)\b{NAME}\s+should\s+be\s+(?:called|named|renamed(?:\s+to)?)\s+{NAME}"),
            false,
        ),
        (
            format!(r"(?i)\bcall\s+{KIND}{NAME}\s+{NAME}\s+from\s+now\s+on"),
            false,
        ),
        (format!(r"^\s*{NAME}\s*(?:->|=>|→)\s*{NAME}\s*$"), false),
    ];
    forms
        .into_iter()
        .filter_map(|(form, swapped)| Some((Regex::new(&form).ok()?, swapped)))
        .collect()
});

static PLACE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"([\w./\\-]+\.pyi?):(\d+)(?::(\d+))?").ok());
static FILE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b(?:in|from|of|at|inside|within)\s+(?:the\s+)?(?:file\s+|module\s+)?[`'\x22]?([\w./\\-]+\.pyi?)[`'\x22]?").ok()
});
static HOLDER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:in|of|on|inside|within)\s+(?:the\s+)?(?:class|function|method)\s+[`'\x22]?([A-Za-z_]\w*)|\b(?:in|of|on|from)\s+(?:the\s+)?[`'\x22]?([A-Za-z_]\w*)[`'\x22]?\s+(?:class|function|method)\b").ok()
});
static COMMENTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:including|also|and)\b[^.]*\b(?:comments?|docstrings?|docs)\b").ok()
});

/// Words that stand where a name would and are none.
const NO_NAMES: &[&str] = &[
    "it",
    "this",
    "that",
    "the",
    "something",
    "a",
    "an",
    "be",
    "to",
    "file",
    "files",
    "everything",
    "all",
    "them",
    "variables",
    "functions",
    "names",
];

/// Reads a rename out of a task; `None` when it asks for none, or for more than that.
pub fn read_rename(task: &str) -> Option<RenameRequest> {
    let task = task.trim();
    let (captures, swapped) = FORMS
        .iter()
        .find_map(|(form, swapped)| Some((form.captures(task)?, *swapped)))?;
    let (first, second) = (captures.get(1)?, captures.get(2)?);
    let (old, new) = if swapped {
        (second, first)
    } else {
        (first, second)
    };
    let (old, new) = (old.as_str(), new.as_str());
    let no_name = |name: &str| NO_NAMES.contains(&name.to_lowercase().as_str());
    if no_name(old) || no_name(new) || old == new {
        return None;
    }
    let mut request = RenameRequest {
        old: old.to_string(),
        new: new.to_string(),
        ..RenameRequest::default()
    };
    if let Some(place) = PLACE.as_ref().and_then(|place| place.captures(task)) {
        request.file = place
            .get(1)
            .and_then(|path| RelPath::parse(path.as_str()).ok());
        request.line = place.get(2).and_then(|line| line.as_str().parse().ok());
        request.column = place.get(3).and_then(|column| column.as_str().parse().ok());
    } else if let Some(file) = FILE.as_ref().and_then(|file| file.captures(task)) {
        let path = file.get(1).map(|path| path.as_str());
        // "rename a.py to b.py" names no third file.
        request.file = path
            .filter(|path| !path.starts_with(old))
            .and_then(|path| RelPath::parse(path).ok());
    }
    if let Some(holder) = HOLDER.as_ref().and_then(|holder| holder.captures(task)) {
        request.class = holder
            .get(1)
            .or_else(|| holder.get(2))
            .map(|name| name.as_str().to_string())
            .filter(|name| !no_name(name));
    }
    request.in_comments = COMMENTS
        .as_ref()
        .is_some_and(|comments| comments.is_match(task));
    Some(request)
}
