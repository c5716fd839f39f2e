//! The one path that every change takes, whoever made it: guard, stage, run the suite on a private version of the
//! project, judge, and only then write.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use harness_code::edit::{ChangeSet, FileChange};
use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::suite::{Runner as Framework, Suite};
use harness_code::symbols;
use harness_code::text::Text;
use harness_hands::lock::LockError;
use harness_hands::scratch::{Scratch, ScratchError, Touch};
use harness_hands::suite::{Failure, Lines, Selection, SuiteReport, Watch, last_time, run_watched};
use harness_hands::transaction::{Transaction, WriteError};

use crate::goal::Goal;
use crate::plan::{Place, Plan, Spot};
use crate::run::asked::is_part_of_name;
use crate::run::context::Context;
use crate::run::ending::{Attempt, Ended};
use crate::run::event::EventKind;
use crate::run::evidence::{self, Evidence, Observed, Verdict, file_of, own_name};
use crate::run::log::{Log, redacted, tests_begin};
use crate::run::result::Stopped;
use crate::run::staged::Staged;
use crate::run::trial::closing::SeenFile;
use crate::run::trial::staging::DroppedDefinition;
use harness_code::request::kind::Kind;

mod closing;
mod first;
mod looks;
pub(super) mod staging;

/// How long a run waits for another one that holds the project.
const PATIENCE: Duration = Duration::from_secs(20);

/// Changes that meet a part of a task, with what the tests said of them.
struct Best {
    staged: Staged,
    after: Option<SuiteReport>,
    goals: Vec<Goal>,
    /// The files of the project when the tests that judged them were started.
    judged_files: Vec<SeenFile>,
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
    /// The files of the project when the tests were last started to judge what is staged.
    judged_files: Vec<SeenFile>,
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
            writer.begin(context.run, plan.task.text(), waiting)
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
            judged_files: closing::seen_files(context),
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
                judged_files: self.judged_files.clone(),
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
        let mut goals = Goal::all_of(&plan.task, true, "shown by tests");
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
        self.judged_files = closing::seen_files(context);
        self.judged = Some(self.staged.fingerprint());
        if self.suite.is_none() && plan.task.kind() == Kind::Tests {
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
            plan,
            changes: &changes,
            tree: context.whole_tree(),
            has_suite: self.suite.is_some(),
            before: self.before.as_ref(),
            after: self.after.as_ref(),
            observed: &self.observed,
        })
    }
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
