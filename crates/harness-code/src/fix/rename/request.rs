//! A rename in a sentence: "rename A to B", "call it B instead of A", `A -> B`, with a file, a class or a place.

use std::sync::LazyLock;

use regex::Regex;

use super::RenameRequest;
use crate::path::RelPath;

/// A dotted name or the path of a Python file, in quotes of any kind or none.
const NAME: &str = r#"[`'"“‘]?@?([A-Za-z_][\w]*(?:[./][A-Za-z_][\w]*)*)(?:\(\))?[`'"”’]?"#;
/// A place: `path:line` or `path:line:column`.
const AT: &str = r"[`'\x22]?[\w./\\-]+\.pyi?:\d+(?::\d+)?[`'\x22]?";
/// Words that say what kind of thing a name is.
const KIND: &str = r"(?:all\s+(?:uses|occurrences|references)\s+of\s+)?(?:(?:the|a|my|our|this|every|all|private|public|local|global|class|instance|static|module|python)\s+)*(?:(?:function|method|class|variable|parameter|argument|param|arg|attribute|attr|field|property|constant|module|package|file|name|symbol|identifier|helper|decorator|exception|type|enum|member)\s+)?";

static FORMS: LazyLock<Vec<(Regex, bool)>> = LazyLock::new(|| {
    // Each form with whether the new name comes first.
    let forms = [
        // Whose it is comes first: "rename Cart's method total to amount".
        (
            format!(
                r"(?i)\brename\s+(?:the\s+)?[`']?(?P<holder>[A-Za-z_]\w*)[`']?(?:\(\))?['’]s\s+{KIND}{NAME}\s+(?:to|into|as|->|=>|→)\s+{KIND}{NAME}"
            ),
            false,
        ),
        (
            format!(r"(?i)\bchange\s+{KIND}{NAME}['’]s\s+name\s+(?:to|into)\s+{NAME}"),
            false,
        ),
        (
            format!(
                r"(?i)\b(?:replace|change)\s+the\s+name\s+{NAME}\s+(?:with|by|to|into)\s+{KIND}{NAME}"
            ),
            false,
        ),
        (
            format!(r"(?i)\bcall\s+{KIND}{NAME}\s+{NAME}\s+instead\s*[.!]?$"),
            false,
        ),
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
    Regex::new(r"(?i)\b(?:in|from|of|at|inside|within)\s+(?:the\s+)?(?:file\s+|module\s+)?[`'\x22]?([\w./\\-]+\.pyi?)[`'\x22]?").ok()
});
static HOLDER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:in|of|on|inside|within)\s+(?:the\s+)?(?:class|function|method)\s+[`'\x22]?([A-Za-z_]\w*)|\b(?:in|of|on|from)\s+(?:the\s+)?[`'\x22]?([A-Za-z_]\w*)[`'\x22]?\s+(?:class|function|method)\b").ok()
});
static COMMENTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:including|also|and)\s+(?:also\s+)?(?:(?:in|the|all|its|their|update|change|every)\s+)*(?:comments?|docstrings?|docs)\b").ok()
});
/// A place alone, whose name the file itself tells.
static PLACED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(
        r"(?i)^(?:(?:please\s+)?rename\s+{KIND}(?:at\s+|in\s+)?)?{AT}\s*(?:to|into|as|->|=>|→)\s*{KIND}{NAME}\s*[.!]?$"
    ))
    .ok()
});
/// A place before the name.
static NAMED_AT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(
        r"(?i)\brename\s+(?:in\s+|at\s+)?{AT}:?\s+{KIND}{NAME}\s+(?:to|into|as|->|=>|→)\s+{KIND}{NAME}"
    ))
    .ok()
});
/// What a name belongs to, right behind it: "parameter x of f", "attribute size on Box".
static BEHIND: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:parameter|argument|param|arg|attribute|attr|field|property|method|variable|local)\s+[`'\x22]?\w+[`'\x22]?(?:\(\))?\s+(?:of|on|in|from)\s+(?:the\s+)?[`'\x22]?([A-Za-z_]\w*)(?:\(\))?[`'\x22]?\s+(?:to|into|as|->|=>|→)\s").ok()
});
/// Words by which a task asks for more than the rename.
static MORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:and|then|also)\s+(?:then\s+|also\s+)?(?:add|fix|make|remove|delete|implement|write|rewrite|return|raise|document|test|extract|split|sort|convert|handle|explain)\b").ok()
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
    "from",
    "at",
    "in",
    "uses",
];

/// Reads a rename out of a task; `None` when it asks for none, or for more than that.
pub fn read_rename(task: &str) -> Option<RenameRequest> {
    let task = task.trim();
    if MORE.as_ref().is_some_and(|more| more.is_match(task)) {
        return None;
    }
    if let Some(placed) = PLACED.as_ref().and_then(|placed| placed.captures(task)) {
        let mut request = RenameRequest {
            new: placed.get(1)?.as_str().to_string(),
            ..RenameRequest::default()
        };
        read_place(task, &mut request);
        return Some(request);
    }
    let named_at = NAMED_AT.as_ref().and_then(|form| form.captures(task));
    let (captures, swapped) = match named_at {
        Some(captures) => (captures, false),
        None => FORMS
            .iter()
            .find_map(|(form, swapped)| Some((form.captures(task)?, *swapped)))?,
    };
    let holder = captures.name("holder");
    let names: Vec<_> = captures
        .iter()
        .skip(1)
        .flatten()
        .filter(|name| holder != Some(*name))
        .collect();
    let [first, second] = names.as_slice() else {
        return None;
    };
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
    if !read_place(task, &mut request)
        && let Some(file) = FILE.as_ref().and_then(|file| file.captures(task))
    {
        let path = file.get(1).map(|path| path.as_str());
        // "rename a.py to b.py" names no third file.
        request.file = path
            .filter(|path| !path.starts_with(old))
            .and_then(|path| RelPath::parse(path).ok());
    }
    if let Some(holder) = holder {
        request.class = Some(holder.as_str().to_string());
    } else if let Some(behind) = BEHIND.as_ref().and_then(|behind| behind.captures(task)) {
        request.class = behind
            .get(1)
            .map(|name| name.as_str().to_string())
            .filter(|name| {
                !no_name(name)
                    && !matches!(
                        name.as_str(),
                        "class" | "function" | "method" | "module" | "file"
                    )
            });
    }
    if request.class.is_none()
        && let Some(holder) = HOLDER.as_ref().and_then(|holder| holder.captures(task))
    {
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

/// Reads `path:line` or `path:line:column`; whether there is one.
fn read_place(task: &str, request: &mut RenameRequest) -> bool {
    let Some(place) = PLACE.as_ref().and_then(|place| place.captures(task)) else {
        return false;
    };
    request.file = place
        .get(1)
        .and_then(|path| RelPath::parse(path.as_str()).ok());
    request.line = place.get(2).and_then(|line| line.as_str().parse().ok());
    request.column = place.get(3).and_then(|column| column.as_str().parse().ok());
    true
}

/// The name that stands at a place: at the column, else the one that the line defines.
pub(super) fn name_at(content: &str, line: u32, column: Option<u32>) -> Option<String> {
    let number = usize::try_from(line).ok()?.checked_sub(1)?;
    let text = content.lines().nth(number)?;
    let Some(column) = column else {
        let defined = DEFINED.as_ref()?.captures(text)?;
        return Some(
            defined
                .get(1)
                .or_else(|| defined.get(2))?
                .as_str()
                .to_string(),
        );
    };
    let letters: Vec<char> = text.chars().collect();
    let at = usize::try_from(column).ok()?.saturating_sub(1);
    let is_part = |letter: &char| *letter == '_' || letter.is_alphanumeric();
    if !letters.get(at).is_some_and(is_part) {
        return None;
    }
    let start = letters[..at]
        .iter()
        .rposition(|letter| !is_part(letter))
        .map_or(0, |before| before + 1);
    Some(
        letters[start..]
            .iter()
            .copied()
            .take_while(is_part)
            .collect(),
    )
}

static DEFINED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:(?:async\s+)?(?:def|class)\s+(\w+)|(\w+)\s*(?::[^=]+)?=(?:[^=]|$))").ok()
});
