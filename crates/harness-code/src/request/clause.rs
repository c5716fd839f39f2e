//! The words of a task, cut into clauses. Knows what is English and what is a name; knows nothing of kinds.

use std::ops::Range;

use crate::request::tokens::{Joint, Tokens, joined, span};
use crate::text::is_among;

/// One word of the task, lowercase, with what stood around it.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) text: String,
    /// A name, path, call or quotation: never read as English.
    pub(super) code: bool,
    /// Written with parentheses behind it.
    pub(super) call: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Clause {
    pub(super) words: Vec<Word>,
    /// The sentence that this clause belongs to ends in a question mark.
    pub(super) question: bool,
    /// It begins its sentence.
    pub(super) opens: bool,
    /// Where its first word stands in the text.
    pub(super) start: usize,
}

impl Clause {
    /// Says whether the word at `at` is English and one of `any`, written with spaces between them.
    pub(super) fn is(&self, at: usize, any: &str) -> bool {
        self.words
            .get(at)
            .is_some_and(|word| !word.code && is_among(any, &word.text))
    }

    /// Says whether any word is English and one of `any`.
    pub(super) fn has(&self, any: &str) -> bool {
        (0..self.words.len()).any(|at| self.is(at, any))
    }

    /// Returns what stands before the first of these words.
    pub(super) fn until(&self, any: &str) -> Clause {
        let end = (0..self.words.len()).find(|at| self.is(*at, any));
        let end = end.unwrap_or(self.words.len());
        Clause {
            words: self.words[..end].to_vec(),
            ..self.clone()
        }
    }

    /// English only, names as `_`, so that phrases can be looked for.
    pub(super) fn english(&self) -> String {
        let words: Vec<&str> = self
            .words
            .iter()
            .map(|word| if word.code { "_" } else { word.text.as_str() })
            .collect();
        format!(" {} ", words.join(" "))
    }

    /// Says whether any of the phrases, written with bars between them, stands here.
    pub(super) fn says(&self, phrases: &str) -> bool {
        let english = self.english();
        phrases
            .split('|')
            .any(|phrase| english.contains(&format!(" {phrase} ")))
    }
}

/// Characters of a task that are read for its kind: what is wanted is said first, the evidence follows.
const GIST_CHARACTERS: usize = 700;

/// The task's own sentences: no fenced code, no quoted reply, no hidden comment, no rest of a long report.
#[derive(Debug)]
pub(super) struct Gist {
    /// Where its lines stand in the text.
    lines: Vec<Range<usize>>,
    pub(super) clauses: Vec<Clause>,
    /// The first line of a report that says something, and its clauses; none for a task in a few sentences.
    pub(super) title: Option<(Range<usize>, Vec<Clause>)>,
}

impl Gist {
    pub(super) fn of(text: &str, tokens: &Tokens) -> Gist {
        let lines = gist(text);
        let title = report_title(text).map(|title| {
            let title = span(text, title);
            (title.clone(), clauses(text, tokens, &[title]))
        });
        Gist {
            clauses: clauses(text, tokens, &lines),
            title,
            lines,
        }
    }

    /// Returns what stands in this part of the text, as far as it belongs to the gist.
    pub(super) fn part(&self, text: &str, part: Range<usize>) -> String {
        let within = |line: &Range<usize>| {
            let (start, end) = (line.start.max(part.start), line.end.min(part.end));
            text.get(start..end)
        };
        let lines: Vec<&str> = self.lines.iter().filter_map(within).collect();
        lines.join("\n")
    }
}

fn gist(text: &str) -> Vec<Range<usize>> {
    let mut kept = Vec::new();
    let mut length = 0;
    let mut fenced = false;
    let mut hidden = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
        }
        hidden |= line.starts_with("<!--");
        let skipped = fenced || hidden || line.starts_with("```") || line.starts_with('>');
        hidden &= !line.contains("-->");
        if !skipped {
            kept.push(span(text, line));
            length += line.len() + 1;
        }
        if length > GIST_CHARACTERS {
            break;
        }
    }
    if kept.iter().any(|line| !line.is_empty()) {
        return kept;
    }
    let end = text.char_indices().nth(GIST_CHARACTERS);
    let start = &text[..end.map_or(text.len(), |(end, _)| end)];
    start.lines().map(|line| span(text, line)).collect()
}

/// Headings of issue templates, as they begin, lowercase: what stands there is nobody's wish.
const TEMPLATE_HEADINGS: &str = "\
    actual|additional|behavior|behaviour|bug description|bug report|bug summary|\
    code for reproduction|code sample|context|current|describe|description|desired|details|\
    environment|expected|how to|is your feature request|issue|minimal|operating system|problem|\
    proposed|reproduc|screenshots|search before asking|steps to|summary|system info|to reproduce|\
    version|what happened|what is the|what's wrong|what you|your environment";

/// The heading that a line is: `## Title`, `**Title**`.
fn heading(line: &str) -> Option<&str> {
    let line = line.trim();
    let hashes = line.trim_start_matches('#');
    if hashes.len() < line.len() && hashes.starts_with(' ') {
        return Some(hashes.trim());
    }
    let bold = line.strip_prefix("**")?.strip_suffix("**");
    bold.or_else(|| line.strip_prefix("**")?.strip_suffix("**:"))
        .filter(|bold| !bold.contains("**"))
}

fn is_template_heading(line: &str) -> bool {
    let text = heading(line).unwrap_or(line).trim_end_matches(':');
    let lower = text.to_lowercase();
    let begins = TEMPLATE_HEADINGS
        .split('|')
        .any(|known| lower.starts_with(known));
    begins && (heading(line).is_some() || text.split_whitespace().count() <= 2)
}

/// A text longer than this is a report: its first line says what it is about, the rest is evidence.
const LONG: usize = 500;

/// Returns the first line of a report that says something; `None` for a task in a few sentences.
///
/// A report has headings, code or many words. Questions and orders further down are part of its story.
fn report_title(text: &str) -> Option<&str> {
    let mut lines = text.lines().map(str::trim);
    let has_code = text.contains("```") || text.contains("~~~");
    let has_headings = text
        .lines()
        .any(|line| heading(line).is_some_and(|_| is_template_heading(line)));
    let more = text.trim().lines().count() > 1;
    if !more || !(has_code || has_headings || text.len() > LONG) {
        return None;
    }
    let telling = |line: &&str| {
        let says = line.chars().filter(|c| c.is_alphabetic()).count() > 2;
        says && !line.starts_with("<!--") && !line.starts_with('>') && !is_template_heading(line)
    };
    let first = lines.find(|line| line.starts_with("```") || telling(line))?;
    (!first.starts_with("```")).then(|| heading(first).unwrap_or(first))
}

/// Cuts lines into clauses: at the ends of sentences, at commas and colons, and before "and", "then", "but".
fn clauses(text: &str, tokens: &Tokens, lines: &[Range<usize>]) -> Vec<Clause> {
    let mut clauses = Vec::new();
    let mut open = Clause::default();
    let mut sentence_start = 0;
    for line in lines {
        for token in joined(text, tokens.within(text, line.clone()), Joint::Quotes) {
            let raw = token.text;
            let word = word(raw);
            let joins = !word.code && ["and", "then", "but", "&"].contains(&word.text.as_str());
            if joins {
                close(&mut clauses, &mut open);
                continue;
            }
            let lone_mark = word.text.is_empty();
            if !lone_mark {
                if open.words.is_empty() {
                    open.start = token.start;
                    open.opens = clauses.len() == sentence_start;
                }
                open.words.push(word);
            }
            let tail = raw.trim_end_matches(['"', '\'', ')', '`']);
            if tail.ends_with([',', ';', ':', '.', '!', '?', '，', '。', '！', '？'])
                || (lone_mark && raw.contains(['-', '–', '—']))
            {
                close(&mut clauses, &mut open);
            }
            if tail.ends_with(['.', '!', '?', '。', '！', '？']) {
                for clause in clauses.iter_mut().skip(sentence_start) {
                    clause.question = tail.ends_with(['?', '？']);
                }
                sentence_start = clauses.len();
            }
        }
        close(&mut clauses, &mut open);
        sentence_start = clauses.len();
    }
    clauses
}

fn close(clauses: &mut Vec<Clause>, open: &mut Clause) {
    if !open.words.is_empty() {
        clauses.push(std::mem::take(open));
    }
}

fn word(raw: &str) -> Word {
    if matches!(raw, "->" | "=>" | "→") {
        return Word {
            text: raw.to_owned(),
            code: false,
            call: false,
        };
    }
    let quoted = raw.starts_with(['`', '"']) || raw.contains('`');
    let bare = raw.trim_matches(|c: char| ",;:.!?\"'`()*¿¡，。！？".contains(c));
    let option = bare.starts_with("--") && bare.len() > 2;
    let bare = if option {
        bare
    } else {
        bare.trim_matches(['-', '–', '—'])
    };
    let call = raw
        .trim_end_matches([',', '.', '?', '!', ':'])
        .ends_with(')')
        && raw.contains('(')
        && !raw.starts_with('(');
    let mut characters = bare.chars();
    let first_upper = characters.next().is_some_and(char::is_uppercase);
    let later_upper =
        characters.clone().any(char::is_uppercase) && characters.any(char::is_lowercase);
    let joined =
        bare.contains(['_', '/', '\\', '=', '<', '>', '@', '[', '{', '$']) || bare.contains("::");
    let dotted = bare.split('.').filter(|part| !part.is_empty()).count() > 1;
    let shouted = first_upper && bare.len() > 3 && bare.contains("Error");
    Word {
        text: bare.replace('’', "'").to_lowercase(),
        code: quoted || option || call || joined || dotted || later_upper || shouted,
        call,
    }
}
