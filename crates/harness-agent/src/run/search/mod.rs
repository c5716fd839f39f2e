//! Search: while the model writes, small single changes are tried in a copy. What passes is told; the trial decides.

pub(super) mod blame;
mod detour;
mod hunt;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use harness_code::edit::FileChange;
use harness_code::path::RelPath;

use crate::history::Step;
use crate::plan::Plan;
use crate::run::context::Context;
use crate::run::event::EventKind;
use crate::run::evidence::Verdict;
use crate::run::log::{Log, first_line};
use crate::run::search::hunt::Hunt;
use crate::run::trial::Trial;
use harness_code::request::kind::Kind;

/// A model that answers at once needs no search beside it.
const HEAD_START: Duration = Duration::from_millis(400);
/// How long a search may take in all.
const BUDGET: Duration = Duration::from_secs(40);
/// How often whoever waits for a search looks whether it is to be skipped: a key is answered at once.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// How long a search that was stopped may take to end before nobody waits for it any more.
const LONGEST_GOODBYE: Duration = Duration::from_millis(600);
/// How long a failed draft waits for the search before the model is asked again.
const BESIDE: Duration = Duration::from_secs(15);
/// Found changes that the suite itself then refuses; more are not tried.
const MOST_TAKEN: usize = 3;

/// A change that passes.
#[derive(Clone, Debug)]
pub(super) struct Find {
    /// It mends every test that was red, not only those that were asked for.
    whole: bool,
    name: String,
    kind: &'static str,
    line: u32,
    /// It takes code away, goes around what is broken or mends only half of it: never believed alone.
    shaky: bool,
    prior: f32,
    size: usize,
    change: FileChange,
}

/// What a search knows so far.
#[derive(Default)]
struct State {
    found: Vec<Find>,
    drafts: Vec<(RelPath, String)>,
    tried: u32,
    suspected: usize,
    place: String,
    seconds: f64,
    trouble: String,
    hurry: bool,
    finished: bool,
}

/// What both threads see.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    stop: AtomicBool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
    }

    fn found(&self) -> usize {
        self.state().found.len()
    }

    /// Returns how many of those that pass mend all that was red.
    fn whole(&self) -> usize {
        let state = self.state();
        let counts = |find: &&Find| find.whole && !find.shaky;
        state.found.iter().filter(counts).count()
    }

    /// Returns how many of those that pass may be believed.
    fn sound(&self) -> usize {
        self.state().found.iter().filter(|find| !find.shaky).count()
    }

    /// Returns how likely the likeliest of those is.
    fn best(&self) -> Option<f32> {
        let state = self.state();
        let sound = state.found.iter().filter(|find| !find.shaky);
        sound.map(|find| find.prior).max_by(f32::total_cmp)
    }

    fn take_drafts(&self) -> Vec<(RelPath, String)> {
        std::mem::take(&mut self.state().drafts)
    }
}

/// A search under way. It ends with its owner.
pub(super) struct Search {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    told: bool,
}

fn counted(changes: u64) -> String {
    match changes {
        1 => "1 small change".to_owned(),
        many => format!("{many} small changes"),
    }
}

fn passing(changes: usize) -> String {
    match changes {
        1 => "1 passes".to_owned(),
        many => format!("{many} pass"),
    }
}

impl Search {
    /// Begins a search where one makes sense: a fix, with a failing test, in a Python project that may be tried.
    pub(super) fn begin(context: &Context<'_>, plan: &Plan, trial: &Trial) -> Option<Search> {
        if plan.task.kind() != Kind::Fix || context.config.search == Some(false) {
            return None;
        }
        let before = trial.now()?;
        if before.failures.is_empty() || super::evidence::unusable(before).is_some() {
            return None;
        }
        let ids = || before.failures.iter().map(|failure| failure.id.clone());
        let named: Vec<String> = ids().filter(|id| plan.names_test(id)).collect();
        let targets = if named.is_empty() {
            ids().collect()
        } else {
            named
        };
        let runner = context.project.runner()?;
        let suite = context.suite()?;
        let mut scratch = runner.scratch(context.project.door()).ok()?;
        trial.staged().lay_into(&mut scratch, |_| true).ok()?;
        let hunt = Hunt {
            runner: runner.in_scratch(&scratch),
            suite,
            task: plan.task.clone(),
            named: plan.mentions().definitions.clone(),
            targets,
            failures: before.failures.clone(),
            scope: RelPath::parse(&context.options.scope).ok(),
            suite_seconds: before.seconds_that_ended(),
            // What was spent on tests that hang is not spent again.
            budget: BUDGET
                .saturating_sub(Duration::from_secs_f64(
                    before.seconds - before.seconds_that_ended(),
                ))
                .max(BUDGET / 2),
        };
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            stop: AtomicBool::new(false),
        });
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("search".to_owned())
            .spawn(move || {
                let hurried =
                    theirs
                        .changed
                        .wait_timeout_while(theirs.state(), HEAD_START, |state| {
                            !state.hurry && !theirs.stop.load(Ordering::Relaxed)
                        });
                drop(hurried);
                if !theirs.stop.load(Ordering::Relaxed) {
                    hunt.go(scratch, &theirs);
                }
            });
        Some(Search {
            shared,
            thread: Some(thread.ok()?),
            told: false,
        })
    }

    /// Hands a draft that failed over: a part of it may be right.
    pub(super) fn learn(&self, change: &FileChange) {
        let draft = (change.path.clone(), change.new_text().to_owned());
        self.shared.update(|state| state.drafts.push(draft));
    }

    /// Waits for the search beside a model that will be asked again.
    pub(super) fn wait_beside(&mut self, context: &Context<'_>, log: &mut Log<'_>) {
        self.wait(context, log, BESIDE);
    }

    /// Waits for the search to end: nothing else is left.
    pub(super) fn wait_all(&mut self, context: &Context<'_>, log: &mut Log<'_>) {
        self.wait(context, log, BUDGET + BUDGET);
    }

    fn wait(&mut self, context: &Context<'_>, log: &mut Log<'_>, patience: Duration) {
        let until = Instant::now() + patience;
        self.shared.update(|state| state.hurry = true);
        loop {
            let (state, _) = self
                .shared
                .changed
                .wait_timeout(self.shared.state(), LOOK_AGAIN)
                .unwrap_or_else(PoisonError::into_inner);
            let (finished, place) = (state.finished, state.place.clone());
            let suspected = state.suspected;
            drop(state);
            if suspected > 0 && !self.told {
                self.told = true;
                let skip = match log.listener.skips() {
                    Some(_) => "; press s to skip",
                    None => "",
                };
                let (limit, noun) = (BUDGET.as_secs(), counted(suspected as u64));
                let text = format!("trying {noun} around {place}, up to {limit} s{skip}");
                log.tell(EventKind::Action, &text, [("action", "search".into())]);
            }
            let gone = self.thread.as_ref().is_none_or(JoinHandle::is_finished);
            let skipped = self.told && log.listener.skips() == Some(true);
            if skipped {
                log.tell(EventKind::Action, "skipped", [("action", "search".into())]);
            }
            if finished || gone || skipped || Instant::now() > until || context.cancel.stopped() {
                return;
            }
        }
    }

    /// Returns a found change that says the same with less than a draft that passes, if there is one.
    pub(super) fn smaller_than(&self, draft: &FileChange) -> bool {
        let weight = |change: &FileChange| {
            let old = change.old_text();
            harness_code::edit::unified_diff("", Some(old), Some(change.new_text()))
                .lines()
                .skip(2)
                .filter(|line| line.starts_with(['+', '-']))
                .count()
        };
        let state = self.shared.state();
        // Larger and touching more: not a line or two of taste, but twice the lines.
        state
            .found
            .iter()
            .any(|find| !find.shaky && weight(&find.change) * 2 < weight(draft))
    }

    /// Returns whether the search is over and something that may be believed was found.
    pub(super) fn has_found(&self) -> bool {
        let over = self.shared.state().finished;
        over && self.shared.sound() > 0
    }

    /// Tells how much was tried, and returns what was found in how many seconds.
    fn tell_tried(&self, log: &mut Log<'_>) -> (Vec<Find>, f64) {
        let (found, tried, seconds, trouble) = {
            let state = self.shared.state();
            let found = state.found.clone();
            (found, state.tried, state.seconds, state.trouble.clone())
        };
        if tried > 0 {
            let (changes, passing) = (counted(u64::from(tried)), passing(found.len()));
            let text = format!("tried {changes} in {seconds:.1} s: {passing}");
            let data = [("action", "search".into()), ("tried", tried.into())];
            log.tell(EventKind::Action, &text, data);
        }
        if !trouble.is_empty() {
            let text = format!("no search: {trouble}");
            log.tell(EventKind::Action, &text, [("action", "search".into())]);
        }
        (found, seconds)
    }

    /// Puts what was found to the trial, best first. Returns the summary of the one that is proven.
    pub(super) fn take(
        &mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        trial: &mut Trial,
    ) -> Option<String> {
        let (mut found, seconds) = self.tell_tried(log);
        found.sort_by(|a, b| {
            (a.shaky.cmp(&b.shaky))
                .then(b.whole.cmp(&a.whole))
                .then(b.prior.total_cmp(&a.prior))
                .then(a.size.cmp(&b.size))
        });
        for (index, find) in found
            .iter()
            .filter(|find| !find.shaky)
            .take(MOST_TAKEN)
            .enumerate()
        {
            if context.cancel.stopped() {
                return None;
            }
            let began = Instant::now();
            let mut step = Step {
                number: log.history.next_number(),
                action: "search".to_owned(),
                path: find.change.path.to_string(),
                result: String::new(),
                refused: String::new(),
                seconds,
                tokens: 0,
            };
            let change = without_padding(&find.change);
            if let Err(refusal) = trial.apply(context, log, plan, &vec![change].into()) {
                log.refuse(&refusal);
                continue;
            }
            let verdict = trial.judge(context, log, plan);
            step.seconds += began.elapsed().as_secs_f64();
            match verdict {
                Verdict::Proven(proof) => {
                    let summary = summary(find, &other_ways(&found, index), &proof);
                    step.result.clone_from(&summary);
                    log.push(step);
                    return Some(summary);
                }
                Verdict::Worse(reason)
                | Verdict::Unfinished { reason, .. }
                | Verdict::Unverified(reason) => {
                    let text = format!(
                        "what passed when it was tried is not proven: {}",
                        first_line(&reason)
                    );
                    log.tell(EventKind::Action, &text, [("action", "search".into())]);
                    trial.put_back(log, &vec![find.change.clone()].into());
                }
            }
        }
        self.shared.update(|state| {
            state.found.clear();
            state.tried = 0;
        });
        None
    }
}

impl Drop for Search {
    /// Stops the search; whoever waits for it waits no longer.
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.shared.changed.notify_all();
        let Some(thread) = self.thread.take() else {
            return;
        };
        let until = Instant::now() + LONGEST_GOODBYE;
        while !thread.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        // It only counts: what it held is gone either way. One that does not end in time is left to itself, so that a
        // person who stops a run never waits for it; its processes end with us.
        if thread.is_finished() {
            drop(thread.join());
        }
    }
}

/// Returns what else would have passed, with the line it is in, each way once.
fn other_ways(found: &[Find], chosen: usize) -> Vec<(u32, FileChange)> {
    let chosen = found.get(chosen).map(|find| without_padding(&find.change));
    let mut known: Vec<String> = Vec::new();
    known.extend(chosen.and_then(|change| change.after));
    let mut others = Vec::new();
    for find in found {
        let change = without_padding(&find.change);
        if !known.iter().any(|text| text == change.new_text()) {
            known.push(change.new_text().to_owned());
            others.push((find.line, change));
        }
    }
    others
}

/// Tells how a change was found, and what else would have passed.
fn summary(find: &Find, others: &[(u32, FileChange)], proof: &str) -> String {
    let mut words = format!(
        "changed `{}` in {}: {proof}; found by trying small changes ({}, line {})",
        find.name, find.change.path, find.kind, find.line
    );
    if others.is_empty() {
        words.push_str("; no other one passed");
        return words;
    }
    let named: Vec<String> = others
        .iter()
        .take(3)
        .map(|(line, change)| format!("line {line} `{}`", changed_line(change)))
        .collect();
    words.push_str(&format!(
        "; {} more would pass: {}",
        others.len(),
        named.join(", ")
    ));
    words
}

/// Returns the first line that a change brings, or takes away.
fn changed_line(change: &FileChange) -> String {
    let old = change.old_text();
    let diff = harness_code::edit::unified_diff("", Some(old), Some(change.new_text()));
    let line = |sign: char| {
        diff.lines()
            .skip(2)
            .find(|line| line.starts_with(sign))
            .map(|line| line.get(1..).unwrap_or_default().trim().to_owned())
            .filter(|line| !line.is_empty())
    };
    let text = line('+')
        .or_else(|| line('-').map(|line| format!("without {line}")))
        .unwrap_or_default();
    text.chars().take(80).collect()
}

/// Returns a change without an operation that does nothing, such as `- 0`: what it stands beside is what was found.
fn without_padding(change: &FileChange) -> FileChange {
    const IDLE: [&str; 3] = [" - 0", " + 0", " * 1"];
    let before = change.old_text();
    let known: Vec<&str> = before.lines().collect();
    let bare = |line: &str| {
        let idle = IDLE
            .iter()
            .find_map(|idle| line.find(idle).map(|at| (at, idle.len())));
        let (at, length) = idle.filter(|_| !known.contains(&line))?;
        let ends = line[at + length..].chars().next();
        // `- 0.5` and `* 10` do something.
        let is_whole = ends.is_none_or(|c| !c.is_alphanumeric() && !"._".contains(c));
        is_whole.then(|| [&line[..at], &line[at + length..]].concat())
    };
    let lines = change.new_text().split('\n');
    let lines: Vec<String> = lines
        .map(|line| bare(line).unwrap_or_else(|| line.to_owned()))
        .collect();
    FileChange {
        after: Some(lines.join("\n")),
        ..change.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::without_padding;
    use crate::guard::testing::change;

    #[test]
    fn operations_that_do_nothing_are_left_out() {
        let found = |after: &str| {
            let before = "def f(p):\n    return sum(p) - 1\n    x = a - 0\n";
            let line = format!("def f(p):\n    return {after}\n    x = a - 0\n");
            without_padding(&change("a.py", before, &line))
                .after
                .unwrap()
        };
        let wanted = |line: &str| format!("def f(p):\n    return {line}\n    x = a - 0\n");
        assert_eq!(found("sum(p) - 0"), wanted("sum(p)"));
        assert_eq!(found("(sum(p) * 1) + b"), wanted("(sum(p)) + b"));
        assert_eq!(found("sum(p) - 0.5"), wanted("sum(p) - 0.5"));
        assert_eq!(found("sum(p) * 10"), wanted("sum(p) * 10"));
        assert_eq!(found("sum(p)"), wanted("sum(p)"));
    }
}
