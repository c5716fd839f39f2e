//! The answer rung: read-only; the model may look, and its first words without an action are the answer. What the code
//! itself answers stands beside it, also when no model can be had.

use harness_code::path::RelPath;
use harness_code::report::facts::{Fact, facts};
use harness_code::report::overview::{overview, project_facts};
use harness_code::tree::SourceTree;

use crate::action::Action;
use crate::history::{Refusal, Step};
use crate::model::{Card, Model};
use crate::plan::MOST_CODE;
use crate::reply;
use crate::run::prompt::{self, Opened, Opening};
use crate::run::result::Stopped;
use crate::run::session::{Ended, Ending, Session};
use crate::run::talk::{self, Talk, Turn};
use crate::run::{act, conversation};

/// Returns what the code itself says to the question of a session.
pub(super) fn known(session: &Session<'_>) -> Vec<Fact> {
    let question = &session.task.text;
    if session.plan.is_about_project() {
        return project_facts(&session.tree, session.suite().as_ref(), question);
    }
    facts(&session.tree, question, session.plan.mentions())
}

/// Adds what is known without a model to an ending without an answer.
pub(super) fn with_facts(ended: Ended, known: &[Fact]) -> Ending {
    let mut ending = Ending::from(ended);
    if !known.is_empty() {
        ending.summary = format!(
            "{}\n\nknown without a model:\n{}",
            ending.summary,
            list(known)
        );
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

/// Answers the question of a session.
pub(super) fn perform(session: &mut Session<'_>, model: &mut dyn Model) -> Ending {
    let known = known(session);
    let card = match talk::meet(session, model) {
        Ok(card) => card,
        Err(error) => return with_facts(session.engine_failed(&error), &known),
    };
    // What a model elsewhere is not shown is known by now.
    let known = self::known(session);
    let opened = opened(session, &card, &known);
    let mut talk = match Talk::open(session, model, card, opened) {
        Ok(talk) => talk,
        Err(error) => return with_facts(session.engine_failed(&error), &known),
    };
    talk.answers = true;
    let mut empty = 0;
    for number in 1..=session.options.steps {
        let turn = match talk.turn(session) {
            Ok(turn) => turn,
            Err(error) => return with_facts(session.engine_failed(&error), &known),
        };
        let (mut step, outcome) = read(session, number, &turn);
        match outcome {
            Ok(None) if step.result.trim().is_empty() => {
                empty += 1;
                if empty == 2 {
                    session.push(step);
                    return Ending::new(Stopped::Stuck, "the model gave no answer");
                }
                talk.say("Your reply was empty. Answer the question in a few sentences.");
            }
            Ok(None) => {
                let summary = beside(&session.tree, step.result.trim(), &known);
                session.push(step);
                return Ending::new(Stopped::Done, summary);
            }
            Ok(Some(observation)) => {
                talk.say(&observation);
                step.result = observation;
            }
            Err(refusal) => {
                step.refused.clone_from(&refusal.rule);
                step.result.clone_from(&refusal.reason);
                talk.say(&format!("Refused: {}", refusal.reason));
                session.refuse(&refusal);
            }
        }
        session.push(step);
    }
    let summary = format!("no answer came within {} steps", session.options.steps);
    with_facts(Ended::new(Stopped::Steps, summary), &known)
}

/// Returns the first prompt of a question.
fn opened(session: &Session<'_>, card: &Card, known: &[Fact]) -> Opened {
    let mut learned = if session.plan.is_about_project() {
        project(session)
    } else {
        String::new()
    };
    if !known.is_empty() {
        let facts = format!("Facts, checked against the code:\n{}", list(known));
        learned = format!("{learned}\n\n{facts}").trim_start().to_owned();
    }
    let room = talk::most_room(card, session.options.max_tokens).opening();
    let opening = Opening {
        task: &session.task,
        plan: &session.plan,
        tree: &session.tree,
        skills: &session.plan.load_skills(&session.tree),
        rules: &conversation::house_rules(&session.tree),
        files: &session.files,
        context: &session.options.context,
        failure: "",
        learned: &learned,
        read_only: true,
        answers: true,
        lists: false,
        framework: "",
        object: false,
        tiny: false,
    };
    prompt::opening(&opening, room)
}

/// Past runs that are told.
const MOST_RUNS: usize = 5;

/// Returns what the project's documents say to a question about it, and what was done here before.
fn project(session: &Session<'_>) -> String {
    let suite = session.suite();
    let mut text = overview(&session.tree, suite.as_ref(), &session.task.text, MOST_CODE);
    let runs = session.project.runs().unwrap_or_default();
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
        text.push_str(&format!(
            "\n\nChanges made through this tool, newest first:\n{}",
            done.join("\n")
        ));
    }
    text
}

/// Reads a reply: an answer, or something to look at, with what was seen.
fn read(
    session: &mut Session<'_>,
    number: u32,
    turn: &Turn,
) -> (Step, Result<Option<String>, Refusal>) {
    let reading = reply::read(&turn.reply.text);
    let mut step = Step {
        number,
        action: "answer".to_owned(),
        path: String::new(),
        result: reading.prose.clone(),
        refused: String::new(),
        seconds: turn.seconds,
        tokens: turn.reply.reply_tokens,
    };
    let outcome = match &reading.action {
        // Code in a fence belongs to an answer; only a named file would be a change.
        None => Ok(None),
        Some(Action::Edit { path, .. }) if path.is_empty() => Ok(None),
        Some(Action::Done { summary }) if !summary.is_empty() => {
            step.result.clone_from(summary);
            Ok(None)
        }
        Some(action) => {
            action.tool().clone_into(&mut step.action);
            action.path().clone_into(&mut step.path);
            look(session, action).map(Some)
        }
    };
    (step, outcome)
}

fn look(session: &mut Session<'_>, action: &Action) -> Result<String, Refusal> {
    if action.needs_writing() {
        return Err(act::read_only_refusal(action));
    }
    let words = act::look(session, None, action)?;
    act::tell_seen(session, action, &words);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::places;

    #[test]
    fn places_are_read_from_sentences() {
        let said = "It is in `shop/cart.py:12`, see (price.py:3). Not http://x.y:80 nor 10:30.";
        let expected = [("shop/cart.py".to_owned(), 12), ("price.py".to_owned(), 3)];
        assert_eq!(places(said), expected);
    }
}
