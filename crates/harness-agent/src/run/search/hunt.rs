//! The hunt itself, on its own thread: blame, suspect, try, until nothing is left or time is up.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use harness_code::edit::FileChange;
use harness_code::mention::NamedDefinition;
use harness_code::mutate::{self, Mutation};
use harness_code::path::RelPath;
use harness_code::suite::Suite;
use harness_code::text::Text;
use harness_code::tree;
use harness_hands::process::runner::Runner;
use harness_hands::scratch::Scratch;
use harness_hands::suite::quick::Quick;
use harness_hands::suite::tried::{QuickError, Trace, Tried, Wanted};
use harness_hands::suite::{self, Failure, Outcome, Selection, Watch};

use crate::guard;
use crate::run::search::blame::{self, Accused, FileTexts, Suspect};
use crate::run::search::detour::Way;
use crate::run::search::{Find, Shared};
use harness_code::request::Request;

/// Failing tests beyond this tell nothing new, and each costs a run.
const MOST_TESTS: usize = 12;
/// Other tests that stop at an error: so many are looked at, to know whether they run what is changed.
const MOST_OTHERS: usize = 8;
/// How long the traces may take: beyond it fewer passing tests are known, and that is all.
const TRACING: Duration = Duration::from_secs(12);
/// Once something passes, so many more are tried, to know what else would pass. A number and not a time: two runs of
/// the same thing say the same.
const ALTERNATIVES: usize = 60;
/// The same where what passes leaves other tests red: one that mends those too is likelier the right one.
const PATIENCE: usize = 400;
/// More red tests than this tell nothing new about a change that passes.
const MOST_RED: usize = 40;
/// More passing changes than this tell that the tests say little.
const MOST_FOUND: usize = 12;
/// Those that are never believed alone do not end the search before there are so many.
const MOST_SHAKY: usize = 120;
/// The longest that failing tests may take at each try, in seconds of the processor.
const LONGEST_TRY: f64 = 5.0;
/// The same where a test never ends: nearly every change leaves it so, and each costs this much. One that mends it takes
/// moments.
const SHORTEST_TRY: f64 = 0.08;
/// The second look at those that did not end in that time.
const SECOND_TRY: f64 = 1.0;
/// How long tests may wait at each try, for a sleep or a busy machine.
const WAITING: Duration = Duration::from_secs(5);
/// The same where a test never ends.
const SHORT_WAITING: Duration = Duration::from_secs(1);
/// How much of the time goes to what can be tried quickly where something else is left to try.
const QUICK_SHARE: f32 = 0.7;
/// The same as `ALTERNATIVES` for changes that need a new import, which are slow to try.
const ALTERNATIVES_ANEW: usize = 6;

/// Everything a hunt needs; it knows nothing of the session.
pub(super) struct Hunt {
    pub(super) runner: Runner,
    pub(super) suite: Suite,
    pub(super) task: Request,
    pub(super) named: Vec<NamedDefinition>,
    /// The tests to make pass, as the task names them or as they failed.
    pub(super) targets: Vec<String>,
    /// Every test that failed before.
    pub(super) failures: Vec<Failure>,
    pub(super) scope: Option<RelPath>,
    /// How long the whole suite took, in seconds.
    pub(super) suite_seconds: f64,
    pub(super) budget: Duration,
}

/// One change to try.
struct Candidate {
    suspect: usize,
    mutation: Mutation,
}

impl Hunt {
    /// Hunts in a private version of the project until time is up, nothing is left, or somebody says stop.
    pub(super) fn go(self, scratch: Scratch, shared: &Shared) {
        let began = Instant::now();
        if let Err(error) = self.hunt(scratch, shared, began) {
            shared.update(|state| state.trouble = error.to_string());
        }
        shared.update(|state| {
            state.seconds = began.elapsed().as_secs_f64();
            state.finished = true;
        });
    }

    fn hunt(&self, scratch: Scratch, shared: &Shared, began: Instant) -> Result<(), QuickError> {
        let failures = self.failures.iter();
        let red: Vec<String> = failures.map(|failure| failure.id.clone()).collect();
        let targets: Vec<String> = self.targets.iter().take(MOST_TESTS).cloned().collect();
        let root = scratch.root();
        let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        let mut quick = Quick::start(&self.runner, &self.suite, scratch, &shared.stop)?;
        let traces = self.traces(&mut quick, &targets, &red, shared)?;
        // Those that nobody asked about accuse nobody: they may fail for a reason of their own.
        let (also_red, traces): (Vec<Trace>, Vec<Trace>) = traces
            .into_iter()
            .partition(|trace| trace.failing && !targets.contains(&trace.test));
        let hints = blame::Hints {
            named: &self.named,
            failures: &self.failures,
            scope: self.scope.as_ref(),
        };
        let read = |path: &RelPath| {
            let bytes = tree::read_inside(&root, path).ok()?;
            Text::decode(&bytes).ok()
        };
        let (suspects, files) = blame::suspects(&read, &traces, &hints);
        let place = suspects.first().map(|suspect| suspect.name.clone());
        let accused = blame::accused(&self.failures, &targets);
        let candidates = candidates(&suspects, &files, &accused, &self.failures);
        shared.update(|state| {
            state.place = place.unwrap_or_default();
            state.suspected = candidates.len();
        });
        let hangs = |failure: &Failure| failure.hung.is_some() && targets.contains(&failure.id);
        let is_hung = self.failures.iter().any(hangs);
        let (limit, waiting) = match is_hung {
            true => (SHORTEST_TRY, SHORT_WAITING),
            false => (LONGEST_TRY, WAITING),
        };
        let way = Way {
            traces: &traces,
            failures: &self.failures,
            suspects: &suspects,
            files: &files,
        };
        let mut bench = Bench {
            shared,
            red: &red,
            task: &self.task,
            quick: &mut quick,
            limit: Duration::from_secs_f64(limit),
            waiting,
            rest_limit: Duration::from_secs_f64((self.suite_seconds * 6.0).clamp(3.0, 40.0)),
            stale: Vec::new(),
            lost: Vec::new(),
            way,
            also_red: &also_red,
        };
        if !is_hung {
            bench.measure(&targets)?;
        }
        bench.try_all(candidates, began, self.budget, is_hung)?;
        let stale = std::mem::take(&mut bench.stale);
        let anew = Anew {
            hunt: self,
            shared,
            red: &red,
            also_red: &also_red,
            way,
        };
        anew.try_all(stale, quick.into_scratch(), began + self.budget)
    }

    /// Returns which lines the failing tests run, and the others as far as time allows.
    fn traces(
        &self,
        quick: &mut Quick,
        targets: &[String],
        red: &[String],
        shared: &Shared,
    ) -> Result<Vec<Trace>, QuickError> {
        let others = self.failures.iter().filter(|failure| stops(failure));
        let others = others.map(|failure| &failure.id);
        let others = others.filter(|id| !targets.contains(id)).take(MOST_OTHERS);
        let traced: Vec<String> = targets.iter().chain(others).cloned().collect();
        quick.trace(&traced, red, TRACING.min(self.budget / 3), &shared.stop)
    }
}

/// Returns every change of every suspect, likeliest first; what is destructive comes last.
fn candidates(
    suspects: &[Suspect],
    files: &FileTexts,
    accused: &Accused,
    failures: &[Failure],
) -> Vec<Candidate> {
    let mut found = Vec::new();
    let heaviest = suspects
        .iter()
        .map(|suspect| suspect.weight)
        .fold(1e-6, f32::max);
    for (index, suspect) in suspects.iter().enumerate() {
        let Some(text) = files.get(&suspect.path) else {
            continue;
        };
        let share = suspect.weight / heaviest;
        let mutations = mutate::mutations(text.content(), suspect.span.clone(), |line| {
            suspect.line_weight(line)
        });
        found.extend(mutations.into_iter().map(|mut mutation| {
            let old = text.content().get(mutation.range.clone());
            mutation.prior *= share * accused.weight(old.unwrap_or_default(), &mutation.text);
            mutation.prior *=
                blame::hang_weight(failures, &suspect.path, mutation.line, mutation.kind);
            Candidate {
                suspect: index,
                mutation,
            }
        }));
    }
    found.sort_by(|a, b| {
        (a.mutation.destructive.cmp(&b.mutation.destructive))
            .then(b.mutation.prior.total_cmp(&a.mutation.prior))
    });
    found
}

/// Where changes are tried.
struct Bench<'a> {
    shared: &'a Shared,
    red: &'a [String],
    task: &'a Request,
    quick: &'a mut Quick,
    limit: Duration,
    waiting: Duration,
    rest_limit: Duration,
    stale: Vec<Candidate>,
    /// Those that did not end in time.
    lost: Vec<Candidate>,
    way: Way<'a>,
    also_red: &'a [Trace],
}

impl<'a> Bench<'a> {
    /// Returns that these tests run, and no others.
    fn alone<'t>(&self, tests: &'t [String]) -> Wanted<'t>
    where
        'a: 't,
    {
        Wanted {
            first: tests,
            red: self.red,
            near: &[],
            rest: false,
            limit: self.limit,
            waiting: self.waiting,
            rest_limit: self.rest_limit,
        }
    }

    /// Learns how long the failing tests take as they are.
    fn measure(&mut self, targets: &[String]) -> Result<(), QuickError> {
        let wanted = self.alone(targets);
        let tried = self.quick.run(&wanted, &self.shared.stop)?;
        // One that never ends says nothing of how long the others take.
        let seconds = match tried {
            Tried::Passed { seconds, .. } | Tried::Failed { seconds, .. } => seconds,
            Tried::Lost | Tried::Stale(_) => 0.3,
        };
        self.limit = Duration::from_secs_f64((seconds * 6.0 + 0.2).clamp(0.3, LONGEST_TRY));
        Ok(())
    }

    /// Tries one candidate after the other, likeliest first, until enough is known.
    fn try_all(
        &mut self,
        mut candidates: Vec<Candidate>,
        began: Instant,
        budget: Duration,
        is_hung: bool,
    ) -> Result<(), QuickError> {
        let shared = self.shared;
        candidates.reverse();
        let mut more: Option<usize> = None;
        loop {
            let share = if self.stale.is_empty() {
                1.0
            } else {
                QUICK_SHARE
            };
            let late = began.elapsed() > budget.mul_f32(share) || more == Some(0);
            let enough = shared.sound() >= MOST_FOUND || shared.found() >= MOST_SHAKY;
            if shared.stop.load(Ordering::Relaxed) || late || enough {
                return Ok(());
            }
            candidates.extend(self.drafts());
            if candidates.is_empty() && is_hung && shared.found() == 0 {
                self.limit = Duration::from_secs_f64(SECOND_TRY);
                candidates = std::mem::take(&mut self.lost);
                candidates.reverse();
            }
            let Some(candidate) = candidates.pop() else {
                return Ok(());
            };
            let before = (shared.sound(), shared.whole());
            self.try_one(candidate)?;
            let new_whole = shared.whole() > before.1;
            more = match more {
                Some(left) if new_whole => Some(left.min(ALTERNATIVES)),
                Some(left) => Some(left.saturating_sub(1)),
                None if new_whole => Some(ALTERNATIVES),
                None => (shared.sound() > before.0).then_some(PATIENCE),
            };
        }
    }

    /// Takes apart the drafts that the model wrote meanwhile.
    fn drafts(&mut self) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (path, draft) in self.shared.take_drafts() {
            let mut suspects = self.way.suspects.iter();
            let suspect = suspects.position(|suspect| suspect.path == path);
            let (Some(suspect), Some(text)) = (suspect, self.way.files.get(&path)) else {
                continue;
            };
            let mutations = mutate::hunks(text.content(), &draft).into_iter();
            found.extend(mutations.map(|mutation| Candidate { suspect, mutation }));
        }
        found
    }

    fn try_one(&mut self, candidate: Candidate) -> Result<(), QuickError> {
        let suspect = &self.way.suspects[candidate.suspect];
        let Some((change, bytes)) = prepared(suspect, self.way.files, &candidate.mutation) else {
            return Ok(());
        };
        let wanted = Wanted {
            near: &suspect.near,
            rest: true,
            ..self.alone(&suspect.tests)
        };
        let tried = self
            .quick
            .try_change(&suspect.path, &bytes, &wanted, &self.shared.stop)?;
        self.shared.update(|state| state.tried += 1);
        // Asked last: a guard reads the whole file, which costs more than a try of most changes, and few pass.
        let may_happen = || guard::refusal_alone(&change, self.task).is_none();
        match tried {
            Tried::Passed { .. } if may_happen() => {
                let whole = self.mends_all(candidate.suspect, &bytes)?;
                let mut find = find(suspect, &candidate.mutation, change, whole);
                find.shaky |= is_half(suspect, self.also_red, whole)
                    || self.goes_around(&candidate, &bytes)?;
                self.shared.update(|state| state.found.push(find));
            }
            Tried::Stale(_) if !candidate.mutation.destructive && may_happen() => {
                self.stale.push(candidate);
            }
            Tried::Lost if self.limit.as_secs_f64() < SECOND_TRY => self.lost.push(candidate),
            Tried::Passed { .. } | Tried::Stale(_) | Tried::Failed { .. } | Tried::Lost => {}
        }
        Ok(())
    }

    /// Returns whether a change only goes around what is broken.
    fn goes_around(&mut self, candidate: &Candidate, bytes: &[u8]) -> Result<bool, QuickError> {
        if !Way::may_be_left(&candidate.mutation) {
            return Ok(false);
        }
        let suspect = &self.way.suspects[candidate.suspect];
        let limit = self.rest_limit;
        let stop = &self.shared.stop;
        let after = (self.quick).trace_change(&suspect.path, bytes, &suspect.tests, limit, stop)?;
        Ok(self
            .way
            .is_left(candidate.suspect, &candidate.mutation, &after))
    }

    /// Returns whether a change that passes also mends the other tests that were red.
    fn mends_all(&mut self, suspect: usize, bytes: &[u8]) -> Result<bool, QuickError> {
        let suspect = &self.way.suspects[suspect];
        let others = self.red.iter().filter(|id| !suspect.tests.contains(id));
        let others: Vec<String> = others.take(MOST_RED).cloned().collect();
        if others.is_empty() {
            return Ok(true);
        }
        let wanted = Wanted {
            limit: self.rest_limit,
            ..self.alone(&others)
        };
        let tried = self
            .quick
            .try_change(&suspect.path, bytes, &wanted, &self.shared.stop)?;
        Ok(matches!(tried, Tried::Passed { .. }))
    }
}

/// Returns whether a change leaves tests red that stop at an error, though all of those run what it changes: what is
/// broken there is still broken. Where some do not run it, something else is broken too, and they say nothing.
fn is_half(suspect: &Suspect, also_red: &[Trace], whole: bool) -> bool {
    !whole && !also_red.is_empty() && also_red.iter().all(|trace| suspect.runs_in(trace))
}

/// Returns whether a test stopped at an error, in place of getting another result than it wants.
fn stops(failure: &Failure) -> bool {
    let message = failure.message.trim_start();
    !message.starts_with("AssertionError") && !message.starts_with("assert ")
}

fn prepared(
    suspect: &Suspect,
    files: &FileTexts,
    mutation: &Mutation,
) -> Option<(FileChange, Vec<u8>)> {
    let text: &Text = files.get(&suspect.path)?;
    let after = mutation.applied(text.content())?;
    let bytes = text.encode(&after).ok()?;
    let change = FileChange {
        path: suspect.path.clone(),
        before: Some(text.content().to_owned()),
        after: Some(after),
    };
    Some((change, bytes))
}

/// Says whether a line compares a name with itself: that is always true or never, and mends nothing.
fn compares_with_itself(text: &str, line: u32) -> bool {
    const SIGNS: [&str; 8] = [
        " == ", " != ", " <= ", " >= ", " < ", " > ", " is not ", " is ",
    ];
    let at = usize::try_from(line).unwrap_or(0).saturating_sub(1);
    let line = text.lines().nth(at).unwrap_or_default();
    let is_name = |c: char| c.is_alphanumeric() || "_.".contains(c);
    SIGNS.iter().any(|sign| {
        line.match_indices(sign).any(|(found, sign)| {
            let (left, right) = (&line[..found], &line[found + sign.len()..]);
            let start = left.rfind(|c| !is_name(c)).map_or(0, |at| at + 1);
            let end = right.find(|c| !is_name(c)).unwrap_or(right.len());
            let name = left.get(start..).unwrap_or_default();
            name.starts_with(|c: char| c.is_alphabetic() || c == '_') && name == &right[..end]
        })
    })
}

fn find(suspect: &Suspect, mutation: &Mutation, change: FileChange, whole: bool) -> Find {
    Find {
        whole,
        name: suspect.name.clone(),
        kind: mutation.kind.name(),
        line: mutation.line,
        shaky: mutation.destructive || compares_with_itself(change.new_text(), mutation.line),
        prior: mutation.prior,
        size: mutation.size(),
        change,
    }
}

/// Where changes are tried that show only after a new import: each try is a run of the tests.
struct Anew<'a> {
    hunt: &'a Hunt,
    shared: &'a Shared,
    red: &'a [String],
    also_red: &'a [Trace],
    way: Way<'a>,
}

impl Anew<'_> {
    /// Tries what is worth it: nothing else passed, or it is likelier.
    fn try_all(
        &self,
        mut candidates: Vec<Candidate>,
        mut scratch: Scratch,
        until: Instant,
    ) -> Result<(), QuickError> {
        let best = self.shared.best();
        candidates.retain(|candidate| best.is_none_or(|best| candidate.mutation.prior > best));
        let mut more: Option<usize> = None;
        for candidate in candidates {
            let late = Instant::now() > until || more == Some(0);
            if late || self.shared.stop.load(Ordering::Relaxed) {
                break;
            }
            if self.try_one(&candidate, &mut scratch)? {
                more.get_or_insert(ALTERNATIVES_ANEW);
            }
            more = more.map(|left| left.saturating_sub(1));
        }
        Ok(())
    }

    /// Returns whether a change passes; it is noted then.
    fn try_one(&self, candidate: &Candidate, scratch: &mut Scratch) -> Result<bool, QuickError> {
        let suspect = &self.way.suspects[candidate.suspect];
        let prepared = prepared(suspect, self.way.files, &candidate.mutation);
        let text = self.way.files.get(&suspect.path);
        let (Some((change, bytes)), Some(text)) = (prepared, text) else {
            return Ok(false);
        };
        let others = self.red.iter().filter(|id| !suspect.tests.contains(id));
        let others: Vec<&String> = others.take(MOST_RED).collect();
        let tests = suspect.tests.iter().chain(others.iter().copied());
        let selection = Selection::Some(tests.cloned().collect());
        scratch.put(&suspect.path, &bytes)?;
        let report = suite::run(
            &self.hunt.runner,
            &self.hunt.suite,
            &selection,
            &self.shared.stop,
        );
        let passed = |test: &String| report.passed_ids.contains(test);
        let passes = report.outcome == Outcome::Ran && suspect.tests.iter().all(passed);
        let goes_around = passes && self.goes_around(candidate);
        if let Ok(old) = text.encode(text.content()) {
            scratch.put(&suspect.path, &old)?;
        }
        self.shared.update(|state| state.tried += 1);
        if passes {
            let whole = others.into_iter().all(passed);
            let mut find = find(suspect, &candidate.mutation, change, whole);
            find.shaky |= is_half(suspect, self.also_red, whole) || goes_around;
            self.shared.update(|state| state.found.push(find));
        }
        Ok(passes)
    }

    /// Returns whether the change that lies in the copy only goes around what is broken: the tests run once more, and
    /// which lines they run is looked at.
    fn goes_around(&self, candidate: &Candidate) -> bool {
        if !Way::may_be_left(&candidate.mutation) {
            return false;
        }
        let tests = self.way.suspects[candidate.suspect].tests.clone();
        let (runner, suite) = (&self.hunt.runner, &self.hunt.suite);
        let selection = Selection::Some(tests);
        let stop = &self.shared.stop;
        let report = suite::run_watched(
            runner,
            suite,
            &selection,
            &Watch::lines(),
            stop,
            &mut |_| {},
        );
        let traces = report.lines.into_iter().map(|(test, lines)| Trace {
            test,
            failing: true,
            lines,
        });
        let after: Vec<Trace> = traces.collect();
        (self.way).is_left(candidate.suspect, &candidate.mutation, &after)
    }
}
