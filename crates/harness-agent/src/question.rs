//! A question to the user: its words, its options, and how an answer is read.

use schemars::JsonSchema;
use serde::Serialize;

/// More options than this are no help to a person.
pub(crate) const MOST_OPTIONS: usize = 4;

/// Something only the user can decide.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Question {
    /// The question itself.
    pub text: String,
    /// What can be chosen, most likely first.
    pub options: Vec<String>,
}

impl Question {
    /// Returns what somebody can do who was not there to answer.
    pub(crate) fn hint(&self) -> &'static str {
        match self.options.first() {
            Some(option) if option.starts_with("rename ") => {
                "give one of these sentences as the task"
            }
            Some(_) => "name one of these in the task, or answer with its number",
            None => "name a file or a function in the task",
        }
    }

    /// Returns a question with at most [`MOST_OPTIONS`] options.
    pub fn new(text: impl Into<String>, options: impl IntoIterator<Item = String>) -> Question {
        Question {
            text: text.into(),
            options: options.into_iter().take(MOST_OPTIONS).collect(),
        }
    }

    /// Returns the text to show to the user: the question, then its numbered options.
    pub fn render(&self) -> String {
        let mut text = self.text.clone();
        for (index, option) in self.options.iter().enumerate() {
            text.push_str(&format!("\n  {}. {option}", index + 1));
        }
        text
    }

    /// Reads an answer: an option's number, its text, or free text. Empty text is no answer.
    pub fn answer(&self, text: &str) -> Option<String> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let chosen = text
            .trim_end_matches('.')
            .parse::<usize>()
            .ok()
            .and_then(|number| number.checked_sub(1));
        let option = chosen.and_then(|index| self.options.get(index));
        Some(option.cloned().unwrap_or_else(|| text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::Question;

    fn question() -> Question {
        Question::new("which file?", ["a.py".to_owned(), "b.py".to_owned()])
    }

    #[test]
    fn options_are_numbered_below_the_question() {
        assert_eq!(question().render(), "which file?\n  1. a.py\n  2. b.py");
    }

    #[test]
    fn a_name_is_asked_for_only_where_none_is_offered() {
        let hint = |options: &[&str]| {
            let options = options.iter().map(|option| (*option).to_owned());
            Question::new("which one?", options).hint()
        };
        assert_eq!(hint(&[]), "name a file or a function in the task");
        assert_eq!(
            hint(&["total (a.py:3)"]),
            "name one of these in the task, or answer with its number"
        );
        assert_eq!(
            hint(&["rename a to b"]),
            "give one of these sentences as the task"
        );
    }

    #[test]
    fn an_answer_is_a_number_a_text_or_free() {
        assert_eq!(question().answer("2"), Some("b.py".to_owned()));
        assert_eq!(question().answer(" 1. "), Some("a.py".to_owned()));
        assert_eq!(question().answer("a.py"), Some("a.py".to_owned()));
        assert_eq!(question().answer("7"), Some("7".to_owned()));
        assert_eq!(
            question().answer("the parser"),
            Some("the parser".to_owned())
        );
        assert_eq!(question().answer(" \n"), None);
    }
}
