//! The one path that every change takes, whoever made it: guard, apply, suite, keep or take back.

use std::time::Duration;

use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::suite::Suite;
use harness_code::text::Text;
use harness_hands::journal;
use harness_hands::lock::{LockError, Waiting};
use harness_hands::suite::{self, Selection, SuiteReport};
use harness_hands::transaction::{Transaction, WriteError};

use crate::guard::{self, Change, Facts};
use crate::history::Refusal;
use crate::run::event::EventKind;
use crate::run::evidence::{Evidence, Verdict};
use crate::run::flaky;
use crate::run::result::{Counts, Stopped, Tests};
use crate::run::session::{Ending, Session};
use crate::run::standing::{diff_of, diffs, recorded, standing};
use crate::task::kind::Kind;
use crate::tool::change::Draft;

/// How long a run waits for another one that holds the project.
const PATIENCE: Duration = Duration::from_secs(20);

/// Changes under trial.
pub(super) struct Trial {
    changes: Transaction,
    suite: Option<Suite>,
    before: Option<SuiteReport>,
    after: Option<SuiteReport>,
    /// A change was taken back because it made the suite worse.
    pub(super) broke: Option<String>,
    /// The last change that was taken back, as a patch.
    attempt: String,
}

impl Trial {
    /// Takes the project for this run; another run may hold it.
    pub(super) fn open(session: &mut Session<'_>) -> Result<Trial, Box<Ending>> {
        let flag = session.cancel.flag();
        let task = session.task.text.clone();
        let Some(writer) = session.project.writer() else {
            return Err(Box::new(Ending::new(
                Stopped::Stuck,
                "this run is read-only",
            )));
        };
        let mut waited = None;
        let mut on_wait = |holder: &harness_hands::lock::Holder| waited = Some(holder.to_string());
        let begun = writer.begin(
            &session.run,
            &task,
            &mut Waiting {
                patience: PATIENCE,
                cancel: &flag,
                on_wait: &mut on_wait,
            },
        );
        let mut changes = begun.map_err(|error| Box::new(cannot_begin(&error)))?;
        changes.allow(session.plan.mentions().paths.iter().cloned());
        if let Some(holder) = waited {
            session.tell(EventKind::Started, &format!("waited for {holder}"), []);
        }
        let suite = session.suite();
        Ok(Trial {
            changes,
            suite,
            before: None,
            after: None,
            broke: None,
            attempt: String::new(),
        })
    }

    /// Runs the suite once before the first change, so that what was already red is known.
    pub(super) fn baseline(&mut self, session: &mut Session<'_>) {
        if self.before.is_none() {
            self.before = self.run_suite(session, "before the change");
        }
    }

    /// Returns the report from before the first change.
    pub(super) fn before(&self) -> Option<&SuiteReport> {
        self.before.as_ref()
    }

    /// Runs the suite now and returns its report, for the model's own `run`.
    pub(super) fn check(&mut self, session: &mut Session<'_>) -> Option<&SuiteReport> {
        self.after = self.run_suite(session, "now");
        self.after.as_ref()
    }

    fn run_suite(&self, session: &mut Session<'_>, when: &str) -> Option<SuiteReport> {
        let suite = self.suite.as_ref()?;
        let runner = session.project.runner()?;
        let report = suite::run(runner, suite, &Selection::All, &session.cancel.flag());
        let text = match crate::run::evidence::unusable(&report) {
            Some(problem) => format!("tests {when}: {problem}"),
            None => format!(
                "tests {when}: {} passed, {} failed ({:.1} s)",
                report.passed,
                report.failed + report.errors,
                report.seconds
            ),
        };
        let data = [
            ("passed", report.passed.into()),
            ("failed", (report.failed + report.errors).into()),
            ("result", report.output_tail.clone().into()),
        ];
        session.tell(EventKind::Tests, &text, data);
        Some(report)
    }

    /// Returns what tells two states of the changed files apart.
    pub(super) fn fingerprint(&self, session: &Session<'_>) -> String {
        standing(&self.changes, session)
            .iter()
            .map(|change| format!("{}\0{}\0", change.path, change.after))
            .collect()
    }

    /// Guards and applies a draft: all of its files, or none and the reason.
    pub(super) fn apply(
        &mut self,
        session: &mut Session<'_>,
        draft: &Draft,
    ) -> Result<(), Refusal> {
        let mut beside = standing(&self.changes, session);
        beside.extend(draft.changes.iter().cloned());
        for change in &draft.changes {
            self.may_happen(session, change, &beside)?;
        }
        for path in &draft.gone {
            self.changes
                .check(path)
                .map_err(crate::tool::look::trespass)?;
            if let Some(refusal) = guard::removal_refusal(path, &session.task) {
                return Err(refusal);
            }
        }
        for (number, change) in draft.changes.iter().enumerate() {
            if let Err(refusal) = self.write(session, change) {
                let done = Draft {
                    changes: draft.changes[..number].to_vec(),
                    gone: Vec::new(),
                };
                self.put_back(session, &done);
                return Err(refusal);
            }
        }
        for path in &draft.gone {
            if let Err(error) = self.changes.remove(path) {
                self.put_back(session, draft);
                return Err(Refusal::new(
                    "write.failed",
                    error.to_string(),
                    path.as_str(),
                ));
            }
            session.tell(EventKind::Wrote, &format!("removed {path}"), []);
        }
        Ok(())
    }

    /// Asks the door and the guards about one change.
    fn may_happen(
        &self,
        session: &Session<'_>,
        change: &Change,
        beside: &[Change],
    ) -> Result<(), Refusal> {
        self.changes
            .check(&change.path)
            .map_err(crate::tool::look::trespass)?;
        let facts = Facts {
            tree: Some(session.whole_tree()),
            installed: session.installed(),
            beside,
        };
        guard::refusal(change, &session.task, &facts).map_or(Ok(()), Err)
    }

    fn write(&mut self, session: &mut Session<'_>, change: &Change) -> Result<(), Refusal> {
        let bytes = encoded(session, change)?;
        self.changes
            .put(&change.path, &bytes)
            .map_err(|error| match error.trespass() {
                Some(broken) => crate::tool::look::trespass(broken.clone()),
                None => Refusal::new("write.failed", error.to_string(), change.path.as_str()),
            })?;
        let text = format!("wrote {}", change.path);
        let diff = diff_of(change);
        session.tell(
            EventKind::Wrote,
            &text,
            [
                ("path", change.path.as_str().into()),
                ("result", diff.into()),
            ],
        );
        Ok(())
    }

    /// Guards and applies several changes, then moves files: all of it, or an error after which nothing may stay.
    pub(super) fn apply_all(
        &mut self,
        session: &mut Session<'_>,
        changes: &[Change],
        moves: &[(RelPath, RelPath)],
    ) -> Result<(), Refusal> {
        // Every change is looked at before the first is made, beside what the others make of the project.
        let mut beside = changes.to_vec();
        beside.extend(
            moves
                .iter()
                .filter_map(|(from, to)| moved(session, changes, from, to)),
        );
        for change in changes {
            self.may_happen(session, change, &beside)?;
        }
        for change in changes {
            self.write(session, change)?;
        }
        for (from, to) in moves {
            self.changes
                .rename(from, to)
                .map_err(|error| Refusal::new("write.failed", error.to_string(), to.as_str()))?;
            session.tell(EventKind::Wrote, &format!("moved {from} to {to}"), []);
        }
        Ok(())
    }

    /// Measures the state before the changes too, in a copy, and judges with both reports.
    pub(super) fn compare_with_before(
        &mut self,
        session: &mut Session<'_>,
        changes: &[Change],
        moves: &[(RelPath, RelPath)],
    ) -> Result<Verdict, Refusal> {
        self.before = self.run_before(session, &Selection::All);
        // A project too large to copy is measured in place: put back, run, make the changes again.
        if self.before.is_none() {
            let restored = self.changes.take_back();
            restored.map_err(|error| Refusal::new("write.failed", error.to_string(), ""))?;
            self.before = self.run_suite(session, "before the change");
            self.apply_all(session, changes, moves)?;
        } else {
            self.tell_before(session);
        }
        self.look_again(session);
        Ok(self.verdict(session))
    }

    fn tell_before(&self, session: &mut Session<'_>) {
        let Some(report) = &self.before else { return };
        let failed = report.failed + report.errors;
        let text = format!(
            "tests before the change: {} passed, {failed} failed",
            report.passed
        );
        let data = [("passed", report.passed.into()), ("failed", failed.into())];
        session.tell(EventKind::Tests, &text, data);
    }

    /// Returns whether the project has a suite.
    pub(super) fn has_suite(&self) -> bool {
        self.suite.is_some()
    }

    /// Returns what the suite last said.
    pub(super) fn after(&self) -> Option<&SuiteReport> {
        self.after.as_ref()
    }

    /// Runs the suite on what stands now and judges it.
    pub(super) fn judge(&mut self, session: &mut Session<'_>) -> Verdict {
        if self.suite.is_none() && session.task.kind == Kind::Tests {
            // The first tests of a project are what its suite is told from.
            self.suite = session.suite_now();
        }
        self.after = self.run_suite(session, "after the change");
        self.look_again(session);
        self.verdict(session)
    }

    /// Runs tests whose verdict changed again on both states; those that differ do not count.
    fn look_again(&mut self, session: &mut Session<'_>) {
        let (Some(before), Some(after)) = (&self.before, &self.after) else {
            return;
        };
        let changed = flaky::changed(before, after);
        if changed.is_empty() || changed.len() > flaky::MOST || session.cancel.stopped() {
            return;
        }
        let (Some(suite), Some(runner)) = (&self.suite, session.project.runner()) else {
            return;
        };
        let chosen = Selection::Some(changed.clone());
        let flag = session.cancel.flag();
        let again = suite::run(runner, suite, &chosen, &flag);
        let mut fickle = flaky::fickle(&changed, after, &again);
        if let Some(again) = self.run_before(session, &chosen) {
            fickle.extend(flaky::fickle(&changed, before, &again));
        }
        if fickle.is_empty() {
            return;
        }
        for report in [&mut self.before, &mut self.after].into_iter().flatten() {
            flaky::leave_out(report, &fickle);
        }
        let names = fickle.join(", ");
        session.tell(
            EventKind::Tests,
            &format!("passes and fails by chance, does not count: {names}"),
            [("flaky", fickle.into())],
        );
    }

    /// Runs tests on the state before the run, in a private copy.
    fn run_before(&self, session: &Session<'_>, selection: &Selection) -> Option<SuiteReport> {
        let (suite, runner) = (self.suite.as_ref()?, session.project.runner()?);
        let copy = runner.scratch(session.project.door()).ok()?;
        for path in self.changes.writes() {
            match self.changes.original(&path).ok()? {
                Some(bytes) => copy.put(&path, &bytes).ok()?,
                None => copy.remove(&path).ok()?,
            }
        }
        let flag = session.cancel.flag();
        Some(suite::run(
            &runner.for_copy(copy.root()),
            suite,
            selection,
            &flag,
        ))
    }

    /// Judges what stands, with what the suite last said.
    pub(super) fn verdict(&self, session: &Session<'_>) -> Verdict {
        let changes = standing(&self.changes, session);
        let evidence = Evidence {
            task: &session.task,
            plan: &session.plan,
            changes: &changes,
            has_suite: self.suite.is_some(),
            before: self.before.as_ref(),
            after: self.after.as_ref(),
        };
        evidence.verdict()
    }

    /// Puts a draft back to what stood before it.
    pub(super) fn put_back(&mut self, session: &mut Session<'_>, draft: &Draft) {
        self.attempt = draft.changes.iter().map(diff_of).collect();
        for change in &draft.changes {
            let restored = match &change.before {
                Some(before) => encoded(
                    session,
                    &Change {
                        after: before.clone(),
                        ..change.clone()
                    },
                )
                .ok()
                .and_then(|bytes| self.changes.replace(&change.path, &bytes).ok()),
                None => self.changes.remove(&change.path).ok(),
            };
            let words = if restored.is_some() {
                "took the change back"
            } else {
                "could not take the change back yet"
            };
            session.tell(
                EventKind::Undone,
                words,
                [("path", change.path.as_str().into())],
            );
        }
        for path in &draft.gone {
            // A file that did not go yet is there as it was.
            if let Ok(Some(bytes)) = self.changes.original(path) {
                drop(self.changes.put(path, &bytes));
            }
        }
    }

    /// Keeps what stands and ends the run with it.
    pub(super) fn keep(self, session: &Session<'_>, summary: String) -> Ending {
        let ending = Ending {
            writes: self
                .changes
                .writes()
                .iter()
                .map(ToString::to_string)
                .collect(),
            diff: diffs(&self.changes, session),
            tests: self.tests(),
            changes: recorded(&self.changes, session),
            ..Ending::new(Stopped::Done, summary)
        };
        self.finish(ending)
    }

    /// Takes everything back, leaves the attempt as a patch, and ends the run.
    pub(super) fn take_back(
        mut self,
        session: &mut Session<'_>,
        stopped: Stopped,
        summary: String,
    ) -> Ending {
        let standing = diffs(&self.changes, session);
        let kept_nothing = standing.is_empty();
        let attempt = if kept_nothing {
            std::mem::take(&mut self.attempt)
        } else {
            standing
        };
        let mut ending = Ending {
            tests: self.tests(),
            ..Ending::new(stopped, summary)
        };
        if !attempt.is_empty() {
            // The attempt is a help, not a promise: without it the run is no less true.
            drop(self.changes.attach("attempt.patch", attempt.as_bytes()));
        }
        if let Err(error) = self.changes.take_back() {
            ending.summary = format!("{}; {error}", ending.summary);
            ending.hint =
                "`harness undo` puts the files back once the disk can be written".to_owned();
            ending.writes = self
                .changes
                .writes()
                .iter()
                .map(ToString::to_string)
                .collect();
        } else if !attempt.is_empty() {
            if !kept_nothing {
                session.tell(EventKind::Undone, "took every change back", []);
            }
            let place = format!(".harness/runs/{}/attempt.patch", session.run.as_str());
            ending.hint = format!("the attempt is kept in {place}");
        }
        self.finish(ending)
    }

    fn finish(self, mut ending: Ending) -> Ending {
        let closing = journal::Ending {
            outcome: ending.stopped.name().to_owned(),
            summary: ending.summary.clone(),
            tests: serde_json::to_value(&ending.tests).unwrap_or_default(),
        };
        if let Err(error) = self.changes.finish(&closing) {
            ending.hint = format!("the journal of this run could not be closed: {error}");
        }
        ending
    }

    fn tests(&self) -> Option<Tests> {
        let suite = self.suite.as_ref()?;
        let sandbox = self
            .after
            .as_ref()
            .or(self.before.as_ref())
            .map(|report| report.sandbox.to_string())
            .unwrap_or_default();
        if self.before.is_none() && self.after.is_none() {
            return None;
        }
        Some(Tests {
            command: suite.command.join(" "),
            before: self.before.as_ref().map(counts),
            after: self.after.as_ref().map(counts),
            sandbox,
        })
    }
}

fn counts(report: &SuiteReport) -> Counts {
    Counts {
        passed: report.passed,
        failed: report.failed + report.errors,
        collected: report.collected,
    }
}

/// A file as it will be at its new place.
pub(super) fn moved(
    session: &Session<'_>,
    changes: &[Change],
    from: &RelPath,
    to: &RelPath,
) -> Option<Change> {
    let changed = changes.iter().find(|change| change.path == *from);
    let after = match changed {
        Some(change) => change.after.clone(),
        None => session.whole_tree().text(from).ok()?.into_content(),
    };
    Some(Change {
        language: Language::of(to),
        path: to.clone(),
        before: None,
        after,
    })
}

/// Returns the bytes of a change in the file's own encoding.
fn encoded(session: &Session<'_>, change: &Change) -> Result<Vec<u8>, Refusal> {
    let text = match session.project.door().read(&change.path) {
        Ok(bytes) => Text::decode(&bytes).unwrap_or_else(|_| Text::new("")),
        Err(_) => Text::new(""),
    };
    text.encode(&change.after).map_err(|error| {
        let reason = format!(
            "`{}` cannot hold `{}` in {}: use plain characters",
            change.path, error.character, error.encoding
        );
        Refusal::new("draft.encoding", reason, change.path.as_str())
    })
}

/// Returns how a run ends that could not take its project.
fn cannot_begin(error: &WriteError) -> Ending {
    match error {
        WriteError::Lock(LockError::Busy(holder)) => {
            let hint = "wait for it to end, or stop it".to_owned();
            let summary = format!("the project is held by {holder}");
            Ending {
                hint,
                ..Ending::new(Stopped::Busy, summary)
            }
        }
        WriteError::Lock(LockError::Interrupted) => {
            Ending::new(Stopped::Interrupted, "interrupted")
        }
        other => disk_ending(other),
    }
}

fn disk_ending(error: &WriteError) -> Ending {
    let hint = "nothing was changed; check the disk and the folder's permissions".to_owned();
    Ending {
        hint,
        ..Ending::new(Stopped::Stuck, error.to_string())
    }
}
