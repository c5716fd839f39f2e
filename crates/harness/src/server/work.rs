//! The work behind a request: runs on threads of their own, one writer at a time, cancelled when the client goes.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use harness_agent::{
    Agent, Cancel, Dialogue, Listener, Nobody, OptionsError, RunResult, Stopped, Turn,
};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::runtime::locked;
use crate::server::answer::{Document, Problem};
use crate::server::peer::Peer;
use crate::server::{Server, log};

/// Runs that may wait for the one that writes; past it clients are told to come again.
const MOST_WAITING: usize = 8;
/// Answers and dry runs at once; more would only make each other slow.
const MOST_READERS: usize = 4;
/// When to come again, in seconds: about one short run.
const RETRY_AFTER: &str = "10";

/// Results that the page shows with their diffs.
const REMEMBERED: usize = 10;

/// In which line a job waits for its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// One at a time: files may change.
    Writing,
    /// A few at once: nothing changes.
    Reading,
    /// In none: there is nothing to do that takes time.
    None,
}

/// What a request wants done.
#[derive(Debug)]
pub(super) enum Work {
    /// An answer to the task.
    Ask(Agent),
    /// The task, done; in a dry run it is only looked at.
    Run(Agent),
    /// A message of a conversation, and what it was found to ask for.
    Turn(Box<Dialogue>, String, Turn),
    /// A run, taken back; without a name the latest.
    Undo(Agent, Option<String>),
    /// What a run proposed, written.
    Apply(Agent, String),
}

impl Work {
    /// Does it.
    fn perform(
        self,
        task: &str,
        listener: &mut dyn Listener,
        cancel: &Cancel,
    ) -> Result<RunResult, OptionsError> {
        match self {
            Work::Ask(agent) => agent.ask(Some(task), listener, cancel),
            Work::Run(agent) => agent.run(Some(task), listener, cancel),
            Work::Turn(mut dialogue, message, turn) => {
                dialogue.perform(&message, &turn, listener, cancel)
            }
            Work::Apply(agent, run) => agent.apply(&run, listener, cancel),
            Work::Undo(agent, run) => agent.undo(run.as_deref(), cancel),
        }
    }
}

/// A task with how it is done.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) lane: Lane,
    pub(super) task: String,
    pub(super) work: Work,
}

/// Who runs and who waits.
#[derive(Debug)]
pub(super) struct Queue {
    writer: Semaphore,
    readers: Semaphore,
    waiting: Semaphore,
    running: Mutex<HashMap<u64, Cancel>>,
    remembered: Mutex<VecDeque<Remembered>>,
    /// Held by every run whose thread has not ended, whether or not somebody still waits for it.
    alive: Arc<()>,
}

/// What is left in memory of a run that this server did.
#[derive(Clone, Debug)]
pub(super) struct Remembered {
    pub(super) run: String,
    pub(super) task: String,
    pub(super) stopped: &'static str,
    pub(super) summary: String,
    pub(super) diff: String,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue {
            writer: Semaphore::new(1),
            readers: Semaphore::new(MOST_READERS),
            waiting: Semaphore::new(MOST_WAITING),
            running: Mutex::default(),
            remembered: Mutex::default(),
            alive: Arc::default(),
        }
    }
}

impl Queue {
    /// Asks every run to stop.
    pub(super) fn cancel_all(&self) {
        locked(&self.running).values().for_each(Cancel::stop);
    }

    /// Waits until every run has put its files in order, but not for ever.
    pub(super) async fn ended(&self, patience: Duration) {
        let waited = async {
            while Arc::strong_count(&self.alive) > 1 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        drop(tokio::time::timeout(patience, waited).await);
    }

    /// Waits in a line for a place, where the line is not full.
    async fn place<'a>(&'a self, lane: &'a Semaphore) -> Result<SemaphorePermit<'a>, Problem> {
        if let Ok(place) = lane.try_acquire() {
            return Ok(place);
        }
        let Ok(waiting) = self.waiting.try_acquire() else {
            return Err(too_many());
        };
        log::line(format!(
            "a run waits, number {} of {MOST_WAITING} in line",
            self.waiting_now()
        ));
        let place = lane.acquire().await.map_err(|_| too_many())?;
        drop(waiting);
        Ok(place)
    }

    /// Returns how many runs are under way.
    pub(super) fn running_now(&self) -> usize {
        locked(&self.running).len()
    }

    /// Returns how many runs wait for their turn.
    pub(super) fn waiting_now(&self) -> usize {
        MOST_WAITING - self.waiting.available_permits().min(MOST_WAITING)
    }

    /// Returns the latest results, newest first.
    pub(super) fn remembered(&self) -> Vec<Remembered> {
        locked(&self.remembered).iter().cloned().collect()
    }

    fn remember(&self, task: String, result: &RunResult) {
        let mut remembered = locked(&self.remembered);
        remembered.push_front(Remembered {
            run: result.run_id.clone(),
            task,
            stopped: result.stopped.name(),
            summary: result.summary.clone(),
            diff: result.diff.clone(),
        });
        remembered.truncate(REMEMBERED);
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
        let mut running = locked(&queue.running);
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
        locked(&self.queue.running).remove(&self.number);
    }
}

/// Does the work of one request and returns its result; the listener hears how it goes.
pub(super) async fn perform(
    server: &Arc<Server>,
    peer: &Peer,
    job: Job,
    listener: impl Listener + 'static,
) -> Result<RunResult, Problem> {
    tokio::select! {
        result = perform_for_somebody(server, job, listener) => result,
        () = peer.gone() => Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "client_gone",
            "the client closed the connection; the run was stopped",
            "keep the connection open until the answer comes",
        )),
    }
}

async fn perform_for_somebody(
    server: &Arc<Server>,
    job: Job,
    mut listener: impl Listener + 'static,
) -> Result<RunResult, Problem> {
    let queue = &server.queue;
    let place = match job.lane {
        Lane::Writing => Some(queue.place(&queue.writer).await?),
        Lane::Reading => Some(queue.place(&queue.readers).await?),
        Lane::None => None,
    };
    let leash = Leash::new(queue);
    let cancel = leash.cancel.clone();
    let alive = Arc::clone(&queue.alive);
    let asked = job.task.clone();
    let result = blocking(move || {
        let result = job.work.perform(&job.task, &mut listener, &cancel);
        drop(alive);
        Ok(result?)
    })
    .await?;
    drop(place);
    if !result.run_id.is_empty() {
        queue.remember(asked, &result);
    }
    Ok(result)
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

/// Does the work of one request and answers with its result: 200 unless the engine, the outbound check or another run
/// stood in the way.
pub(super) async fn result(
    server: &Arc<Server>,
    peer: &Peer,
    job: Job,
) -> Result<Document<RunResult>, Problem> {
    let result = perform(server, peer, job, Nobody).await?;
    served(result).map(Document)
}

/// Returns a result, or the problem that it stands for.
pub(super) fn served(result: RunResult) -> Result<RunResult, Problem> {
    let (status, code) = match result.stopped {
        Stopped::Engine => (StatusCode::BAD_GATEWAY, "engine_failed"),
        Stopped::Refused => (StatusCode::FORBIDDEN, "send_refused"),
        Stopped::Busy => (StatusCode::CONFLICT, "busy"),
        Stopped::Done
        | Stopped::Question
        | Stopped::Steps
        | Stopped::Stuck
        | Stopped::Broke
        | Stopped::Interrupted => return Ok(result),
    };
    let problem = Problem::new(status, code, result.summary.clone(), result.hint.clone());
    Err(Problem {
        harness: Some(Box::new(result)),
        ..problem
    })
}

/// A setting that cannot be used: a scope is 422, any other field 400.
impl From<OptionsError> for Problem {
    fn from(error: OptionsError) -> Problem {
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
}

/// A request that may change files: only where the server was started so.
pub(super) struct MayWrite;

impl FromRequestParts<Arc<Server>> for MayWrite {
    type Rejection = Problem;

    async fn from_request_parts(
        _parts: &mut Parts,
        server: &Arc<Server>,
    ) -> Result<MayWrite, Problem> {
        match server.options().allow_writes {
            true => Ok(MayWrite),
            false => Err(writes_disabled()),
        }
    }
}

fn too_many() -> Problem {
    let problem = Problem::new(
        StatusCode::TOO_MANY_REQUESTS,
        "too_many_runs",
        format!("{MOST_WAITING} runs are waiting already"),
        "come again when one has ended",
    );
    Problem {
        header: Some((header::RETRY_AFTER, RETRY_AFTER.to_owned())),
        ..problem
    }
}

/// Returns the refusal of a read-only server.
pub(super) fn writes_disabled() -> Problem {
    let message = "file changes are off on this server: start it with --allow-writes";
    let hint = "harness serve --allow-writes";
    Problem::new(StatusCode::FORBIDDEN, "writes_disabled", message, hint)
}
