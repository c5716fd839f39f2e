//! Replies as models write them, and the one action that each means.

use super::{is_cut, joined, read};
use crate::action::{Action, Hunk};

fn patch(path: &str, old: &str, new: &str) -> Option<Action> {
    let hunks = vec![Hunk::new(old, new)];
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
    let reply =
        "shop/a.py\n```python\n<<<<<<< SEARCH\n    x = 1\n=======\n    x = 2\n>>>>>>> REPLACE\n```";
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
    let reply =
        "*** Begin Patch\n*** Update File: shop/a.py\n@@\n-    x = 1\n+    x = 2\n*** End Patch";
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
        "Action: edit\nPath:\n```python\nx = 2\n```\n",
        edit("", "", "x = 2\n"),
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
    let reading =
        read("{\"tool\": \"read\", \"path\": \"a.py\"}\n{\"tool\": \"read\", \"path\": \"b.py\"}");
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

#[test]
fn json_as_models_write_it() {
    check(
        "{'tool': 'patch', 'path': 'a.py', 'old': 'x = \"1\"', 'new': 'y',}",
        patch("a.py", "x = \"1\"", "y"),
    );
    check(
        "{\"tool\": \"patch\", \"path\": \"a.py\", \"old\": \"def f():\n    x\", \"new\": \"y\"}",
        patch("a.py", "def f():\n    x", "y"),
    );
    check(
        "{\"tool\": \"edit\", \"path\": \"a.py\", \"content\": \"\"\"\nx = \"1\"\n\"\"\"}",
        edit("a.py", "", "x = \"1\"\n"),
    );
    assert!(
        read("{\"tool\": \"patch\", \"path\": \"a.py\", \"old\": ")
            .problem
            .is_some()
    );
}

#[test]
fn a_call_inside_program_code_is_data() {
    check(
        "```python\ndef f():\n    return {\"tool\": \"read\", \"path\": \"x\"}\n```",
        edit(
            "",
            "",
            "def f():\n    return {\"tool\": \"read\", \"path\": \"x\"}\n",
        ),
    );
}

#[test]
fn calls_in_tags() {
    check(
        "<function=patch>\n<parameter=path>\na.py</parameter>\n<parameter=old>x</parameter><parameter=new>y</parameter>\n</function>",
        patch("a.py", "x", "y"),
    );
    check(
        "<invoke name=\"read\"><parameter name=\"path\">a.py</parameter></invoke>",
        Some(Action::Read {
            path: "a.py".to_owned(),
            place: String::new(),
        }),
    );
    check(
        "<read_file><path>a.py</path></read_file>",
        Some(Action::Read {
            path: "a.py".to_owned(),
            place: String::new(),
        }),
    );
}

#[test]
fn a_pasted_menu_is_not_a_wish() {
    let menu = include_str!("../../prompts/menu.md");
    check(
        &format!("{menu}\nAction: patch\nPath: a.py\nFind:\nx\nReplace:\ny\n"),
        patch("a.py", "x\n", "y\n"),
    );
    let reading = read(menu);
    assert_eq!(reading.action, None);
    assert!(reading.problem.is_some());
    check("Action: run", Some(Action::Run { tests: Vec::new() }));
}

#[test]
fn code_without_a_fence() {
    check(
        "Sure, here is the code:\n\ndef f():\n    return 1\n\nThis returns one, as asked.",
        edit("", "", "def f():\n    return 1\n"),
    );
    check("import the module first, then define it", None);
}

#[test]
fn the_tag_of_a_fence_may_be_wrong() {
    check(
        "```text\ndef f():\n    return 1\n```",
        edit("", "", "def f():\n    return 1\n"),
    );
    check("```bash\npip install x\n```", None);
}

#[test]
fn of_two_versions_the_later_one_and_no_example_call() {
    let reply = "Before:\n```python\ndef f():\n    return 1\n```\nAfter:\n```python\ndef f():\n    return 2\n```\nUse it:\n```python\nprint(f())\n```";
    check(reply, edit("", "", "def f():\n    return 2\n"));
    let reading = read(
        "```python\ndef f():\n    return 2\n```\n```python\ndef test_f():\n    assert f()\n```",
    );
    assert_eq!(reading.action, edit("", "", "def f():\n    return 2\n"));
    assert_eq!(reading.leftovers, ["edit"]);
}

#[test]
fn thinking_in_other_dress() {
    check(
        "<|channel|>analysis<|message|>hm ```python\nx\n```<|end|><|start|>assistant<|channel|>final<|message|>Action: done\nSummary: ok<|return|>",
        Some(Action::Done {
            summary: "ok".to_owned(),
        }),
    );
    check(
        "```python\ndef f(text):\n    return text.split(\"<think>\")\n```",
        edit("", "", "def f(text):\n    return text.split(\"<think>\")\n"),
    );
}

#[test]
fn half_a_block_is_told_what_it_lacks() {
    for reply in [
        "a.py\n<<<<<<< SEARCH\nx\n>>>>>>> REPLACE",
        "a.py\n<<<<<<< SEARCH\nx\n=======\ny\n",
        "=======\nx\n>>>>>>> REPLACE",
        "a.py\n<<<<<<< SEARCH\nx\n=======\ny\n=======\nz\n>>>>>>> REPLACE",
    ] {
        let reading = read(reply);
        assert_eq!(reading.action, None, "{reply}");
        assert!(
            reading.problem.is_some_and(|text| text.contains("SEARCH")),
            "{reply}"
        );
    }
}

#[test]
fn a_patch_of_several_files_is_one_action() {
    let reply = "*** Begin Patch\n*** Update File: a.py\n@@ def f():\n-x\n+y\n*** Add File: b.py\n+z\n*** End Patch";
    let Some(Action::Several { parts }) = read(reply).action else {
        panic!("{:?}", read(reply));
    };
    assert_eq!(parts.len(), 2);
}

#[test]
fn passages_of_one_file_are_one_patch() {
    let pairs = "Find:\na = 1\nReplace:\na = 2\n";
    let more = "Find:\nb = 1\nReplace:\nb = 2\n";
    let hunks = vec![
        Hunk::new("a = 1\n", "a = 2\n"),
        Hunk::new("b = 1\n", "b = 2\n"),
    ];
    let path = "box.py".to_owned();
    let both = Some(Action::Patch { path, hunks });
    let head = "Action: patch\nPath: box.py\n";
    check(&format!("{head}{pairs}{more}"), both.clone());
    check(&format!("{head}{pairs}\n{head}{more}"), both);
    let other = "Action: patch\nPath: bag.py\n";
    let reading = read(&format!("{head}{pairs}\n{other}{more}"));
    assert_eq!(reading.leftovers.len(), 1, "another file is another action");
    let reading = read(&format!("{head}{pairs}Path: bag.py\n{more}"));
    let first = Action::Patch {
        path: "box.py".to_owned(),
        hunks: vec![Hunk::new("a = 1\n", "a = 2\n")],
    };
    assert_eq!(reading.action, Some(first), "a path begins another patch");
    assert_eq!(reading.leftovers.len(), 1);
}

#[test]
fn a_reply_that_was_cut_is_put_together() {
    let (first, next) = (
        "```python\ndef f():\n    ret",
        "```python\n    return 1\n```\n",
    );
    assert!(is_cut(first) && !is_cut("```python\nx = 1\n```") && !is_cut("some words"));
    check(
        &joined(first, next),
        edit("", "", "def f():\n    return 1\n"),
    );
    assert_eq!(joined("```python\nx = ", "1\n```"), "```python\nx = 1\n```");
    for (first, next) in [("x = ", "\n1"), ("a.", "\nb"), ("ret", "\n```python\nurn")] {
        let joined = joined(&format!("```python\n{first}"), next);
        assert!(!joined[10 + first.len()..].contains('\n'), "{joined}");
    }
    // A line that was whole, and a word that was not.
    assert_eq!(
        joined("```python\nf(x)", "\ng(x)\n```"),
        "```python\nf(x)\ng(x)\n```"
    );
    assert_eq!(
        joined("```python\nif x", "\n    return y\n```"),
        "```python\nif x\n    return y\n```"
    );
    assert_eq!(
        joined("```python\nret", "\nurn y\n```"),
        "```python\nreturn y\n```"
    );
    // Nobody sees where the last lines of a patch would have ended.
    assert!(is_cut(
        "Action: patch\nPath: a.go\nFind:\nx\nReplace:\nif y {"
    ));
    assert!(!is_cut(
        "Action: patch\nPath: a.go\nFind:\n```\nx\n```\nReplace:\n```\ny\n```\n"
    ));
}
