//! Replay: what a run recorded, applied and judged again, without a model.

use harness_code::edit::{ChangeSet, FileChange};
use harness_code::path::RelPath;
use harness_code::text::Text;
use harness_hands::journal;

use crate::history::{Refusal, Step};
use crate::record::{Past, RecordedChange};
use crate::run::evidence::Verdict;
use crate::run::result::Stopped;
use crate::run::session::{Ending, Session};
use crate::run::staged::summary;
use crate::run::trial::Trial;

/// Applies what a run recorded or proposed and judges it as if it were new.
pub(super) fn perform(session: &mut Session<'_>, past: &Past, is_new: bool) -> Ending {
    let (verb, done) = match is_new {
        true => ("apply", "applied"),
        false => ("replay", "replayed"),
    };
    let draft = match draft(session, past) {
        Ok(draft) => draft,
        Err(refusal) => {
            let ending = Ending::new(Stopped::Stuck, refusal.reason.clone());
            session.refuse(&refusal);
            return Ending {
                hint: hint(&refusal, &past.run, verb),
                ..ending
            };
        }
    };
    let mut trial = match Trial::open(session) {
        Ok(trial) => trial,
        Err(ending) => return *ending,
    };
    // Another run may have had the project meanwhile.
    let draft = match self::draft(session, past) {
        Ok(_) => draft,
        Err(refusal) => {
            session.refuse(&refusal);
            let hint = hint(&refusal, &past.run, verb);
            let ending = trial.take_back(session, Stopped::Stuck, refusal.reason);
            return Ending { hint, ..ending };
        }
    };
    trial.baseline(session);
    if session.cancel.stopped() {
        return trial.take_back(session, Stopped::Interrupted, "interrupted".to_owned());
    }
    if let Err(refusal) = trial.apply(session, &draft) {
        session.refuse(&refusal);
        return trial.take_back(session, Stopped::Stuck, refusal.reason);
    }
    let verdict = trial.judge(session);
    if session.cancel.stopped() {
        return trial.take_back(session, Stopped::Interrupted, "interrupted".to_owned());
    }
    let words = match &verdict {
        Verdict::Proven(proof) => {
            format!("{done} {}: {}", past.run, summary(&draft.files, proof))
        }
        Verdict::Worse(reason) | Verdict::Unverified(reason) => reason.clone(),
        Verdict::Unfinished { reason, .. } => reason.clone(),
    };
    session.push(Step {
        number: session.history.next_number(),
        action: verb.to_owned(),
        path: draft
            .files
            .first()
            .map(|change| change.path.to_string())
            .unwrap_or_default(),
        result: words.clone(),
        refused: String::new(),
        seconds: 0.0,
        tokens: 0,
    });
    match verdict {
        Verdict::Proven(_) => trial.keep(session, words),
        Verdict::Worse(_) => trial.take_back(session, Stopped::Broke, words),
        Verdict::Unfinished { .. } | Verdict::Unverified(_) => {
            trial.take_back(session, Stopped::Stuck, words)
        }
    }
}

/// Works out the draft of a recorded run: only on the bytes that the run began with.
fn draft(session: &Session<'_>, past: &Past) -> Result<ChangeSet, Refusal> {
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
        let door = session.project.door();
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
