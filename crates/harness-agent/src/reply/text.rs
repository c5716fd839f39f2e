//! What all forms need: thinking cut out, fences found, paths recognised.

/// A fenced block: its info string, its body, the line before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fence<'a> {
    /// The words after the opening fence.
    pub(super) info: &'a str,
    /// The code, with its final newline.
    pub(super) body: String,
    /// The last line with words before the fence.
    pub(super) above: &'a str,
}

/// Returns the reply without `<think>` blocks; one that was never closed takes the rest with it.
pub(super) fn without_thinking(reply: &str) -> String {
    let mut text = reply.to_owned();
    for tag in ["think", "thinking", "reasoning"] {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        while let Some(start) = text.find(&open) {
            let end = text[start..]
                .find(&close)
                .map_or(text.len(), |at| start + at + close.len());
            text.replace_range(start..end, "");
        }
        // Some servers eat the opening tag; what stands before a lone closing one is thinking too.
        if let Some(end) = text.find(&close) {
            text.replace_range(..end + close.len(), "");
        }
    }
    text.trim().to_owned()
}

/// Returns the fenced blocks of a text; one that was never closed reaches to the end.
pub(super) fn fences(text: &str) -> Vec<Fence<'_>> {
    let mut fences = Vec::new();
    let mut above = "";
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some((marker, info)) = opening(line) else {
            if !line.trim().is_empty() {
                above = line.trim();
            }
            continue;
        };
        let indent = line.len() - line.trim_start().len();
        let mut body = String::new();
        for line in lines.by_ref() {
            let closes = line.trim().len() >= marker.len()
                && line.trim().chars().all(|c| marker.starts_with(c));
            if closes {
                break;
            }
            body.push_str(outdented(line, indent));
            body.push('\n');
        }
        fences.push(Fence {
            info: info.trim(),
            body,
            above,
        });
        above = "";
    }
    fences
}

fn opening(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let first = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.chars().take_while(|c| *c == first).count();
    let (marker, info) = line.split_at(length);
    (length >= 3 && !info.contains('`')).then_some((marker, info))
}

fn outdented(line: &str, most: usize) -> &str {
    let blanks = line
        .bytes()
        .take(most)
        .take_while(|byte| *byte == b' ')
        .count();
    &line[blanks..]
}

/// Returns the path that a line names and nothing else: quoted, bold, or after `File:`.
pub(super) fn path_alone(line: &str) -> Option<String> {
    let mut word = line.trim().trim_start_matches('#').trim();
    for label in ["File:", "file:", "Path:", "path:", "Filename:", "filename:"] {
        word = word.strip_prefix(label).unwrap_or(word).trim();
    }
    let word = word
        .trim_matches(|c| matches!(c, '`' | '*' | '"' | '\'' | ':'))
        .trim();
    looks_like_path(word).then(|| word.to_owned())
}

/// Returns whether a word is written like a file's path.
pub(super) fn looks_like_path(word: &str) -> bool {
    let plain = !word.is_empty() && !word.contains(char::is_whitespace) && word.len() < 300;
    let ends_in_name = word.rsplit(['/', '\\']).next().is_some_and(|last| {
        last.rsplit_once('.').is_some_and(|(_, ending)| {
            !ending.is_empty()
                && ending.len() <= 8
                && ending.chars().all(|c| c.is_ascii_alphanumeric())
        })
    });
    plain
        && ends_in_name
        && !word.ends_with('.')
        && !word.contains(['(', ')', '{', '}', '=', ',', ';'])
}
