//! Replies, read: from whatever form a model writes to one action. Reading never acts and never fails on odd input.

mod diff;
mod envelope;
mod fenced;
mod json;
mod labels;
mod search_replace;
mod text;

use crate::action::Action;

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
}

/// What one form makes of a reply: its actions in order, and a tool's name that does not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Found {
    actions: Vec<Action>,
    unknown_tool: Option<String>,
}

impl Found {
    fn is_empty(&self) -> bool {
        self.actions.is_empty() && self.unknown_tool.is_none()
    }
}

/// Asked in this order, strictest form first; the first that finds something is believed.
const FORMS: &[fn(&str) -> Found] = &[
    json::read,
    envelope::read,
    search_replace::read,
    diff::read,
    labels::read,
    fenced::read,
];

/// Reads a reply.
pub fn read(reply: &str) -> Reading {
    let prose = text::without_thinking(reply);
    for form in FORMS {
        let found = form(&prose);
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
        };
    }
    Reading {
        action: None,
        leftovers: Vec::new(),
        prose,
        unknown_tool: None,
    }
}

fn described(action: &Action) -> String {
    match action.path() {
        "" => action.tool().to_owned(),
        path => format!("{} {path}", action.tool()),
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::action::{Action, Hunk};

    fn patch(path: &str, old: &str, new: &str) -> Option<Action> {
        let hunks = vec![Hunk {
            old: old.to_owned(),
            new: new.to_owned(),
        }];
        Some(Action::Patch {
            path: path.to_owned(),
            hunks,
        })
    }

    fn edit(path: &str, name: &str, content: &str) -> Option<Action> {
        Some(Action::Edit {
            path: path.to_owned(),
            name: name.to_owned(),
            content: content.to_owned(),
        })
    }

    #[track_caller]
    fn check(reply: &str, action: Option<Action>) {
        assert_eq!(read(reply).action, action, "{reply}");
    }

    #[test]
    fn a_whole_definition_in_a_fence() {
        check(
            "Here it is:\n```python\ndef f():\n    return 1\n```\nHope that helps.",
            edit("", "", "def f():\n    return 1\n"),
        );
        check(
            "```\ndef f():\n    return 1\n```",
            edit("", "", "def f():\n    return 1\n"),
        );
        check("~~~py\ndef f(): pass\n~~~", edit("", "", "def f(): pass\n"));
    }

    #[test]
    fn a_fence_that_was_never_closed() {
        check(
            "```python\ndef f():\n    return 1\n",
            edit("", "", "def f():\n    return 1\n"),
        );
    }

    #[test]
    fn a_fence_may_say_its_file() {
        check(
            "shop/pricing.py\n```python\nx = 1\n```",
            edit("shop/pricing.py", "", "x = 1\n"),
        );
        check(
            "```python shop/pricing.py\nx = 1\n```",
            edit("shop/pricing.py", "", "x = 1\n"),
        );
        check(
            "**`shop/pricing.py`**\n\n```python\nx = 1\n```",
            edit("shop/pricing.py", "", "x = 1\n"),
        );
    }

    #[test]
    fn a_call_in_json() {
        check(
            r#"{"tool": "patch", "path": "a.py", "old": "x", "new": "y"}"#,
            patch("a.py", "x", "y"),
        );
        check(
            "I will look.\n```json\n{\"tool\": \"read\", \"path\": \"a.py\"}\n```",
            Some(Action::Read {
                path: "a.py".to_owned(),
                place: String::new(),
            }),
        );
        check(
            r#"{"name": "edit", "arguments": {"path": "a.py", "content": "x = 1\n"}}"#,
            edit("a.py", "", "x = 1\n"),
        );
        check(
            r#"{"function": {"name": "run", "arguments": "{\"tests\": [\"t.py\"]}"}}"#,
            Some(Action::Run {
                tests: vec!["t.py".to_owned()],
            }),
        );
        check(
            r#"<tool_call>{"name": "done", "arguments": {"summary": "ok"}}</tool_call>"#,
            Some(Action::Done {
                summary: "ok".to_owned(),
            }),
        );
    }

    #[test]
    fn a_search_replace_block() {
        let reply = "shop/a.py\n```python\n<<<<<<< SEARCH\n    x = 1\n=======\n    x = 2\n>>>>>>> REPLACE\n```";
        check(reply, patch("shop/a.py", "    x = 1\n", "    x = 2\n"));
    }

    #[test]
    fn a_unified_diff() {
        let reply = "```diff\n--- a/shop/a.py\n+++ b/shop/a.py\n@@ -4,3 +4,3 @@\n def f():\n-    x = 1\n+    x = 2\n```";
        check(
            reply,
            patch(
                "shop/a.py",
                "def f():\n    x = 1\n",
                "def f():\n    x = 2\n",
            ),
        );
    }

    #[test]
    fn an_apply_patch_envelope() {
        let reply = "*** Begin Patch\n*** Update File: shop/a.py\n@@\n-    x = 1\n+    x = 2\n*** End Patch";
        check(reply, patch("shop/a.py", "    x = 1\n", "    x = 2\n"));
        let reply = "*** Begin Patch\n*** Add File: new.py\n+x = 1\n*** End Patch";
        check(reply, edit("new.py", "", "x = 1\n"));
    }

    #[test]
    fn labelled_lines() {
        check(
            "**Action:** patch\nPath: a.py\nFind:\n    x = 1\nReplace:\n    x = 2\n",
            patch("a.py", "    x = 1\n", "    x = 2\n"),
        );
        check(
            "Action: done\nSummary: fixed the discount",
            Some(Action::Done {
                summary: "fixed the discount".to_owned(),
            }),
        );
        check(
            "1. Action: read\n2. Path: `a.py`",
            Some(Action::Read {
                path: "a.py".to_owned(),
                place: String::new(),
            }),
        );
        check(
            "Path: a.py\nAppend:\n```python\nx = 2\n```\n",
            patch("a.py", "", "x = 2\n"),
        );
    }

    #[test]
    fn thinking_is_not_the_reply() {
        check(
            "<think>\nmaybe\n```python\nx = 0\n```\n</think>\nAction: done\nSummary: ok",
            Some(Action::Done {
                summary: "ok".to_owned(),
            }),
        );
        assert_eq!(read("<think>never closed").prose, "");
    }

    #[test]
    fn one_action_and_the_rest_is_named() {
        let reading = read(
            "{\"tool\": \"read\", \"path\": \"a.py\"}\n{\"tool\": \"read\", \"path\": \"b.py\"}",
        );
        assert_eq!(
            reading.action,
            Some(Action::Read {
                path: "a.py".to_owned(),
                place: String::new()
            })
        );
        assert_eq!(reading.leftovers, ["read b.py"]);
    }

    #[test]
    fn prose_is_prose() {
        let reading = read("Hmm, let me think about it.");
        assert_eq!(
            (reading.action, reading.prose.as_str()),
            (None, "Hmm, let me think about it.")
        );
    }

    #[test]
    fn a_tool_that_does_not_exist_is_named() {
        assert_eq!(
            read(r#"{"tool": "shell", "command": "rm -rf /"}"#)
                .unknown_tool
                .as_deref(),
            Some("shell")
        );
        assert_eq!(
            read("Action: bash\nCommand: ls").unknown_tool.as_deref(),
            Some("bash")
        );
    }
}
