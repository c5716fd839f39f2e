//! Fenced code: the prompt's own plain form. One block is one definition or one file.

use super::Found;
use super::text::{Fence, fences, looks_like_path, path_alone};
use crate::action::Action;

/// Blocks in these languages are shown to people, not meant for the project.
const NOT_CODE: [&str; 9] = [
    "json", "diff", "patch", "text", "txt", "output", "console", "bash", "sh",
];

pub(super) fn read(reply: &str) -> Found {
    let actions = fences(reply)
        .into_iter()
        .filter(is_code)
        .map(|fence| as_edit(&fence))
        .collect();
    Found {
        actions,
        unknown_tool: None,
    }
}

fn is_code(fence: &Fence<'_>) -> bool {
    let language = fence
        .info
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    // A shell block that names a file is a file; without one it is a command for a person.
    let foreign = NOT_CODE.contains(&language.as_str()) && path_of(fence).is_none();
    !foreign && !fence.body.trim().is_empty()
}

fn as_edit(fence: &Fence<'_>) -> Action {
    let path = path_of(fence).unwrap_or_default();
    Action::Edit {
        path,
        name: String::new(),
        content: fence.body.clone(),
    }
}

fn path_of(fence: &Fence<'_>) -> Option<String> {
    let in_info = fence
        .info
        .split([' ', ':', '='])
        .map(|word| word.trim_matches(['"', '`']))
        .find(|word| looks_like_path(word));
    in_info
        .map(str::to_owned)
        .or_else(|| path_alone(fence.above))
}
