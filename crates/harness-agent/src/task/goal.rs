//! Goals: what a task asks for, one by one, and what became of each.

use schemars::JsonSchema;
use serde::Serialize;

use crate::task::Task;
use crate::task::order::Order;

/// One thing that a task asks for.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Goal {
    /// What it is, in the words of the task, or the test that should pass.
    pub text: String,
    /// Whether it is done, on disk, and the evidence says so.
    pub met: bool,
    /// What proves it, or what is missing.
    pub why: String,
}

/// The longest words of a goal, in characters: more is a story.
const LONGEST_GOAL: usize = 160;

impl Order {
    /// Returns what it asks for, for people: its first line, without what leads on to the next order.
    pub(crate) fn goal(&self) -> String {
        const LEADING_ON: [&str; 6] = ["and", "then", "also", "but", "&", "plus"];
        let mut lines = self.task.text.lines().map(str::trim);
        let mut text = lines.find(|line| !line.is_empty()).unwrap_or_default();
        loop {
            let cut = text.trim_end_matches(|c: char| c.is_whitespace() || ",;.".contains(c));
            let last = cut.rsplit(char::is_whitespace).next().unwrap_or_default();
            if !LEADING_ON.contains(&last) || last == cut {
                text = cut;
                break;
            }
            text = &cut[..cut.len() - last.len()];
        }
        match text.chars().count() > LONGEST_GOAL {
            true => text.chars().take(LONGEST_GOAL).chain(['…']).collect(),
            false => text.to_owned(),
        }
    }
}

impl Task {
    /// Returns what the task asks for, all of it met or none.
    pub(crate) fn goals(&self, met: bool, why: &str) -> Vec<Goal> {
        let goal = |order: &Order| Goal {
            text: order.goal(),
            met,
            why: why.to_owned(),
        };
        self.orders().iter().map(goal).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::task::Task;

    #[test]
    fn goals_are_told_in_the_words_of_the_task() {
        let goals = |text: &str| -> Vec<String> {
            let goals = Task::bare(text).goals(true, "");
            goals.into_iter().map(|goal| goal.text).collect()
        };
        assert_eq!(
            goals("add a parameter gift to line_total and pass it on from report in a.py."),
            [
                "add a parameter gift to line_total",
                "pass `gift` on from report in a.py"
            ]
        );
        assert_eq!(goals("\nfix total\n\nIt is wrong.\n"), ["fix total"]);
        assert_eq!(goals("and"), ["and"]);
        assert_eq!(goals(&"long ".repeat(90))[0].chars().count(), 161);
    }
}
