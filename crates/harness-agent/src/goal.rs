//! Goals: what a task asks for, one by one, and what became of each.

use schemars::JsonSchema;
use serde::Serialize;

use harness_code::request::Request;
use harness_code::request::order::Order;

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

impl Goal {
    /// Returns what a task asks for, all of it met or none.
    pub(crate) fn all_of(task: &Request, met: bool, why: &str) -> Vec<Goal> {
        let goal = |order: &Order| Goal {
            text: order.goal(),
            met,
            why: why.to_owned(),
        };
        task.orders().iter().map(goal).collect()
    }
}

#[cfg(test)]
mod tests {
    use harness_code::request::Request;

    use super::Goal;

    #[test]
    fn goals_are_told_in_the_words_of_the_task() {
        let goals = |text: &str| -> Vec<String> {
            let goals = Goal::all_of(&Request::read(text), true, "");
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
