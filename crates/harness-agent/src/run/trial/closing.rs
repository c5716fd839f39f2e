//! The end of a trial: what is proven is written, everything else is taken back and left as a patch.

use std::path::Path;
use std::time::{Duration, SystemTime};

use harness_code::edit::{ChangeSet, FileChange};
use harness_code::path::RelPath;
use harness_code::tree;
use harness_hands::door::Metadata;
use harness_hands::journal;
use harness_hands::suite::SuiteReport;
use harness_hands::transaction::Transaction;

use crate::commit;
use crate::plan::Plan;
use crate::run::context::Context;
use crate::run::ending::{Attempt, Ending};
use crate::run::event::{Decision, EventKind, Proposal};
use crate::run::evidence::Verdict;
use crate::run::log::Log;
use crate::run::result::{Counts, FailedTest, Stopped, Tests};
use crate::run::staged::{Staged, summary};
use crate::run::trial::{Best, Trial};

/// Parts of a task that are not done and that a summary names.
const MOST_OPEN: usize = 3;

/// File times lag the clock by less than this: FAT counts in steps of two seconds.
const COARSEST_TIME: Duration = Duration::from_secs(2);

impl Attempt {
    pub(super) fn of(staged: &Staged) -> Attempt {
        let (patch, changes) = (staged.diff(), staged.recorded());
        Attempt { patch, changes }
    }

    /// Leaves it with the run's journal. It is a help, not a promise: without it the run is no less true.
    fn leave(&self, transaction: &Transaction) {
        drop(transaction.attach(journal::PATCH, self.patch.as_bytes()));
        let changes = serde_json::to_vec(&self.changes).unwrap_or_default();
        drop(transaction.attach(journal::ATTEMPT, &changes));
    }
}

impl Trial {
    /// Writes what is staged into the project and ends the run with it.
    pub(in crate::run) fn keep(
        mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        mut summary: String,
    ) -> Ending {
        if self.suite.is_some() && was_saved_since(context, &self.judged_files) {
            // The tests judged files that are others now.
            log.tell(
                EventKind::Tests,
                "files were saved meanwhile: looking again",
                [],
            );
            let had_baseline = self.before.take().is_some();
            self.base = None;
            if had_baseline {
                self.baseline(context, log);
            }
            let (proven, words) = match self.judge(context, log, plan) {
                Verdict::Proven(words) => (true, words),
                Verdict::Worse(words) | Verdict::Unverified(words) => (false, words),
                Verdict::Unfinished { reason, .. } => (false, reason),
            };
            let words = format!("files were saved meanwhile, and now: {words}");
            if !proven {
                return self.take_back(context, log, plan, (Stopped::Stuck, words));
            }
            summary = format!("{summary}; {words}");
        }
        let ending = Ending {
            tests: self.tests(),
            ..Ending::new(Stopped::Done, summary)
        };
        self.write(context, log, plan, ending)
    }

    fn write(
        mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        mut ending: Ending,
    ) -> Ending {
        if context.options.confirm
            && let Some(ending) = self.unless_confirmed(context, log, plan, &mut ending)
        {
            return self.end_with(ending);
        }
        self.tell_uncommitted(context, log);
        let attempt = Attempt::of(&self.staged);
        let door = context.project.door();
        let seen: Vec<(RelPath, Option<Metadata>)> = self
            .staged
            .paths()
            .map(|path| (path.clone(), door.metadata(path).ok().flatten()))
            .collect();
        let had_copies = context
            .project
            .backups()
            .is_ok_and(|copies| !copies.is_empty());
        match self.staged.write(&mut self.transaction, door) {
            Ok(()) => {
                let is_first = !had_copies && seen.iter().any(|(_, before)| before.is_some());
                for (path, diff) in self.staged.diffs() {
                    let gone = self.staged.is_gone(path);
                    let word = if gone { "removed" } else { "wrote" };
                    let data = [("path", path.as_str().into()), ("result", diff.into())];
                    log.tell(EventKind::Wrote, &format!("{word} {path}"), data);
                }
                if is_first {
                    let text = "a copy of each changed file is beside it (.bak); `harness clean` removes them";
                    log.tell(EventKind::Wrote, text, []);
                }
                (ending.diff, ending.changes) = (attempt.patch, attempt.changes);
                let door = context.project.door();
                let now = |path: &RelPath| door.metadata(path).ok().flatten();
                let odd = seen
                    .iter()
                    .filter_map(|(path, before)| oddity(path, before.as_ref()?, &now(path)?));
                for words in odd {
                    ending.summary = format!("{}; {words}", ending.summary);
                }
            }
            Err(error) => {
                attempt.leave(&self.transaction);
                ending.stopped = Stopped::Stuck;
                ending.goals.clear();
                ending.summary = format!("{error}; nothing was written");
                ending.hint = format!("the change is kept in {}", attempt_place(context));
                match self.transaction.take_back() {
                    Ok(theirs) if theirs.is_empty() => {}
                    Ok(theirs) => {
                        let names: Vec<&str> = theirs.iter().map(RelPath::as_str).collect();
                        ending.summary = format!(
                            "{error}; {} changed meanwhile and was left alone",
                            names.join(", ")
                        );
                    }
                    Err(broken) => {
                        ending.summary = format!("{error}; {broken}");
                        ending.hint =
                            "`harness undo` puts the files back once the disk can be written"
                                .to_owned();
                    }
                }
            }
        }
        let writes = self.transaction.writes();
        ending.writes = writes.iter().map(ToString::to_string).collect();
        self.finish(ending)
    }

    /// Says which files have changes of the user's that git does not have yet, before they change again.
    fn tell_uncommitted(&self, context: &Context<'_>, log: &mut Log<'_>) {
        let root = context.project.door().root().to_path_buf();
        let in_git = |folder: &Path| folder.join(".git").symlink_metadata().is_ok();
        if !root.ancestors().any(in_git) {
            return;
        }
        let Ok(repository) = commit::repository(context.environment, &root) else {
            return;
        };
        let files = self.staged.for_git();
        for path in repository.uncommitted(&files) {
            let text = format!("{path} has changes of yours that are not committed");
            log.tell(EventKind::Located, &text, [("path", path.as_str().into())]);
        }
    }

    /// Shows a change to whoever decides, and returns how the run ends where it is not kept. What the user edits is shown
    /// again, with what the tests say of it.
    fn unless_confirmed(
        &mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        ending: &mut Ending,
    ) -> Option<Ending> {
        let (stopped, summary) = loop {
            let diff = self.staged.diff();
            let mut files = self.staged.changes();
            // What is no text is for no editor.
            files.retain(|change| self.staged.is_text(&change.path));
            let proposal = Proposal {
                summary: &ending.summary,
                diff: &diff,
                files: &files,
            };
            match log.listener.decide(&proposal) {
                Some(Decision::Keep) => return None,
                _ if context.cancel.stopped() => {
                    let summary = "interrupted: the change was not kept".to_owned();
                    break (Stopped::Interrupted, summary);
                }
                Some(Decision::Edit(edited)) => match self.take_edit(context, log, plan, &edited) {
                    Ok(words) => {
                        ending.summary = words;
                        ending.tests = self.tests();
                    }
                    Err(reason) => {
                        let text = format!("the edited text cannot be kept: {reason}");
                        log.tell(EventKind::Refused, &text, []);
                    }
                },
                Some(Decision::Drop) => {
                    break (Stopped::Stuck, "the change was not kept".to_owned());
                }
                None => {
                    let summary = format!("{}\nIs this change to be kept?", ending.summary);
                    break (Stopped::Question, summary);
                }
            }
        };
        self.attempt = Attempt::of(&self.staged);
        let hint = match self.attempt.changes.is_empty() {
            true => String::new(),
            false => format!("`harness apply {}` writes it", context.run.as_str()),
        };
        Some(Ending {
            diff: self.attempt.patch.clone(),
            tests: ending.tests.clone(),
            hint,
            ..Ending::new(stopped, summary)
        })
    }

    /// Stages what the user made of a change, where the guards and the tests let it pass; else all is as it was.
    fn take_edit(
        &mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        edited: &[FileChange],
    ) -> Result<String, String> {
        let staged = self.staged.changes();
        let is_edited = |file: &&FileChange| {
            let mut known = staged.iter().filter(|one| one.path == file.path);
            file.after.is_some() && known.any(|one| one.after != file.after)
        };
        let files: Vec<FileChange> = edited.iter().filter(is_edited).cloned().collect();
        if files.is_empty() {
            return Err("it is the same".to_owned());
        }
        let draft = ChangeSet::from(files);
        let shown = (
            self.staged.clone(),
            self.after.clone(),
            self.observed.clone(),
        );
        self.apply(context, log, plan, &draft)
            .map_err(|refusal| refusal.reason)?;
        let reason = match self.judge(context, log, plan) {
            Verdict::Proven(proof) => return Ok(summary(&self.staged.changes(), &proof)),
            Verdict::Worse(reason) | Verdict::Unverified(reason) => reason,
            Verdict::Unfinished { reason, .. } => reason,
        };
        (self.staged, self.after, self.observed) = shown;
        self.is_partial = false;
        self.judged = Some(self.staged.fingerprint());
        Err(reason)
    }

    /// Drops everything, leaves the attempt as a patch, and ends the run. Where the user asked to keep what makes
    /// nothing worse, that is written.
    pub(in crate::run) fn take_back(
        mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        (stopped, summary): (Stopped, String),
    ) -> Ending {
        let mut ending = Ending {
            tests: self.tests(),
            ..Ending::new(stopped, summary)
        };
        let counts = |best: &Best| {
            stopped != Stopped::Interrupted && !was_saved_since(context, &best.judged_files)
        };
        if let Some(best) = self.best.take().filter(counts) {
            return self.keep_part(context, log, plan, (best, ending));
        }
        let may_stay = context.options.keep && stopped != Stopped::Interrupted;
        if let Some(harmless) = self.harmless.take().filter(|_| may_stay)
            && harmless.paths().next().is_some()
        {
            self.staged = harmless;
            ending.summary = format!("{}; the change was kept, unproven", ending.summary);
            return self.write(context, log, plan, ending);
        }
        self.drop_all(log);
        if !self.attempt.is_empty() {
            ending.hint = format!("the attempt is kept in {}", attempt_place(context));
        }
        self.end_with(ending)
    }

    /// Writes what meets a part of the task, and says what is done and what is not.
    fn keep_part(
        mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        (best, mut ending): (Best, Ending),
    ) -> Ending {
        if self.staged.fingerprint() != best.staged.fingerprint() {
            self.drop_all(log);
        }
        (self.staged, self.after, self.is_partial) = (best.staged, best.after, false);
        ending.tests = self.tests().map(|tests| Tests {
            red: red(self.after.as_ref()),
            ..tests
        });
        let open = best.goals.iter().filter(|goal| !goal.met);
        let open: Vec<String> = open
            .map(|goal| format!("{} ({})", goal.text, goal.why))
            .collect();
        let (all, met) = (best.goals.len(), best.goals.len() - open.len());
        let more = match open.len().saturating_sub(MOST_OPEN) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let open = open[..open.len().min(MOST_OPEN)].join("; ");
        ending.summary = format!(
            "{met} of {all} parts of the task are done and kept; not done: {open}{more}; {}",
            ending.summary
        );
        ending.goals = best.goals;
        if !self.attempt.is_empty() {
            self.attempt.leave(&self.transaction);
            ending.hint = format!(
                "the rest of the attempt is kept in {}",
                attempt_place(context)
            );
        }
        self.write(context, log, plan, ending)
    }

    fn end_with(self, ending: Ending) -> Ending {
        if !self.attempt.is_empty() {
            self.attempt.leave(&self.transaction);
        }
        self.finish(ending)
    }

    fn finish(self, mut ending: Ending) -> Ending {
        let closing = journal::Ending {
            outcome: ending.stopped.name().to_owned(),
            summary: ending.summary.clone(),
            tests: serde_json::to_value(&ending.tests).unwrap_or_default(),
        };
        if let Err(error) = self.transaction.finish(&closing) {
            ending.hint = format!("the journal of this run could not be closed: {error}");
        }
        ending
    }

    fn tests(&self) -> Option<Tests> {
        let suite = self.suite.as_ref()?;
        let after = self.after.as_ref().filter(|_| !self.is_partial);
        let sandbox = after
            .or(self.before.as_ref())
            .map(|report| report.sandbox.to_string())
            .unwrap_or_default();
        if self.before.is_none() && self.after.is_none() {
            return None;
        }
        Some(Tests {
            command: suite.command.join(" "),
            why: suite.reason(),
            before: self.before.as_ref().map(Counts::from),
            after: after.map(Counts::from),
            sandbox,
            unsteady: self.observed.unsteady(),
            red: red(self.before.as_ref()),
        })
    }
}

/// A file of the project as it was when tests were started.
#[derive(Clone)]
pub(super) struct SeenFile {
    path: RelPath,
    stamp: Option<(u64, SystemTime)>,
    /// Known where the time is so young that the file may be saved again and have the same.
    digest: Option<String>,
}

/// Returns the files of the project as they are now.
pub(super) fn seen_files(context: &Context<'_>) -> Vec<SeenFile> {
    let root = context.tree().root();
    let recent = SystemTime::now() - COARSEST_TIME;
    let seen = |path: &RelPath| {
        let stamp = stamp(root, path);
        let young = stamp.filter(|(_, modified)| *modified > recent);
        SeenFile {
            path: path.clone(),
            stamp,
            digest: young.and_then(|_| digest(root, path)),
        }
    };
    let files = context.whole_tree().files().iter();
    files.map(|file| seen(&file.path)).collect()
}

/// Says whether a file of the project was saved since tests were started: they judged other files.
fn was_saved_since(context: &Context<'_>, seen: &[SeenFile]) -> bool {
    let root = context.tree().root();
    seen.iter().any(|file| {
        let is_read = file.digest.is_some();
        stamp(root, &file.path) != file.stamp || is_read && digest(root, &file.path) != file.digest
    })
}

/// Returns the length of a file and when it was changed last.
fn stamp(root: &Path, path: &RelPath) -> Option<(u64, SystemTime)> {
    let found = path.under(root).symlink_metadata().ok()?;
    Some((found.len(), found.modified().ok()?))
}

/// Returns what tells a plain file's bytes. Somebody may have put a link or a pipe in its place: those are not read.
fn digest(root: &Path, path: &RelPath) -> Option<String> {
    Some(journal::digest(&tree::read_inside(root, path).ok()?))
}

fn red(report: Option<&SuiteReport>) -> Vec<FailedTest> {
    let failures = report.into_iter();
    let failures = failures.flat_map(|report| report.failures.iter().chain(&report.refused));
    failures.map(FailedTest::from).collect()
}

fn attempt_place(context: &Context<'_>) -> String {
    format!(".harness/runs/{}/attempt.patch", context.run.as_str())
}

/// Returns what the owner of a file should know: it was read-only, or belongs to somebody else now.
fn oddity(path: &RelPath, before: &Metadata, after: &Metadata) -> Option<String> {
    const OWNER_WRITES: u32 = 0o200;
    let is_read_only = before.mode != 0 && before.mode & OWNER_WRITES == 0;
    if !before.same_owner(after) {
        return Some(format!("`{path}` has another owner now: yours"));
    }
    is_read_only.then(|| format!("`{path}` was read-only, and still is"))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use expect_test::expect;

    use super::*;
    use crate::run::scripted_tests::{Came, MENDED, PRICING, Scene, Stage, TEST_PRICING, change};

    const SHOP: (&str, &str) = ("shop.py", "def price(net):\n    return net\n");

    fn mended() -> String {
        with_sum("total - total * percent / 100")
    }

    fn with_sum(sum: &str) -> String {
        PRICING.1.replace("total - percent", sum)
    }

    fn pricing(after: &str) -> FileChange {
        change(PRICING.0, Some(PRICING.1), Some(after))
    }

    fn open(scene: &mut Scene<'_, '_>) -> Trial {
        let opened = Trial::open(scene.context, scene.log, scene.plan);
        opened.unwrap_or_else(|ended| panic!("{ended:?}"))
    }

    fn apply(scene: &mut Scene<'_, '_>, trial: &mut Trial, files: &[FileChange]) {
        let draft = ChangeSet::from(files.to_vec());
        let applied = trial.apply(scene.context, scene.log, scene.plan, &draft);
        applied.unwrap_or_else(|refusal| panic!("{refusal:?}"));
    }

    fn keep(scene: &mut Scene<'_, '_>, trial: Trial) -> Ending {
        trial.keep(
            scene.context,
            scene.log,
            scene.plan,
            "it is right".to_owned(),
        )
    }

    fn take_back(scene: &mut Scene<'_, '_>, trial: Trial, stopped: Stopped) -> Ending {
        let how = (stopped, "not proven".to_owned());
        trial.take_back(scene.context, scene.log, scene.plan, how)
    }

    /// Returns an ending as a person reads it, without the name of the run.
    fn said(scene: &Scene<'_, '_>, ending: &Ending) -> String {
        let text = format!(
            "{}: {}\n{}",
            ending.stopped.name(),
            ending.summary,
            ending.hint
        );
        let text = text.replace(scene.context.run.as_str(), "RUN");
        text.trim_end().to_owned()
    }

    /// Returns the patch that lies where the hint says.
    fn patch(scene: &Scene<'_, '_>) -> Option<String> {
        let place = attempt_place(scene.context);
        std::fs::read_to_string(scene.context.project.door().root().join(place)).ok()
    }

    fn is_there(stage: &Stage, name: &str) -> bool {
        stage.options.project.join(name).exists()
    }

    #[test]
    fn where_one_file_was_saved_at_the_last_moment_none_is_changed() {
        let stage = Stage::new(&[PRICING, SHOP], "fix discount in pricing.py");
        let came = stage.play(|scene| {
            let rounded = SHOP.1.replace("net\n", "round(net)\n");
            let shop = change(SHOP.0, Some(SHOP.1), Some(&rounded));
            let mut trial = open(scene);
            apply(scene, &mut trial, &[pricing(&mended()), shop]);
            let diff = trial.staged().diff();
            stage.write("shop.py", "VAT = 19\n");
            let ending = keep(scene, trial);
            assert_eq!(patch(scene), Some(diff));
            assert_eq!((ending.diff.as_str(), ending.writes.len()), ("", 0));
            said(scene, &ending)
        });
        expect![[r#"
            stuck: `shop.py` was changed by someone else at this moment; read it again; nothing was written
            the change is kept in .harness/runs/RUN/attempt.patch"#]].assert_eq(&came.value);
        assert_eq!(stage.on_disk("pricing.py"), PRICING.1);
        assert_eq!(stage.on_disk("shop.py"), "VAT = 19\n");
        assert!(!is_there(&stage, "pricing.py.bak"));
        assert_eq!(came.told(EventKind::Wrote), [""; 0]);
    }

    /// Saves a file a moment after everything else, however coarse the times of files are.
    fn save_later(stage: &Stage, name: &str, text: &str) {
        stage.write(name, text);
        let place = stage.options.project.join(name);
        let file = File::options().append(true).open(place).unwrap();
        let later = SystemTime::now() + Duration::from_secs(2);
        file.set_modified(later).unwrap();
    }

    /// Ends a run whose tests are saved by somebody while the change waits to be written.
    fn saved_meanwhile(tests: &str) -> (Stage, String) {
        let stage = Stage::pricing();
        let came = stage.play(|scene| {
            let mut trial = open(scene);
            apply(scene, &mut trial, &[pricing(&mended())]);
            save_later(&stage, TEST_PRICING.0, tests);
            let ending = keep(scene, trial);
            let is_kept = ending.stopped == Stopped::Done;
            assert_eq!(patch(scene).as_deref(), (!is_kept).then_some(MENDED));
            said(scene, &ending)
        });
        assert_eq!(stage.on_disk(TEST_PRICING.0), tests);
        (stage, came.value)
    }

    #[test]
    fn what_passes_the_tests_that_were_saved_meanwhile_is_written() {
        let (stage, said) = saved_meanwhile(TEST_PRICING.1);
        expect!["done: it is right; files were saved meanwhile, and now: 1 test passes; it did not fail before"].assert_eq(&said);
        assert_eq!(stage.on_disk("pricing.py"), mended());
        assert_eq!(stage.on_disk("pricing.py.bak"), PRICING.1);
    }

    #[test]
    fn what_fails_the_tests_that_were_saved_meanwhile_is_not_written() {
        let stricter = TEST_PRICING.1.replace("(200, 10), 180", "(200, 10), 170");
        let (stage, said) = saved_meanwhile(&stricter);
        expect![[r#"
            stuck: files were saved meanwhile, and now: no test passes yet
            test_pricing.T.test_discount (test_pricing.py:8): AssertionError: 180.0 != 170
            the attempt is kept in .harness/runs/RUN/attempt.patch"#]]
        .assert_eq(&said);
        assert_eq!(stage.on_disk("pricing.py"), PRICING.1);
        assert!(!is_there(&stage, "pricing.py.bak"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_somebody_put_in_place_of_a_file_is_not_read() {
        for end in ["test_pricing.py", "/dev/zero"] {
            let stage = Stage::pricing();
            let place = stage.options.project.join("pricing.py");
            let came = stage.play(|scene| {
                stage.remove("pricing.py");
                std::os::unix::fs::symlink(end, &place).unwrap();
                let seen = seen_files(scene.context);
                seen.iter().filter(|file| file.digest.is_some()).count()
            });
            assert_eq!(came.value, 1, "{end}");
        }
    }

    /// Gives a file the time of its last change.
    fn set_time(stage: &Stage, name: &str, time: SystemTime) {
        let place = stage.options.project.join(name);
        let file = File::options().append(true).open(place).unwrap();
        file.set_modified(time).unwrap();
    }

    /// Ends a run that was proven, after somebody did something with the tests. Returns the first line.
    fn kept_after(meddle: impl Fn(&Stage)) -> String {
        let stage = Stage::pricing();
        let came = stage.play(|scene| {
            let mut trial = open(scene);
            apply(scene, &mut trial, &[pricing(&mended())]);
            trial.judge(scene.context, scene.log, scene.plan);
            meddle(&stage);
            let ending = keep(scene, trial);
            said(scene, &ending)
        });
        came.value.lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn a_save_is_noticed_whatever_time_the_file_has_then() {
        let stricter = TEST_PRICING.1.replace("(200, 10), 180", "(200, 10), 170");
        let time_of = |stage: &Stage| {
            let place = stage.options.project.join(TEST_PRICING.0);
            place.metadata().unwrap().modified().unwrap()
        };
        // Not later than the start of the tests, as clocks and coarse file systems have it, and an older file put here.
        for earlier in [0, 1, 100] {
            let said = kept_after(|stage| {
                let then = time_of(stage);
                stage.write(TEST_PRICING.0, &stricter);
                set_time(stage, TEST_PRICING.0, then - Duration::from_secs(earlier));
            });
            expect!["stuck: files were saved meanwhile, and now: no test passes yet"]
                .assert_eq(&said);
        }
        let said = kept_after(|stage| stage.remove(TEST_PRICING.0));
        assert!(said.contains("files were saved meanwhile"), "{said}");
    }

    #[test]
    fn tests_do_not_run_again_where_nobody_saved_anything() {
        assert_eq!(kept_after(|_| {}), "done: it is right");
    }

    /// Ends a run of a project without tests that was asked to keep what breaks nothing.
    fn unproven(is_asked: bool, stopped: Stopped) -> (Stage, String) {
        let mut stage = Stage::new(&[PRICING], "fix discount in pricing.py");
        stage.options.keep = is_asked;
        let came = stage.play(|scene| {
            let mut trial = open(scene);
            apply(scene, &mut trial, &[pricing(&with_sum("total + percent"))]);
            trial.judge(scene.context, scene.log, scene.plan);
            let ending = take_back(scene, trial, stopped);
            said(scene, &ending)
        });
        (stage, came.value)
    }

    #[test]
    fn an_unproven_change_stays_only_where_it_is_asked_for() {
        let (stage, said) = unproven(true, Stopped::Stuck);
        assert_eq!(said, "stuck: not proven; the change was kept, unproven");
        assert_eq!(stage.on_disk("pricing.py"), with_sum("total + percent"));
        for (is_asked, stopped) in [(false, Stopped::Stuck), (true, Stopped::Interrupted)] {
            let (stage, said) = unproven(is_asked, stopped);
            let name = stopped.name();
            let expected = format!(
                "{name}: not proven\nthe attempt is kept in .harness/runs/RUN/attempt.patch"
            );
            assert_eq!(said, expected);
            assert_eq!(stage.on_disk("pricing.py"), PRICING.1);
        }
    }

    /// Ends a run of these files, where the user decides like this.
    fn decided(files: &[(&str, &str)], decisions: &[Decision]) -> (Stage, Came<String>) {
        let stage = Stage::new(files, "fix discount in pricing.py");
        let stage = stage.deciding(decisions.iter().cloned());
        let came = stage.play(|scene| {
            let mut trial = open(scene);
            apply(scene, &mut trial, &[pricing(&mended())]);
            let ending = keep(scene, trial);
            let is_kept = ending.stopped == Stopped::Done;
            assert_eq!(patch(scene).is_none(), is_kept);
            assert!(!ending.diff.is_empty());
            said(scene, &ending)
        });
        (stage, came)
    }

    fn edit(after: &str) -> Decision {
        Decision::Edit(vec![pricing(after)])
    }

    #[test]
    fn what_the_user_makes_of_a_change_is_not_kept_where_it_is_wrong() {
        let decisions = [
            edit(&with_sum("percent")),
            edit(&mended()),
            edit("def discount(:\n"),
            Decision::Keep,
        ];
        let (stage, came) = decided(&[PRICING, TEST_PRICING], &decisions);
        assert_eq!(came.value, "done: it is right");
        expect![[r#"
            the edited text cannot be kept: no test passes yet
            test_pricing.T.test_discount (test_pricing.py:8): AssertionError: 10 != 180
            the edited text cannot be kept: it is the same
            the edited text cannot be kept: `pricing.py` would not parse any more: write the whole definition again, complete and correctly indented"#]].assert_eq(&came.told(EventKind::Refused).join("\n"));
        assert_eq!(stage.on_disk("pricing.py"), mended());
    }
}
