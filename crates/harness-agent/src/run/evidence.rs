//! Is it done? Judged by what the task names, from what is staged and from what tests that really ran say; never from
//! what the model says or from what happened to change.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use harness_code::edit::FileChange;
use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::tree::{self, SourceTree};
use harness_hands::suite::{COMMAND, Failure, Lines, Outcome, SuiteReport, UNBUILT};

use crate::goal::Goal;
use crate::plan::{Plan, last_part};
use crate::run::asked::{Asked, OrderState, Target};
use crate::run::why;
use harness_code::request::Request;
use harness_code::request::kind::Kind;

/// What the finish rule is asked about.
#[derive(Clone, Copy)]
pub(super) struct Evidence<'a> {
    pub(super) task: &'a Request,
    pub(super) plan: &'a Plan,
    /// Every file that differs from what it was before the run.
    pub(super) changes: &'a [FileChange],
    /// The project as it was when the run began.
    pub(super) tree: &'a SourceTree,
    /// Whether the project has a suite at all.
    pub(super) has_suite: bool,
    pub(super) before: Option<&'a SuiteReport>,
    pub(super) after: Option<&'a SuiteReport>,
    pub(super) observed: &'a Observed,
}

/// What was seen beside the two reports.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed {
    /// Tests that said different things about the state before the change.
    pub(super) unsteady_before: Vec<String>,
    /// Tests that said different things about the state after it.
    pub(super) unsteady_after: Vec<String>,
    /// What the tests say of the code without the tests that the run adds or changes.
    pub(super) without_new_tests: Option<SuiteReport>,
    /// The lines that red tests ran before the change, as far as they were looked at.
    pub(super) lines: BTreeMap<String, Lines>,
    /// Tests, their settings and code that running the change rewrote.
    pub(super) rewritten: Vec<RelPath>,
    /// Files of the project that the command of the suite names.
    pub(super) run_by_name: Vec<RelPath>,
    /// Tests that were red, pass now, and no longer run what the task names.
    pub(super) unreached: Vec<String>,
    /// Why the tests that ran say nothing of a file that is changed.
    pub(super) uncovered: Option<String>,
    /// A definition that new tests are for and pass without.
    pub(super) untested: Option<String>,
}

impl Observed {
    /// Returns the tests that say different things, on either state.
    pub(super) fn unsteady(&self) -> Vec<String> {
        let mut names = [
            self.unsteady_before.as_slice(),
            self.unsteady_after.as_slice(),
        ]
        .concat();
        names.sort();
        names.dedup();
        names
    }
}

/// What the evidence says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is done; the words say what proves it.
    Proven(String),
    /// Tests that passed fail now.
    Worse(String),
    /// Nothing is worse, but something is missing.
    Unfinished { rule: &'static str, reason: String },
    /// The suite says nothing: it could not start, took too long, or has no tests.
    Unverified(String),
}

/// The rule for tests that were asked for and have not come.
pub(super) const NO_NEW_TEST: &str = "finish.no_new_test";
/// The rule of tests that fail though they should pass.
pub(super) const TESTS_FAILING: &str = "finish.tests_failing";

/// How many tests that were red already a summary names; more would bury what was done.
const RED_NAMED: usize = 3;

/// Red tests beyond this are not looked at line by line: each costs a run.
const MOST_TRACED: usize = 40;

/// Tests that turned green beyond this are not looked at line by line.
const MOST_TURNED: usize = 12;

impl Evidence<'_> {
    /// Judges.
    pub(super) fn verdict(&self) -> Verdict {
        if self.changes.is_empty() {
            return unfinished(
                "finish.nothing_changed",
                "nothing is changed yet: write the changed definition",
            );
        }
        let asked = self.asked();
        if !self.has_suite {
            return self.without_suite(&asked);
        }
        let after = match self.usable(&asked) {
            Ok(after) => after,
            Err(verdict) => return verdict,
        };
        if let Some((rule, reason)) = asked
            .missing()
            .or_else(|| self.missing_tests(&asked, after))
        {
            return unfinished(rule, &reason);
        }
        if let Some(reason) = self.still_failing(&asked, after) {
            return unfinished(TESTS_FAILING, &reason);
        }
        if let Some(failure) = self.fails_otherwise(after) {
            let reason = format!(
                "a test that failed before now fails in another way: make it pass\n{}",
                failure.shown()
            );
            return unfinished(TESTS_FAILING, &reason);
        }
        if let Some(name) = &self.observed.untested {
            let reason = format!(
                "the new tests pass even when `{name}` returns nothing: check what it returns"
            );
            return unfinished("finish.no_new_test", &reason);
        }
        if let Some(test) = self.observed.unreached.first() {
            let reason = format!(
                "{test} passes, but no longer runs what the task names: change that, not what leads to it"
            );
            return unfinished("finish.unreached", &reason);
        }
        // Where the task names nothing, what it led to is a guess: a red test that passes now says more.
        let is_guessed = asked.names_nothing() && self.has_mended(after);
        let shown_by_no_test =
            self.task.kind() == Kind::Fix && !is_guessed && self.blamed(&asked, after).is_empty();
        if let Some((rule, reason)) = asked.untouched().filter(|_| shown_by_no_test) {
            return unfinished(rule, &reason);
        }
        if let Some(report) = &self.observed.without_new_tests
            && let Some(reason) = self.hangs_on_new_tests(&asked, after, report)
        {
            return unfinished("finish.hangs_on_new_tests", &reason);
        }
        Verdict::Proven(self.proof(after))
    }

    /// Returns the report on the changes where it can prove something and nothing is worse, or the verdict.
    fn usable(&self, asked: &Asked<'_>) -> Result<&SuiteReport, Verdict> {
        let Some(after) = self.after else {
            return Err(Verdict::Unverified("the tests have not run".to_owned()));
        };
        if let Some(problem) = unusable(after).or_else(|| other_copy(after)) {
            let verdict = self.not_compiling(after);
            let verdict = verdict.or_else(|| self.runs_no_more(after, &problem));
            return Err(verdict.unwrap_or(Verdict::Unverified(problem)));
        }
        if let Some(problem) = &self.observed.uncovered {
            return Err(Verdict::Unverified(problem.clone()));
        }
        if let Some(path) = self.observed.rewritten.first() {
            let reason =
                format!("running the change rewrites or removes `{path}`: change the code instead");
            return Err(unfinished("finish.rewrites", &reason));
        }
        if let Some(broken) = self.broken(after) {
            return Err(Verdict::Worse(broken));
        }
        if after.passed == 0 {
            let shown = after.failures.first().map(Failure::shown);
            let reason = format!("no test passes yet\n{}", shown.unwrap_or_default());
            return Err(unfinished(TESTS_FAILING, &reason));
        }
        let ids: Vec<&str> = self.before.map_or(Vec::new(), |before| {
            let failed = before.failures.iter().map(|failure| failure.id.as_str());
            failed
                .chain(before.passed_ids.iter().map(String::as_str))
                .collect()
        });
        match asked.changed_test(&ids, &self.observed.run_by_name) {
            Some((rule, reason)) => Err(unfinished(rule, &reason)),
            None => Ok(after),
        }
    }

    /// Judges code that a compiler refuses, where its complaint is about something that was changed, about a test that
    /// waits for more, or about code that compiled before: then it is no fault of the machine.
    fn not_compiling(&self, after: &SuiteReport) -> Option<Verdict> {
        let has_failed = matches!(after.outcome, Outcome::NoReport | Outcome::CouldNotStart);
        let changed = self.changes.iter().map(|change| &change.path);
        let has_compiled = self.before.is_some_and(|before| unusable(before).is_none());
        // A compiler that refused another line of the project before does its work too.
        let is_own = |name: &str| {
            let mut files = self.tree.files().iter();
            files.any(|file| is_at(name, &file.path))
        };
        let first = |report: &SuiteReport| why::compile_error(&report.output_tail, is_own);
        let was_refused = self.before.and_then(first);
        let is_refused_elsewhere = was_refused.is_some() && was_refused != first(after);
        let others = self.tree.files().iter();
        let others = others.filter(|file| file.test || has_compiled || is_refused_elsewhere);
        let files = changed.chain(others.map(|file| &file.path));
        let compiled = |path: &&RelPath| Language::of(path) != Language::Python;
        let files: Vec<&RelPath> = files.filter(compiled).collect();
        let counts = |name: &str| files.iter().any(|path| is_at(name, path));
        let error = why::compile_error(&after.output_tail, counts).filter(|_| has_failed)?;
        let reason = format!("the code does not compile: {error}");
        Some(match self.before.and_then(unusable) {
            None if self.before.is_some() => Verdict::Worse(reason),
            _ => unfinished("finish.does_not_compile", &reason),
        })
    }

    /// Tests that ran before and do not run at all now are broken by the change, unless something is not installed.
    fn runs_no_more(&self, after: &SuiteReport, problem: &str) -> Option<Verdict> {
        let has_run = |before: &SuiteReport| before.passed > 0 && unusable(before).is_none();
        let is_foreign = |name: &str| {
            let mut files = self.tree.files().iter();
            !name.ends_with(".py") && !files.any(|file| is_at(name, &file.path))
        };
        let is_end = matches!(
            after.outcome,
            Outcome::Ran | Outcome::NoTests | Outcome::NoReport | Outcome::CouldNotStart
        );
        let is_broken = is_end
            && after.collected == 0
            && after.missing_dependency.is_none()
            && why::compile_error(&after.output_tail, is_foreign).is_none()
            && self.before.is_some_and(has_run);
        is_broken.then(|| Verdict::Worse(format!("tests ran before, and now {problem}")))
    }

    /// Returns what became of each thing that the task asks for. Where the whole is not proven, only those parts are met
    /// that nothing speaks against, and none where something was begun for the others: it could not be told apart.
    pub(super) fn goals(&self) -> Vec<Goal> {
        let (is_proven, words) = match self.verdict() {
            Verdict::Proven(words) => (true, words),
            Verdict::Worse(words) | Verdict::Unverified(words) => (false, words),
            Verdict::Unfinished { reason, .. } => (false, reason),
        };
        let why = words.lines().next().unwrap_or_default();
        if is_proven || self.changes.is_empty() {
            return Goal::all_of(self.task, is_proven, why);
        }
        let asked = self.asked();
        let states = asked.order_states();
        let after = self.after.filter(|_| self.usable(&asked).is_ok());
        let open = |state: &OrderState| -> Option<String> {
            let missing = state.missing.as_ref().map(|(_, reason)| reason.clone());
            let failing = || self.still_failing(&asked, after?);
            let failing = || failing().filter(|_| state.kind == Kind::Fix);
            let tests = || self.missing_tests(&asked, after?);
            let tests = || tests().filter(|_| state.wants_test || state.kind == Kind::Tests);
            let untouched = || state.untouched.clone();
            let rest = missing.or_else(failing).or_else(untouched);
            rest.or_else(|| tests().map(|(_, reason)| reason))
        };
        let open: Vec<Option<String>> = states.iter().map(open).collect();
        let met: Vec<&OrderState> = states
            .iter()
            .zip(&open)
            .filter(|(_, open)| open.is_none())
            .map(|(state, _)| state)
            .collect();
        let is_mixed = !asked.is_accounted_for(&met);
        let seen = self.observed;
        let is_doubtful = seen.untested.is_some()
            || !seen.unreached.is_empty()
            || seen.without_new_tests.as_ref().is_some_and(|without| {
                after.is_none_or(|after| self.hangs_on_new_tests(&asked, after, without).is_some())
            });
        let is_apart = after.is_some() && open.iter().any(Option::is_some);
        if !is_apart || is_mixed || is_doubtful {
            return Goal::all_of(self.task, false, why);
        }
        let goal = |(state, open): (OrderState, Option<String>)| Goal {
            text: state.goal,
            met: open.is_none(),
            why: match &open {
                Some(reason) => reason.lines().next().unwrap_or_default().to_owned(),
                None => tests_pass(after.map_or(0, |after| after.passed)),
            },
        };
        states.into_iter().zip(open).map(goal).collect()
    }

    /// Judges where no tests can be run.
    fn without_suite(&self, asked: &Asked<'_>) -> Verdict {
        if self.has_tests() {
            let words = "the project has test files, and no way to run them was found";
            let hint = "name the command in the user's config (`[[project]] tests`)";
            return Verdict::Unverified(format!("{words}; {hint}"));
        }
        let untouched = || asked.untouched().filter(|_| self.task.kind() == Kind::Fix);
        match asked.missing().or_else(untouched) {
            Some((rule, reason)) => unfinished(rule, &reason),
            None => Verdict::Proven("the project has no tests; the change parses".to_owned()),
        }
    }

    /// Says whether the project has tests, by the names of files or of what they define.
    fn has_tests(&self) -> bool {
        let is_test = |name: &str| name.starts_with("test_");
        self.tree.files().iter().any(|file| {
            let mut definitions = file.facts.definitions.iter();
            let python = file.language == Language::Python;
            file.test
                || python && definitions.any(|one| one.kind.is_function() && is_test(one.name()))
        })
    }

    /// Returns the code that must change next.
    pub(super) fn next_place(&self) -> Option<Target> {
        self.asked().next_place()
    }

    /// Returns the definitions that are new or others than before.
    fn changed_definitions(&self) -> Vec<Target> {
        let changed = |change: &FileChange| -> Vec<Target> {
            let altered = change.altered();
            altered
                .iter()
                .map(|one| Target::of(&change.path, one))
                .collect()
        };
        self.changes.iter().flat_map(changed).collect()
    }

    /// Returns the innermost definition among those that are changed which a failing test passes through, first of the
    /// tests that passed before, else the one that a compiler refuses.
    pub(super) fn blamed_place(&self) -> Option<Target> {
        let changed = self.changed_definitions();
        let mut failures: Vec<&Failure> = self.after?.failures.iter().collect();
        let was_red = |failure: &Failure| {
            let before = self.before.into_iter().flat_map(|before| &before.failures);
            before.map(|known| &known.id).any(|id| *id == failure.id)
        };
        failures.sort_by_key(|failure| was_red(failure));
        let innermost = |place: &str| {
            let blamed = changed.iter();
            let blamed = blamed.filter(|target| passes_through(place, &target.path, &target.lines));
            blamed
                .min_by_key(|target| target.lines.end() - target.lines.start())
                .cloned()
        };
        let mut tracebacks = failures.iter().map(|failure| &*failure.traceback);
        let is_changed = |name: &str| self.changes.iter().any(|one| is_at(name, &one.path));
        // `a.ts(1,2): …` and `A.java:[1,2] …` name a line too.
        let refused = || {
            let error = why::compile_error(&self.after?.output_tail, is_changed)?;
            Some(error.replacen(":[", ":", 1).replacen('(', ":", 1))
        };
        tracebacks
            .find_map(innermost)
            .or_else(|| innermost(&refused()?))
    }

    fn asked(&self) -> Asked<'_> {
        let asked = Asked::read(self.task, self.plan, self.tree, self.changes);
        let is_shown = self.is_shown(&asked);
        let is_green = |after: &SuiteReport| {
            self.has_mended(after) && self.is_green_but_for_others(&asked, after)
        };
        let is_green = self.plan.is_listed() && self.after.is_some_and(is_green);
        let mended = self.after.map_or(Vec::new(), |after| self.mended(after));
        let compiles_again = self.after.is_some_and(|after| self.compiles_again(after));
        asked.shown(is_shown, is_green, mended, compiles_again)
    }

    /// Says whether tests show a change whose places the model listed: of everything that the task names, some test was
    /// red that speaks of it, and all such tests pass now.
    fn is_shown(&self, asked: &Asked<'_>) -> bool {
        let (Some(before), Some(after)) = (self.before, self.after) else {
            return false;
        };
        let was_steady = |id: &String| !self.observed.unsteady_before.contains(id);
        let passes = |id: &String| {
            has_passed(self.before, after, id) && !self.observed.unsteady_after.contains(id)
        };
        let is_shown = |target: Target| {
            let red = before.failures.iter();
            let mut red = red
                .filter(|failure| was_steady(&failure.id))
                .filter(|failure| {
                    passes_through(&failure.traceback, &target.path, &target.lines)
                        || asked.test_is_about(failure, &target)
                })
                .peekable();
            red.peek().is_some() && red.all(|failure| passes(&failure.id))
        };
        // Where the task names nothing, what it led to is a guess: a red test that passes now says more.
        let is_guessed = asked.names_nothing() && self.has_mended(after);
        // A file that is no code has no tests.
        let targets = asked.targets();
        let is_named = !targets.is_empty() && targets.iter().all(Target::is_definition);
        self.plan.is_listed()
            && self.task.orders().len() == 1
            && (is_guessed || is_named && asked.definitions().into_iter().all(is_shown))
    }

    /// Returns a test that was red and is stopped by another kind of error now, in a file that was changed or in the test
    /// itself: the change has to do with it, and does not do.
    fn fails_otherwise<'r>(&self, after: &'r SuiteReport) -> Option<&'r Failure> {
        let before = self.before?;
        let is_related = |failure: &Failure| {
            let mut changes = self.changes.iter();
            let file = failure.file.as_deref();
            let is_own = file
                .is_some_and(|file| RelPath::parse(file).is_ok_and(|path| tree::is_test(&path)));
            is_own && !self.observed.unsteady_before.contains(&failure.id)
                || changes.any(|one| file == Some(one.path.as_str()))
        };
        let is_other = |failure: &&Failure| {
            let mut old = before.failures.iter();
            let old = old.find(|old| old.id == failure.id);
            old.is_some_and(|old| {
                error_kind(old) != error_kind(failure) && error_kind(failure).ends_with("Error")
            })
        };
        let mut failures = after.failures.iter().filter(is_other);
        failures.find(|failure| is_related(failure))
    }

    /// Returns the tests that passed before and do not pass now.
    fn broken(&self, after: &SuiteReport) -> Option<String> {
        let before = self.before?;
        // Renamed and moved tests have new ids; a rename is judged by what passes.
        let gone = |id: &String| {
            !after.passed_ids.contains(id)
                && (self.task.kind() != Kind::Rename || failing(after, id))
                && !renumbered(before, after, id)
        };
        let is_unsteady_now = |id: &String| self.observed.unsteady_after.contains(id);
        let was_unsteady = |id: &String| self.observed.unsteady_before.contains(id);
        let broken: Vec<&String> = before
            .passed_ids
            .iter()
            .filter(|id| !was_unsteady(id) && (gone(id) || is_unsteady_now(id)))
            .collect();
        let red = |report: &SuiteReport| {
            let all = report.failed + report.errors;
            let failures = report.failures.iter();
            // What could not be imported hid tests: those inside of it are no new ones.
            let outer = |old: &Failure| old.id.trim_end_matches(UNBUILT).to_owned();
            let was_hidden =
                |id: &str| before.failures.iter().any(|old| is_inside(id, &outer(old)));
            let excused = |failure: &&Failure| was_unsteady(&failure.id) || was_hidden(&failure.id);
            let excused = |failure: &&Failure| excused(failure) || failure.id == COMMAND;
            let by_chance = failures.filter(excused).count();
            all.saturating_sub(u32::try_from(by_chance).unwrap_or(u32::MAX))
        };
        let was_green = before.failed + before.errors == 0;
        if was_green && failing(after, COMMAND) {
            let told = after.failures.iter().find(|failure| failure.id == COMMAND);
            return told.map(|failure| failure.shown());
        }
        if broken.is_empty() && red(after) <= red(before) {
            return None;
        }
        let names: Vec<&str> = broken.iter().map(|id| id.as_str()).take(3).collect();
        if let Some(id) = broken.first().filter(|id| !gone(id)) {
            return Some(format!(
                "{id} passed before and now passes only sometimes: write code that does the same each time"
            ));
        }
        let detail = after
            .failures
            .iter()
            .find(|failure| broken.contains(&&failure.id))
            .or(after.failures.first());
        let message = detail.map(|failure| failure.shown()).unwrap_or_default();
        let names = match names.is_empty() {
            true => "a test that was not there before fails".to_owned(),
            false => format!("{} passed before and fails now", names.join(", ")),
        };
        Some(format!("{names}\n{message}"))
    }

    /// Returns what is missing of the tests that were asked for.
    fn missing_tests(
        &self,
        asked: &Asked<'_>,
        after: &SuiteReport,
    ) -> Option<(&'static str, String)> {
        if !asked.wants_tests() {
            return None;
        }
        let known = |id: &str| {
            self.before.is_some_and(|before| {
                failing(before, id) || before.passed_ids.iter().any(|passed| passed == id)
            })
        };
        if let Some(new) = after.failures.iter().find(|failure| !known(&failure.id)) {
            let reason = format!(
                "a new test fails: write what the code does\n{}",
                new.shown()
            );
            return Some(("finish.new_test_fails", reason));
        }
        let is_new = |id: &&String| !known(id) && !self.observed.unsteady_after.contains(id);
        let new: Vec<&String> = after.passed_ids.iter().filter(is_new).collect();
        if !new.is_empty() {
            return asked.unused_by(&new);
        }
        // Counting tools that name no test still say how many there were.
        let names_none = after.passed_ids.is_empty();
        let more = after.collected > self.before.map_or(0, |before| before.collected);
        if (names_none && more) || asked.changed_tests() {
            return asked.unused_by(&[]);
        }
        let reason = "no new test ran: add one that the suite finds".to_owned();
        Some((NO_NEW_TEST, reason))
    }

    /// Returns why a fix is not one yet: the tests that the task blames are not among the passed.
    fn still_failing(&self, asked: &Asked<'_>, after: &SuiteReport) -> Option<String> {
        // "Add a, and fix b": each is judged by its own tests.
        let orders = self.task.orders();
        let read = orders.iter().map(|order| asked.read_order(&order.task));
        let added: Vec<String> = read.flat_map(|order| order.added_names()).collect();
        if let Some(reason) = self.addition_failing(asked, &added, after) {
            return Some(reason);
        }
        if let Some(failure) = self.namesake_failing(asked, after) {
            let shown = failure.shown();
            return Some(format!("the test still fails: try another change\n{shown}"));
        }
        if self.task.kind() == Kind::Fix || self.wants_all_green() {
            return self.blamed_failing(asked, after);
        }
        let mut fixes = orders.iter().filter(|order| order.task.kind() == Kind::Fix);
        fixes.find_map(|order| self.blamed_failing(&asked.read_order(&order.task), after))
    }

    /// Returns a test that was red each time, is red still, and has two words of the task in its name.
    fn namesake_failing<'r>(
        &self,
        asked: &Asked<'_>,
        after: &'r SuiteReport,
    ) -> Option<&'r Failure> {
        let writes = matches!(self.task.kind(), Kind::Add | Kind::Change | Kind::Fix);
        let before = self.before.filter(|_| writes)?;
        let mut red = after.failures.iter();
        red.find(|failure| {
            failing(before, &failure.id)
                && !self.observed.unsteady_before.contains(&failure.id)
                && asked.shared_words(own_name(&failure.id)) > 1
        })
    }

    /// A red test that speaks of what the task asks to be new is a test of that.
    fn addition_failing(
        &self,
        asked: &Asked<'_>,
        names: &[String],
        after: &SuiteReport,
    ) -> Option<String> {
        let mut red = after.failures.iter();
        let failure = red.find(|failure| {
            let mut names = names.iter();
            names.any(|name| {
                let is_steady = !self.observed.unsteady_before.contains(&failure.id);
                asked.test_has_word(failure, name) == Some(true)
                    || is_steady && is_called_after(own_name(&failure.id), name)
            })
        })?;
        let shown = failure.shown();
        Some(format!("the test still fails: try another change\n{shown}"))
    }

    fn blamed_failing(&self, asked: &Asked<'_>, after: &SuiteReport) -> Option<String> {
        let said = |report: &SuiteReport| {
            let mut failed = report.failures.iter().map(|failure| &failure.id);
            report.passed_ids.iter().any(|id| self.plan.names_test(id))
                || failed.any(|id| self.plan.names_test(id))
        };
        let names_none = after.passed_ids.is_empty();
        if self.plan.names_tests() && !names_none && !said(after) && !self.before.is_some_and(said)
        {
            return Some("the test that the task names did not run".to_owned());
        }
        let passes = |id: &String| {
            let is_steady = !self.observed.unsteady_after.contains(id);
            has_passed(self.before, after, id) && is_steady
        };
        let blamed = self.blamed(asked, after).into_iter();
        let first = blamed.into_iter().find(|id| !passes(id))?;
        if after.passed_ids.contains(&first) {
            return Some(format!(
                "{first} passes only sometimes: write code that does the same each time"
            ));
        }
        let failure = after.failures.iter().find(|failure| failure.id == first);
        let shown = failure.map_or_else(
            || format!("{first} did not run or was skipped: it must pass"),
            Failure::shown,
        );
        Some(format!("the test still fails: try another change\n{shown}"))
    }

    /// Returns the tests that must pass: those that the task names, or else those that were red and reach what it names.
    fn blamed(&self, asked: &Asked<'_>, after: &SuiteReport) -> Vec<String> {
        let ids = |report: &SuiteReport| -> Vec<String> {
            let failed = report.failures.iter().map(|failure| failure.id.clone());
            failed.chain(report.passed_ids.iter().cloned()).collect()
        };
        let mut named = self.before.map(ids).unwrap_or_default();
        named.extend(ids(after));
        named.retain(|id| asked.names_test(id));
        if self.wants_all_green() {
            let red = self.before.into_iter().flat_map(|before| &before.failures);
            named.extend(red.map(|failure| failure.id.clone()));
        }
        if !named.is_empty() {
            return named;
        }
        let Some(before) = self.before else {
            // Without a look at the state before, every red test may have been.
            let failures = after.failures.iter();
            let failures = failures.filter(|failure| self.reaches(asked, failure));
            return failures.map(|failure| failure.id.clone()).collect();
        };
        let was_steady = |id: &String| !self.observed.unsteady_before.contains(id);
        let red = before.failures.iter();
        let red: Vec<&Failure> = red.filter(|failure| was_steady(&failure.id)).collect();
        let ids = |is_one: &dyn Fn(&Failure) -> bool| -> Vec<String> {
            let red = red.iter().filter(|failure| is_one(failure));
            red.map(|failure| failure.id.clone()).collect()
        };
        let all = ids(&|_| true);
        let mut red = ids(&|failure| self.reaches(asked, failure));
        if red.is_empty() {
            let definitions = asked.targets().iter().filter(|one| one.is_definition());
            let definitions: Vec<&Target> = definitions.collect();
            red = ids(&|failure| {
                let mut definitions = definitions.iter();
                definitions.any(|target| asked.test_is_about(failure, target))
            });
        }
        // Words that name nothing tell of one fault; what was named to answer which one may have others. Those that
        // speak of what is named or changed, or are called like those that pass now or like the task, have to do with it.
        let is_mended = |id: &&String| has_passed(self.before, after, id);
        let mended: Vec<String> = all.iter().filter(is_mended).cloned().collect();
        if !asked.is_answered() || mended.is_empty() {
            return red;
        }
        let own = self.own_definitions(asked);
        let left = after
            .failures
            .iter()
            .filter(|failure| all.contains(&failure.id))
            .filter(|failure| is_told_of(asked, &own, &mended, failure));
        let left = left.map(|failure| failure.id.clone());
        mended.iter().cloned().chain(left).collect()
    }

    /// Returns the definitions that are changed, and those that the task names.
    fn own_definitions(&self, asked: &Asked<'_>) -> Vec<Target> {
        let mut own = self.changed_definitions();
        own.extend(asked.named().iter().cloned());
        own
    }

    /// Returns the tests that failed each time and pass now.
    fn mended<'r>(&'r self, after: &SuiteReport) -> Vec<&'r Failure> {
        let is_steady = |id: &String| {
            !self.observed.unsteady_before.contains(id)
                && !self.observed.unsteady_after.contains(id)
        };
        let red = self.before.into_iter().flat_map(|before| &before.failures);
        red.filter(|failure| is_steady(&failure.id) && has_passed(self.before, after, &failure.id))
            .collect()
    }

    /// Says whether every test that is red still was red for the same reason before and is about something else: no test
    /// of its file is mended, and neither its name nor its code speaks of what the task names or the change touches.
    fn is_green_but_for_others(&self, asked: &Asked<'_>, after: &SuiteReport) -> bool {
        let mended = self.mended(after);
        let ids: Vec<String> = mended.iter().map(|one| one.id.clone()).collect();
        let own = self.own_definitions(asked);
        let was_red_alike = |failure: &Failure| {
            let mut before = self.before.into_iter().flat_map(|before| &before.failures);
            let words = |one: &Failure| -> String {
                let line = one.message.lines().next().unwrap_or_default();
                line.chars().filter(|sign| !sign.is_ascii_digit()).collect()
            };
            before.any(|old| old.id == failure.id && words(old) == words(failure))
        };
        let is_foreign = |failure: &Failure| {
            let mut new = asked.new_names().into_iter();
            was_red_alike(failure)
                && !ids.iter().any(|id| file_of(id) == file_of(&failure.id))
                && !is_told_of(asked, &own, &ids, failure)
                && asked.shared_words(own_name(&failure.id)) == 0
                && !new.any(|name| asked.test_has_word(failure, last_part(name)) != Some(false))
                && own
                    .iter()
                    .all(|one| asked.test_has_word(failure, one.last_name()) == Some(false))
        };
        let red = usize::try_from(after.failed + after.errors).unwrap_or(usize::MAX);
        red == after.failures.len() && after.failures.iter().all(is_foreign)
    }

    /// Says whether a test that failed each time passes now.
    pub(super) fn has_mended(&self, after: &SuiteReport) -> bool {
        !self.mended(after).is_empty() || self.compiles_again(after)
    }

    /// Says whether a compiler refused the project, which its tests are part of, and everything passes now.
    fn compiles_again(&self, after: &SuiteReport) -> bool {
        let refused = |before: &SuiteReport| {
            let is_own = |name: &str| {
                let mut files = self.tree.files().iter();
                files.any(|file| is_at(name, &file.path))
            };
            let has_refused = matches!(before.outcome, Outcome::NoReport | Outcome::CouldNotStart);
            has_refused
                && before.missing_dependency.is_none()
                && why::compile_error(&before.output_tail, is_own).is_some()
        };
        after.passed > 0 && after.failed + after.errors == 0 && self.before.is_some_and(refused)
    }

    /// Says whether the text of a test has a word.
    pub(super) fn test_has_word(&self, failure: &Failure, word: &str) -> bool {
        self.asked().test_has_word(failure, word) == Some(true)
    }

    /// Says whether one of several orders is that all red tests pass.
    fn wants_all_green(&self) -> bool {
        let orders = self.task.orders();
        orders.len() > 1 && orders.iter().any(|order| order.task.is_about_red_tests())
    }

    /// Says whether a red test runs something that the task is about.
    fn reaches(&self, asked: &Asked<'_>, failure: &Failure) -> bool {
        let lines = self.observed.lines.get(&failure.id);
        let mut targets = asked.targets().iter();
        if is_no_test(&failure.id) {
            // What does not build is about what lies beside it.
            let place = failure.file.as_deref();
            let place = place.and_then(|file| RelPath::parse(file).ok());
            return place
                .is_some_and(|place| targets.any(|one| one.path.parent() == place.parent()));
        }
        let mut definitions = asked.definitions().into_iter();
        targets.any(|target| passes_through(&failure.traceback, &target.path, &target.lines))
            || definitions.any(|target| match lines {
                Some(lines) => ran(lines, &target),
                // What cannot be loaded counts where it speaks of it: nothing else does then.
                None if self.lacks_package(failure) => {
                    asked.test_has_word(failure, target.last_name()) != Some(false)
                }
                None => asked.test_may_run(failure, &target),
            })
    }

    /// Says whether a test was red before for want of a package of others: no change to this code mends that.
    fn lacks_package(&self, failure: &Failure) -> bool {
        let lacking = self
            .before
            .into_iter()
            .flat_map(|before| before.lacking.keys());
        let mut said = lacking.map(|module| format!("No module named '{module}"));
        said.any(|said| failure.message.contains(&said))
    }

    /// Returns the red tests that do not pass now and of which it is not known what they ran.
    pub(super) fn untraced(&self, before: &SuiteReport, after: &SuiteReport) -> Vec<String> {
        let asked = self.asked();
        if self.task.kind() != Kind::Fix || asked.definitions().is_empty() {
            return Vec::new();
        }
        let names_tests = before
            .failures
            .iter()
            .any(|failure| asked.names_test(&failure.id));
        let is_open = |failure: &&Failure| {
            !after.passed_ids.contains(&failure.id)
                && !asked
                    .targets()
                    .iter()
                    .any(|target| passes_through(&failure.traceback, &target.path, &target.lines))
        };
        let open = before.failures.iter().filter(|_| !names_tests);
        open.filter(is_open)
            .map(|failure| failure.id.clone())
            .take(MOST_TRACED)
            .collect()
    }

    /// Returns the new tests that pass, and the functions that they are for with what they return.
    pub(super) fn new_tests(&self) -> Option<(Vec<String>, Vec<Target>)> {
        let after = self.after?;
        let asked = self.asked();
        if self.task.kind() != Kind::Tests || asked.changed_tests() {
            return None;
        }
        // A project without tests has no report from before.
        let is_new = |id: &&String| {
            let is_known =
                |before: &SuiteReport| before.passed_ids.contains(id) || failing(before, id);
            !self.before.is_some_and(is_known)
        };
        let new: Vec<String> = after.passed_ids.iter().filter(is_new).cloned().collect();
        let (targets, _) = asked.named_before_and_after();
        (!new.is_empty() && !targets.is_empty()).then_some((new, targets))
    }

    /// Returns the tests of a fix that were red and pass now, with the definitions that the task names, before and after.
    pub(super) fn turned(&self) -> Option<(Vec<String>, Vec<Target>, Vec<Target>)> {
        let (before, after) = (self.before?, self.after?);
        let asked = self.asked();
        let (old, new) = asked.named_before_and_after();
        if self.task.kind() != Kind::Fix || old.is_empty() || new.len() != old.len() {
            return None;
        }
        let red = before.failures.iter().map(|failure| failure.id.clone());
        let turned = red.filter(|id| after.passed_ids.contains(id));
        Some((turned.take(MOST_TURNED).collect(), old, new))
    }

    /// Returns the tests that ran one of the definitions before the change and none of them after it.
    pub(super) fn unreached(
        tests: &[String],
        (old, before): (&[Target], &BTreeMap<String, Lines>),
        (new, after): (&[Target], &BTreeMap<String, Lines>),
    ) -> Vec<String> {
        let reaches = |lines: Option<&Lines>, targets: &[Target]| {
            lines.is_some_and(|lines| targets.iter().any(|target| ran(lines, target)))
        };
        let tests = tests
            .iter()
            .filter(|id| reaches(before.get(*id), old) && !reaches(after.get(*id), new));
        tests.cloned().collect()
    }

    /// Returns why the tests that were there before do not prove the change by themselves.
    fn hangs_on_new_tests(
        &self,
        asked: &Asked<'_>,
        after: &SuiteReport,
        without: &SuiteReport,
    ) -> Option<String> {
        let only_beside = || {
            let mut red = self.before?.failures.iter().map(|failure| &failure.id);
            let passes = |report: &SuiteReport, id: &String| report.passed_ids.contains(id);
            let id = red.find(|id| passes(after, id) && !passes(without, id))?;
            Some(format!("{id} passes only beside them"))
        };
        let problem = unusable(without)
            .or_else(|| self.broken(without))
            .or_else(|| self.still_failing(asked, without))
            .or_else(only_beside)?;
        Some(format!(
            "the tests pass only beside what this run adds to them: change the code, not what surrounds it\n{problem}"
        ))
    }

    fn proof(&self, after: &SuiteReport) -> String {
        let fixed: Vec<&str> = self.before.map_or(Vec::new(), |before| {
            before
                .failures
                .iter()
                .filter(|failure| after.passed_ids.contains(&failure.id))
                .map(|failure| failure.id.as_str())
                .collect()
        });
        let ends_badly = failing(after, COMMAND);
        let red = after.failed + after.errors - u32::from(ends_badly);
        let pass = tests_pass(after.passed);
        let mut words = match fixed.as_slice() {
            [] if self.task.kind() == Kind::Fix && after.passed == 1 => {
                format!("{pass}; it did not fail before")
            }
            [] if self.task.kind() == Kind::Fix => format!("{pass}; none of them failed before"),
            [] => pass,
            [one] => format!("{pass}; {one} failed before"),
            [one, rest @ ..] => format!("{pass}; {one} and {} more failed before", rest.len()),
        };
        if red > 0 {
            let named: Vec<&str> = after
                .failures
                .iter()
                .filter(|failure| failure.id != COMMAND)
                .take(RED_NAMED)
                .map(|failure| failure.id.as_str())
                .collect();
            let still = if red == 1 { "does" } else { "do" };
            words.push_str(&format!("; {red} failed before and still {still}"));
            if !named.is_empty() {
                let more = if after.failures.len() > RED_NAMED {
                    ", ..."
                } else {
                    ""
                };
                words.push_str(&format!(" ({}{more})", named.join(", ")));
            }
        }
        if ends_badly {
            words.push_str("; the test command itself ends with an error");
        }
        words
    }
}

/// Says whether a path as a tool tells it, from wherever that ran, is this file.
fn is_at(told: &str, path: &RelPath) -> bool {
    let rest = told.strip_suffix(path.as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// Returns the file that a test lies in, by its id, or what is as far from its name.
pub(super) fn file_of(id: &str) -> &str {
    let end = id.find("::").or_else(|| id.rfind('.'));
    &id[..end.unwrap_or(id.len())]
}

/// Returns the name of a test's own, without its file, its class and its case.
pub(super) fn own_name(id: &str) -> &str {
    if let Some((_, sentence)) = id.rsplit_once(" > ") {
        return sentence;
    }
    let test = id.split('[').next().unwrap_or(id);
    test.rsplit(['.', ':', ' ']).next().unwrap_or(test)
}

/// Returns the first word of what a test failed with: the kind of its error.
fn error_kind(failure: &Failure) -> &str {
    let message = &failure.message;
    let end = message.find(|c: char| !c.is_alphanumeric() && c != '_');
    &message[..end.unwrap_or(message.len())]
}

/// Says whether a test goes through what is named or changed or speaks of it, or is called like one that passes now or
/// like the task.
fn is_told_of(asked: &Asked<'_>, own: &[Target], mended: &[String], failure: &Failure) -> bool {
    let speaks = own.iter().any(|target| {
        passes_through(&failure.traceback, &target.path, &target.lines)
            || asked.test_has_word(failure, target.last_name()) == Some(true)
    });
    let name = own_name(&failure.id);
    let is_alike = mended.iter().any(|id| own_name(id) == name);
    speaks || is_alike && !name.is_empty() || asked.shared_words(name) > 1
}

fn unfinished(rule: &'static str, reason: &str) -> Verdict {
    Verdict::Unfinished {
        rule,
        reason: reason.to_owned(),
    }
}

fn failing(report: &SuiteReport, id: &str) -> bool {
    report.failures.iter().any(|failure| failure.id == id)
}

/// Returns whether a case of a test only has another name now: some are named after their place in a set, or after the
/// address of an object. Then as many cases of its test pass as before, and but for numbers they have the same names. A
/// case that is nothing but a number is named after its value, unless that is the time of day.
fn renumbered(before: &SuiteReport, after: &SuiteReport, id: &str) -> bool {
    // Rust names an example of the documentation after its line.
    fn parts(id: &str) -> Option<(&str, &str)> {
        let at = id.find('[').or_else(|| id.find(" (line "))?;
        Some(id.split_at(at))
    }
    let Some((test, case)) = parts(id) else {
        return false;
    };
    let is_value = case.chars().all(|c| !c.is_alphabetic()) && !has_time(case);
    let cases = |report: &SuiteReport| -> Vec<String> {
        let ids = report.passed_ids.iter().filter_map(|id| parts(id));
        let of_test = ids.filter(|(base, _)| *base == test);
        let mut names: Vec<String> = of_test.map(|(_, case)| without_numbers(case)).collect();
        names.sort();
        names
    };
    let (old, new) = (cases(before), cases(after));
    let is_among = |name: &String| {
        let count = |all: &[String]| all.iter().filter(|other| *other == name).count();
        count(&new) >= count(&old)
    };
    !is_value && !failing(after, id) && old.iter().all(is_among)
}

/// Returns whether a name holds a time of day, `16:01`, or a date with its year, `2026-11-17` or `17.11.2026`.
fn has_time(name: &str) -> bool {
    let is_number = |part: &str, digits: usize| {
        part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let words = name.split(|c: char| !c.is_ascii_digit() && !":-./".contains(c));
    words.into_iter().any(|word| {
        let hours: Vec<&str> = word.split(':').collect();
        let days: Vec<&str> = word.split(['-', '.', '/']).collect();
        let is_time = hours.len() > 1 && hours[..2].iter().all(|part| is_number(part, 2));
        let is_date = match days[..] {
            [first, middle, last] => {
                is_number(middle, 2)
                    && (is_number(first, 4) && is_number(last, 2)
                        || is_number(first, 2) && is_number(last, 4))
            }
            _ => false,
        };
        is_time || is_date
    })
}

/// Returns the name of a case without its numbers and addresses.
fn without_numbers(case: &str) -> String {
    let words = case.split(|c: char| !c.is_alphanumeric());
    let is_number = |word: &&str| {
        let digits = word.strip_prefix("0x").unwrap_or(word);
        digits.chars().all(|c| c.is_ascii_hexdigit())
            && digits.contains(|c: char| c.is_ascii_digit())
    };
    let kept: Vec<&str> = words
        .filter(|word| !is_number(word))
        .map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()))
        .collect();
    kept.join("-")
}

/// Says whether a red case only has another name now, as in `renumbered`: all cases of its test pass.
fn all_cases_pass(before: &SuiteReport, after: &SuiteReport, id: &str) -> bool {
    let Some((test, _)) = id.split_once('[') else {
        return false;
    };
    let of_test = |id: &&str| id.split_once('[').is_some_and(|(base, _)| base == test);
    let passed = |report: &SuiteReport| {
        let ids = report.passed_ids.iter().map(String::as_str);
        ids.filter(of_test).count()
    };
    let failed = |report: &SuiteReport| {
        let ids = report.failures.iter().map(|failure| failure.id.as_str());
        ids.filter(of_test).count()
    };
    failed(after) == 0 && passed(after) >= passed(before) + failed(before)
}

/// Says whether what is no test itself, a module that could not be imported or a class that could not be set up, runs
/// its tests now.
fn set_up_again(after: &SuiteReport, id: &str) -> bool {
    let inner = id
        .split_once('(')
        .map_or(id, |(_, inner)| inner.trim_end_matches(')'));
    let mut failures = after.failures.iter();
    let is_red = failures.any(|failure| failure.id == id || is_inside(&failure.id, inner));
    !is_red && after.passed_ids.iter().any(|test| is_inside(test, inner))
}

/// Says whether something that failed is no test: the command itself, or a package that does not build.
fn is_no_test(id: &str) -> bool {
    id == COMMAND || id.ends_with(UNBUILT)
}

/// Says whether a test lies in something, by its id.
fn is_inside(test: &str, outer: &str) -> bool {
    let rest = test.strip_prefix(outer);
    rest.is_some_and(|rest| rest.starts_with(['.', ':']))
}

/// Says whether a test that was red passes now: itself, under another name of its case, or with what it set up.
pub(super) fn has_passed(before: Option<&SuiteReport>, after: &SuiteReport, id: &String) -> bool {
    let ends_well = id != COMMAND || after.failed + after.errors == 0;
    after.passed_ids.contains(id)
        || is_no_test(id) && ends_well && after.outcome == Outcome::Ran && !failing(after, id)
        || set_up_again(after, id)
        || before.is_some_and(|before| all_cases_pass(before, after, id))
}

/// Says whether the name of a test begins with another: `test_slots` with that of `__slots__`.
fn is_called_after(test: &str, name: &str) -> bool {
    const SHORTEST: usize = 4;
    let name = name.trim_matches('_').to_lowercase();
    let test = test.to_lowercase();
    let rest = test.trim_start_matches("test").trim_start_matches('_');
    let rest = rest.strip_prefix(&name);
    name.len() >= SHORTEST && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// Says whether a traceback names one of these lines of a file: `path:12` or `path", line 12`.
pub(super) fn passes_through(traceback: &str, path: &RelPath, lines: &RangeInclusive<u32>) -> bool {
    let mut places = traceback.match_indices(path.as_str());
    places.any(|(at, found)| {
        let before = traceback[..at].chars().next_back();
        let rest = traceback.get(at + found.len()..).unwrap_or_default();
        let digits = rest
            .trim_start_matches([':', '"', ',', ' '])
            .trim_start_matches("line ");
        let end = digits
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(digits.len());
        let line: Option<u32> = digits.get(..end).and_then(|digits| digits.parse().ok());
        // `b/a.py` is not `a.py`, `/home/me/project/a.py` is.
        let is_whole = before.is_none_or(|c| !c.is_alphanumeric() && !"_.-".contains(c));
        is_whole && line.is_some_and(|line| lines.contains(&line))
    })
}

/// Says whether lines that ran lie inside a definition. Its first line runs when the file is imported.
fn ran(lines: &Lines, target: &Target) -> bool {
    let (first, last) = (*target.lines.start(), *target.lines.end());
    let inside = if first == last {
        first..=last
    } else {
        first + 1..=last
    };
    let ran = lines.get(target.path.as_str());
    ran.is_some_and(|ran| ran.iter().any(|line| inside.contains(line)))
}

/// Says how many tests pass.
pub(super) fn tests_pass(passed: u32) -> String {
    match passed {
        1 => "1 test passes".to_owned(),
        passed => format!("{passed} tests pass"),
    }
}

/// Returns why a report proves nothing and what to type, or nothing when it does.
pub(super) fn unusable(report: &SuiteReport) -> Option<String> {
    let (reason, hint) = why::unusable(report)?;
    Some(match hint {
        "" => reason,
        hint => format!("{reason}; {hint}"),
    })
}

/// Returns why tests that ran prove nothing about the change: they ran other code.
fn other_copy(report: &SuiteReport) -> Option<String> {
    let (module, path) = report.imported_elsewhere.iter().next()?;
    Some(format!(
        "the tests ran another copy of `{module}`, at {path}; `python -m pip install -e .` in their environment makes them run this one"
    ))
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
