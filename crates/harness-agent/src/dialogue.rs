//! A conversation: each message, read in the light of those before it. It becomes a task that is whole in itself, or
//! something that needs no run.

use crate::question::Question;
use crate::secret;
use harness_code::request::Request;
use harness_code::request::kind::Kind;

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Whether the user said it, and not the agent.
    pub by_user: bool,
    /// Its words.
    pub text: String,
}

impl Said {
    /// Returns what the user said.
    pub fn by_user(text: impl Into<String>) -> Said {
        let (by_user, text) = (true, text.into());
        Said { by_user, text }
    }

    /// Returns what the agent said.
    pub fn by_agent(text: impl Into<String>) -> Said {
        let (by_user, text) = (false, text.into());
        Said { by_user, text }
    }
}

/// What a message asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A task or a question, whole in itself.
    Task(String),
    /// Nothing is asked for; this is the answer.
    Reply(&'static str),
    /// This run is to be taken back; without a name the latest that changed something.
    Undo(Option<String>),
}

/// What editors that are agents themselves put a person's words into, and what they add about the editor.
const WRAPPINGS: [&str; 4] = ["task", "user_message", "feedback", "answer"];
const ADDITION: &str = "environment_details";

/// Returns what a person said in a message that an editor's own agent wrapped: the words alone, without lists of open
/// files and clocks. Any other message is returned as it is.
pub fn unwrapped(message: &str) -> String {
    let inside = |tag: &str| {
        let (_, rest) = message.split_once(&format!("<{tag}>"))?;
        rest.split_once(&format!("</{tag}>"))
            .map(|(words, _)| words)
    };
    // A person may write such tags too: only an editor begins with one, or adds what it knows of itself.
    let is_wrapped = |tag: &&&str| {
        message.trim_start().starts_with(&format!("<{tag}>"))
            || message.contains(&format!("</{ADDITION}>"))
    };
    let mut tags = WRAPPINGS.iter().filter(is_wrapped);
    if let Some(words) = tags.find_map(|tag| inside(tag)) {
        return words.trim().to_owned();
    }
    let mut text = message.to_owned();
    while let Some(start) = text.find(&format!("<{ADDITION}>")) {
        let end = format!("</{ADDITION}>");
        let after = text[start..].find(&end).map(|at| start + at + end.len());
        text.replace_range(start..after.unwrap_or(text.len()), "");
    }
    match text.len() == message.len() {
        true => text,
        false => text.trim().to_owned(),
    }
}

/// Reads a message after what was said before it.
pub fn read(before: &[Said], message: &str) -> Meaning {
    Memory::of(before).read(message)
}

/// Returns whether the last reply asks the user something.
pub(crate) fn waits_for_answer(before: &[Said]) -> bool {
    Memory::of(before).question.is_some()
}

/// Returns what was said before as a few lines for a model: the last tasks and what came of them, each cut short.
pub fn context(before: &[Said]) -> String {
    let start = before.len().saturating_sub(MOST_LINES);
    let line = |said: &Said| {
        let who = if said.by_user { "user" } else { "you" };
        // The first paragraph tells what came of it; a diff follows it.
        let first = said.text.trim().split("\n\n").next().unwrap_or_default();
        let words: Vec<&str> = first.split_whitespace().collect();
        // Half a secret is none that would be seen: it goes before the cut.
        let words = secret::redact(&words.join(" ")).into_owned();
        let short: String = words.chars().take(LONGEST_LINE).collect();
        let dots = if short.len() < words.len() {
            " …"
        } else {
            ""
        };
        format!("{who}: {short}{dots}")
    };
    let lines: Vec<String> = before[start..].iter().map(line).collect();
    lines.join("\n")
}

/// Messages that a model is told of: three turns, as people refer to what is still on their screen.
const MOST_LINES: usize = 6;
/// The longest of them, in characters: a task, or the first sentences of an answer.
const LONGEST_LINE: usize = 240;
/// What a task is about is looked for in so many of its characters.
const LONGEST_NAMED: usize = 2_000;
/// Older messages than this are not read: nobody means them with "it".
const MOST_READ: usize = 200;

/// What is remembered of a conversation in order to read the next message.
#[derive(Clone, Debug, Default)]
struct Memory {
    /// The last task, whole in itself.
    task: Option<String>,
    /// The name that was spoken of last.
    name: Option<String>,
    /// Whether the last task left it to us to find what it is about.
    is_unnamed: bool,
    /// The question that waits for an answer.
    question: Option<Question>,
    /// Whether the last reply holds a change that nobody kept.
    proposed: bool,
    /// Runs that changed files and were not taken back.
    runs: Vec<String>,
    /// The last undo, where it is what happened last.
    undone: Option<String>,
}

impl Memory {
    /// Reads what was said from its beginning: what a message means hangs on those before it.
    fn of(said: &[Said]) -> Memory {
        let mut memory = Memory::default();
        let start = said.len().saturating_sub(MOST_READ);
        for said in &said[start..] {
            match said.by_user {
                true => memory.hear_user(&said.text),
                false => memory.hear_agent(&said.text),
            }
        }
        memory
    }

    fn hear_user(&mut self, message: &str) {
        let meaning = self.read(message);
        self.question = None;
        if let Meaning::Task(task) = meaning {
            // A pasted log names nothing beyond its first lines that "it" could mean.
            let head: String = task.chars().take(LONGEST_NAMED).collect();
            let named = name_of(&Request::read(&head));
            self.is_unnamed = named.is_none();
            self.name = named.or(self.name.take());
            self.task = Some(task);
        }
    }

    fn hear_agent(&mut self, reply: &str) {
        self.question = question(reply);
        self.proposed = is_proposal(reply);
        if let Some(found) = found_name(reply).filter(|_| self.is_unnamed) {
            self.name = Some(found.to_owned());
        }
        let Some(run) = undo_line(reply) else {
            return;
        };
        if let Some(taken) = reply.strip_prefix(TOOK_BACK).and_then(first_word) {
            self.runs.retain(|run| run != taken);
            self.undone = Some(run);
            self.call_it(|old, _| old);
            return;
        }
        self.undone = None;
        let again = reply.strip_prefix(BROUGHT_BACK).and_then(first_word);
        if again.is_some() {
            self.call_it(|_, new| new);
        }
        self.runs.push(again.map_or(run, str::to_owned));
    }

    /// Has "it" mean one of the two names of the last task, where that is a rename.
    fn call_it(&mut self, one: fn(String, String) -> String) {
        let task = self.task.as_deref().map(Request::read);
        let task = task.filter(|task| task.kind() == Kind::Rename);
        let rename = task.and_then(|task| task.rename().first().cloned());
        if let Some(rename) = rename {
            self.name = Some(one(rename.old, rename.new));
        }
    }

    /// Reads the next message.
    fn read(&self, message: &str) -> Meaning {
        if let Some(reply) = pleasantry(message) {
            return Meaning::Reply(reply);
        }
        let words = plain_words(message);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if let Some(which) = undo_words(&words) {
            return Meaning::Undo(self.taken_back(which));
        }
        if self.proposed && is_decision(&words) {
            return Meaning::Reply(
                "Nothing was written: the `harness apply` line above writes the change.",
            );
        }
        let task = self.task.as_deref();
        if let (Some(question), Some(task)) = (&self.question, task) {
            if is_refusal(&words) {
                return Meaning::Reply("All right, nothing was done.");
            }
            let answer = question.answer(message);
            let answer = answer.unwrap_or_else(|| message.to_owned());
            return Meaning::Task(format!("{task}\n{answer}"));
        }
        match task {
            Some(task) if is_again(&words) => Meaning::Task(task.to_owned()),
            Some(task) if same_for(message).is_some() => {
                let wanted = same_for(message).unwrap_or_default();
                Meaning::Task(self.same_task(task, wanted))
            }
            _ => Meaning::Task(with_name(self.name.as_deref(), message)),
        }
    }

    /// Returns the run that is meant by words about taking something back.
    fn taken_back(&self, which: Which) -> Option<String> {
        let undo = self.undone.clone();
        match which {
            // What happened last may have been an undo.
            Which::That => undo.or_else(|| self.runs.last().cloned()),
            Which::Undo => undo,
            Which::Change => self.runs.last().cloned(),
        }
    }

    /// Returns the last task for another thing.
    fn same_task(&self, task: &str, wanted: &str) -> String {
        let named = Request::read(wanted);
        let other_paths = named.written_paths();
        let quoted = match wanted.split_whitespace().count() {
            1 if other_paths.is_empty() => format!("`{}`", wanted.trim_matches('`')),
            _ => wanted.to_owned(),
        };
        let old = Request::read(task);
        let old_paths = old.written_paths();
        let old_path = old_paths.first().map(ToString::to_string);
        match (name_of(&old), old_path) {
            // "the same for b.py": the task was about a file.
            (None, Some(old)) => task.replacen(&old, wanted, 1),
            (Some(_), Some(old)) if !other_paths.is_empty() && !wanted.contains(' ') => {
                task.replacen(&old, wanted, 1)
            }
            (Some(name), old) => {
                let at = harness_code::text::whole_words(task, &name).next();
                let Some(at) = at else {
                    return format!("{task}\n{wanted}");
                };
                let (start, end) = (&task[..at], &task[at + name.len()..]);
                let (start, end) = match (start.strip_suffix('`'), end.strip_prefix('`')) {
                    (Some(start), Some(end)) => (start, end),
                    _ => (start, end),
                };
                // The other thing need not be in the same file.
                let place = old.map(|old| format!(" in {old}")).unwrap_or_default();
                let end = end.strip_prefix(place.as_str()).unwrap_or(end);
                format!("{start}{quoted}{end}")
            }
            (None, None) => format!("{task}\n{wanted}"),
        }
    }
}

/// How the answer to an undo begins; the next "undo that" finds in it what was taken back.
pub(crate) const TOOK_BACK: &str = "took back ";
/// How the answer to the undo of an undo begins.
pub(crate) const BROUGHT_BACK: &str = "brought back ";

/// What stands before and behind the name of a run in the line by which it is taken back.
const UNDO_LINE: (&str, &str) = (
    "To take it back say \"undo that\", or type `harness undo ",
    "`.",
);

/// Returns the line by which a change is taken back; it is what "undo that" finds the run by.
pub(crate) fn how_to_undo(run: &str) -> String {
    let (before, after) = UNDO_LINE;
    format!("{before}{run}{after}")
}

/// Returns the run that a reply offers to take back, in its last line and in just our words: a model may write of runs too.
fn undo_line(reply: &str) -> Option<String> {
    let last = reply.trim_end().lines().next_back()?;
    let (before, after) = UNDO_LINE;
    let is_undo = reply.starts_with(TOOK_BACK) || reply.starts_with(BROUGHT_BACK);
    let run = match is_undo {
        true => last.rsplit_once("`harness undo ")?.1.strip_suffix('`')?,
        false => last.strip_prefix(before)?.strip_suffix(after)?,
    };
    let is_name = !run.is_empty() && run.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    is_name.then(|| run.to_owned())
}

fn first_word(text: &str) -> Option<&str> {
    text.split([' ', ':', ',']).next()
}

/// The line behind a question that has no options: a model's answer may end in a question mark, too.
const ANSWER_LINE: &str = "Answer in your own words.";

/// Returns a question as a conversation shows it.
pub(crate) fn asked(question: &str) -> String {
    match question.contains("\n  1. ") {
        true => question.to_owned(),
        false => format!("{question}\n\n{ANSWER_LINE}"),
    }
}

/// Reads a question as a conversation shows it: its text, then its numbered options.
fn question(shown: &str) -> Option<Question> {
    let shown = shown.trim_end();
    let option = |(number, line): (usize, &str)| {
        let rest = line.trim_start().strip_prefix(&format!("{}. ", number + 1));
        rest.map(str::to_owned)
    };
    let lines: Vec<&str> = shown.lines().collect();
    let first = lines.iter().position(|line| line.starts_with("  1. "));
    let (text, options) = match first {
        Some(first) => {
            let rest = lines[first..].iter().copied().enumerate();
            let options: Option<Vec<String>> = rest.map(option).collect();
            (lines[..first].join("\n"), options?)
        }
        None => (shown.strip_suffix(ANSWER_LINE)?.to_owned(), Vec::new()),
    };
    let is_asked = text.trim_end().ends_with('?');
    is_asked.then(|| Question::new(text, options))
}

/// Says whether a reply ends with how a change is written that nobody kept.
fn is_proposal(reply: &str) -> bool {
    let last = reply.trim_end().lines().next_back().unwrap_or_default();
    last.starts_with("`harness apply ") && last.ends_with("` writes it")
}

/// Words without which a greeting is one, too.
const FILLERS: [&str; 12] = [
    "you", "very", "much", "there", "a", "lot", "so", "again", "harness", "all", "everyone", "for",
];
const THANKS: [&str; 12] = [
    "thanks", "thank", "thx", "ty", "cheers", "danke", "merci", "gracias", "great", "perfect",
    "nice", "cool",
];
const GREETINGS: [&str; 12] = [
    "hi", "hello", "hey", "hallo", "moin", "salut", "hola", "bonjour", "morning", "evening",
    "good", "yo",
];

/// Returns the answer to a greeting or to thanks.
fn pleasantry(message: &str) -> Option<&'static str> {
    let lower = message.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    let all_of = |list: &[&str]| {
        let known = |word: &&str| list.contains(word) || FILLERS.contains(word);
        words.iter().all(known) && words.iter().any(|word| list.contains(word))
    };
    match words.len() {
        1..=5 if all_of(&GREETINGS) => {
            Some("Hello. Tell me what to change or what you would like to know.")
        }
        1..=5 if all_of(&THANKS) => Some("Any time."),
        _ => None,
    }
}

/// Returns the words of a message in lower case, without signs and without words that only make it polite.
fn plain_words(message: &str) -> Vec<String> {
    const POLITE: [&str; 9] = [
        "please", "now", "just", "can", "could", "you", "ok", "okay", "and",
    ];
    let lower = message.to_lowercase();
    let is_sign = |c: char| c.is_whitespace() || ".,!?".contains(c);
    let words = lower.split(is_sign).filter(|word| !word.is_empty());
    words
        .filter(|word| !POLITE.contains(word))
        .map(str::to_owned)
        .collect()
}

/// What is to be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    /// What was done last, be it a change or an undo.
    That,
    /// The last change that stands.
    Change,
    /// The last undo: the change is wanted again.
    Undo,
}

/// Reads words about taking something back: "undo", "undo that", "take it back", "redo".
fn undo_words(words: &[&str]) -> Option<Which> {
    match words {
        ["undo" | "revert"] | ["undo", "again"] => Some(Which::Change),
        ["undo" | "revert", "the", "last", "run" | "change"] => Some(Which::Change),
        ["undo" | "revert", "that" | "it" | "this"] => Some(Which::That),
        ["take", "that" | "it" | "this", "back"] => Some(Which::That),
        ["redo"] | ["redo", "that" | "it" | "this"] => Some(Which::Undo),
        ["bring" | "put", "that" | "it" | "this", "back"] => Some(Which::Undo),
        _ => None,
    }
}

/// Says whether an open question gets no answer.
fn is_refusal(words: &[&str]) -> bool {
    matches!(
        words,
        ["stop" | "cancel" | "nothing" | "none" | "no"]
            | ["never", "mind"]
            | ["none", "of", "them" | "these"]
            | ["forget", "it"]
    )
}

/// Says whether somebody decides over a change: it is kept or dropped on one key, never by a later line.
fn is_decision(words: &[&str]) -> bool {
    matches!(
        words,
        ["yes" | "y" | "no" | "n" | "k" | "d" | "keep" | "drop" | "apply" | "sure"]
            | ["keep" | "drop" | "apply", "it" | "that" | "this"]
    )
}

/// Says whether the last task is asked for once more.
fn is_again(words: &[&str]) -> bool {
    matches!(
        words,
        ["again" | "retry"]
            | ["try" | "do", "again"]
            | ["try" | "do", "it", "again"]
            | ["once", "more"]
    )
}

/// Returns what the last task is wanted for, too: "the same for X", "now also for X", "and X too".
fn same_for(message: &str) -> Option<&str> {
    const STARTS: [&str; 9] = [
        "do the same for ",
        "do the same with ",
        "do that for ",
        "the same for ",
        "the same with ",
        "same for ",
        "also for ",
        "and for ",
        "also do ",
    ];
    let mut rest = message.trim().trim_end_matches(['.', '!', '?']);
    for polite in ["please ", "ok ", "now ", "and ", "then "] {
        if let Some(cut) = without_start(rest, polite) {
            rest = cut.trim_start_matches(',').trim_start();
        }
    }
    let wanted = STARTS.iter().find_map(|start| without_start(rest, start));
    let wanted = wanted.or_else(|| without_start(message.trim(), "and for "))?;
    let wanted = wanted.trim_end_matches(['.', '!', '?']).trim();
    let ends = [", please", " please", " too", " as well"];
    let wanted = ends.iter().fold(wanted, |wanted, end| {
        wanted.strip_suffix(end).unwrap_or(wanted)
    });
    let wanted = wanted.trim();
    (!wanted.is_empty()).then_some(wanted)
}

/// Returns a text without its start, which is plain ASCII, whatever the case.
fn without_start<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let (first, rest) = text.split_at_checked(start.len())?;
    first.eq_ignore_ascii_case(start).then_some(rest)
}

/// Words that stand for what the last task was about.
const PRONOUNS: [&str; 6] = [
    "it",
    "that function",
    "this function",
    "that one",
    "that method",
    "that",
];

/// Returns what a reply of ours says that it was about: the definition that was changed, or that was checked first.
fn found_name(reply: &str) -> Option<&str> {
    let changed = reply.strip_prefix("changed `");
    let checked = || {
        let (_, facts) = reply.split_once("\nchecked:\n")?;
        let fact = facts.lines().next()?.strip_prefix("- `")?;
        fact.contains("` is defined").then_some(fact)
    };
    let text = changed.or_else(checked)?;
    let (name, _) = text.split_once('`')?;
    Some(name).filter(|name| !name.is_empty())
}

/// Puts the name that was spoken of last in the place of "it", where the message names nothing before.
fn with_name(name: Option<&str>, message: &str) -> String {
    let Some(name) = name else {
        return message.to_owned();
    };
    if ["why", "why?", "how so?"].contains(&message.trim().to_lowercase().as_str()) {
        return format!("why is `{name}` like that?");
    }
    let place = PRONOUNS.iter().find_map(|pronoun| {
        let at = harness_code::text::whole_words(message, pronoun).next()?;
        Some((at, pronoun.len()))
    });
    let Some((at, length)) = place else {
        return message.to_owned();
    };
    let start = Request::read(&message[..at]);
    // "make sure that …", "so that it …": the sentence has its own subject.
    let joins = ["sure", "so", "see", "check", "ensure", "know", "says"];
    let word = start.written_words().next_back().unwrap_or_default();
    let names_itself = !start.code_names().is_empty() || !start.written_paths().is_empty();
    if names_itself || joins.contains(&word.to_lowercase().as_str()) {
        return message.to_owned();
    }
    format!("{}`{name}`{}", &message[..at], &message[at + length..])
}

/// Returns what a task is about, by its words: the new name of a rename, something new, a name written as code, or the
/// word before a file.
fn name_of(task: &Request) -> Option<String> {
    if task.kind() == Kind::Rename {
        return task.rename().first().map(|rename| rename.new.clone());
    }
    let new = task.addition().map(|addition| addition.name.clone());
    let written = || task.code_names().first().map(|name| (*name).to_owned());
    let before_file = || {
        let words: Vec<&str> = task.written_words().collect();
        let mut places = words.windows(3);
        let place = places.find(|words| words[1] == "in" && words[2].contains('.'))?;
        let name = place[0].trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        (!name.is_empty()).then(|| name.to_owned())
    };
    new.or_else(written).or_else(before_file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(words: &[&str]) -> Vec<Said> {
        let turn = |(at, text): (usize, &&str)| Said {
            by_user: at % 2 == 0,
            text: (*text).to_owned(),
        };
        words.iter().enumerate().map(turn).collect()
    }

    fn task(before: &[&str], message: &str) -> String {
        match read(&said(before), message) {
            Meaning::Task(task) => task,
            other => format!("{other:?}"),
        }
    }

    const WHICH: &str = "\"clean this up\" names no file and no function; which one is it about?\n  1. shop/cart.py\n  2. shop/report.py";

    #[test]
    fn words_are_taken_out_of_what_an_editor_puts_them_into() {
        let open_files = "<environment_details>\n# Open tabs\ncart.py\n</environment_details>";
        let cases = [
            (
                format!("<task>\nfix total\n</task>\n# Progress\n…\n{open_files}"),
                "fix total",
            ),
            (format!("and in cart.py\n{open_files}"), "and in cart.py"),
            ("cut off <environment_details>\n# Op".to_owned(), "cut off"),
            (
                "what is a <task> here?\n".to_owned(),
                "what is a <task> here?\n",
            ),
            (
                "put 43 for <answer>42</answer> in faq.html".to_owned(),
                "put 43 for <answer>42</answer> in faq.html",
            ),
            (
                format!("The user says:\n<feedback>\nnot yet\n</feedback>\n{open_files}"),
                "not yet",
            ),
        ];
        for (message, words) in cases {
            assert_eq!(unwrapped(&message), words);
        }
    }

    #[test]
    fn an_answer_belongs_to_the_task_that_was_asked_about() {
        let before = ["clean this up", WHICH];
        assert_eq!(task(&before, "2"), "clean this up\nshop/report.py");
        assert_eq!(task(&before, " 1. "), "clean this up\nshop/cart.py");
        assert_eq!(task(&before, "the cart"), "clean this up\nthe cart");
        let twice = [
            "clean this up",
            WHICH,
            "1",
            "Which part of it?\n  1. total\n  2. tax",
        ];
        assert_eq!(task(&twice, "2"), "clean this up\nshop/cart.py\ntax");
        let done = ["clean this up", "changed `total`: 3 tests pass"];
        assert_eq!(task(&done, "2"), "2");
        let listed = ["what is there?", "There are two:\n  1. a\n  2. b"];
        assert_eq!(task(&listed, "2"), "2");
    }

    #[test]
    fn only_our_own_question_waits_for_an_answer() {
        let polite = ["what does total do?", "It adds up. Shall I change it?"];
        assert_eq!(
            task(&polite, "add a test for tax"),
            "add a test for tax",
            "a model's question is part of its answer"
        );
        let own = asked("Which currency is meant?");
        let before = ["round the totals in cart.py", &own];
        assert_eq!(task(&before, "euros"), "round the totals in cart.py\neuros");
    }

    #[test]
    fn a_change_that_nobody_kept_is_not_made_again_by_a_yes() {
        let shown = "changed `total`\nIs this change to be kept?\n`harness apply 1-a` writes it";
        let before = ["fix total in cart.py", shown];
        for words in ["yes", "keep it", "no"] {
            let meaning = read(&said(&before), words);
            assert!(matches!(meaning, Meaning::Reply(_)), "{meaning:?}");
        }
        assert_eq!(task(&before, "again"), "fix total in cart.py");
        assert_eq!(task(&before, "fix tax"), "fix tax");
    }

    #[test]
    fn it_is_what_was_spoken_of_last() {
        let before = ["fix total in shop/cart.py", "done"];
        assert_eq!(
            task(&before, "rename it to sum_up"),
            "rename `total` to sum_up"
        );
        assert_eq!(
            task(&before, "why does it return None?"),
            "why does `total` return None?"
        );
        assert_eq!(
            task(&before, "fix line_total so that it returns 2"),
            "fix line_total so that it returns 2"
        );
        assert_eq!(
            task(&before, "make sure that nothing breaks"),
            "make sure that nothing breaks"
        );
        let renamed = ["rename total to sum_up", "renamed"];
        assert_eq!(
            task(&renamed, "write tests for it"),
            "write tests for `sum_up`"
        );
        assert_eq!(task(&[], "rename it to x"), "rename it to x");
    }

    #[test]
    fn it_is_what_was_found_where_the_user_wrote_no_name() {
        let checked = "It adds up.\n\nchecked:\n- `total` is defined: `def total(x)` (cart.py:1)\n- `total` has `return x` (cart.py:2)";
        let renamed = "rename `total` to sum_up";
        for (asked, reply) in [
            ("what does total return?", checked),
            (
                "the sum is wrong",
                "changed `total` in cart.py: 3 tests pass",
            ),
        ] {
            assert_eq!(task(&[asked, reply], "rename it to sum_up"), renamed);
        }
        // What the user wrote counts.
        let written = ["what does `vat` return?", checked];
        assert_eq!(task(&written, "rename it to tax"), "rename `vat` to tax");
    }

    #[test]
    fn thanks_and_greetings_start_nothing() {
        for words in [
            "hi",
            "Hello!",
            "thanks",
            "Thank you very much!",
            "danke",
            "good morning",
        ] {
            assert!(matches!(read(&[], words), Meaning::Reply(_)), "{words}");
        }
        for words in [
            "",
            "thanks, now rename it",
            "hello world prints twice",
            "hi_there is broken",
        ] {
            assert!(matches!(read(&[], words), Meaning::Task(_)), "{words}");
        }
    }

    #[test]
    fn undo_is_understood() {
        for words in [
            "undo",
            "undo that",
            "Undo it, please.",
            "take it back",
            "revert the last change",
        ] {
            assert_eq!(read(&[], words), Meaning::Undo(None), "{words}");
        }
        for words in [
            "undo in the editor does not work",
            "revert total to the old way",
        ] {
            assert!(matches!(read(&[], words), Meaning::Task(_)), "{words}");
        }
    }

    #[test]
    fn the_same_is_wanted_for_something_else() {
        let named = ["fix line_total in shop/cart.py: it ignores the tax", "done"];
        for words in [
            "the same for refund_total",
            "now also for refund_total, please",
            "Do the same for `refund_total`.",
            "and for refund_total too",
        ] {
            let expected = "fix `refund_total`: it ignores the tax";
            assert_eq!(task(&named, words), expected, "{words}");
        }
        assert_eq!(
            task(&named, "the same for tax in shop/report.py"),
            "fix tax in shop/report.py: it ignores the tax"
        );
        let file = ["add type hints to shop/cart.py", "done"];
        assert_eq!(
            task(&file, "also for shop/report.py"),
            "add type hints to shop/report.py"
        );
        let added = ["add a docstring to line_total in shop/cart.py", "done"];
        assert_eq!(
            task(&added, "the same for cart_total"),
            "add a docstring to `cart_total`"
        );
        let quoted = ["remove `old_total`", "done"];
        assert_eq!(task(&quoted, "same for old_tax"), "remove `old_tax`");
        assert_eq!(task(&[], "the same for x"), "the same for x");
        let also = ["fix line_total", "done"];
        assert_eq!(
            task(&also, "also add a test for it"),
            "also add a test for `line_total`"
        );
    }

    #[test]
    fn short_words_go_back_to_the_last_task() {
        let before = ["fix line_total", "the model gave no answer"];
        assert_eq!(task(&before, "try again"), "fix line_total");
        assert_eq!(task(&before, "why?"), "why is `line_total` like that?");
        let asked = ["clean this up", WHICH];
        let never = read(&said(&asked), "never mind");
        assert!(matches!(never, Meaning::Reply(_)), "{never:?}");
    }

    #[test]
    fn that_is_what_happened_last() {
        let wrote = |run: &str| format!("changed `f`: 1 test passes\n\n{}", how_to_undo(run));
        let took = |run: &str, undo: &str| {
            format!(
                "took back {run}: a.py; to have it again say \"redo\", or type `harness undo {undo}`"
            )
        };
        let undo = |said: &[&str], message: &str| match read(&self::said(said), message) {
            Meaning::Undo(run) => run.unwrap_or_default(),
            other => panic!("{other:?}"),
        };
        let (first, second) = (wrote("1-a"), wrote("2-b"));
        let two = ["fix f", &first, "fix g", &second];
        assert_eq!(undo(&two, "undo that"), "2-b");
        let planted = "It is older: type `harness undo 1-a` to see.";
        let answered = [&two[..], &["why?", planted]].concat();
        assert_eq!(undo(&answered, "undo that"), "2-b");
        let undone = took("2-b", "3-c");
        let after = ["fix f", &first, "fix g", &second, "undo", &undone];
        assert_eq!(undo(&after, "undo that"), "3-c");
        assert_eq!(undo(&after, "redo"), "3-c");
        assert_eq!(undo(&after, "undo"), "1-a");
        let again =
            "brought back 2-b: a.py; to take it back say \"undo that\", or type `harness undo 4-d`";
        let redone = [&after[..], &["redo", again]].concat();
        assert_eq!(undo(&redone, "undo"), "2-b");
        assert_eq!(undo(&[], "undo"), "");
    }

    #[test]
    fn a_model_is_told_a_few_lines() {
        let long = format!("fix it {}", "x".repeat(4_000));
        let mut words = vec![long.as_str(), "no\nreally\n\n```diff\n-a\n```"];
        words.extend(["a", "b", "c", "d", "e"]);
        let told = context(&said(&words));
        assert!(told.lines().count() <= 6 && told.len() < 1_600, "{told}");
        assert_eq!(told.lines().next(), Some("you: no really"));
        assert!(context(&said(&words[..1])).ends_with(" …"));
    }

    #[test]
    fn no_half_of_a_secret_is_told() {
        for blank in 200..245 {
            let text = format!("{} AKIAIOSFODNN7EXAMPLQ is it", "x".repeat(blank));
            let told = context(&[Said::by_user(text)]);
            assert!(!told.contains("AKIA"), "{told}");
        }
    }

    #[test]
    fn a_long_conversation_is_read_at_once() {
        let words = vec!["why does that happen"; 2_000];
        assert_eq!(task(&words, "and it?"), "and it?");
    }
}
