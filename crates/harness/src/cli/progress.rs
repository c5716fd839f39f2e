//! Progress for people, on stderr: plain lines, and on a terminal a live line for what takes long.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use harness_agent::env::Environment;
use harness_agent::{
    Cancel, Decision, Event, EventKind, Listener, Proposal, ProposedFile, Question,
};
use harness_hands::interactive;
use harness_hands::terminal::{self, Keys};

use crate::cli::args::CommonArguments;
use crate::cli::one_key::{self, Key};
use crate::cli::outcome::Shown;
use crate::cli::pager::{self, Paging};
use crate::show::text::{self, SpokenAnswer};

/// How often the live line is drawn anew.
const BEAT: Duration = Duration::from_millis(250);
/// The longest tool result that `-v` shows, in characters.
const LONGEST_RESULT: usize = 4_000;

/// Shows events and asks questions.
pub(super) struct Progress {
    lines: bool,
    results: bool,
    asks: bool,
    /// Set when the run is to stop: nobody waits for an answer then.
    stop: Arc<AtomicBool>,
    /// Whether the words of an answer are shown while they come.
    speaks: bool,
    answer: SpokenAnswer,
    /// Whether the cursor stands behind words of the answer.
    is_speaking: bool,
    shown: Shown,
    paging: Paging,
    live: Option<LiveLine>,
    /// The keys by which the user skips what is going on, while that can be skipped.
    keys: Option<Keys>,
}

impl Progress {
    /// Returns a listener that shows as much as the user asked for.
    pub(super) fn new(common: &CommonArguments, cancel: &Cancel) -> Progress {
        let is_dumb = Environment::read().dumb_terminal;
        let draws =
            !common.quiet && !is_dumb && std::io::stderr().is_terminal() && anstream_allows();
        Progress {
            lines: !common.quiet,
            results: common.verbose,
            asks: !common.json && text::person_present(),
            stop: cancel.flag(),
            speaks: !common.json && std::io::stdout().is_terminal(),
            answer: SpokenAnswer::new(),
            is_speaking: false,
            shown: Shown::default(),
            paging: Paging::Never,
            live: draws.then(LiveLine::start),
            keys: None,
        }
    }

    /// Returns the same with a pager for what is longer than the screen, or without one.
    pub(super) fn with_paging(self, paging: Paging) -> Progress {
        Progress { paging, ..self }
    }

    /// Takes the live line away, and returns what was shown already.
    pub(super) fn end(mut self) -> Shown {
        self.answer.end_line();
        if let Some(live) = self.live {
            live.stop();
        }
        self.shown.spoken = self.answer.into_words();
        self.shown
    }
}

/// A terminal that cannot move its cursor gets plain lines.
fn anstream_allows() -> bool {
    !matches!(
        anstream::stderr().current_choice(),
        anstream::ColorChoice::Never
    )
}

impl Listener for Progress {
    fn event(&mut self, event: &Event) {
        self.answer.end_line();
        self.is_speaking = false;
        if let Some(live) = &self.live {
            live.now(event);
        }
        // The live line shows for how long a test has been running; plain output gets a line now and then.
        let is_live = self.live.is_some() && running(event).is_some();
        // The words themselves were the news.
        let is_read = event.kind == EventKind::Reply && !self.answer.is_empty();
        // A question is put below, or is the result.
        let is_told =
            matches!(event.kind, EventKind::Finished | EventKind::Question) || is_live || is_read;
        // Only a search is skipped by a key; what is typed later is for somebody else.
        if event
            .data
            .get("action")
            .is_none_or(|action| action != "search")
        {
            self.keys = None;
        }
        if self.lines && !is_told {
            text::notice(&event.text);
        }
        let result = event.data.get("result").and_then(|value| value.as_str());
        if let (true, Some(result)) = (self.results, result) {
            let shown: String = result.chars().take(LONGEST_RESULT).collect();
            for line in shown.lines() {
                text::unbroken_notice(&format!("    {line}"));
            }
        }
    }

    fn skips(&mut self) -> Option<bool> {
        if !self.asks || text::is_dumb_terminal() {
            return None;
        }
        if self.keys.is_none() {
            self.keys = Keys::listen();
        }
        self.keys.as_ref().map(|keys| keys.was_pressed(b's'))
    }

    fn hearing(&mut self, pieces: u64) {
        if let Some(live) = &self.live {
            live.heard(pieces);
        }
    }

    fn answer(&mut self, piece: &str) {
        if !self.speaks {
            return;
        }
        if let Some(live) = self.live.as_ref().filter(|_| !self.is_speaking) {
            live.hush();
        }
        self.is_speaking = true;
        self.answer.say(piece);
    }

    fn decide(&mut self, proposal: &Proposal<'_>) -> Option<Decision> {
        if !self.asks {
            return None;
        }
        self.keys = None;
        if let Some(live) = &self.live {
            live.hush();
        }
        pager::diff(proposal.diff, self.paging);
        text::notice(proposal.summary);
        self.shown.diff = true;
        loop {
            let edited = match one_key::about_a_change(&self.stop)? {
                Key::Keep => return Some(Decision::Keep),
                Key::Drop => return Some(Decision::Drop),
                Key::Edit => edited(proposal),
            };
            match edited {
                Ok(files) => return Some(Decision::Edit(files)),
                Err(error) => {
                    text::notice(&format!("nothing was edited: {error}"));
                    text::hint("VISUAL or EDITOR names the editor");
                }
            }
        }
    }

    fn question(&mut self, question: &Question) -> Option<String> {
        if !self.asks {
            return None;
        }
        if let Some(live) = &self.live {
            live.hush();
        }
        text::notice(&question.render());
        drop(write!(std::io::stderr(), "> "));
        drop(std::io::stderr().flush());
        self.shown.question = true;
        let line = terminal::read_line(&self.stop).ok().flatten();
        if line.is_none() {
            // The cursor stands behind the prompt.
            text::notice("");
        }
        question.answer(&line?)
    }
}

/// Lets the user edit a change in the editor of his choice.
fn edited(proposal: &Proposal<'_>) -> std::io::Result<Vec<ProposedFile>> {
    let default = if cfg!(windows) { "notepad" } else { "vi" };
    let named = Environment::read().editor;
    let editor = shlex::split(named.as_deref().unwrap_or(default)).unwrap_or_default();
    let files = proposal.files.iter();
    let texts: Vec<(&str, &str)> = files.map(|file| (&*file.path, &*file.text)).collect();
    let saved = interactive::edit(&editor, &texts)?;
    let files = proposal.files.iter().zip(saved);
    let file = |(file, text): (&ProposedFile, String)| ProposedFile {
        path: file.path.clone(),
        text,
    };
    Ok(files.map(file).collect())
}

/// What takes long just now.
#[derive(Clone)]
struct Doing {
    words: String,
    since: Instant,
    pieces: u64,
    first: Option<Instant>,
}

impl Doing {
    fn begun(words: String) -> Doing {
        let since = Instant::now();
        Doing {
            words,
            since,
            pieces: 0,
            first: None,
        }
    }

    /// Says how long it takes, and how fast a reply comes.
    fn shown(&self) -> String {
        let seconds = self.since.elapsed().as_secs();
        let spoken = self
            .first
            .map_or(0.0, |first| first.elapsed().as_secs_f64());
        let speed = if spoken > 0.2 {
            format!(
                ", {} tokens, {:.1} a second",
                self.pieces,
                self.pieces as f64 / spoken
            )
        } else {
            String::new()
        };
        format!("{} … {seconds} s{speed}", self.words)
    }
}

/// Returns the test that an event says is running, since it began.
fn running(event: &Event) -> Option<Doing> {
    let test = event.data.get("running")?.as_str()?;
    let seconds = event.data.get("running_seconds")?.as_u64()?;
    let doing = Doing::begun(text::clean(&format!("running {test}")));
    let since = doing.since.checked_sub(Duration::from_secs(seconds));
    Some(Doing {
        since: since.unwrap_or(doing.since),
        ..doing
    })
}

/// One line at the bottom that says what is going on and for how long.
struct LiveLine {
    doing: Arc<Mutex<Option<Doing>>>,
    ended: Arc<AtomicBool>,
    drawer: Option<JoinHandle<()>>,
}

impl LiveLine {
    fn start() -> LiveLine {
        let doing: Arc<Mutex<Option<Doing>>> = Arc::default();
        let ended = Arc::new(AtomicBool::new(false));
        let (shared, end) = (Arc::clone(&doing), Arc::clone(&ended));
        let drawer = std::thread::spawn(move || {
            while !end.load(Ordering::Relaxed) {
                std::thread::sleep(BEAT);
                let current = shared
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .clone();
                if let Some(doing) = current {
                    draw(&doing.shown());
                }
            }
        });
        LiveLine {
            doing,
            ended,
            drawer: Some(drawer),
        }
    }

    fn now(&self, event: &Event) {
        draw("");
        let doing = match event.kind {
            EventKind::Sent | EventKind::Started | EventKind::Engine => {
                Some(Doing::begun(text::clean(&event.text)))
            }
            _ => running(event),
        };
        *self.doing.lock().unwrap_or_else(PoisonError::into_inner) = doing;
    }

    fn heard(&self, pieces: u64) {
        let mut doing = self.doing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(doing) = doing.as_mut() {
            doing.pieces = pieces;
            doing.first.get_or_insert_with(Instant::now);
        }
    }

    fn hush(&self) {
        *self.doing.lock().unwrap_or_else(PoisonError::into_inner) = None;
        draw("");
    }

    fn stop(mut self) {
        self.hush();
        self.ended.store(true, Ordering::Relaxed);
        if let Some(drawer) = self.drawer.take() {
            drop(drawer.join());
        }
        draw("");
    }
}

fn draw(line: &str) {
    let fitting: String = line.chars().take(text::width().saturating_sub(1)).collect();
    let mut out = std::io::stderr().lock();
    drop(write!(out, "\r\u{1b}[K{fitting}").and_then(|()| out.flush()));
}
