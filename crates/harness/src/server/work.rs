//! The work behind a request: runs on threads of their own, one writer at a time, cancelled when the client goes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::{StatusCode, header};
use axum::response::Response;
use harness_agent::{Agent, AgentOptions, Cancel, Nobody, OptionsError, RunResult, Stopped};
use tokio::sync::Semaphore;

use crate::server::Server;
use crate::server::answer::{Problem, answer};

/// Runs that may wait for the one that writes; past it clients are told to come again.
const MOST_WAITING: usize = 8;
/// Answers and dry runs at once; more would only make each other slow.
const MOST_READERS: usize = 4;
/// When to come again, in seconds: about one short run.
const RETRY_AFTER: &str = "10";

/// What a request wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Ask,
    DryRun,
    Run,
}

/// Who runs and who waits.
#[derive(Debug)]
pub(super) struct Queue {
    writer: Semaphore,
    readers: Semaphore,
    waiting: Semaphore,
    running: Mutex<HashMap<u64, Cancel>>,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue {
            writer: Semaphore::new(1),
            readers: Semaphore::new(MOST_READERS),
            waiting: Semaphore::new(MOST_WAITING),
            running: Mutex::default(),
        }
    }
}

impl Queue {
    /// Asks every run to stop.
    pub(super) fn cancel_all(&self) {
        self.running().values().for_each(Cancel::stop);
    }

    fn running(&self) -> MutexGuard<'_, HashMap<u64, Cancel>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops its run when the request is dropped: the client went away.
struct Leash<'a> {
    queue: &'a Queue,
    number: u64,
    cancel: Cancel,
}

impl<'a> Leash<'a> {
    fn new(queue: &'a Queue) -> Leash<'a> {
        let cancel = Cancel::default();
        let mut running = queue.running();
        let number = running.keys().max().map_or(0, |last| last + 1);
        running.insert(number, cancel.clone());
        drop(running);
        Leash {
            queue,
            number,
            cancel,
        }
    }
}

impl Drop for Leash<'_> {
    fn drop(&mut self) {
        self.cancel.stop();
        self.queue.running().remove(&self.number);
    }
}

/// Does the work of one request and returns its result.
pub(super) async fn perform(
    server: &Arc<Server>,
    work: Work,
    options: AgentOptions,
    task: String,
) -> Result<RunResult, Problem> {
    let queue = &server.queue;
    let lane = match work {
        Work::Run => &queue.writer,
        Work::Ask | Work::DryRun => &queue.readers,
    };
    let Ok(waiting) = queue.waiting.try_acquire() else {
        return Err(too_many());
    };
    let Ok(_place) = lane.acquire().await else {
        return Err(too_many());
    };
    drop(waiting);
    let leash = Leash::new(queue);
    let cancel = leash.cancel.clone();
    blocking(move || {
        let agent = Agent::new(options);
        let result = match work {
            Work::Ask => agent.ask(Some(&task), &mut Nobody, &cancel),
            Work::DryRun | Work::Run => agent.run(Some(&task), &mut Nobody, &cancel),
        };
        result.map_err(options_problem)
    })
    .await
}

/// Runs blocking code beside the async threads.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(_) => {
            let hint = "this is a defect of harness: please report it";
            Err(Problem::new(
                StatusCode::BAD_GATEWAY,
                "run_failed",
                "the run ended without a result",
                hint,
            ))
        }
    }
}

/// Returns the answer for a result: 200 unless the engine, the outbound check or another run stood in the way.
pub(super) fn result_answer(result: &RunResult) -> Result<Response, Problem> {
    match stopped_problem(result) {
        Some(problem) => Err(problem),
        None => Ok(answer(StatusCode::OK, result)),
    }
}

/// Returns the problem that a result stands for, when it is one.
pub(super) fn stopped_problem(result: &RunResult) -> Option<Problem> {
    let (status, code) = match result.stopped {
        Stopped::Engine => (StatusCode::BAD_GATEWAY, "engine_failed"),
        Stopped::Refused => (StatusCode::FORBIDDEN, "send_refused"),
        Stopped::Busy => (StatusCode::CONFLICT, "busy"),
        Stopped::Done
        | Stopped::Question
        | Stopped::Steps
        | Stopped::Stuck
        | Stopped::Broke
        | Stopped::Interrupted => return None,
    };
    let problem = Problem::new(status, code, result.summary.clone(), result.hint.clone());
    Some(Problem {
        harness: serde_json::to_value(result).ok(),
        ..problem
    })
}

/// Checks settings from a request; a scope that cannot be used is 422, any other field 400.
pub(super) fn check_options(options: &AgentOptions) -> Result<(), Problem> {
    options.check().map(drop).map_err(options_problem)
}

/// Returns the problem of a setting that cannot be used.
pub(super) fn options_problem(error: OptionsError) -> Problem {
    let status = if error.field == "scope" {
        StatusCode::UNPROCESSABLE_ENTITY
    } else {
        StatusCode::BAD_REQUEST
    };
    let problem = Problem::new(status, "invalid_field", error.message, error.hint);
    Problem {
        param: Some(error.field.to_owned()),
        ..problem
    }
}

fn too_many() -> Problem {
    let problem = Problem::new(
        StatusCode::TOO_MANY_REQUESTS,
        "too_many_runs",
        "too many runs are waiting",
        "come again when one has ended",
    );
    Problem {
        header: Some((header::RETRY_AFTER, RETRY_AFTER.to_owned())),
        ..problem
    }
}
