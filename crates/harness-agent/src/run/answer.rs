//! The answer rung: read-only; the model may look, and its first words without an action are the answer.

use crate::action::Action;
use crate::history::{Refusal, Step};
use crate::model::Model;
use crate::reply;
use crate::run::prompt::{self, Opening};
use crate::run::result::Stopped;
use crate::run::session::{Ending, Session};
use crate::run::talk::Talk;
use crate::run::work;

/// Answers the question of a session.
pub(super) fn perform(session: &mut Session<'_>, model: &mut dyn Model) -> Ending {
    let skills = session.plan.load_skills(&session.tree);
    let messages = prompt::opening(&Opening {
        task: &session.task,
        plan: &session.plan,
        tree: &session.tree,
        skills: &skills,
        rules: &work::house_rules(&session.tree),
        context: &session.options.context,
        failure: "",
        learned: "",
        read_only: true,
        answers: true,
    });
    let mut talk = match Talk::open(session, model, messages) {
        Ok(talk) => talk,
        Err(error) => return session.engine_failed(&error),
    };
    let mut empty = 0;
    for number in 1..=session.options.steps {
        let turn = match talk.turn(session) {
            Ok(turn) => turn,
            Err(error) => return session.engine_failed(&error),
        };
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
        match outcome {
            Ok(None) if step.result.trim().is_empty() => {
                empty += 1;
                session.push(step);
                if empty == 2 {
                    return Ending::new(Stopped::Stuck, "the model gave no answer");
                }
                talk.say("Your reply was empty. Answer the question in a few sentences.");
            }
            Ok(None) => {
                let summary = step.result.trim().to_owned();
                session.push(step);
                return Ending::new(Stopped::Done, summary);
            }
            Ok(Some(observation)) => {
                talk.say(&observation);
                step.result = observation;
                session.push(step);
            }
            Err(refusal) => {
                step.refused.clone_from(&refusal.rule);
                step.result.clone_from(&refusal.reason);
                talk.say(&format!("Refused: {}", refusal.reason));
                session.refuse(&refusal);
                session.push(step);
            }
        }
    }
    Ending::new(
        Stopped::Steps,
        format!("no answer came within {} steps", session.options.steps),
    )
}

fn look(session: &Session<'_>, action: &Action) -> Result<String, Refusal> {
    if action.needs_writing() {
        return Err(work::read_only_refusal(action));
    }
    work::look(session, action)
}
