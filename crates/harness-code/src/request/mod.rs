//! The task: a sentence, read. What it is about and what it names; where that lies is looked up elsewhere.

mod abroad;
pub mod kind;
mod kind_of;
pub mod order;
mod red;
pub mod rename;
pub mod role;
pub mod wish;
mod words;
pub(crate) mod written;
pub(crate) mod zone;

use std::collections::HashSet;

use crate::path::RelPath;
use crate::text::whole_words;

use crate::request::kind::Kind;

/// Bytes of a task that are read for what is asked.
const LONGEST_READ: usize = 60_000;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The sentence.
    pub text: String,
    /// What it asks for.
    pub kind: Kind,
}

impl Task {
    /// Reads a sentence, without a project.
    pub fn bare(text: &str) -> Task {
        Task {
            text: text.to_owned(),
            kind: Kind::of(text),
        }
    }

    /// Returns the part that is read for what is asked: what follows in a long task is logs.
    fn beginning(&self) -> &str {
        let end = self.text.floor_char_boundary(LONGEST_READ);
        &self.text[..end]
    }

    /// Returns whether the sentence has this name as a whole word.
    pub fn speaks_of(&self, name: &str) -> bool {
        whole_words(&self.text, name).next().is_some()
    }

    /// Returns whether the sentence names this file, by its whole path or by its file name.
    pub fn names_path(&self, path: &RelPath) -> bool {
        self.speaks_of(path.as_str()) || self.speaks_of(path.file_name())
    }

    /// Returns the last line where it is the answer to a question of ours: the path of a file, or a name and its file.
    pub fn answer(&self) -> Option<(&str, &str)> {
        let (_, last) = self.text.trim_end().rsplit_once('\n')?;
        let (name, path) = last.trim().rsplit_once(" in ").unwrap_or(("", last.trim()));
        let is_word = |text: &str| !text.contains(char::is_whitespace);
        let is_path = |text: &str| is_word(text) && text.contains(['.', '/']);
        (is_word(name) && is_path(path)).then_some((name, path))
    }

    /// Returns the words that may be paths of files, whether those are there or not.
    pub fn written_paths(&self) -> Vec<RelPath> {
        let is_sign = |c: char| c.is_whitespace() || "`\"',;:!?()".contains(c);
        let words = self.beginning().split(is_sign);
        let words = words.map(|word| word.trim_end_matches('.'));
        let is_path = |word: &&str| word.contains(['.', '/']) || word.ends_with("file");
        // A pasted log names the same files in every line.
        let mut seen = HashSet::new();
        let new = words.filter(is_path).filter(|word| seen.insert(*word));
        new.flat_map(RelPath::parse).collect()
    }

    /// Says whether a word only tells how names are spelled: "snake_case shims", and not "add snake_case to text.py".
    pub fn describes_spelling(&self, word: &str) -> bool {
        const CASES: [&str; 5] = [
            "snake_case",
            "camelCase",
            "PascalCase",
            "CamelCase",
            "UPPER_CASE",
        ];
        const DESCRIBED: [&str; 8] = [
            "alias", "aliases", "keys", "names", "shims", "spelling", "variants", "wrappers",
        ];
        const BEFORE: [&str; 6] = ["to", "in", "as", "from", "for", "with"];
        if !CASES.contains(&word) {
            return false;
        }
        let Some((before, behind)) = self.beginning().split_once(word) else {
            return false;
        };
        let next = behind.split_whitespace().next().unwrap_or_default();
        let next = next.trim_end_matches(['.', ',', ';', ':', '!']);
        let last = before.split_whitespace().next_back().unwrap_or_default();
        let last = last.to_lowercase();
        DESCRIBED.contains(&next) || BEFORE.contains(&last.as_str())
    }

    /// Returns words that are written like names of code: in back-ticks, with underscores, dots, calls or humps.
    pub fn code_names(&self) -> Vec<&str> {
        let quoted = self.beginning().split('`').skip(1).step_by(2);
        let plain = self
            .beginning()
            .split(|c: char| c.is_whitespace() || "`\"',;:!?()[]{}<>=".contains(c));
        let humped = |word: &str| {
            let first_low = word.chars().next().is_some_and(char::is_lowercase);
            let humps = word.chars().filter(|c| c.is_uppercase()).count();
            (first_low && humps > 0) || (humps > 1 && word.chars().any(char::is_lowercase))
        };
        // `Term.negate` is a member of a class; a sentence that ends without a blank behind it is none.
        let member = |word: &str| {
            let (class, name) = word.split_once('.').unwrap_or_default();
            let is_word = |text: &str| text.len() > 1 && text.chars().all(char::is_alphanumeric);
            let is_class = class.starts_with(char::is_uppercase);
            is_class && is_word(class) && is_word(name) && name.starts_with(char::is_lowercase)
        };
        let written_as_name = |word: &&str| {
            !self.describes_spelling(word)
                && (word.contains('_') || humped(word) || member(word) || word.ends_with("()"))
        };
        let mut names: Vec<&str> = quoted
            .chain(plain.filter(written_as_name))
            .map(|word| word.trim_matches(['.', '(', ')']))
            .collect();
        names.retain(|name| {
            !name.is_empty()
                && name
                    .chars()
                    .all(|c| c.is_alphanumeric() || "_.".contains(c))
        });
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(*name));
        names
    }
}

#[cfg(test)]
mod tests {
    use crate::path::RelPath;

    use super::Task;

    #[test]
    fn names_are_whole_words() {
        let task = Task::bare("fix line_total in shop/pricing.py");
        assert!(
            task.speaks_of("line_total") && !task.speaks_of("total") && !task.speaks_of("line")
        );
        assert!(task.names_path(&RelPath::parse("shop/pricing.py").unwrap()));
        assert!(!task.names_path(&RelPath::parse("shop/report.py").unwrap()));
    }

    #[test]
    fn names_of_code_are_told_from_words() {
        let task = Task::bare(
            "add a parameter `digits` to apply_discount, like OrderLine.total() and parseAll do in Python",
        );
        assert_eq!(
            task.code_names(),
            ["digits", "apply_discount", "OrderLine.total", "parseAll"]
        );
    }
}
