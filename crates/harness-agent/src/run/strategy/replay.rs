//! Replay: what a run recorded, applied and judged again, without a model.

use harness_code::edit::{ChangeSet, FileChange};
use harness_code::path::RelPath;
use harness_code::text::Text;
use harness_hands::journal;

use crate::history::{Refusal, Step};
use crate::plan::Plan;
use crate::record::{Past, RecordedChange};
use crate::run::context::Context;
use crate::run::ending::Ended;
use crate::run::evidence::Verdict;
use crate::run::log::Log;
use crate::run::resources::Resources;
use crate::run::result::Stopped;
use crate::run::staged::summary;
use crate::run::strategy::{Outcome, Strategy};

/// The changes of a run of the past, made again.
pub(super) struct Replay;

impl Strategy for Replay {
    fn suits(&self, context: &Context<'_>, _plan: &Plan) -> bool {
        context.past.is_some()
    }

    /// Applies what was recorded and judges it as if it were new.
    fn attempt(
        &self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        resources: &mut Resources,
    ) -> Outcome {
        match context.past {
            Some(past) => {
                let made = make_again(past, context, log, plan, resources);
                Outcome::Ended(made.unwrap_or_else(|ended| ended))
            }
            None => Outcome::Passed,
        }
    }
}

fn make_again(
    past: &Past,
    context: &Context<'_>,
    log: &mut Log<'_>,
    plan: &Plan,
    resources: &mut Resources,
) -> Result<Ended, Ended> {
    let (verb, done) = match past.is_new {
        true => ("apply", "applied"),
        false => ("replay", "replayed"),
    };
    let refused = |log: &mut Log<'_>, refusal: Refusal| {
        log.refuse(&refusal);
        let hint = hint(&refusal, &past.run, verb);
        Ended::new(Stopped::Stuck, refusal.reason).hinting(hint)
    };
    let draft = draft(context, past).map_err(|refusal| refused(log, refusal))?;
    let trial = resources.trial(context, log, plan)?;
    // Another run may have had the project meanwhile.
    self::draft(context, past).map_err(|refusal| refused(log, refusal))?;
    trial.baseline(context, log);
    if context.cancel.stopped() {
        return Err(Ended::interrupted());
    }
    if let Err(refusal) = trial.apply(context, log, plan, &draft) {
        log.refuse(&refusal);
        return Err(Ended::new(Stopped::Stuck, refusal.reason));
    }
    let verdict = trial.judge(context, log, plan);
    if context.cancel.stopped() {
        return Err(Ended::interrupted());
    }
    let run = &past.run;
    let (stopped, words) = match verdict {
        Verdict::Proven(proof) => {
            let summary = summary(&draft.files, &proof);
            (Stopped::Done, format!("{done} {run}: {summary}"))
        }
        Verdict::Worse(reason) => (Stopped::Broke, reason),
        Verdict::Unverified(reason) | Verdict::Unfinished { reason, .. } => {
            (Stopped::Stuck, reason)
        }
    };
    let first = draft.files.first().map(|change| change.path.to_string());
    log.push(Step {
        number: log.history.next_number(),
        action: verb.to_owned(),
        path: first.unwrap_or_default(),
        result: words.clone(),
        refused: String::new(),
        seconds: 0.0,
        tokens: 0,
    });
    Ok(Ended::new(stopped, words))
}

/// Works out the draft of a recorded run: only on the bytes that the run began with.
fn draft(context: &Context<'_>, past: &Past) -> Result<ChangeSet, Refusal> {
    let mut draft = ChangeSet::default();
    for RecordedChange {
        path,
        before,
        after,
    } in &past.changes
    {
        let bad = |reason: String| Refusal::new("replay.differs", reason, path.as_str());
        let path = RelPath::parse(path)
            .map_err(|_| bad(format!("the record names `{path}`, which is no path here")))?;
        let door = context.project.door();
        let now = door.find(&path).map_err(|error| bad(error.to_string()))?;
        let content = match &now {
            Some(bytes) => Some(
                Text::decode(bytes)
                    .map(Text::into_content)
                    .map_err(|_| bad(format!("`{path}` is not text")))?,
            ),
            None => None,
        };
        if content == *after {
            let reason = format!("`{path}` is already as run {} left it", past.run);
            return Err(Refusal::new("replay.done", reason, path.as_str()));
        }
        if now.as_deref().map(journal::digest) != *before {
            return Err(bad(format!(
                "`{path}` is not what it was when run {} began",
                past.run
            )));
        }
        draft.files.push(FileChange {
            path,
            before: content,
            after: after.clone(),
        });
    }
    Ok(draft)
}

fn hint(refusal: &Refusal, run: &str, verb: &str) -> String {
    if refusal.rule == "replay.done" {
        return format!("take it back first with `harness undo {run}`");
    }
    format!("bring the files back to what they were, then {verb}")
}
