//! The one path that every change takes, whoever made it: guard, stage, run the suite on a private version of the
//! project, judge, and only then write.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::{Duration, SystemTime};

use harness_code::edit::{self, ChangeSet, FileChange};
use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::suite::{Runner as Framework, Suite};
use harness_code::symbols::{self, Definition};
use harness_code::text::Text;
use harness_code::tree;
use harness_hands::door::{Metadata, protected};
use harness_hands::journal;
use harness_hands::lock::LockError;
use harness_hands::scratch::{Scratch, ScratchError, Touch};
use harness_hands::suite::{Failure, Lines, Selection, SuiteReport, Watch, last_time, run_watched};
use harness_hands::transaction::{Transaction, WriteError};

use crate::commit;
use crate::guard;
use crate::history::Refusal;
use crate::plan::{Place, Plan, Spot};
use crate::run::asked::is_part_of_name;
use crate::run::context::Context;
use crate::run::coverage;
use crate::run::ending::{Attempt, Ended, Ending};
use crate::run::event::{Decision, EventKind, Proposal};
use crate::run::evidence::{self, Evidence, Observed, Verdict, file_of, own_name};
use crate::run::flaky;
use crate::run::log::{Log, redacted, tests_begin};
use crate::run::probe::returning_nothing;
use crate::run::result::{Counts, FailedTest, Stopped, Tests};
use crate::run::staged::{Staged, summary};
use crate::task::goal::Goal;
use crate::task::kind::Kind;
use crate::tool::{trespass, unreadable};

mod first_tests;

/// Endings of files that tests leave and clear away, and that nobody misses.
const LEFTOVERS: [&str; 4] = ["log", "tmp", "temp", "pid"];
/// How long a run waits for another one that holds the project.
const PATIENCE: Duration = Duration::from_secs(20);

/// Parts of a task that are not done and that a summary names.
const MOST_OPEN: usize = 3;

/// Changes that meet a part of a task, with what the tests said of them.
struct Best {
    staged: Staged,
    after: Option<SuiteReport>,
    goals: Vec<Goal>,
    /// When the tests that judged them were started.
    judged_at: SystemTime,
    /// Whether the model said what is left, and it could not be done.
    is_left_open: bool,
}

/// Changes under trial.
pub(super) struct Trial {
    /// Where proven changes are written; nothing else writes.
    transaction: Transaction,
    /// Files that the model is shown, as they were when the run began.
    shown: BTreeMap<RelPath, Vec<u8>>,
    /// What the run would change.
    staged: Staged,
    /// The same before the last draft.
    earlier: Staged,
    /// The last changes that passed the guards and made nothing worse, proven or not.
    harmless: Option<Staged>,
    /// The changes by which most of what the task asks for is met, where not all of it is.
    best: Option<Best>,
    suite: Option<Suite>,
    /// The project as it was, in which the tests of that state ran.
    base: Option<Scratch>,
    before: Option<SuiteReport>,
    after: Option<SuiteReport>,
    /// Whether only the tests that matter ran again: the others are taken to be as before, which is not known.
    is_partial: bool,
    observed: Observed,
    /// What running the tests on what is staged did to files.
    touched: BTreeMap<RelPath, Touch>,
    /// When the tests were last started to judge what is staged.
    judged_at: SystemTime,
    /// What was staged when they were: what they said is of that state alone.
    judged: Option<String>,
    /// A change was dropped because it made the suite worse.
    pub(super) broke: Option<String>,
    /// The last change that was dropped.
    attempt: Attempt,
    /// New definitions of changes that were dropped: a later one may use them.
    dropped: Vec<DroppedDefinition>,
    /// Changes that only lack a name or a module, which a later one may bring.
    waiting: Vec<ChangeSet>,
}

/// A definition that was new in a change that was dropped.
pub(super) struct DroppedDefinition {
    pub(super) path: RelPath,
    pub(super) name: String,
    pub(super) code: String,
}

impl Attempt {
    fn of(staged: &Staged) -> Attempt {
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
    /// Takes the project for this run; another run may hold it.
    pub(super) fn open(
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
    ) -> Result<Trial, Ended> {
        let Some(writer) = context.project.writer() else {
            return Err(Ended::new(Stopped::Stuck, "this run is read-only"));
        };
        let flag = context.cancel.flag();
        let begun = log.of_waiting(PATIENCE, &flag, |waiting| {
            writer.begin(context.run, &plan.task.text, waiting)
        });
        let mut transaction = begun.map_err(|error| cannot_begin(&error))?;
        transaction.allow(plan.mentions().paths.iter().cloned());
        transaction.allow(plan.task.written_paths());
        let door = context.project.door();
        let spots = plan.spots().iter().map(|spot| spot.path.clone());
        let shown = spots.filter_map(|path| door.read(&path).ok().map(|bytes| (path, bytes)));
        let shown = shown.collect();
        Ok(Trial {
            transaction,
            shown,
            staged: Staged::default(),
            earlier: Staged::default(),
            harmless: None,
            best: None,
            suite: context.suite(),
            base: None,
            before: None,
            after: None,
            is_partial: false,
            observed: Observed::default(),
            touched: BTreeMap::new(),
            judged_at: SystemTime::now(),
            judged: None,
            broke: None,
            attempt: Attempt::default(),
            dropped: Vec::new(),
            waiting: Vec::new(),
        })
    }

    /// Runs the suite once before the first change, so that what was already red is known.
    pub(super) fn baseline(&mut self, context: &Context<'_>, log: &mut Log<'_>) {
        if self.before.is_some() || self.suite.is_none() {
            return;
        }
        let report = match self.version(context, |_| false) {
            Ok(base) => {
                let report = self.run_in(context, log, &base, (&Selection::All, &Watch::default()));
                self.base = Some(base);
                report
            }
            Err(error) => not_started(context, &error),
        };
        tell_tests(log, "before the change", &report);
        self.before = Some(report);
    }

    /// Returns the report from before the first change.
    pub(super) fn before(&self) -> Option<&SuiteReport> {
        self.before.as_ref()
    }

    /// Returns what the tests say of what is staged, where that is known, or else of the state before.
    pub(super) fn now(&self) -> Option<&SuiteReport> {
        let best = self.best.as_ref().filter(|_| self.is_best());
        best.and_then(|best| best.after.as_ref())
            .or(self.before.as_ref())
    }

    /// Runs some tests on what is staged and returns the lines that each of them ran, as far as that can be watched.
    pub(super) fn lines_run(
        &self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        tests: Vec<String>,
    ) -> BTreeMap<String, Lines> {
        let suite = self.suite.as_ref().map(|suite| suite.runner);
        if !matches!(suite, Some(Framework::Pytest | Framework::Unittest)) {
            return BTreeMap::new();
        }
        let Ok(version) = self.version(context, |_| true) else {
            return BTreeMap::new();
        };
        let chosen = Selection::Some(tests);
        self.run_in(context, log, &version, (&chosen, &Watch::lines()))
            .lines
    }

    /// Remembers the files of places that the model is shown now, as they are.
    pub(super) fn remember_shown(&mut self, context: &Context<'_>, spots: &[Spot]) {
        let door = context.project.door();
        for spot in spots {
            if let Ok(bytes) = door.read(&spot.path) {
                self.shown.entry(spot.path.clone()).or_insert(bytes);
            }
        }
    }

    /// Returns what the run would change.
    pub(super) fn staged(&self) -> &Staged {
        &self.staged
    }

    /// Returns the files of a draft that are staged as it wrote them.
    pub(super) fn standing(&self, draft: &ChangeSet) -> Vec<String> {
        let staged = self.staged.changes();
        let stands = |change: &&FileChange| {
            let mut same = staged.iter().filter(|staged| staged.path == change.path);
            same.any(|staged| staged.after == change.after)
        };
        let standing = draft.files.iter().filter(stands);
        standing.map(|change| change.path.to_string()).collect()
    }

    /// Runs the suite on what is staged and returns its report, for the model's own `run`.
    pub(super) fn check(
        &mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
    ) -> Option<&SuiteReport> {
        self.suite.as_ref()?;
        let report = match self.version(context, |_| true) {
            Ok(version) => {
                self.run_in(context, log, &version, (&Selection::All, &Watch::default()))
            }
            Err(error) => not_started(context, &error),
        };
        tell_tests(log, "now", &report);
        // One run of the tests is a look, no judgement.
        (self.judged, self.is_partial) = (None, false);
        self.after = Some(report);
        self.after.as_ref()
    }

    /// Returns a private version of the project with those of the staged files in it that are wanted.
    fn version(
        &self,
        context: &Context<'_>,
        wanted: impl Fn(&RelPath) -> bool,
    ) -> Result<Scratch, ScratchError> {
        let (Some(runner), Some(suite)) = (context.project.runner(), &self.suite) else {
            return Err(ScratchError::TooLarge);
        };
        // What the state before was built into is built on; Python builds nothing.
        let builds = !matches!(suite.runner, Framework::Pytest | Framework::Unittest);
        let above = self.base.as_ref().filter(|_| builds);
        let mut version = runner.trial(context.project.door(), above)?;
        self.staged.lay_into(&mut version, wanted)?;
        Ok(version)
    }

    /// Runs tests on a private version of the project and tells of one that takes long while it runs.
    fn run_in(
        &self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        version: &Scratch,
        (selection, watch): (&Selection, &Watch),
    ) -> SuiteReport {
        let (Some(suite), Some(runner)) = (&self.suite, context.project.runner()) else {
            return not_started(context, &ScratchError::TooLarge);
        };
        let runner = runner.in_scratch(version);
        if *selection == Selection::All {
            let last = last_time(&runner, suite);
            let (text, data) = tests_begin("the tests", last);
            log.tell(EventKind::Tests, &text, data);
        }
        let flag = context.cancel.flag();
        let mut tell = log.of_running();
        run_watched(&runner, suite, selection, watch, &flag, &mut tell)
    }

    /// Returns what tells two states of the staged files apart.
    pub(super) fn fingerprint(&self) -> String {
        self.staged.fingerprint()
    }

    /// Guards and stages a draft: all of its files, or none and the reason.
    pub(super) fn apply(
        &mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        draft: &ChangeSet,
    ) -> Result<(), Refusal> {
        self.apply_allowing(context, plan, draft, &[])?;
        tell_trying(log, draft);
        Ok(())
    }

    /// Guards and stages a draft that counts as a part of the one before it. These definitions may go by it.
    pub(super) fn apply_as_part(
        &mut self,
        context: &Context<'_>,
        plan: &Plan,
        draft: &ChangeSet,
        may_go: &[Spot],
    ) -> Result<(), Refusal> {
        let earlier = self.earlier.clone();
        let applied = self.apply_allowing(context, plan, draft, may_go);
        self.earlier = earlier;
        applied
    }

    /// Keeps a draft that only lacks a name or a module: models write what uses it first.
    pub(super) fn set_aside(&mut self, refusal: &Refusal, draft: &ChangeSet) {
        if matches!(
            refusal.rule.as_str(),
            "draft.unresolved" | "draft.missing_import"
        ) {
            // A later draft of a file stands for the earlier one.
            let is_of = |other: &FileChange| draft.files.iter().any(|one| one.path == other.path);
            self.waiting.retain(|other| !other.files.iter().any(is_of));
            self.waiting.push(draft.clone());
        }
    }

    /// Forgets the drafts that wait for a name or a module.
    pub(super) fn forget_waiting(&mut self) {
        self.waiting.clear();
    }

    /// Stages drafts that lack nothing any more, where the same lines were not changed meanwhile. They count as parts of
    /// the draft before them.
    pub(super) fn apply_waiting(&mut self, context: &Context<'_>, log: &mut Log<'_>, plan: &Plan) {
        for draft in std::mem::take(&mut self.waiting) {
            let Some(now) = self.rebased(context, &draft) else {
                continue;
            };
            match self.apply_as_part(context, plan, &now, &[]) {
                Ok(()) => {
                    tell_trying(log, &now);
                    let words = "a change that waited for this is in place now";
                    log.tell(EventKind::Fixed, words, []);
                }
                Err(_) => self.waiting.push(draft),
            }
        }
    }

    /// Returns a draft as it is for the files as they are staged now.
    fn rebased(&self, context: &Context<'_>, draft: &ChangeSet) -> Option<ChangeSet> {
        let mut draft = draft.clone();
        let stays = |change: &&mut FileChange| change.after.is_some();
        for change in draft.files.iter_mut().filter(stays) {
            let now = self.content(context, &change.path);
            if now != change.before {
                let (base, now) = (change.before.as_deref()?, now?);
                change.after = Some(edit::rebased(base, change.new_text(), &now)?);
                change.before = Some(now);
            }
        }
        Some(draft)
    }

    /// Guards and stages what is certain, as long as its files are what it was made from.
    pub(super) fn apply_certain(
        &mut self,
        context: &Context<'_>,
        plan: &Plan,
        set: &ChangeSet,
    ) -> Result<(), Refusal> {
        let mut files = set.files.iter();
        files.try_for_each(|change| self.is_as_read(context, change))?;
        self.apply_allowing(context, plan, set, &[])
    }

    /// Guards and stages a draft by which these definitions may go. Every change is looked at before the first is made,
    /// beside what the others make of the project.
    pub(super) fn apply_allowing(
        &mut self,
        context: &Context<'_>,
        plan: &Plan,
        set: &ChangeSet,
        may_go: &[Spot],
    ) -> Result<(), Refusal> {
        let moved = moved(context, set);
        let beside = [self.staged.changes(), set.files.clone(), moved].concat();
        for change in &set.files {
            self.may_happen(context, plan, change, &beside, may_go)?;
        }
        for change in &set.files {
            self.keeps_what_was_saved(context, change)?;
        }
        self.earlier = self.staged.clone();
        let staged = self.stage(context, &set.files);
        let staged = staged.and_then(|()| self.stage_moves(context, &set.moves));
        if staged.is_err() {
            self.staged = self.earlier.clone();
        }
        staged
    }

    /// Asks the door and the guards about one change.
    fn may_happen(
        &self,
        context: &Context<'_>,
        plan: &Plan,
        change: &FileChange,
        beside: &[FileChange],
        may_go: &[Spot],
    ) -> Result<(), Refusal> {
        self.transaction.check(&change.path).map_err(trespass)?;
        let context = context.guard_context(beside, may_go);
        guard::refusal(change, &plan.task, &context).map_or(Ok(()), Err)
    }

    /// Refuses a draft that would drop lines which somebody saved after the model was shown the file.
    fn keeps_what_was_saved(
        &self,
        context: &Context<'_>,
        change: &FileChange,
    ) -> Result<(), Refusal> {
        // What nobody was shown was made from what it was before the first draft of it, or from what the change says.
        let shown = self.shown.get(&change.path);
        let shown = shown.and_then(|bytes| Some(Text::decode(bytes).ok()?.into_content()));
        let staged = || {
            let mut staged = self.staged.changes().into_iter();
            staged.find(|one| one.path == change.path)?.before
        };
        let shown = shown.or_else(staged).or_else(|| change.before.clone());
        let now = on_disk(context, &change.path)?;
        let (Some(shown), Some(now)) = (shown, now) else {
            return Ok(());
        };
        let now = Text::decode(&now).map(Text::into_content);
        let lost = now.as_ref().map(|now| {
            let saved = now.lines();
            let mut saved = saved.filter(|line| !shown.lines().any(|old| old == *line));
            saved.find(|line| !change.new_text().lines().any(|new| new == *line))
        });
        let lost = match lost {
            Ok(None) => return Ok(()),
            Ok(Some(line)) => format!("`{}`", line.trim()),
            // What goes whole, and was never text, has no lines to compare.
            Err(_) if change.after.is_none() => return Ok(()),
            Err(_) => "what is no text".to_owned(),
        };
        let path = &change.path;
        let reason = format!(
            "`{path}` was saved by someone else meanwhile, and {lost} would be lost: read it again"
        );
        Err(Refusal::new(
            "write.changed_meanwhile",
            reason,
            path.as_str(),
        ))
    }

    /// Refuses a change of a file that is not any more what it was made from: another run, or somebody, saved it while
    /// this one waited for the project.
    fn is_as_read(&self, context: &Context<'_>, change: &FileChange) -> Result<(), Refusal> {
        let now = on_disk(context, &change.path)?;
        let now = now.map(|bytes| Text::decode(&bytes).ok().map(Text::into_content));
        if now == change.before.clone().map(Some) {
            return Ok(());
        }
        let path = &change.path;
        let reason = format!("`{path}` was changed while this run waited: run it again");
        Err(Refusal::new(
            "write.changed_meanwhile",
            reason,
            path.as_str(),
        ))
    }

    fn stage(&mut self, context: &Context<'_>, changes: &[FileChange]) -> Result<(), Refusal> {
        let door = context.project.door();
        for change in changes {
            let now = self
                .staged
                .read(door, &change.path)
                .map_err(|error| unreadable(&change.path, &error))?;
            let after = change.after.as_deref();
            let bytes = after.map(|text| encoded(now.as_deref(), &change.path, text));
            self.staged
                .set(door, &change.path, bytes.transpose()?)
                .map_err(|error| unreadable(&change.path, &error))?;
        }
        Ok(())
    }

    fn stage_moves(
        &mut self,
        context: &Context<'_>,
        moves: &[(RelPath, RelPath)],
    ) -> Result<(), Refusal> {
        let door = context.project.door();
        for (from, to) in moves {
            for path in [from, to] {
                self.transaction.check(path).map_err(trespass)?;
            }
            if matches!(self.staged.read(door, to), Ok(Some(_))) {
                let reason = format!("`{to}` exists already");
                return Err(Refusal::new("fix.refused", reason, to.as_str()));
            }
            self.staged
                .rename(door, from, to)
                .map_err(|error| unreadable(from, &error))?;
        }
        Ok(())
    }

    /// Measures the state before the changes too and judges with both reports.
    pub(super) fn compare_with_before(
        &mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
    ) -> Verdict {
        self.baseline(context, log);
        match self.version(context, |_| true) {
            Ok(version) => self.look_again(context, log, &version),
            Err(error) => self.after = Some(not_started(context, &error)),
        }
        // What the state before does to files is known only now.
        self.observed.rewritten = self.rewritten(context);
        self.weigh(context, plan)
    }

    /// Returns the verdict, and remembers or forgets what is staged as harmless, and as the best so far.
    fn weigh(&mut self, context: &Context<'_>, plan: &Plan) -> Verdict {
        let verdict = self.verdict(context, plan);
        if matches!(verdict, Verdict::Worse(_)) {
            let is_it = |harmless: &mut Staged| harmless.diff() == self.staged.diff();
            self.harmless.take_if(is_it);
        } else if !self.is_partial {
            // Of a part of the tests nobody knows whether others became worse.
            self.harmless = Some(self.staged.clone());
        }
        if matches!(verdict, Verdict::Unfinished { .. }) {
            let goals = self.with_evidence(context, plan, |evidence| evidence.goals());
            self.remember(goals);
        }
        verdict
    }

    /// Remembers what is staged where it meets more goals than anything before. Says whether it does.
    pub(super) fn remember(&mut self, goals: Vec<Goal>) -> bool {
        let met = |goals: &[Goal]| goals.iter().filter(|goal| goal.met).count();
        let known = self.best.as_ref().map_or(0, |best| met(&best.goals));
        let is_better = met(&goals) > known;
        if is_better {
            let unsteady = self.observed.unsteady();
            let mut after = self.after.clone();
            if let Some(after) = &mut after {
                // What passes by chance does not pass.
                after.passed_ids.retain(|id| !unsteady.contains(id));
            }
            self.best = Some(Best {
                staged: self.staged.clone(),
                after,
                goals: redacted(goals),
                judged_at: self.judged_at,
                is_left_open: false,
            });
        }
        is_better
    }

    /// Says whether a test that failed each time passes with what is staged.
    pub(super) fn has_mended(&self, context: &Context<'_>, plan: &Plan) -> bool {
        let after = self.after.as_ref();
        let has_mended =
            |evidence: &Evidence<'_>| after.is_some_and(|now| evidence.has_mended(now));
        self.with_evidence(context, plan, has_mended)
    }

    /// Counts what is staged as a part of the task where the model says that more is left, and a test that speaks of that,
    /// or any test where none was mended, fails as before. Returns the reason.
    pub(super) fn note_left(
        &mut self,
        context: &Context<'_>,
        plan: &Plan,
        left: &[Place],
    ) -> Option<String> {
        let red = self.still_red();
        let has_mended = self.has_mended(context, plan);
        let speaks = |failure: &&&Failure, place: &Place| {
            let mut names = place.spot.name.split('.').filter(|name| !name.is_empty());
            names.any(|name| {
                let has_word = |evidence: &Evidence<'_>| evidence.test_has_word(failure, name);
                is_part_of_name(&failure.id, name) || self.with_evidence(context, plan, has_word)
            })
        };
        let (place, failure) = left.iter().find_map(|place| {
            let mut failures = red.iter();
            let failure = failures.find(|failure| !has_mended || speaks(failure, place))?;
            Some((place, failure))
        })?;
        let why = format!("{} fails as before", failure.id);
        let mut goals = plan.task.goals(true, "shown by tests");
        goals.push(Goal {
            text: format!("`{}` in {}", place.spot.name, place.spot.path),
            met: false,
            why: why.clone(),
        });
        self.forget_part();
        self.remember(goals);
        if let Some(best) = &mut self.best {
            best.is_left_open = true;
        }
        Some(format!("the model says that more is left, and {why}"))
    }

    /// Says whether the model said what is left, and it could not be done.
    pub(super) fn is_left_open(&self) -> bool {
        self.best.as_ref().is_some_and(|best| best.is_left_open)
    }

    /// Drops what was remembered of a part that is met.
    pub(super) fn forget_part(&mut self) {
        self.best = None;
    }

    /// Returns tests that say different things of the same state.
    pub(super) fn unsteady(&self) -> Vec<String> {
        self.observed.unsteady()
    }

    /// Says whether what is staged is the best so far: a part of the task is met by it.
    pub(super) fn is_best(&self) -> bool {
        let best = self.best.as_ref();
        best.is_some_and(|best| best.staged.fingerprint() == self.staged.fingerprint())
    }

    /// Stages again what was staged once.
    pub(super) fn go_back_to(&mut self, staged: Staged) {
        self.staged = staged;
    }

    /// Returns whether the project has a suite.
    pub(super) fn has_suite(&self) -> bool {
        self.suite.is_some()
    }

    /// Returns how tests fail as they did before, though they may belong to what is staged. Where it made others pass,
    /// they lie in a file with those, are called like one of them, or fail in a file that it changes; where it made none
    /// pass, any may be meant.
    pub(super) fn still_red(&self) -> Vec<&Failure> {
        let (Some(before), Some(after)) = (&self.before, &self.after) else {
            return Vec::new();
        };
        let was_red = |id: &str| before.failures.iter().any(|failure| failure.id == id);
        let mended = || after.passed_ids.iter().filter(|id| was_red(id));
        let names: HashSet<&str> = mended().map(|id| own_name(id)).collect();
        let mended: HashSet<&str> = mended().map(|id| file_of(id)).collect();
        let is_changed = |failure: &Failure| {
            let place = failure.file.as_deref();
            place.is_some_and(|file| self.staged.paths().any(|path| path.as_str() == file))
        };
        let may_be_meant = |failure: &&Failure| {
            mended.is_empty()
                || mended.contains(file_of(&failure.id))
                || names.contains(own_name(&failure.id))
                || is_changed(failure)
        };
        let failures = after.failures.iter().filter(|failure| was_red(&failure.id));
        failures.filter(may_be_meant).collect()
    }

    /// Returns what the suite last said.
    pub(super) fn after(&self) -> Option<&SuiteReport> {
        self.after.as_ref()
    }

    /// Runs the suite on what is staged and judges it.
    pub(super) fn judge(
        &mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
    ) -> Verdict {
        (self.after, self.is_partial) = (None, false);
        self.observed = Observed::default();
        self.judged_at = SystemTime::now();
        self.judged = Some(self.staged.fingerprint());
        if self.suite.is_none() && plan.task.kind == Kind::Tests {
            // The first tests of a project are what its suite is told from.
            self.suite = self.suite_with_staged(context);
        }
        if self.suite.is_some() {
            match self.version(context, |_| true) {
                Ok(version) => self.observe(context, log, plan, &version),
                Err(error) => self.after = Some(not_started(context, &error)),
            }
        }
        if context.cancel.stopped() {
            // A look that was cut short proves nothing.
            return Verdict::Unverified("the run was interrupted".to_owned());
        }
        self.weigh(context, plan)
    }

    /// Runs the suite on a version and looks at all that the verdict hangs on. The dearer looks come only where the
    /// cheaper ones leave the verdict open.
    fn observe(
        &mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        version: &Scratch,
    ) {
        let watch = Watch {
            modules: self.changed_modules(context),
            lines: false,
        };
        if self.settled_by_few(context, log, plan, version, &watch) {
            return;
        }
        let report = self.run_in(context, log, version, (&Selection::All, &watch));
        tell_tests(log, "after the change", &report);
        let is_usable = evidence::unusable(&report).is_none();
        self.after = Some(report);
        if !is_usable {
            return;
        }
        self.touched = version.touched();
        for (path, touch) in &mut self.touched {
            let left = path.under(version.root()).symlink_metadata();
            if *touch == Touch::Changed && left.is_ok_and(|left| left.len() == 0) {
                // Emptied is as good as gone.
                *touch = Touch::Removed;
            }
        }
        self.observed.rewritten = self.rewritten(context);
        if let Some(suite) = &self.suite {
            let changed: Vec<RelPath> = self.staged.paths().cloned().collect();
            let reports: Vec<&SuiteReport> = self.before.iter().chain(&self.after).collect();
            let tree = context.whole_tree();
            self.observed.run_by_name = coverage::run_by_name(suite, &changed);
            self.observed.uncovered = coverage::uncovered(suite, tree, &reports, &changed);
        }
        self.look_again(context, log, version);
        self.trace_red(context, log, plan);
        if self.meets_something(context, plan) {
            self.look_without_new_tests(context, log, plan);
        }
        if self.meets_something(context, plan) {
            self.look_whether_reached(context, log, plan, version);
        }
        if self.meets_something(context, plan) {
            self.look_whether_tested(context, log, plan);
        }
    }

    /// Says whether something that the task asks for is met by what is staged, as far as was looked.
    fn meets_something(&self, context: &Context<'_>, plan: &Plan) -> bool {
        let goals = self.with_evidence(context, plan, |evidence| evidence.goals());
        goals.iter().any(|goal| goal.met)
    }

    /// Runs new tests once more against a function that returns nothing: one of them must notice.
    fn look_whether_tested(&mut self, context: &Context<'_>, log: &mut Log<'_>, plan: &Plan) {
        let asked = self.with_evidence(context, plan, |evidence| evidence.new_tests());
        let Some((tests, targets)) = asked else {
            return;
        };
        for target in targets {
            let text = context.whole_tree().text(&target.path);
            let mutant = text
                .ok()
                .and_then(|text| returning_nothing(text.content(), &target.name));
            let Some(mutant) = mutant.filter(|_| !context.cancel.stopped()) else {
                continue;
            };
            let Ok(mut version) = self.version(context, |_| true) else {
                return;
            };
            if version.put(&target.path, mutant.as_bytes()).is_err() {
                return;
            }
            let chosen = Selection::Some(tests.clone());
            let report = self.run_in(context, log, &version, (&chosen, &Watch::default()));
            if tests.iter().all(|id| report.passed_ids.contains(id)) {
                self.observed.untested = Some(target.name);
                return;
            }
        }
    }

    /// Finds tests that turned green because they no longer run what the task names.
    fn look_whether_reached(
        &mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        version: &Scratch,
    ) {
        let turned = self.with_evidence(context, plan, |evidence| evidence.turned());
        let (Some((tests, old, new)), Some(base)) = (turned, &self.base) else {
            return;
        };
        let is_watched = matches!(
            self.suite.as_ref().map(|suite| suite.runner),
            Some(Framework::Pytest | Framework::Unittest)
        );
        if tests.is_empty() || !is_watched || context.cancel.stopped() {
            return;
        }
        let (chosen, watch) = (Selection::Some(tests.clone()), Watch::lines());
        let before = self.run_in(context, log, base, (&chosen, &watch));
        let after = self.run_in(context, log, version, (&chosen, &watch));
        self.observed.unreached =
            Evidence::unreached(&tests, (&old, &before.lines), (&new, &after.lines));
    }

    /// Returns tests, settings and code that running the change rewrote, and other files of the project that it removed,
    /// where running the state before did not. Nothing is held against the change while that was not tried.
    fn rewritten(&self, context: &Context<'_>) -> Vec<RelPath> {
        if self.before.is_none() {
            return Vec::new();
        }
        let before = self.base.as_ref().map(Scratch::touched).unwrap_or_default();
        let is_leftover = |path: &RelPath| {
            let ending = path.as_str().rsplit('.').next().unwrap_or_default();
            LEFTOVERS.contains(&ending) || context.whole_tree().file(path).is_none()
        };
        let counts = |path: &RelPath, touch: Touch| {
            let is_code = Language::of(path).is_source() || tree::is_test(path);
            match touch {
                Touch::Added => is_code,
                Touch::Changed => is_code || guard::decides_tests(path),
                Touch::Removed => is_code || guard::decides_tests(path) || !is_leftover(path),
            }
        };
        self.touched
            .iter()
            .filter(|(path, touch)| counts(path, **touch) && !before.contains_key(*path))
            .map(|(path, _)| path.clone())
            .collect()
    }

    /// Says whether running the change leaves files behind that running the state before does not.
    fn leaves_files(&self, version: &Scratch) -> bool {
        let base = self.base.as_ref();
        let before = base.map(Scratch::touched).unwrap_or_default();
        let outside = base.map(Scratch::left_outside).unwrap_or_default();
        let touched = version.touched();
        touched.keys().any(|path| !before.contains_key(path))
            || !version.left_outside().is_subset(&outside)
    }

    /// Runs tests whose verdict changed again on both states, to know which of them say another thing each time.
    fn look_again(&mut self, context: &Context<'_>, log: &mut Log<'_>, version: &Scratch) {
        let (Some(before), Some(after)) = (&self.before, &self.after) else {
            return;
        };
        let changes = self.staged.changes();
        let by_chance = changes.iter().any(flaky::may_act_by_chance);
        let mut tests = flaky::changed(before, after);
        tests.truncate(flaky::MOST);
        // A change that asks for the time or for a random number may spoil any test in any run, and one that leaves
        // files behind may in the next.
        let any_test = by_chance || self.leaves_files(version);
        if any_test {
            tests = Vec::new();
        }
        let rounds = match by_chance {
            true => flaky::ROUNDS_BY_CHANCE,
            false => flaky::ROUNDS,
        };
        if (tests.is_empty() && !any_test) || context.cancel.stopped() {
            return;
        }
        let chosen = match tests.is_empty() {
            true => Selection::All,
            false => Selection::Some(tests.clone()),
        };
        let looked_at = |report: &SuiteReport| match tests.is_empty() {
            true => flaky::judged(report),
            false => tests.clone(),
        };
        let mut unsteady_after = Vec::new();
        for _ in 0..rounds {
            let again = self.run_in(context, log, version, (&chosen, &Watch::default()));
            unsteady_after.extend(flaky::unsteady(&looked_at(after), after, &again));
            if !unsteady_after.is_empty() || context.cancel.stopped() {
                break;
            }
        }
        let mut unsteady_before = Vec::new();
        let suspects = match tests.is_empty() {
            true => unsteady_after.clone(),
            false => tests.clone(),
        };
        if let Some(base) = self.base.as_ref().filter(|_| !suspects.is_empty()) {
            let chosen = Selection::Some(suspects.clone());
            // What is unsteady or red now is excused only when it was unsteady before, which chance may hide once.
            let is_open = |id: &String, round: usize| {
                let is_red = before.passed_ids.contains(id) && !after.passed_ids.contains(id);
                unsteady_after.contains(id) || (is_red && round < flaky::ROUNDS)
            };
            for round in 0..flaky::ROUNDS_BY_CHANCE {
                let known = |id: &String| unsteady_before.contains(id);
                let is_over = !suspects.iter().any(|id| is_open(id, round) && !known(id));
                if (round > 0 && is_over) || context.cancel.stopped() {
                    break;
                }
                let again = self.run_in(context, log, base, (&chosen, &Watch::default()));
                unsteady_before.extend(flaky::unsteady(&suspects, before, &again));
            }
        }
        self.observed.unsteady_before = unsteady_before;
        self.observed.unsteady_after = unsteady_after;
        let names = self.observed.unsteady();
        if !names.is_empty() {
            let text = format!("passes and fails by chance: {}", names.join(", "));
            log.tell(EventKind::Tests, &text, [("flaky", names.into())]);
        }
    }

    /// Finds out which lines those tests ran before the change that were red and still do not pass.
    fn trace_red(&mut self, context: &Context<'_>, log: &mut Log<'_>, plan: &Plan) {
        let (Some(before), Some(after), Some(base)) = (&self.before, &self.after, &self.base)
        else {
            return;
        };
        let red = self.with_evidence(context, plan, |evidence| evidence.untraced(before, after));
        if red.is_empty() || context.cancel.stopped() {
            return;
        }
        let report = self.run_in(context, log, base, (&Selection::Some(red), &Watch::lines()));
        self.observed.lines = report.lines;
    }

    /// Judges the tests that were there before once more without what the run adds to the tests.
    fn look_without_new_tests(&mut self, context: &Context<'_>, log: &mut Log<'_>, plan: &Plan) {
        let is_fix = plan.task.kind == Kind::Fix;
        let task = plan.task.clone();
        // Data that the task does not name is what tests compare with, for all we know.
        let is_data =
            |path: &RelPath| is_fix && !Language::of(path).is_source() && !task.names_path(path);
        let is_test =
            |path: &RelPath| tree::is_test(path) || guard::decides_tests(path) || is_data(path);
        if self.before.is_none() || !self.staged.paths().any(is_test) {
            return;
        }
        let is_asked = |path: &RelPath| plan.task.asks_to_change_test(path);
        if matches!(plan.task.kind, Kind::Rename) || self.staged.paths().any(is_asked) {
            // Tests that use the old name, or were asked to say another thing, cannot run without their part of it.
            return;
        }
        let report = match self.version(context, |path| !is_test(path)) {
            Ok(version) => {
                self.run_in(context, log, &version, (&Selection::All, &Watch::default()))
            }
            Err(error) => not_started(context, &error),
        };
        tell_tests(log, "without the new tests", &report);
        self.observed.without_new_tests = Some(report);
    }

    /// Returns the names by which tests import the files that are changed.
    fn changed_modules(&self, context: &Context<'_>) -> Vec<String> {
        let tree = context.whole_tree();
        let is_package = |folder: &RelPath| {
            let file = folder.join("__init__.py");
            file.is_ok_and(|file| tree.file(&file).is_some())
        };
        let paths = self.staged.paths();
        paths
            .filter(|path| Language::of(path) == Language::Python && !tree::is_test(path))
            .map(|path| {
                let mut parts = match path.stem() {
                    "__init__" => Vec::new(),
                    stem => vec![stem.to_owned()],
                };
                let mut folder = path.parent();
                while let Some(here) = folder.filter(&is_package) {
                    parts.push(here.file_name().to_owned());
                    folder = here.parent();
                }
                parts.reverse();
                parts.join(".")
            })
            .filter(|name| !name.is_empty())
            .collect()
    }

    /// Returns how the project's tests are run with what is staged.
    fn suite_with_staged(&self, context: &Context<'_>) -> Option<Suite> {
        let runner = context.project.runner()?;
        let mut copy = runner.scratch(context.project.door()).ok()?;
        self.staged.lay_into(&mut copy, |_| true).ok()?;
        context.suite_in(copy.root())
    }

    /// Judges what is staged, with what the suite said of it; it is run where it said something of another state.
    pub(super) fn settled_verdict(
        &mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
    ) -> Verdict {
        let is_judged = self.judged.as_ref() == Some(&self.staged.fingerprint());
        if is_judged || self.staged.paths().next().is_none() {
            return self.verdict(context, plan);
        }
        self.judge(context, log, plan)
    }

    /// Judges what is staged, with what the suite last said.
    pub(super) fn verdict(&self, context: &Context<'_>, plan: &Plan) -> Verdict {
        self.with_evidence(context, plan, |evidence| evidence.verdict())
    }

    /// Returns the code that must change next, as it is staged.
    pub(super) fn next_place(&self, context: &Context<'_>, plan: &Plan) -> Option<Spot> {
        let target = self.with_evidence(context, plan, |evidence| evidence.next_place())?;
        self.place(context, &target.path, &target.name)
    }

    /// Returns the definition among those that are changed which a failing test passes through.
    pub(super) fn blamed_place(&self, context: &Context<'_>, plan: &Plan) -> Option<Spot> {
        let target = self.with_evidence(context, plan, |evidence| evidence.blamed_place())?;
        self.place(context, &target.path, &target.name)
    }

    /// Returns a definition as it is staged, or the whole file where none is named.
    pub(super) fn place(&self, context: &Context<'_>, path: &RelPath, name: &str) -> Option<Spot> {
        let content = self.content(context, path)?;
        if name.is_empty() {
            return Some(Spot::whole(path, content.len()));
        }
        let definitions = symbols::definitions(Language::of(path), &content);
        let found = definitions.iter().find(|one| &*one.qualified == name)?;
        Some(Spot::of(path, found))
    }

    /// Returns the text of a file as it is staged.
    pub(super) fn content(&self, context: &Context<'_>, path: &RelPath) -> Option<String> {
        let bytes = self.staged.read(context.project.door(), path).ok()??;
        Some(Text::decode(&bytes).ok()?.into_content())
    }

    /// Looks at what is staged and at all that is known of it.
    fn with_evidence<T>(
        &self,
        context: &Context<'_>,
        plan: &Plan,
        look: impl FnOnce(&Evidence<'_>) -> T,
    ) -> T {
        let changes = self.staged.changes();
        look(&Evidence {
            task: &plan.task,
            plan: plan,
            changes: &changes,
            tree: context.whole_tree(),
            has_suite: self.suite.is_some(),
            before: self.before.as_ref(),
            after: self.after.as_ref(),
            observed: &self.observed,
        })
    }

    /// Drops a draft: what was staged before it stands again.
    pub(super) fn put_back(&mut self, log: &mut Log<'_>, draft: &ChangeSet) {
        self.attempt = Attempt::of(&self.staged);
        self.staged = self.earlier.clone();
        self.waiting.clear();
        self.judged = None;
        for change in &draft.files {
            self.dropped.extend(new_definitions(change));
            log.tell(
                EventKind::Undone,
                "dropped the change",
                [("path", change.path.as_str().into())],
            );
        }
    }

    /// Returns the definitions of this file that the model wrote in changes that were dropped, the newest first.
    pub(super) fn dropped(&self, path: &RelPath) -> impl Iterator<Item = &DroppedDefinition> {
        let dropped = self.dropped.iter().rev();
        dropped.filter(move |one| one.path == *path)
    }

    /// Writes what is staged into the project and ends the run with it.
    pub(super) fn keep(
        mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        mut summary: String,
    ) -> Ending {
        if self.suite.is_some() && was_saved_since(context, self.judged_at) {
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
    pub(super) fn take_back(
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
            stopped != Stopped::Interrupted && !was_saved_since(context, best.judged_at)
        };
        if let Some(best) = self.best.take().filter(counts) {
            return self.keep_part(context, log, plan, best, ending);
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
        best: Best,
        mut ending: Ending,
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

    /// Drops what is staged; the last attempt is remembered.
    pub(super) fn drop_all(&mut self, log: &mut Log<'_>) {
        let attempt = Attempt::of(&self.staged);
        self.staged = Staged::default();
        self.waiting.clear();
        if !attempt.is_empty() {
            log.tell(EventKind::Undone, "dropped every change", []);
            self.attempt = attempt;
        }
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

/// Returns the bytes of a file of the project, or nothing where there is none.
fn on_disk(context: &Context<'_>, path: &RelPath) -> Result<Option<Vec<u8>>, Refusal> {
    let found = context.project.door().find(path);
    found.map_err(|error| unreadable(path, &error))
}

/// Says whether a file of the project was saved since tests were started: they judged other files.
fn was_saved_since(context: &Context<'_>, start: SystemTime) -> bool {
    let root = context.tree().root();
    let files = context.whole_tree().files().iter();
    let mut times = files.filter_map(|file| {
        let found = file.path.under(root).symlink_metadata();
        found.and_then(|found| found.modified()).ok()
    });
    times.any(|time| time > start)
}

fn red(report: Option<&SuiteReport>) -> Vec<FailedTest> {
    let failures = report.into_iter();
    let failures = failures.flat_map(|report| report.failures.iter().chain(&report.refused));
    failures.map(FailedTest::from).collect()
}

fn attempt_place(context: &Context<'_>) -> String {
    format!(".harness/runs/{}/attempt.patch", context.run.as_str())
}

/// Returns the report of tests that had no private version of the project to run in.
fn not_started(context: &Context<'_>, error: &ScratchError) -> SuiteReport {
    let runner = context.project.runner();
    let sandbox = runner.map_or(harness_hands::process::sandbox::Sandbox::None, |runner| {
        runner.sandbox()
    });
    SuiteReport::could_not_start(error.to_string(), sandbox)
}

fn tell_tests(log: &mut Log<'_>, when: &str, report: &SuiteReport) {
    let failed = report.failed + report.errors;
    let text = match evidence::unusable(report) {
        Some(problem) => format!("tests {when}: {problem}"),
        None => format!(
            "tests {when}: {} passed, {failed} failed ({:.1} s)",
            report.passed, report.seconds
        ),
    };
    let data = [
        ("passed", report.passed.into()),
        ("failed", failed.into()),
        ("result", report.output_tail.clone().into()),
    ];
    log.tell(EventKind::Tests, &text, data);
}

pub(super) fn tell_trying(log: &mut Log<'_>, draft: &ChangeSet) {
    let paths = draft.files.iter().map(|change| change.path.as_str());
    let names: Vec<&str> = paths.collect();
    let text = format!("trying a change of {}", names.join(", "));
    let data = [("action", "try".into()), ("result", draft.diff().into())];
    log.tell(EventKind::Action, &text, data);
}

/// Returns files that get another path as those that go and those that come, as far as they are text.
pub(super) fn moved(context: &Context<'_>, set: &ChangeSet) -> Vec<FileChange> {
    let ends = |(from, to): &(RelPath, RelPath)| {
        let changed = set.files.iter().find(|change| change.path == *from);
        let (before, after) = match changed {
            Some(change) => (change.before.clone(), change.after.clone()),
            None => {
                let text = context.whole_tree().text(from).ok()?.into_content();
                (Some(text.clone()), Some(text))
            }
        };
        let end = |path: &RelPath, before, after| FileChange {
            path: path.clone(),
            before,
            after,
        };
        Some([end(from, before, None), end(to, None, after)])
    };
    set.moves.iter().filter_map(ends).flatten().collect()
}

/// Returns why a run that writes would refuse a change; what may not change is asked about before anything is shown.
pub(super) fn refusal(
    context: &Context<'_>,
    plan: &Plan,
    changes: &[FileChange],
    moved: &[FileChange],
) -> Option<Refusal> {
    let mut named = plan.mentions().paths.clone();
    named.extend(plan.task.written_paths());
    let door = context.project.door();
    let beside = [changes, moved].concat();
    let context = context.guard_context(&beside, &[]);
    let trespass = |change: &FileChange| {
        let allowed = door.within_scope(&change.path);
        let allowed = allowed.and_then(|()| protected::check(door, &change.path, &named));
        allowed.err().map(trespass)
    };
    let refused = changes.iter().find_map(|change| {
        trespass(change).or_else(|| guard::refusal(change, &plan.task, &context))
    });
    refused.or_else(|| moved.iter().find_map(trespass))
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

/// Returns the bytes of a change in the encoding that the file has.
fn encoded(now: Option<&[u8]>, path: &RelPath, new: &str) -> Result<Vec<u8>, Refusal> {
    let text = now.and_then(|bytes| Text::decode(bytes).ok());
    let text = text.unwrap_or_else(|| Text::new(""));
    text.encode(new).map_err(|error| {
        let reason = format!(
            "`{path}` cannot hold `{}` in {}: use plain characters",
            error.character, error.encoding
        );
        Refusal::new("draft.encoding", reason, path.as_str())
    })
}

/// Returns how a run ends that could not take its project.
fn cannot_begin(error: &WriteError) -> Ended {
    match error {
        WriteError::Lock(LockError::Busy(holder)) => {
            let summary = format!("the project is held by {holder}");
            Ended::new(Stopped::Busy, summary).hinting("wait for it to end, or stop it")
        }
        WriteError::Lock(LockError::Interrupted) => Ended::interrupted(),
        other => Ended::new(Stopped::Stuck, other.to_string())
            .hinting("nothing was changed; check the disk and the folder's permissions"),
    }
}

/// Returns the definitions at the top of a file that a change adds.
fn new_definitions(change: &FileChange) -> Vec<DroppedDefinition> {
    let mut new = change.brought();
    new.retain(|one| one.parent.is_none());
    let dropped = |one: Definition| {
        Some(DroppedDefinition {
            path: change.path.clone(),
            name: one.qualified.to_string(),
            code: change.new_text().get(one.span())?.to_owned(),
        })
    };
    new.into_iter().filter_map(dropped).collect()
}
