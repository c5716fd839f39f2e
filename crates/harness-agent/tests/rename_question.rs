//! A rename with places in doubt: what is asked, and what each answer does.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the test lays a project out, and cannot go on without it"
)]

use harness_agent::{Agent, AgentOptions, Cancel, Event, Listener, Question, RunResult};

#[path = "../../../tests/support/scripted.rs"]
mod scripted;
use scripted::Scripted;

/// Gives its answers one after the other and keeps the questions.
#[derive(Default)]
struct Answering {
    answers: Vec<&'static str>,
    asked: Vec<String>,
}

impl Listener for Answering {
    fn event(&mut self, _event: &Event) {}

    fn question(&mut self, question: &Question) -> Option<String> {
        let answer = self.answers.get(self.asked.len()).copied();
        self.asked.push(question.render());
        answer.map(str::to_owned)
    }
}

const SHOP: &str =
    "class Cart:\n    def total(self):\n        return 1\n\n\nREADER = getattr(Cart(), 'total')\n";

/// Runs a read-only task with these answers; returns the result and the questions.
fn run(task: &str, answers: &[&'static str]) -> (RunResult, Vec<String>) {
    let project = tempfile::tempdir().unwrap();
    std::fs::write(project.path().join("shop.py"), SHOP).unwrap();
    let options = AgentOptions {
        allow_writes: false,
        ..AgentOptions::new(project.path())
    };
    let mut listener = Answering {
        answers: answers.to_vec(),
        asked: Vec::new(),
    };
    let model = Scripted::new(std::iter::empty::<&str>());
    let result = Agent::new(options)
        .run_with(Box::new(model), task, &mut listener, &Cancel::default())
        .unwrap();
    (result, listener.asked)
}

/// The lines that a run would put into the file.
fn added(result: &RunResult) -> Vec<&str> {
    let lines = result.diff.lines().filter(|line| !line.starts_with("+++"));
    lines.filter_map(|line| line.strip_prefix('+')).collect()
}

#[test]
fn the_question_is_put_once_and_its_answer_is_done() {
    let (left, asked) = run("rename Cart.total to subtotal", &["2"]);
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(
        asked[0].starts_with("1 place is certain; `shop.py:6`"),
        "{asked:?}"
    );
    assert_eq!(added(&left), ["    def subtotal(self):"], "{left:?}");
    let (renamed, _) = run("rename Cart.total to subtotal", &["1"]);
    assert_eq!(
        added(&renamed),
        [
            "    def subtotal(self):",
            "READER = getattr(Cart(), 'subtotal')"
        ]
    );
}

#[test]
fn nothing_changes_where_nobody_answers_or_the_answer_is_to_stop() {
    for answers in [&[][..], &["stop"], &["3"]] {
        let (result, asked) = run("rename Cart.total to subtotal", answers);
        assert_eq!(asked.len(), 1);
        assert_eq!(result.stopped.name(), "question");
        assert!(result.diff.is_empty());
    }
}

#[test]
fn a_sentence_that_says_what_to_do_is_not_asked_about() {
    let (result, asked) = run("rename Cart.total to subtotal and leave the rest", &[]);
    assert_eq!(asked, [""; 0]);
    assert_eq!(added(&result), ["    def subtotal(self):"]);
    let (result, asked) = run("rename `Cart.total` to `subtotal` in strings too", &[]);
    assert_eq!(asked, [""; 0]);
    assert_eq!(added(&result).len(), 2);
}
