//! Fenced code: the prompt's own plain form. Blocks without a file's name are definitions of the place shown.

use harness_code::language::Language;
use harness_code::symbols;

use super::Found;
use super::text::{Fence, fences, is_open, looks_like_path, path_alone};
use crate::action::Action;

/// Blocks in these languages are shown to people, not meant for the project.
const NOT_CODE: [&str; 10] = [
    "json", "diff", "patch", "text", "txt", "output", "console", "bash", "sh", "shell",
];

/// So much may a model say after it repeated the code as it was, in bytes, before the new code begins.
const MOST_AFTER: usize = 240;

/// The code that our own prompts show as examples.
const EXAMPLES: [&str; 5] = [
    include_str!("../../prompts/example_reply.md"),
    include_str!("../../prompts/example_task.md"),
    include_str!("../../prompts/work.md"),
    include_str!("../../prompts/tests_task.md"),
    include_str!("../../prompts/tests_reply.md"),
];

pub(super) fn read(reply: &str) -> Found {
    let mut blocks: Vec<Fence<'_>> = fences(reply).into_iter().filter(is_code).collect();
    if blocks.len() > 1 {
        let examples: Vec<String> = EXAMPLES
            .iter()
            .flat_map(|prompt| fences(prompt))
            .map(|fence| fence.body)
            .collect();
        blocks.retain(|block| !examples.contains(&block.body));
    }
    let (named, nameless): (Vec<_>, Vec<_>) = blocks
        .into_iter()
        .partition(|block| path_of(block).is_some());
    let mut actions: Vec<Action> = Vec::new();
    let files: Vec<Action> = named
        .iter()
        .map(|block| edit(path_of(block), &block.body))
        .collect();
    actions.extend(Action::together(files));
    let (meant, examples) = meant(&nameless);
    actions.extend((!meant.is_empty()).then(|| edit(None, &meant.join("\n\n"))));
    actions.extend(examples.iter().map(|body| edit(None, body)));
    Found {
        actions,
        ..Found::default()
    }
}

/// Returns whether there is a closed block that defines something other than what was shown.
pub(super) fn has_whole_block(reply: &str, shown: &str) -> bool {
    let squeezed = |code: &str| -> String { code.split_whitespace().collect() };
    if is_open(reply) {
        return false;
    }
    let blocks = fences(reply);
    // Code as it was may come before the new one; a model that has nothing to add by then only repeats itself.
    let said_after = reply.rfind("```").map_or(0, |at| reply.len() - at);
    let defining: Vec<&Fence<'_>> = blocks.iter().filter(|fence| defines(&fence.body)).collect();
    let new = |fence: &&&Fence<'_>| squeezed(&fence.body) != squeezed(shown);
    defining.iter().any(|fence| new(&fence)) || (!defining.is_empty() && said_after > MOST_AFTER)
}

/// Returns the blocks that are definitions to take over, and those that are left: examples, tests, older versions.
fn meant(blocks: &[Fence<'_>]) -> (Vec<String>, Vec<String>) {
    let bodies: Vec<String> = blocks.iter().map(|block| block.body.clone()).collect();
    let names = |body: &str| -> Vec<String> {
        symbols::definitions(Language::Python, body)
            .iter()
            .filter(|known| known.parent.is_none())
            .map(|known| known.name().to_owned())
            .collect()
    };
    let defining: Vec<usize> = (0..bodies.len())
        .filter(|at| !names(&bodies[*at]).is_empty())
        .collect();
    if defining.len() < 2 {
        // A block with a definition comes before one without: that is how it is called, not what it is.
        let first = defining.first().copied().unwrap_or_default();
        let (meant, rest): (Vec<_>, Vec<_>) = bodies
            .into_iter()
            .enumerate()
            .partition(|(at, _)| *at == first);
        let bare = |pairs: Vec<(usize, String)>| pairs.into_iter().map(|(_, body)| body).collect();
        return (bare(meant), bare(rest));
    }
    let is_test = |body: &str| {
        names(body)
            .iter()
            .all(|name| name.to_ascii_lowercase().starts_with("test"))
    };
    let later = |at: usize, name: &String| {
        defining
            .iter()
            .any(|other| *other > at && names(&bodies[*other]).contains(name))
    };
    let code: Vec<usize> = defining
        .iter()
        .copied()
        .filter(|at| !is_test(&bodies[*at]))
        .collect();
    let chosen: Vec<usize> = (if code.is_empty() {
        defining.clone()
    } else {
        code
    })
    .into_iter()
    // Shown twice, the later one is the answer and the earlier one how it was.
    .filter(|at| !names(&bodies[*at]).iter().all(|name| later(*at, name)))
    .collect();
    let pick = |wanted: bool| -> Vec<String> {
        (0..bodies.len())
            .filter(|at| chosen.contains(at) == wanted)
            .map(|at| bodies[at].clone())
            .collect()
    };
    let left = pick(false);
    let left = left.into_iter().filter(|body| is_test(body)).collect();
    (pick(true), left)
}

fn is_code(fence: &Fence<'_>) -> bool {
    let language = fence
        .info
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    // A shell block that names a file is a file; without one it is a command for a person. Whole definitions are
    // code whatever the block is called.
    let tagged = NOT_CODE.contains(&language.as_str());
    let foreign = tagged && path_of(fence).is_none() && !defines(&fence.body);
    !foreign && !fence.body.trim().is_empty()
}

fn defines(body: &str) -> bool {
    symbols::parses(Language::Python, body)
        && symbols::definitions(Language::Python, body)
            .iter()
            .any(|known| known.kind.is_function())
}

fn edit(path: Option<String>, body: &str) -> Action {
    Action::Edit {
        path: path.unwrap_or_default(),
        name: String::new(),
        content: body.to_owned(),
    }
}

fn path_of(fence: &Fence<'_>) -> Option<String> {
    let in_info = fence
        .info
        .split([' ', ':', '='])
        .map(|word| word.trim_matches(['"', '`']))
        .find(|word| looks_like_path(word));
    let in_first_line = || {
        let line = fence.body.lines().next()?.trim();
        let comment = line
            .strip_prefix('#')
            .or_else(|| line.strip_prefix("//"))?
            .trim();
        let comment = comment
            .strip_prefix("File:")
            .or_else(|| comment.strip_prefix("file:"))
            .unwrap_or(comment)
            .trim();
        (comment.contains('/') && looks_like_path(comment)).then(|| comment.to_owned())
    };
    in_info
        .map(str::to_owned)
        .or_else(|| path_alone(fence.above))
        .or_else(in_first_line)
}
