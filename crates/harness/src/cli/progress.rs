//! Progress for people, on stderr: plain lines, and on a terminal a live line for what takes long.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use harness_agent::env::Environment;
use harness_agent::{Cancel, Decision, Event, EventKind, Listener, Proposal, Question};
use harness_code::edit::FileChange;
use harness_hands::interactive;
use harness_hands::terminal::{self, Keys};

use unicode_width::UnicodeWidthStr;

use crate::cli::args::CommonArguments;
use crate::cli::one_key::{self, Key};
use crate::cli::outcome::Shown;
use crate::cli::pager::{self, Paging};
use crate::runtime::locked;
use crate::show::text::{self, SpokenAnswer};

/// How often the live line is looked at.
const BEAT: Duration = Duration::from_millis(25);
/// What takes longer is shown as it goes on; a person takes less for at once.
const AT_ONCE: Duration = Duration::from_millis(100);
/// Tests that took less the last time are not announced in plain output, in seconds.
const WORTH_TELLING: f64 = 3.0;
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
        let draws = !common.quiet && can_draw();
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
            live: draws.then(|| LiveLine::start(cancel.flag())),
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

    /// Returns whether a person learns of an event in another way than by a line.
    fn is_told_elsewhere(&self, event: &Event) -> bool {
        match event.kind {
            // A question is put to the user, or is the result.
            EventKind::Finished | EventKind::Question => true,
            // The words themselves were the news.
            EventKind::Reply => !self.answer.is_empty(),
            // The live line shows what is running and for how long; plain output gets a line now and then.
            EventKind::Tests if begins(event) => self.live.is_some() || is_quick(event),
            EventKind::Tests => self.live.is_some() && running(event).is_some(),
            _ => false,
        }
    }
}

/// Does what reads the whole project, with a live line when that takes long.
pub(super) fn while_reading<T>(common: &CommonArguments, read: impl FnOnce() -> T) -> T {
    let live = (!common.quiet && can_draw()).then(|| LiveLine::start(Cancel::default().flag()));
    let result = read();
    if let Some(live) = live {
        live.stop();
    }
    result
}

/// A terminal that cannot move its cursor gets plain lines. Whoever wants no colours wants to know all the same.
fn can_draw() -> bool {
    let choice = anstream::stderr().current_choice();
    // Windows has consoles that print escape sequences as they are.
    let can_move = !cfg!(windows) || choice != anstream::ColorChoice::Never;
    can_move && !Environment::read().dumb_terminal && std::io::stderr().is_terminal()
}

impl Listener for Progress {
    fn event(&mut self, event: &Event) {
        self.answer.end_line();
        self.is_speaking = false;
        if let Some(live) = &self.live {
            live.now(event);
        }
        // Only a search is skipped by a key; what is typed later is for somebody else.
        if event
            .data
            .get("action")
            .is_none_or(|action| action != "search")
        {
            self.keys = None;
        }
        if self.lines && !self.is_told_elsewhere(event) {
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
        self.shown.summary = proposal.summary.to_owned();
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
fn edited(proposal: &Proposal<'_>) -> std::io::Result<Vec<FileChange>> {
    let default = if cfg!(windows) { "notepad" } else { "vi" };
    let named = Environment::read().editor;
    let editor = shlex::split(named.as_deref().unwrap_or(default)).unwrap_or_default();
    let stays = |file: &&FileChange| file.after.is_some();
    let files: Vec<&FileChange> = proposal.files.iter().filter(stays).collect();
    let shown = files
        .iter()
        .map(|file| (file.path.as_str(), file.new_text()));
    let shown: Vec<(&str, &str)> = shown.collect();
    let saved = interactive::edit(&editor, &shown)?;
    let file = |(file, text): (&FileChange, String)| FileChange {
        after: Some(text),
        ..file.clone()
    };
    Ok(files.into_iter().zip(saved).map(file).collect())
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
    fn begun(words: &str) -> Doing {
        let since = Instant::now();
        Doing {
            words: text::clean(words),
            since,
            pieces: 0,
            first: None,
        }
    }

    fn takes_long(&self) -> bool {
        self.since.elapsed() >= AT_ONCE
    }

    /// Says how long it takes, and how fast a reply comes; in so many columns the words give way to the seconds.
    fn shown(&self, columns: usize) -> String {
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
        let time = format!(" … {seconds} s{speed}");
        let room = columns.saturating_sub(time.width());
        let words: String = self.words.chars().take(room).collect();
        format!("{}{time}", words.trim_end())
    }
}

/// Returns whether the tests that begin took no time worth a word when they ran last.
fn is_quick(event: &Event) -> bool {
    let last = event
        .data
        .get("last_seconds")
        .and_then(|last| last.as_f64());
    last.is_none_or(|last| last < WORTH_TELLING)
}

/// Returns whether an event says that tests begin.
fn begins(event: &Event) -> bool {
    event.data.contains_key("begins")
}

/// Returns the test that an event says is running, since it began.
fn running(event: &Event) -> Option<Doing> {
    let test = event.data.get("running")?.as_str()?;
    let seconds = event.data.get("running_seconds")?.as_u64()?;
    let doing = Doing::begun(&format!("running {test}"));
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
    fn start(stop: Arc<AtomicBool>) -> LiveLine {
        let doing = Arc::new(Mutex::new(Some(Doing::begun("reading the project"))));
        let ended = Arc::new(AtomicBool::new(false));
        let (shared, end) = (Arc::clone(&doing), Arc::clone(&ended));
        let drawer = std::thread::spawn(move || {
            let mut drawn = String::new();
            while !end.load(Ordering::Relaxed) {
                std::thread::park_timeout(BEAT);
                // Held while it is drawn: nobody else takes the line away meanwhile.
                let doing = locked(&shared);
                let columns = text::width().saturating_sub(1);
                let line = match doing.as_ref() {
                    // Who presses Ctrl-C is told at once that it was heard.
                    Some(_) if stop.load(Ordering::Relaxed) => "stopping".to_owned(),
                    Some(doing) if doing.takes_long() => doing.shown(columns),
                    Some(_) | None => String::new(),
                };
                if !line.is_empty() && line != drawn {
                    draw(&line);
                }
                drawn = line;
            }
        });
        LiveLine {
            doing,
            ended,
            drawer: Some(drawer),
        }
    }

    fn now(&self, event: &Event) {
        let doing = match event.kind {
            EventKind::Sent | EventKind::Engine => Doing::begun(&event.text),
            EventKind::Action if event.text.starts_with("trying ") => Doing::begun(&event.text),
            EventKind::Tests if begins(event) => Doing::begun(&event.text),
            EventKind::Started if event.data.contains_key("waits_for") || begins(event) => {
                Doing::begun(&event.text)
            }
            _ => running(event).unwrap_or_else(|| Doing::begun("working")),
        };
        self.change(Some(doing));
    }

    fn heard(&self, pieces: u64) {
        let mut doing = locked(&self.doing);
        if let Some(doing) = doing.as_mut() {
            doing.pieces = pieces;
            doing.first.get_or_insert_with(Instant::now);
        }
    }

    fn hush(&self) {
        self.change(None);
    }

    /// Takes the line away, and has another one come when that takes long.
    fn change(&self, to: Option<Doing>) {
        let mut doing = locked(&self.doing);
        draw("");
        *doing = to;
    }

    fn stop(mut self) {
        self.hush();
        self.ended.store(true, Ordering::Relaxed);
        if let Some(drawer) = self.drawer.take() {
            drawer.thread().unpark();
            drop(drawer.join());
        }
    }
}

fn draw(line: &str) {
    let fitting: String = line.chars().take(text::width().saturating_sub(1)).collect();
    let mut out = std::io::stderr().lock();
    drop(write!(out, "\r\u{1b}[K{fitting}").and_then(|()| out.flush()));
}

#[cfg(test)]
mod tests {
    use super::Doing;

    #[test]
    fn the_seconds_are_seen_however_narrow_the_window_is() {
        let doing = Doing::begun("waiting for run 20261117-122357-21066667");
        assert_eq!(
            doing.shown(79),
            "waiting for run 20261117-122357-21066667 … 0 s"
        );
        assert_eq!(doing.shown(23), "waiting for run 2 … 0 s");
        assert_eq!(doing.shown(3), " … 0 s");
    }
}
