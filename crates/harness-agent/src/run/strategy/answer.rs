//! An answer: read-only; the model may look, and its first words without an action are the answer. What the code
//! itself answers stands beside it, also when no model can be had.

use harness_code::path::RelPath;
use harness_code::report::facts::{Fact, facts};
use harness_code::report::overview::{overview, project_facts};
use harness_code::tree::SourceTree;

use crate::action::Action;
use crate::plan::{MOST_CODE, Plan, Rung};
use crate::reply::Reading;
use crate::run::act::{self, TurnOutcome};
use crate::run::context::Context;
use crate::run::conversation::{Conversation, ReplyHandler};
use crate::run::ending::Ended;
use crate::run::form;
use crate::run::log::Log;
use crate::run::prompt::said::said;
use crate::run::resources::Resources;
use crate::run::result::Stopped;
use crate::run::staged::Staged;
use crate::run::strategy::{Outcome, Strategy};

/// Returns what the code itself says to a question.
fn known(context: &Context<'_>, plan: &Plan) -> Vec<Fact> {
    let question = &plan.task;
    if plan.is_about_project() {
        return project_facts(context.tree(), context.suite().as_ref(), question);
    }
    facts(context.tree(), question, plan.mentions())
}

/// Adds what is known without a model to an ending without an answer.
fn with_facts(mut ending: Ended, known: &[Fact]) -> Ended {
    if !known.is_empty() {
        ending.known = format!("known without a model:\n{}", list(known));
        ending.summary = format!("{}\n\n{}", ending.summary, ending.known);
    }
    ending
}

fn list(known: &[Fact]) -> String {
    let lines: Vec<String> = known.iter().map(|fact| format!("- {fact}")).collect();
    lines.join("\n")
}

/// Puts the facts beside the model's words, and says where the two do not go together.
fn beside(tree: &SourceTree, words: &str, known: &[Fact]) -> String {
    let places = places(words);
    let absent: Vec<String> = places
        .iter()
        .filter(|(path, line)| !exists(tree, path, *line))
        .map(|(path, line)| format!("{path}:{line}"))
        .collect();
    let mut text = words.to_owned();
    if !absent.is_empty() {
        text.push_str(&format!("\n\nnot there: {}", absent.join(", ")));
    }
    if known.is_empty() {
        return text;
    }
    text.push_str(&format!("\n\nchecked:\n{}", list(known)));
    let agrees = |(path, _): &(String, u32)| {
        known
            .iter()
            .any(|fact| fact.path.as_str().ends_with(path.as_str()))
    };
    if !places.is_empty() && !places.iter().any(agrees) {
        text.push_str("\nThe answer names none of these places; trust the checked ones.");
    }
    text
}

/// The places that an answer names as `path:line`.
fn places(words: &str) -> Vec<(String, u32)> {
    let tokens = words.split(|c: char| c.is_whitespace() || "`()[]{}<>,;\"'*".contains(c));
    let place = |token: &str| {
        let (path, rest) = token.split_once(':')?;
        let line: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let named = path.contains('.') && !path.contains("//");
        Some((path.trim_start_matches("./").to_owned(), line.parse().ok()?)).filter(|_| named)
    };
    let mut places: Vec<(String, u32)> = tokens.filter_map(place).collect();
    places.dedup();
    places
}

/// Says whether a file whose path is `path`, or ends with it, has this line.
fn exists(tree: &SourceTree, path: &str, line: u32) -> bool {
    let whole = RelPath::parse(path).ok();
    let ends = format!("/{path}");
    tree.files().iter().any(|file| {
        (Some(&file.path) == whole.as_ref() || file.path.as_str().ends_with(&ends))
            && (1..=file.lines.max(1)).contains(&line)
    })
}

/// An answer in words; the model may look, and nothing is written.
pub(super) struct Answer;

impl Strategy for Answer {
    fn suits(&self, _context: &Context<'_>, plan: &Plan) -> bool {
        plan.rung == Rung::Answer
    }

    fn attempt(
        &self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        resources: &mut Resources,
    ) -> Outcome {
        let steps = resources.steps;
        let asked = resources.engine(context, log);
        // What a model elsewhere is not shown is known by now.
        let known = known(context, plan);
        let ready = match asked {
            Ok(ready) => ready,
            Err(missing) => return Outcome::Ended(with_facts(missing, &known)),
        };
        let learned = learned(context, plan, &known);
        let opened = form::of_question(context, plan, &ready.card, &learned);
        let model = (ready.model, ready.card);
        let mut conversation = match Conversation::open(context, log, plan, model, opened) {
            Ok(conversation) => conversation,
            Err(error) => return Outcome::Ended(with_facts(log.engine_failed(&error), &known)),
        };
        let mut looking = Looking { context, empty: 0 };
        let ended = conversation.hold(context, log, &mut looking, steps);
        Outcome::Ended(match ended.stopped {
            Stopped::Done => {
                let summary = beside(context.tree(), ended.summary.trim(), &known);
                Ended { summary, ..ended }
            }
            Stopped::Steps => {
                let summary = format!("no answer came within {} steps", context.options.steps);
                with_facts(Ended { summary, ..ended }, &known)
            }
            Stopped::Engine | Stopped::Refused | Stopped::Interrupted => with_facts(ended, &known),
            _ => ended,
        })
    }
}

/// Replies to a question: an answer, or something to look at.
struct Looking<'r> {
    context: &'r Context<'r>,
    /// Replies that said nothing.
    empty: u32,
}

impl ReplyHandler for Looking<'_> {
    fn carry_out(&mut self, log: &mut Log<'_>, reading: &Reading) -> TurnOutcome {
        let answer = match &reading.action {
            // Code in a fence belongs to an answer; only a named file would be a change.
            Some(Action::Edit { path, .. }) if path.is_empty() => &reading.prose,
            Some(Action::Done { summary }) if !summary.is_empty() => summary,
            Some(action) if action.needs_writing() => {
                return TurnOutcome::Refused(act::read_only_refusal(action));
            }
            Some(action) => return act::look(self.context, log, &Staged::default(), action),
            None => &reading.prose,
        };
        if !answer.trim().is_empty() {
            return TurnOutcome::End(Stopped::Done, answer.clone());
        }
        self.empty += 1;
        match self.empty {
            1 => TurnOutcome::Say {
                words: said("empty answer", &[]),
                new: false,
            },
            _ => TurnOutcome::End(Stopped::Stuck, "the model gave no answer".to_owned()),
        }
    }
}

/// Returns what the first prompt of a question tells beside the code.
fn learned(context: &Context<'_>, plan: &Plan, known: &[Fact]) -> String {
    let mut learned = match plan.is_about_project() {
        true => project(context, plan),
        false => String::new(),
    };
    if !known.is_empty() {
        let facts = said("facts", &[("what", &list(known))]);
        learned = format!("{learned}\n\n{facts}").trim_start().to_owned();
    }
    learned
}

/// Past runs that are told.
const MOST_RUNS: usize = 5;

/// Returns what the project's documents say to a question about it, and what was done here before.
fn project(context: &Context<'_>, plan: &Plan) -> String {
    let suite = context.suite();
    let mut text = overview(context.tree(), suite.as_ref(), &plan.task, MOST_CODE);
    let runs = context.project.runs().unwrap_or_default();
    let done: Vec<String> = runs
        .iter()
        .filter(|run| !run.files.is_empty())
        .take(MOST_RUNS)
        .map(|run| {
            let undone = if run.undone { " (taken back)" } else { "" };
            let summary = run.summary.lines().next().unwrap_or_default();
            format!("- {}: \"{}\": {summary}{undone}", run.at, run.task.trim())
        })
        .collect();
    if !done.is_empty() {
        let done = said("past runs", &[("what", &done.join("\n"))]);
        text.push_str(&format!("\n\n{done}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::run::event::EventKind;
    use crate::run::scripted_tests::{PRICING, RIGHT, Stage, TEST_PRICING};

    const QUESTION: &str = "where is discount defined?";
    const READ: &str = "Action: read\nPath: pricing.py\n";

    fn stage() -> Stage {
        Stage::new(&[PRICING], QUESTION)
    }

    #[test]
    fn questions_are_answered_and_tasks_are_not() {
        assert!(stage().suits(&Answer));
        assert!(stage().read_only().suits(&Answer));
        assert!(!Stage::pricing().suits(&Answer));
        assert!(!Stage::pricing().read_only().suits(&Answer));
    }

    #[test]
    fn the_first_words_are_the_answer_with_what_code_knows_beside() {
        let came = stage().replies(["In pricing.py:1."]).attempt(&Answer);
        expect![[r#"
            ended, done: In pricing.py:1.

            checked:
            - `discount` is defined: `def discount(total, percent)` (pricing.py:1)"#]]
        .assert_eq(&came.outcome());
        assert_eq!(came.actions(), ["answer"]);
        assert_eq!(came.requests.len(), 1);
    }

    #[test]
    fn the_model_is_told_what_code_knows() {
        let came = stage().replies(["In pricing.py:1."]).attempt(&Answer);
        expect![[r#"
            Answer the question in the first sentence.
            Then name the places that show it as file:line, in the order in which they run.
            Say only what the shown code says. What you cannot see, call unknown.

            pricing.py, line 1:
            ```python
            def discount(total, percent):
                return total - percent
            ```

            Facts, checked against the code:
            - `discount` is defined: `def discount(total, percent)` (pricing.py:1)

            Question: where is discount defined?"#]]
        .assert_eq(came.asked()[0]);
    }

    #[test]
    fn places_that_are_not_there_are_named() {
        let came = stage().replies(["In cart.py:7."]).attempt(&Answer);
        expect![[r#"
            ended, done: In cart.py:7.

            not there: cart.py:7

            checked:
            - `discount` is defined: `def discount(total, percent)` (pricing.py:1)
            The answer names none of these places; trust the checked ones."#]]
        .assert_eq(&came.outcome());
    }

    #[test]
    fn the_model_may_look_before_it_answers() {
        let came = stage().replies([READ, "In pricing.py:1."]).attempt(&Answer);
        assert_eq!(came.actions(), ["read", "answer"]);
        expect![[r#"
            pricing.py, lines 1 to 2 of 2:
            def discount(total, percent):
                return total - percent
        "#]]
        .assert_eq(came.asked()[1]);
    }

    #[test]
    fn nothing_is_written_whatever_the_model_says() {
        let writes = "Action: edit\nPath: pricing.py\n```python\nx = 1\n```\n";
        let stage = stage().replies([writes, "In pricing.py:1."]);
        let came = stage.attempt(&Answer);
        assert_eq!(came.rules(), ["write.read_only"]);
        assert_eq!(came.ended().stopped, Stopped::Done);
        assert_eq!(stage.on_disk("pricing.py"), PRICING.1);
    }

    #[test]
    fn code_without_a_file_belongs_to_the_answer() {
        let words = format!("It could be:\n{RIGHT}");
        let came = stage().replies([words.as_str()]).attempt(&Answer);
        assert_eq!(came.rules(), [""; 0]);
        assert_eq!(came.ended().stopped, Stopped::Done);
    }

    #[test]
    fn an_empty_reply_is_asked_for_again_once() {
        let came = stage().replies(["", "In pricing.py:1."]).attempt(&Answer);
        assert_eq!(came.ended().stopped, Stopped::Done);
        expect!["Your reply was empty. Answer the question in a few sentences."]
            .assert_eq(came.asked()[1]);
        let came = stage().replies(["", ""]).attempt(&Answer);
        expect!["ended, stuck: the model gave no answer"].assert_eq(&came.outcome());
        assert_eq!(came.requests.len(), 2);
    }

    #[test]
    fn a_model_that_only_looks_ends_with_what_code_knows() {
        let came = stage().steps(1).replies([READ]).attempt(&Answer);
        expect![[r#"
            ended, steps: no answer came within 1 steps

            known without a model:
            - `discount` is defined: `def discount(total, percent)` (pricing.py:1)"#]]
        .assert_eq(&came.outcome());
    }

    #[test]
    fn without_an_engine_there_is_what_code_knows() {
        let missing = stage().without_engine().attempt(&Answer);
        expect![[r#"
            ended, engine: no model server answers

            known without a model:
            - `discount` is defined: `def discount(total, percent)` (pricing.py:1)
            hint: start one"#]]
        .assert_eq(&missing.outcome());
        let later = stage()
            .without_engine_after(1)
            .replies([READ])
            .attempt(&Answer);
        assert_eq!(later.outcome(), missing.outcome());
    }

    #[test]
    fn who_stops_it_has_what_code_knows() {
        let came = stage()
            .replies([READ])
            .stopped_at(EventKind::Sent)
            .attempt(&Answer);
        expect![[r#"
            ended, interrupted: interrupted

            known without a model:
            - `discount` is defined: `def discount(total, percent)` (pricing.py:1)"#]]
        .assert_eq(&came.outcome());
    }

    #[test]
    fn a_question_about_the_project_is_shown_its_documents() {
        let readme = ("README.md", "# Shop\n\nComputes prices.\n");
        let stage = Stage::new(
            &[PRICING, TEST_PRICING, readme],
            "what does this project do?",
        );
        let came = stage.replies(["It computes prices."]).attempt(&Answer);
        expect![[r#"
            Answer the question in the first sentence.
            Then name the places that show it as file:line, in the order in which they run.
            Say only what the shown code says. What you cannot see, call unknown.

            What is known of the project:
            shop

              size     small: 2 files, 10 lines
              written  Python 100 %
              tests    python3 -m unittest discover
                       unittest, told from `test_pricing.py` uses unittest

              modules, most imported first
                  0  pricing.py  discount

            README.md, line 1:
            ```
            # Shop

            Computes prices.
            ```

            Question: what does this project do?"#]]
        .assert_eq(came.asked()[0]);
    }

    #[test]
    fn places_are_read_from_sentences() {
        let said = "It is in `shop/cart.py:12`, see (price.py:3). Not http://x.y:80 nor 10:30.";
        let expected = [("shop/cart.py".to_owned(), 12), ("price.py".to_owned(), 3)];
        assert_eq!(places(said), expected);
    }
}
