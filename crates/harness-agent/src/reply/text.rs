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

/// Names of the tags that models think in.
const THINKING: [&str; 6] = [
    "think",
    "thinking",
    "reasoning",
    "thought",
    "reflection",
    "analysis",
];

/// Returns the reply without its thinking; a block that was never closed takes the rest with it.
///
/// A tag inside a line is code or prose that speaks of it: only one that begins its line opens a block.
pub(super) fn without_thinking(reply: &str) -> String {
    let mut text = without_channels(reply);
    for tag in THINKING {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        while let Some(start) = at_line_start(&text, &open) {
            let end = text[start..]
                .find(&close)
                .map_or(text.len(), |at| start + at + close.len());
            text.replace_range(start..end, "");
        }
        // Some servers eat the opening tag; what stands before a lone closing one is thinking too.
        if let Some(end) = at_line_start(&text, &close) {
            text.replace_range(..end + close.len(), "");
        }
    }
    text.trim_matches(['\n', '\r']).trim_end().to_owned()
}

/// Returns the words of the last channel, for models that think in one and answer in another.
fn without_channels(reply: &str) -> String {
    let Some(last) = reply.rfind("<|channel|>") else {
        return reply.to_owned();
    };
    let words = reply[last..]
        .split_once("<|message|>")
        .map_or("", |(_, words)| words);
    let end = ["<|end|>", "<|return|>", "<|call|>"]
        .iter()
        .filter_map(|sign| words.find(sign))
        .min();
    words[..end.unwrap_or(words.len())].to_owned()
}

fn at_line_start(text: &str, tag: &str) -> Option<usize> {
    let begins = |at: usize| {
        let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        text[line..at].trim().is_empty()
    };
    text.match_indices(tag)
        .map(|(at, _)| at)
        .find(|at| begins(*at))
}

/// Returns whether a reply stops in the middle of a fence, a block, a call or a patch.
pub fn is_cut(reply: &str) -> bool {
    let text = without_thinking(reply);
    let thinks = text.trim().is_empty() && !reply.trim().is_empty();
    let count = |sign: &str| {
        text.lines()
            .filter(|line| line.trim_start().starts_with(sign))
            .count()
    };
    let half_block = count("<<<<<<< ") > count(">>>>>>> ");
    let half_patch = text.contains("*** Begin Patch") && !text.contains("*** End Patch");
    let half_call = text.trim_start().starts_with('{') && !text.trim_end().ends_with('}');
    // Nothing says where the last lines of a patch end, unless they are fenced.
    let last_label = text.rfind("\nReplace:").or_else(|| text.rfind("\nFind:"));
    let half_labels = last_label.is_some_and(|at| !text[at..].contains("```"));
    !thinks && (is_open(&text) || half_block || half_patch || half_call || half_labels)
}

/// Returns whether a fence is still open at the end of a text.
pub(super) fn is_open(text: &str) -> bool {
    let mut open: Option<&str> = None;
    for line in text.lines() {
        match (open, opening(line)) {
            (None, Some((marker, _))) => open = Some(marker),
            (Some(marker), _) if closes(line, marker) => open = None,
            (_, _) => {}
        }
    }
    open.is_some()
}

fn closes(line: &str, marker: &str) -> bool {
    let line = line.trim();
    line.len() >= marker.len() && line.chars().all(|c| marker.starts_with(c))
}

/// Returns a reply that was cut and what came after it as one.
pub fn joined(first: &str, next: &str) -> String {
    let mut rest = next.trim_start_matches('\n');
    // Asked to go on inside a fence, models open it again.
    if is_open(first)
        && let Some((head, after)) = rest.split_once('\n')
        && opening(head).is_some()
    {
        rest = after;
    }
    // They also begin with the line that was cut.
    let last = first.lines().next_back().unwrap_or_default();
    let head = rest.lines().next().unwrap_or_default();
    let again = !last.trim().is_empty()
        && !first.ends_with('\n')
        && head.trim_start().starts_with(last.trim_start());
    let kept = if again {
        &first[..first.len() - last.len()]
    } else {
        first
    };
    // A newline may be how a model begins to speak, or the end of a line that was whole.
    let is_word = first.ends_with(|sign: char| sign.is_alphanumeric() || sign == '_');
    let is_whole =
        first.ends_with([')', ']', '}', ':', ';']) || is_word && rest.starts_with([' ', '\t']);
    let line = if next.starts_with('\n') && is_whole && !again {
        "\n"
    } else {
        ""
    };
    format!("{kept}{line}{rest}")
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
            if closes(line, marker) {
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

/// Returns the file that the lines above a block name, the nearest first; known files decide how it is written.
pub fn path_above(lines: &[&str], known: &[&str]) -> Option<String> {
    let letters = |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).collect() };
    for line in lines.iter().rev() {
        let word = line.trim().trim_matches(['`', '*', ':', '#', ' ']);
        if word.is_empty() || opening(line).is_some() {
            continue;
        }
        if known.contains(&word) {
            return Some(word.to_owned());
        }
        let alike: Vec<&&str> = known
            .iter()
            .filter(|path| letters(path) == letters(word))
            .collect();
        if let [only] = alike.as_slice() {
            return Some((**only).to_owned());
        }
        if let Some(path) = path_alone(line) {
            return Some(path);
        }
    }
    None
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
