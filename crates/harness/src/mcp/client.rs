//! What the client hears of a call while it goes on: progress, and the questions that only its user can answer.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use harness_agent::{Event, Listener, Question};
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::mcp::questions::Questions;
use crate::runtime::locked;

/// Progress that waits for a slow client; what comes on top is left out.
const MOST_WAITING: usize = 64;
/// How often a reply that is coming in is told of.
const BEAT: Duration = Duration::from_secs(2);
/// How long the last words of progress may take before the result comes.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Sends progress to the client, one message after the other.
pub(super) struct Teller {
    task: Option<JoinHandle<()>>,
}

impl Teller {
    /// Begins to tell of a call, where the client asked for it.
    pub(super) fn begin(
        context: &RequestContext<RoleServer>,
    ) -> (Teller, Option<mpsc::Sender<String>>) {
        let Some(token) = context.meta.get_progress_token() else {
            return (Teller { task: None }, None);
        };
        let (sender, receiver) = mpsc::channel(MOST_WAITING);
        let task = tokio::spawn(tell(context.peer.clone(), token, receiver));
        (Teller { task: Some(task) }, Some(sender))
    }

    /// Waits until all is told, but not for a client that does not listen.
    pub(super) async fn end(self) {
        if let Some(task) = self.task {
            drop(tokio::time::timeout(LAST_WORDS, task).await);
        }
    }
}

async fn tell(peer: Peer<RoleServer>, token: ProgressToken, mut told: mpsc::Receiver<String>) {
    let mut count = 0.0;
    while let Some(message) = told.recv().await {
        count += 1.0;
        let progress = ProgressNotificationParam::new(token.clone(), count).with_message(message);
        if peer.notify_progress(progress).await.is_err() {
            return;
        }
    }
}

/// Listens to a run for the client.
pub(super) struct Client {
    pub(super) progress: Option<mpsc::Sender<String>>,
    pub(super) questions: Arc<Mutex<Questions>>,
    pub(super) handle: Handle,
    pub(super) last: Instant,
}

impl Client {
    fn tell(&mut self, words: &str) {
        self.last = Instant::now();
        if let Some(progress) = &self.progress {
            drop(progress.try_send(words.to_owned()));
        }
    }
}

impl Listener for Client {
    fn event(&mut self, event: &Event) {
        self.tell(&event.text);
    }

    fn hearing(&mut self, pieces: u64) {
        if self.last.elapsed() > BEAT {
            self.tell(&format!("{pieces} tokens of the reply are here"));
        }
    }

    fn question(&mut self, question: &Question) -> Option<String> {
        let mut questions = locked(&self.questions);
        // A run is blocking code; the thread is its own.
        self.handle.block_on(questions.put(question))
    }
}
