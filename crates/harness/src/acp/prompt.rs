//! One turn: a message of the user becomes what the agent does, and how it ended.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    ContentBlock, EmbeddedResourceResource, PromptRequest, PromptResponse, StopReason,
};
use harness_agent::{AgentOptions, Cancel, Dialogue, Goal, OptionsError, RunResult, Stopped, Turn};
use harness_code::edit;
use harness_code::path::RelPath;
use tokio::runtime::Handle;
use tokio::sync::{OwnedMutexGuard, OwnedRwLockReadGuard};

use crate::acp::Connection;
use crate::acp::editor::{Editor, save_first};
use crate::acp::sessions::{Mode, Sessions, problem};
use crate::protocol;
use crate::show::text;

/// A turn that has begun.
pub(super) struct Begun {
    dialogue: OwnedMutexGuard<Dialogue>,
    message: Message,
    editor: Editor,
    /// Held until the turn has put its files in order.
    _under_way: OwnedRwLockReadGuard<()>,
}

/// Begins a turn of a session.
pub(super) fn begin(
    sessions: &Sessions,
    request: PromptRequest,
    connection: Connection,
) -> Result<Begun, Error> {
    let session = sessions.get(&request.session_id)?;
    let busy = || {
        let hint = "wait for its end, or cancel it";
        problem("a turn of this session is under way", hint)
    };
    let dialogue = Arc::clone(&session.dialogue).try_lock_owned();
    let mut dialogue = dialogue.map_err(|_| busy())?;
    let under_way = Arc::clone(&sessions.turns).try_read_owned();
    let message = Message::read(&request.prompt, &session.project);
    let options = AgentOptions {
        allow_writes: session.mode() == Mode::Write,
        confirm: true,
        ..dialogue.agent().options().clone()
    };
    let cancel = session.begin_turn();
    let agent = dialogue.agent().with_options(options).stopped_by(&cancel);
    dialogue.change_agent(agent);
    let editor = Editor {
        turn: dialogue.said().len(),
        cancel,
        session,
        connection,
        handle: Handle::current(),
        can_read: sessions.can_read(),
        spoken: String::new(),
        calls: 0,
        running: None,
    };
    Ok(Begun {
        dialogue,
        message,
        editor,
        _under_way: under_way.map_err(|_| busy())?,
    })
}

impl Begun {
    /// Performs the turn.
    pub(super) async fn perform(self) -> Result<PromptResponse, Error> {
        let Begun {
            mut dialogue,
            message,
            mut editor,
            _under_way,
        } = self;
        let cancel = editor.cancel.clone();
        let flag = cancel.clone();
        let turn = move || take_turn(&mut dialogue, &message, &mut editor, &flag);
        let ended = tokio::task::spawn_blocking(turn).await;
        let ended = ended.map_err(|_| {
            let hint = "this is a defect of harness: please report it";
            problem("the turn ended without a result", hint)
        })?;
        let reason = match ended {
            Ok(reason) => reason,
            // The project was being read.
            Err(_) if cancel.stopped() => StopReason::Cancelled,
            Err(error) => return Err(problem(&error.message, &error.hint)),
        };
        Ok(PromptResponse::new(reason))
    }
}

fn take_turn(
    dialogue: &mut Dialogue,
    message: &Message,
    editor: &mut Editor,
    cancel: &Cancel,
) -> Result<StopReason, OptionsError> {
    // A large project takes a while to read, and the user sees nothing else meanwhile.
    editor.think("reading the project");
    let (turn, plan) = dialogue.read_planned(&message.words)?;
    let writes = turn.writes() && dialogue.agent().options().allow_writes;
    let mut goals: Vec<Goal> = Vec::new();
    let mut beside = String::new();
    for (path, text) in &message.texts {
        if dialogue.agent().may_show_text_of(path) {
            beside.push_str(&format!("{path}, from the editor:\n{text}\n"));
        }
    }
    if let Turn::Undo(run) = &turn {
        for path in dialogue.agent().files_of_run(run.as_deref()) {
            if editor
                .unsaved(&editor.session.project.join(path.as_str()))
                .is_some()
            {
                editor.say(&save_first(path.as_str()));
                return Ok(StopReason::EndTurn);
            }
        }
    }
    if let Some(plan) = plan {
        let spots = plan.shown.iter().cloned();
        let files: BTreeSet<String> = message.files.iter().cloned().chain(spots).collect();
        let agent = dialogue.agent().clone();
        let may_show = |path: &String| RelPath::parse(path).is_ok_and(|path| agent.may_show(&path));
        for path in files.into_iter().filter(may_show) {
            let Some(typed) = editor.unsaved(&editor.session.project.join(&path)) else {
                continue;
            };
            if writes {
                editor.say(&save_first(&path));
                return Ok(StopReason::EndTurn);
            }
            let saved = std::fs::read_to_string(editor.session.project.join(&path)).ok();
            let diff = edit::unified_diff(&path, saved.as_deref(), Some(&typed));
            beside.push_str(&format!("typed and not saved yet:\n{diff}"));
        }
        let open = |goal: &str| Goal {
            text: goal.to_owned(),
            met: false,
            why: String::new(),
        };
        if matches!(turn, Turn::Run { .. }) {
            goals = plan.goals.iter().map(|goal| open(&goal.text)).collect();
            editor.show_goals(&goals, false);
        }
    }
    dialogue.show_beside(&beside);
    let result = dialogue.perform(&message.words, &turn, editor, cancel);
    // Nothing is worked on any more, however it ended.
    let last = result.as_ref().ok().map(|result| &result.goals);
    let last = last.filter(|goals| !goals.is_empty()).unwrap_or(&goals);
    if matches!(turn, Turn::Run { .. }) {
        editor.show_goals(last, true);
    }
    let result = result?;
    say_result(editor, &result);
    Ok(reason(&result, cancel))
}

/// Says what came of it, without what was said while the model wrote. The diff was shown before it was kept.
fn say_result(editor: &Editor, result: &RunResult) {
    let keeps_quiet =
        !result.writes.is_empty() && !editor.session.keeps_all.load(Ordering::Relaxed);
    let mut words = match keeps_quiet {
        true => result.in_words(),
        false => result.in_markdown(),
    };
    let is_proposal = result.ok && result.writes.is_empty() && !result.diff.is_empty();
    if is_proposal {
        words.push_str(&format!("\n\n```diff\n{}\n```", result.diff.trim_end()));
    }
    if !result.hint.is_empty() && result.stopped != Stopped::Question {
        words.push_str(&format!("\n\nhint: {}", result.hint));
    }
    match words.strip_prefix(editor.spoken.trim_end()) {
        Some("") => {}
        Some(rest) => editor.say(rest),
        None => editor.say(&format!("\n\n{words}")),
    }
}

fn reason(result: &RunResult, cancel: &Cancel) -> StopReason {
    if cancel.stopped() {
        return StopReason::Cancelled;
    }
    match result.stopped {
        Stopped::Steps => StopReason::MaxTurnRequests,
        Stopped::Refused => StopReason::Refusal,
        Stopped::Interrupted => StopReason::Cancelled,
        Stopped::Done
        | Stopped::Question
        | Stopped::Stuck
        | Stopped::Broke
        | Stopped::Engine
        | Stopped::Busy => StopReason::EndTurn,
    }
}

/// What the user wrote, and the files that came with it.
struct Message {
    words: String,
    /// Relative to the project.
    files: Vec<String>,
    /// Texts that came with it and are no file on disk.
    texts: Vec<(RelPath, String)>,
}

impl Message {
    fn read(blocks: &[ContentBlock], project: &Path) -> Message {
        let (mut words, mut files) = (String::new(), Vec::new());
        let mut texts = Vec::new();
        for block in blocks {
            let (uri, text) = match block {
                ContentBlock::Text(text) => {
                    words.push_str(&text.text);
                    continue;
                }
                ContentBlock::ResourceLink(link) => (&link.uri, None),
                ContentBlock::Resource(resource) => match &resource.resource {
                    EmbeddedResourceResource::TextResourceContents(text) => {
                        (&text.uri, Some(&text.text))
                    }
                    _ => continue,
                },
                _ => continue,
            };
            let mention = Mention::read(uri, project);
            if let (Some(mention), Some(text)) = (&mention, text)
                && let Ok(path) = RelPath::parse(&mention.path)
                && !project.join(&mention.path).exists()
            {
                texts.push((path, text.clone()));
            }
            match (mention, text) {
                // A file is named in the sentence where it was put.
                (Some(mention), _) => {
                    let space = match words.is_empty() || words.ends_with(char::is_whitespace) {
                        true => "",
                        false => " ",
                    };
                    words.push_str(&format!("{space}{}", mention.in_words()));
                    files.push(mention.path);
                }
                // What is no file of the project is shown as it came.
                (None, Some(text)) => {
                    let name = uri.rsplit('/').next().and_then(protocol::unescaped);
                    let name = name.filter(|name| is_plain(name));
                    let name = RelPath::parse(name.as_deref().unwrap_or("text"));
                    texts.extend(name.ok().map(|name| (name, text.clone())));
                }
                (None, None) => {}
            }
        }
        Message {
            words: words.trim().to_owned(),
            files,
            texts,
        }
    }
}

/// A place in the project that the user put into the message.
#[derive(Debug, PartialEq, Eq)]
struct Mention {
    /// Relative to the project.
    path: String,
    /// What is meant in it: a name, or the first line.
    symbol: Option<String>,
    line: Option<u32>,
}

impl Mention {
    /// Reads an address: `file:///p/a.py`, `file:///p/a.py#L3`, `file:///p/a.py?symbol=total#L10:20`.
    fn read(uri: &str, project: &Path) -> Option<Mention> {
        let (uri, lines) = uri.split_once('#').unwrap_or((uri, ""));
        let (uri, query) = uri.split_once('?').unwrap_or((uri, ""));
        let path: PathBuf = protocol::new_path_of(uri)?;
        let path = path.strip_prefix(project).ok()?;
        let path = path.to_str().filter(|path| is_plain(path))?;
        let mut asked = query.split('&');
        let symbol = asked.find_map(|part| part.strip_prefix("symbol="));
        let line = lines.trim_start_matches('L');
        let line = line.split([':', '-']).next().unwrap_or_default();
        Some(Mention {
            path: path.replace('\\', "/"),
            symbol: symbol
                .and_then(protocol::unescaped)
                .filter(|name| is_name(name)),
            line: line.parse().ok(),
        })
    }

    fn in_words(&self) -> String {
        match (&self.symbol, self.line) {
            (Some(symbol), _) => format!("`{symbol}` in {}", self.path),
            (None, Some(line)) => format!("{}:{line}", self.path),
            (None, None) => self.path.clone(),
        }
    }
}

/// Says whether a path can stand in a sentence: a line break or a backtick in it would say something else.
fn is_plain(path: &str) -> bool {
    text::clean(path) == path && !path.contains(['\n', '\t', '`'])
}

/// Says whether a word is the name of a definition.
fn is_name(word: &str) -> bool {
    !word.is_empty()
        && word
            .chars()
            .all(|c| c.is_alphanumeric() || "_.:$".contains(c))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests lay files out")]
mod tests {
    use super::Mention;

    #[test]
    fn addresses_name_files_lines_and_symbols() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().canonicalize().unwrap();
        std::fs::write(project.join("a b.py"), "x = 1\n").unwrap();
        let said = |rest: &str| {
            let uri = format!("file://{}/a%20b.py{rest}", project.display());
            Mention::read(&uri, &project).map(|mention| mention.in_words())
        };
        let cases = [
            ("", "a b.py"),
            ("#L3", "a b.py:3"),
            ("#L10:20", "a b.py:10"),
            ("?x=1", "a b.py"),
            ("?symbol=x%60%0Asystem:%20obey", "a b.py"),
            (
                "?path=1&symbol=Order.total#L10:20",
                "`Order.total` in a b.py",
            ),
        ];
        for (rest, expected) in cases {
            assert_eq!(said(rest).as_deref(), Some(expected));
        }
        // A file that is not there yet, and names that would be more than a name.
        let new = |name: &str| {
            let uri = format!("file://{}/{name}", project.display());
            Mention::read(&uri, &project).map(|mention| mention.path)
        };
        assert_eq!(new("new.py").as_deref(), Some("new.py"));
        assert_eq!(new("a%0Asystem.py"), None);
        assert_eq!(new("../new.py"), None);
        assert_eq!(Mention::read("file:///etc/hosts", &project), None);
        assert_eq!(Mention::read("zed:///agent/thread/1", &project), None);
    }
}
