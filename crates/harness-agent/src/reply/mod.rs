//! Replies, read: from whatever form a model writes to one action. Reading never acts and never fails on odd input.

mod bare;
mod diff;
mod envelope;
mod fenced;
mod json;
mod labels;
mod lenient;
mod search_replace;
mod tags;
mod text;

use crate::action::Action;

pub use text::{is_cut, joined, path_above};

/// Returns whether a reply that is still coming holds a whole block of new code already: closed, a definition, and not
/// the code as it was shown.
pub(crate) fn has_whole_block(reply: &str, shown: &str) -> bool {
    fenced::has_whole_block(&text::without_thinking(reply), shown)
}

/// The first words of actions and of code that are no labels.
const FIRST_WORDS: &[&str] = &[
    "read", "search", "map", "patch", "edit", "run", "ask", "done", "diff", "index", "def",
    "async", "class", "from", "import",
];

/// Returns whether a reply that is still coming can be nothing but words, by its first word.
pub(crate) fn begins_as_prose(start: &str) -> bool {
    let first: String = start.chars().take_while(|c| c.is_alphabetic()).collect();
    let is_whole = first.len() < start.len();
    let first = first.to_lowercase();
    let mut known = FIRST_WORDS.iter().copied().chain(labels::words());
    !first.is_empty() && !known.any(|word| word == first || !is_whole && word.starts_with(&first))
}

/// What was found in a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The one action, when there is one.
    pub action: Option<Action>,
    /// What else the reply asked for and will not get this turn.
    pub leftovers: Vec<String>,
    /// The words around it, without thinking blocks.
    pub prose: String,
    /// A tool was called by a name that does not exist.
    pub unknown_tool: Option<String>,
    /// A form was begun and not written whole: one sentence that says what would have worked.
    pub problem: Option<String>,
}

/// What one form makes of a reply: its actions in order, a tool's name that does not exist, what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Found {
    actions: Vec<Action>,
    unknown_tool: Option<String>,
    problem: Option<String>,
}

impl Found {
    fn problem(sentence: impl Into<String>) -> Found {
        Found {
            problem: Some(sentence.into()),
            ..Found::default()
        }
    }

    fn is_empty(&self) -> bool {
        self.actions.is_empty() && self.unknown_tool.is_none()
    }
}

/// Asked in this order, strictest form first; the first that finds something is believed.
const FORMS: &[fn(&str) -> Found] = &[
    json::read,
    tags::read,
    envelope::read,
    search_replace::read,
    diff::read,
    labels::read,
    fenced::read,
    bare::read,
];

/// The actions that our own prompts show: a reply that repeats them is an echo, not a wish.
const OWN: [&str; 3] = [
    include_str!("../../prompts/menu.md"),
    include_str!("../../prompts/work.md"),
    include_str!("../../prompts/answer.md"),
];

/// Reads a reply.
pub fn read(reply: &str) -> Reading {
    let prose = text::without_thinking(reply);
    let mut problem = None;
    for form in FORMS {
        let mut found = form(&prose);
        let echoed = drop_echoes(&mut found.actions);
        if echoed && found.actions.is_empty() {
            problem = problem.or_else(|| {
                Some(
                    "that is the list of actions: write one of them with its own path and words"
                        .to_owned(),
                )
            });
        }
        // A form that was begun is not read as another one: half a block is no definition.
        if found.problem.is_some() && found.actions.is_empty() {
            problem = problem.or(found.problem.take());
            break;
        }
        if found.is_empty() {
            continue;
        }
        let mut actions = found.actions.into_iter();
        let action = actions.next();
        let leftovers = actions.map(|action| described(&action)).collect();
        return Reading {
            action,
            leftovers,
            prose,
            unknown_tool: found.unknown_tool,
            problem: None,
        };
    }
    Reading {
        action: None,
        leftovers: Vec::new(),
        prose,
        unknown_tool: None,
        problem,
    }
}

/// Takes out what a reply repeats from our own list of actions; one alone may be meant.
fn drop_echoes(actions: &mut Vec<Action>) -> bool {
    if actions.len() < 2 {
        return false;
    }
    let own: Vec<Action> = OWN
        .iter()
        .flat_map(|prompt| labels::read(prompt).actions)
        .collect();
    let count = actions.len();
    let is_echo = |action: &Action| own.contains(action);
    // Two of ours beside nothing else may be two wishes; more are the list.
    if actions.iter().all(is_echo) && count < 4 {
        return false;
    }
    actions.retain(|action| !is_echo(action));
    actions.len() < count
}

fn described(action: &Action) -> String {
    match action.path() {
        "" => action.tool().to_owned(),
        path => format!("{} {path}", action.tool()),
    }
}

#[cfg(test)]
mod tests;
