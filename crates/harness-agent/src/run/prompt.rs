//! The words for the model: rendered from `prompts/*.md`, every injected part with its cap.

use harness_code::tree::SourceTree;

use crate::model::{Message, Role};
use crate::plan::{Plan, Rung, Spot};
use crate::skill::Skill;
use crate::task::Task;

const REWRITE: &str = include_str!("../../prompts/rewrite.md");
const EXAMPLE_TASK: &str = include_str!("../../prompts/example_task.md");
const EXAMPLE_REPLY: &str = include_str!("../../prompts/example_reply.md");
/// The actions, told once when code alone did not do.
pub(super) const MENU: &str = include_str!("../../prompts/menu.md");
const WORK: &str = include_str!("../../prompts/work.md");
const ANSWER: &str = include_str!("../../prompts/answer.md");
const READ_ONLY: &str = include_str!("../../prompts/read_only.md");

/// The longest task that is shown, in characters; a pasted log is cut in its middle.
const LONGEST_TASK: usize = 6_000;
/// The most code that the first prompt shows, in characters: about 1,500 tokens.
const MOST_CODE: usize = 6_000;
/// The longest single definition that is shown, in characters.
const LONGEST_DEFINITION: usize = 4_000;
/// House rules beyond this crowd the code out, in characters.
const LONGEST_RULES: usize = 1_500;
/// An earlier conversation beyond this crowds the code out, in characters.
const LONGEST_CONTEXT: usize = 1_500;
/// Failing tests beyond this crowd the code out, in characters.
const LONGEST_FAILURE: usize = 1_500;

/// What the first prompt is made of.
pub(super) struct Opening<'a> {
    pub(super) task: &'a Task,
    pub(super) plan: &'a Plan,
    pub(super) tree: &'a SourceTree,
    pub(super) skills: &'a [Skill],
    pub(super) rules: &'a str,
    pub(super) context: &'a str,
    pub(super) failure: &'a str,
    pub(super) learned: &'a str,
    pub(super) read_only: bool,
    pub(super) answers: bool,
}

/// Returns the messages of the first request.
pub(super) fn opening(opening: &Opening<'_>) -> Vec<Message> {
    let rewrites = opening.plan.rung == Rung::Rewrite && !opening.answers;
    let system = match (opening.answers, rewrites) {
        (true, _) => ANSWER,
        (false, true) => REWRITE,
        (false, false) => WORK,
    };
    let mut user = String::new();
    let mut part = |text: &str| {
        if !text.trim().is_empty() {
            user.push_str(text.trim_end());
            user.push_str("\n\n");
        }
    };
    if !opening.rules.trim().is_empty() {
        part(&format!(
            "Rules of this project:\n{}",
            capped(opening.rules, LONGEST_RULES)
        ));
    }
    for skill in opening.skills {
        part(&skill.text);
    }
    if !opening.context.trim().is_empty() {
        part(&format!(
            "Said before:\n{}",
            capped(opening.context, LONGEST_CONTEXT)
        ));
    }
    let mut room = MOST_CODE;
    // A rewrite is shown the one definition it is about: more only distracts a small model.
    let most = if rewrites { 1 } else { usize::MAX };
    for spot in opening.plan.spots().iter().take(most) {
        let Some(shown) = shown(opening.tree, spot, LONGEST_DEFINITION.min(room)) else {
            continue;
        };
        room = room.saturating_sub(shown.len());
        part(&shown);
    }
    if !opening.failure.is_empty() {
        part(&format!(
            "A test fails:\n{}",
            capped(opening.failure, LONGEST_FAILURE)
        ));
    }
    part(opening.learned);
    if opening.read_only && !opening.answers {
        part(READ_ONLY);
    }
    let word = if opening.answers { "Question" } else { "Task" };
    part(&format!(
        "{word}: {}",
        capped(&opening.task.text, LONGEST_TASK)
    ));
    let message = |role, content: &str| Message {
        role,
        content: content.trim_end().to_owned(),
    };
    let mut messages = vec![message(Role::System, system)];
    if rewrites {
        messages.push(message(Role::User, EXAMPLE_TASK));
        messages.push(message(Role::Assistant, EXAMPLE_REPLY));
    }
    messages.push(message(Role::User, &user));
    messages
}

/// Returns one place as the model sees it: where it is, then its code in a fence.
fn shown(tree: &SourceTree, spot: &Spot, room: usize) -> Option<String> {
    let text = tree.text(&spot.path).ok()?;
    let code = text.content().get(spot.span.clone())?;
    if code.len() > room {
        // Half a definition misleads; its first line at least tells that it is there.
        let head: String = code.lines().take(2).collect::<Vec<_>>().join("\n");
        let path = &spot.path;
        return (room > 200).then(|| {
            format!(
                "{path}, line {} (long; read it with `Action: read`):\n{head}",
                spot.line
            )
        });
    }
    let language = tree
        .file(&spot.path)
        .map(|file| file.language.name().to_ascii_lowercase())
        .unwrap_or_default();
    let code = code.trim_end_matches(['\r', '\n']).replace("\r\n", "\n");
    Some(format!(
        "{}, line {}:\n```{language}\n{code}\n```",
        spot.path, spot.line
    ))
}

/// Returns a text that is no longer than the cap: its head and its tail, and a word on what is missing.
pub(super) fn capped(text: &str, cap: usize) -> String {
    let count = text.chars().count();
    if count <= cap {
        return text.to_owned();
    }
    let head: String = text.chars().take(cap * 2 / 3).collect();
    let tail: String = text.chars().skip(count - cap / 3).collect();
    format!("{head}\n[… {} characters left out …]\n{tail}", count - cap)
}
