//! One turn: a message of the user becomes what the agent does, and how it ended.

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

use crate::acp::Connection;
use crate::acp::editor::{Editor, save_first};
use crate::acp::sessions::{Mode, Sessions, problem};
use crate::protocol;

/// Performs a turn of a session.
pub(super) async fn perform(
    sessions: &Arc<Sessions>,
    request: PromptRequest,
    connection: Connection,
) -> Result<PromptResponse, Error> {
    let session = sessions.get(&request.session_id)?;
    let Ok(mut dialogue) = Arc::clone(&session.dialogue).try_lock_owned() else {
        let hint = "wait for its end, or cancel it";
        return Err(problem("a turn of this session is under way", hint));
    };
    let _under_way = sessions.turns.read().await;
    let cancel = session.begin_turn();
    let message = Message::read(&request.prompt, &session.project);
    let options = AgentOptions {
        allow_writes: session.mode() == Mode::Write,
        confirm: true,
        ..dialogue.agent().options().clone()
    };
    let agent = dialogue.agent().with_options(options);
    dialogue.change_agent(agent);
    let mut editor = Editor {
        turn: dialogue.said().len(),
        session,
        connection,
        cancel: cancel.clone(),
        handle: Handle::current(),
        can_read: sessions.can_read(),
        spoken: String::new(),
        calls: 0,
    };
    let turn = move || take_turn(&mut dialogue, &message, &mut editor, &cancel);
    let ended = tokio::task::spawn_blocking(turn).await;
    let ended = ended.map_err(|_| {
        let hint = "this is a defect of harness: please report it";
        problem("the turn ended without a result", hint)
    })?;
    let reason = ended.map_err(|error| problem(&error.message, &error.hint))?;
    Ok(PromptResponse::new(reason))
}

fn take_turn(
    dialogue: &mut Dialogue,
    message: &Message,
    editor: &mut Editor,
    cancel: &Cancel,
) -> Result<StopReason, OptionsError> {
    let turn = dialogue.read(&message.words)?;
    let writes = turn.writes() && dialogue.agent().options().allow_writes;
    let mut beside = String::new();
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
    if !turn.task().is_empty() {
        let plan = dialogue.agent().route(turn.task())?;
        let spots = plan.spots().iter().map(|spot| spot.path.to_string());
        let mut files: Vec<String> = message.files.iter().cloned().chain(spots).collect();
        files.dedup();
        let agent = dialogue.agent().clone();
        files.retain(|path| RelPath::parse(path).is_ok_and(|path| agent.may_show(&path)));
        for path in files {
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
        let goals: Vec<Goal> = plan.goals.iter().map(|goal| open(&goal.text)).collect();
        if matches!(turn, Turn::Run { .. }) {
            editor.show_goals(&goals);
        }
    }
    dialogue.show_beside(&beside);
    let result = dialogue.perform(&message.words, &turn, editor, cancel)?;
    if matches!(turn, Turn::Run { .. }) {
        editor.show_goals(&result.goals);
    }
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
}

impl Message {
    fn read(blocks: &[ContentBlock], project: &Path) -> Message {
        let (mut words, mut files) = (String::new(), Vec::new());
        for block in blocks {
            let uri = match block {
                ContentBlock::Text(text) => {
                    words.push_str(&text.text);
                    continue;
                }
                ContentBlock::ResourceLink(link) => &link.uri,
                ContentBlock::Resource(resource) => match &resource.resource {
                    EmbeddedResourceResource::TextResourceContents(text) => &text.uri,
                    _ => continue,
                },
                _ => continue,
            };
            // A file is named in the sentence where it was put; others say nothing to us.
            if let Some(path) = inside(uri, project) {
                let space = if words.is_empty() || words.ends_with(char::is_whitespace) {
                    ""
                } else {
                    " "
                };
                words.push_str(&format!("{space}{path}"));
                files.push(path);
            }
        }
        let words = words.trim().to_owned();
        Message { words, files }
    }
}

/// Returns a file of the project by its address.
fn inside(uri: &str, project: &Path) -> Option<String> {
    // An editor may say which lines are meant.
    let uri = uri.split('#').next().unwrap_or(uri);
    let path: PathBuf = protocol::path_of(uri)?;
    let path = path.strip_prefix(project).ok()?;
    Some(path.to_str()?.replace('\\', "/"))
}
