//! A conversation: the last message, read in the light of those before it. It becomes a task that is whole in itself, or
//! something that needs no run.

use crate::task::Task;
use crate::task::kind::Kind;
use crate::task::question::Question;

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Whether the user said it, and not the agent.
    pub by_user: bool,
    /// Its words.
    pub text: String,
}

/// What a message asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A task or a question, whole in itself.
    Task(String),
    /// Nothing is asked for; this is the answer.
    Reply(&'static str),
    /// The last run is to be taken back.
    Undo,
}

/// Reads a message after what was said before it.
pub fn read(before: &[Said], message: &str) -> Meaning {
    if let Some(reply) = pleasantry(message) {
        return Meaning::Reply(reply);
    }
    if is_undo(message) {
        return Meaning::Undo;
    }
    if let Some((task, question)) = open_question(before) {
        let answer = question.answer(message);
        let answer = answer.unwrap_or_else(|| message.to_owned());
        return Meaning::Task(format!("{task}\n{answer}"));
    }
    Meaning::Task(with_names(before, message))
}

/// Returns the task that the agent asked back about, and its question, where that is the last thing said.
fn open_question(before: &[Said]) -> Option<(String, Question)> {
    let (last, earlier) = before.split_last()?;
    let question = question(&last.text).filter(|_| !last.by_user)?;
    let at = earlier.iter().rposition(|said| said.by_user)?;
    // That task may itself have been the answer to a question.
    match read(&earlier[..at], &earlier[at].text) {
        Meaning::Task(task) => Some((task, question)),
        Meaning::Reply(_) | Meaning::Undo => None,
    }
}

/// Reads a question as it is shown: its text, then its numbered options.
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
        None => (shown.to_owned(), Vec::new()),
    };
    let is_asked = text.trim_end().ends_with('?');
    is_asked.then(|| Question::new(text, options))
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

/// Says whether the last run is to be taken back: "undo", "undo that", "please take it back".
fn is_undo(message: &str) -> bool {
    let lower = message.to_lowercase();
    let is_sign = |c: char| c.is_whitespace() || ".,!?".contains(c);
    let words: Vec<&str> = lower
        .split(is_sign)
        .filter(|word| !word.is_empty())
        .collect();
    let words: Vec<&str> = words
        .into_iter()
        .filter(|word| !["please", "now", "again", "just", "can", "you", "ok"].contains(word))
        .collect();
    matches!(
        words.as_slice(),
        ["undo" | "revert"]
            | ["undo" | "revert", "that" | "it" | "this"]
            | ["undo" | "revert", "the", "last", "run" | "change"]
            | ["take", "that" | "it" | "this", "back"]
    )
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

/// Puts the name that was spoken of last in the place of "it", where the message names nothing before.
fn with_names(before: &[Said], message: &str) -> String {
    let Some(name) = last_name(before) else {
        return message.to_owned();
    };
    let place = PRONOUNS.iter().find_map(|pronoun| {
        let at = harness_code::text::whole_words(message, pronoun).next()?;
        Some((at, pronoun.len()))
    });
    let Some((at, length)) = place else {
        return message.to_owned();
    };
    let start = Task::bare(&message[..at]);
    // "make sure that …", "so that it …": the sentence has its own subject.
    let joins = ["sure", "so", "see", "check", "ensure", "know", "says"];
    let word = start
        .text
        .split_whitespace()
        .next_back()
        .unwrap_or_default();
    let names_itself = !start.code_names().is_empty() || !start.written_paths().is_empty();
    if names_itself || joins.contains(&word.to_lowercase().as_str()) {
        return message.to_owned();
    }
    format!("{}`{name}`{}", &message[..at], &message[at + length..])
}

/// Returns the name that the user spoke of last.
fn last_name(before: &[Said]) -> Option<String> {
    let said = before.iter().enumerate().rev();
    let mut tasks = said.filter(|(_, said)| said.by_user);
    tasks.find_map(|(at, said)| match read(&before[..at], &said.text) {
        Meaning::Task(task) => name_of(&Task::bare(&task)),
        Meaning::Reply(_) | Meaning::Undo => None,
    })
}

/// Returns what a task is about, by its words: the new name of a rename, something new, a name written as code, or the
/// word before a file.
fn name_of(task: &Task) -> Option<String> {
    if task.kind == Kind::Rename {
        let renames = harness_code::fix::read_rename(&task.text);
        return renames.into_iter().next().map(|rename| rename.new);
    }
    let new = task.wish().map(|wish| wish.name);
    let written = || task.code_names().first().map(|name| (*name).to_owned());
    let before_file = || {
        let words: Vec<&str> = task.text.split_whitespace().collect();
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
            assert_eq!(read(&[], words), Meaning::Undo, "{words}");
        }
        for words in [
            "undo in the editor does not work",
            "revert total to the old way",
        ] {
            assert!(matches!(read(&[], words), Meaning::Task(_)), "{words}");
        }
    }
}
