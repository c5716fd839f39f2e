//! What the model is shown: rendered from `prompts/*.md`, every injected part with its cap. Here is the first request; what
//! is said after it is in `said`.

pub(super) mod around;
mod failure;
mod fold;
pub(super) mod said;
#[cfg(test)]
mod shown_tests;

use std::collections::BTreeSet;

use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::symbols::{self, DefinitionKind};
use harness_code::text::Text;
use harness_code::tree::SourceTree;

use crate::model::{Message, Role};
use crate::plan::{LONGEST_DEFINITION, LONGEST_TASK, MOST_CODE, Plan, Rung, Spot};
use crate::run::prompt::said::said;
use crate::skill::Skill;
use harness_code::request::kind::Kind;

pub(super) use failure::failure_to_show;

const REWRITE: &str = include_str!("../../../prompts/rewrite.md");
const BLANK_TASK: &str = include_str!("../../../prompts/blank_task.md");
const BLANK_REPLY: &str = include_str!("../../../prompts/blank_reply.md");
const EXAMPLE_TASK: &str = include_str!("../../../prompts/example_task.md");
const EXAMPLE_REPLY: &str = include_str!("../../../prompts/example_reply.md");
const TESTS: &str = include_str!("../../../prompts/tests.md");
const TESTS_TASK: &str = include_str!("../../../prompts/tests_task.md");
const TESTS_REPLY: &str = include_str!("../../../prompts/tests_reply.md");
const NEW: &str = include_str!("../../../prompts/new.md");
const NEW_TASK: &str = include_str!("../../../prompts/new_task.md");
const NEW_REPLY: &str = include_str!("../../../prompts/new_reply.md");
const NEW_FILE: &str = include_str!("../../../prompts/new_file.md");
const NEW_FILE_TASK: &str = include_str!("../../../prompts/new_file_task.md");
const WORK: &str = include_str!("../../../prompts/work.md");
const ANSWER: &str = include_str!("../../../prompts/answer.md");
const OBJECT: &str = include_str!("../../../prompts/object.md");
const READ_ONLY: &str = include_str!("../../../prompts/read_only.md");
const PLACES: &str = include_str!("../../../prompts/places.md");

/// The longest file that is shown because the user named it, in characters; it has a middle left out beyond.
const LONGEST_FILE: usize = 6_000;
/// House rules beyond this crowd the code out, in characters.
const LONGEST_RULES: usize = 1_500;
/// An earlier conversation beyond this crowds the code out, in characters.
const LONGEST_CONTEXT: usize = 1_500;
/// Failing tests beyond this crowd the code out, in characters.
const LONGEST_FAILURE: usize = 1_500;

/// What the first prompt is made of.
pub(in crate::run) struct Opening<'a> {
    pub(in crate::run) plan: &'a Plan,
    pub(in crate::run) tree: &'a SourceTree,
    pub(in crate::run) skills: &'a [Skill],
    pub(in crate::run) rules: &'a str,
    /// Files that the user wants shown whole.
    pub(in crate::run) files: &'a [RelPath],
    pub(in crate::run) context: &'a str,
    pub(in crate::run) failure: &'a str,
    pub(in crate::run) learned: &'a str,
    pub(in crate::run) read_only: bool,
    pub(in crate::run) answers: bool,
    /// What runs the project's tests, in a word.
    pub(in crate::run) framework: &'a str,
    /// Replies are asked for as one JSON object.
    pub(in crate::run) object: bool,
    /// The model is known to be very small.
    pub(in crate::run) tiny: bool,
    /// The places are asked for first.
    pub(in crate::run) lists: bool,
}

/// The first request, and what had to stay out of it.
pub(in crate::run) struct Opened {
    pub(in crate::run) messages: Vec<Message>,
    pub(in crate::run) left_out: Vec<&'static str>,
    /// The code itself and what is wrong with it, where it is shown only once the model failed without.
    pub(in crate::run) held_back: Option<String>,
}

/// One part of the first prompt.
struct Part {
    /// What it is called where it is left out.
    name: &'static str,
    /// Its words.
    text: String,
    /// What it can be cut to before it goes altogether; 0 means not at all.
    least: usize,
    /// Lower goes first; the task itself never goes.
    worth: u8,
    /// What stands there instead where it is left out.
    instead: String,
}

impl Part {
    fn new(name: &'static str, worth: u8, text: String) -> Part {
        Part {
            name,
            text,
            least: 0,
            worth,
            instead: String::new(),
        }
    }

    fn at_least(self, least: usize) -> Part {
        Part { least, ..self }
    }

    fn or(self, instead: String) -> Part {
        Part { instead, ..self }
    }
}

/// Returns the messages of the first request, no longer than `room` bytes. What is worth least is left out first.
pub(in crate::run) fn opening(opening: &Opening<'_>, room: usize) -> Opened {
    let rewrites = opening.plan.rung == Rung::Rewrite && !opening.answers;
    let blank = blank(opening).filter(|_| rewrites);
    let (tests, new) = (opening.plan.tests_home(), opening.plan.new_definition());
    let (system, example) = match (opening.answers, opening.object, rewrites) {
        (true, _, _) => (ANSWER, None),
        (false, true, _) => (OBJECT, None),
        (false, false, true) if tests.is_some() => (TESTS, Some((TESTS_TASK, TESTS_REPLY))),
        (false, false, true) if opening.plan.makes_file() => {
            (NEW_FILE, Some((NEW_FILE_TASK, NEW_REPLY)))
        }
        (false, false, true) if new.is_some() => (NEW, Some((NEW_TASK, NEW_REPLY))),
        (false, false, true) if blank.is_some() => (REWRITE, Some((BLANK_TASK, BLANK_REPLY))),
        (false, false, true) => (REWRITE, Some((EXAMPLE_TASK, EXAMPLE_REPLY))),
        (false, false, false) => (WORK, None),
    };
    let example: Vec<(Role, &str)> = example.map_or(Vec::new(), |(task, reply)| {
        vec![(Role::User, task), (Role::Assistant, reply)]
    });
    let fixed: usize = system.len() + example.iter().map(|(_, text)| text.len()).sum::<usize>();
    let held_back = blank.as_ref().and_then(|_| held_back(opening));
    let mut parts = parts(opening, rewrites, blank);
    let left_out = fit(&mut parts, room.saturating_sub(fixed));
    let mut user: String = parts
        .iter()
        .filter(|part| !part.text.trim().is_empty())
        .map(|part| format!("{}\n\n", part.text.trim_end()))
        .collect();
    if !left_out.is_empty() {
        // A model that knows what it was not shown can ask for it.
        user.insert_str(
            0,
            &format!(
                "{}\n\n",
                said("left out", &[("what", &left_out.join(", "))])
            ),
        );
    }
    let message = |role, content: &str| Message {
        role,
        content: content.trim_end().to_owned(),
    };
    let mut messages = vec![message(Role::System, system)];
    messages.extend(example.iter().map(|(role, text)| message(*role, text)));
    messages.push(message(Role::User, &user));
    Opened {
        messages,
        left_out,
        held_back,
    }
}

/// Returns a short documented definition without its body, where that alone is the better thing to show: a very small
/// model copies the code that it is shown and the shape of the worked example, and every word more leads it astray
/// (figures in bench/small_model). The failing test judges what it writes; the rest is told when it fails.
fn blank(opening: &Opening<'_>) -> Option<String> {
    let plan = opening.plan;
    let elsewhere = plan.tests_home().is_some() || plan.new_definition().is_some();
    let fixes = opening.plan.task.kind() == Kind::Fix && !elsewhere && !opening.object;
    let judged = !opening.failure.is_empty();
    let spot = plan.spots().first();
    let spot = spot.filter(|_| opening.tiny && fixes && judged)?;
    around::blank(opening.tree, spot)
}

/// Returns what a first prompt without the body did not tell: the code, what is wrong with it, the task.
fn held_back(opening: &Opening<'_>) -> Option<String> {
    let spot = opening.plan.spots().first()?;
    let code = shown(opening.tree, spot, "", LONGEST_DEFINITION)?;
    let failure = capped(opening.failure, LONGEST_FAILURE);
    let wrong = failure::as_sentence(opening.failure)
        .unwrap_or_else(|| said("test fails", &[("what", &failure)]));
    let task = capped(opening.plan.task.text(), LONGEST_TASK);
    Some(format!("{code}\n\n{wrong}\n\nTask: {task}"))
}

/// Returns the parts of the first prompt in their order.
fn parts(opening: &Opening<'_>, rewrites: bool, blank: Option<String>) -> Vec<Part> {
    let mut parts = Vec::new();
    if !opening.rules.trim().is_empty() {
        let rules = capped(opening.rules, LONGEST_RULES);
        let text = said("rules", &[("what", &rules)]);
        parts.push(Part::new("rules of the project", 4, text).at_least(300));
    }
    let skills = opening.skills.iter();
    parts.extend(skills.map(|skill| Part::new("a skill", 2, skill.text.clone())));
    if !opening.context.trim().is_empty() {
        let said = capped(opening.context, LONGEST_CONTEXT);
        let text = self::said("said before", &[("what", &said)]);
        parts.push(Part::new("what was said before", 3, text).at_least(300));
    }
    for path in opening.files {
        // What is no text says nothing to a model.
        let Ok(text) = opening.tree.text(path) else {
            continue;
        };
        let content = capped(text.content().trim_end(), LONGEST_FILE);
        let shown = format!("{path}, line 1:\n```\n{content}\n```");
        parts.push(Part::new("a file that was named", 7, shown));
    }
    if let Some(blank) = blank {
        parts.push(Part::new("the code itself", 8, blank));
        return parts;
    }
    parts.extend(code_parts(opening, rewrites));
    if opening.lists {
        let outline = opening.plan.outline().unwrap_or_default().to_owned();
        parts.push(Part::new("what the files define", 3, outline).at_least(200));
    }
    if let Some(home) = opening.plan.tests_home() {
        let there = tests_there(opening.tree, home, opening.framework);
        parts.push(Part::new("the tests that are there", 7, there).at_least(200));
    }
    if !opening.failure.is_empty() {
        let failure = capped(opening.failure, LONGEST_FAILURE);
        let told = said("test fails", &[("what", &failure)]);
        parts.push(Part::new("the failing test", 6, told).at_least(300));
    }
    let learned = opening.learned.to_owned();
    parts.push(Part::new("what was found out", 5, learned).at_least(200));
    if opening.read_only && !opening.answers {
        parts.push(Part::new("the notice", 9, READ_ONLY.to_owned()));
    }
    let word = if opening.answers { "Question" } else { "Task" };
    let task = capped(opening.plan.task.text(), LONGEST_TASK);
    let text = format!("{word}: {task}");
    parts.push(Part::new("a part of the task", 10, text).at_least(200));
    if opening.lists {
        parts.push(Part::new("the request", 9, PLACES.to_owned()));
    }
    parts
}

/// Returns the parts that show code: where new code goes, the definitions that the task is about, what calls them.
fn code_parts(opening: &Opening<'_>, rewrites: bool) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut room = MOST_CODE;
    let new = opening.plan.new_definition().filter(|_| rewrites);
    if let Some(new) = new {
        let home = around::home(opening.tree, new);
        room = room.saturating_sub(home.len());
        let instead = said("goes into", &[("path", new.path.as_str())]);
        parts.push(Part::new("the file it goes into", 8, home).or(instead));
    }
    // A rewrite is shown the one definition it is about: more only distracts a small model.
    let most = if rewrites { 1 } else { usize::MAX };
    let spots = opening.plan.spots().iter().filter(|spot| match new {
        Some(new) => !spot.name.is_empty() && spot.path != new.path,
        None => true,
    });
    let hints = format!("{}\n{}", opening.plan.task.text(), opening.failure);
    for (at, spot) in spots.take(most).enumerate() {
        let longest = LONGEST_DEFINITION.min(room);
        let Some(shown) = shown(opening.tree, spot, &hints, longest) else {
            continue;
        };
        room = room.saturating_sub(shown.len());
        let (name, worth) = if at == 0 && new.is_none() {
            ("the code itself", 8)
        } else {
            ("more code", 1)
        };
        let head = head_of(opening.tree, spot).filter(|head| at == 0 && head.len() < shown.len());
        parts.push(Part::new(name, worth, shown).or(head.unwrap_or_default()));
        if rewrites && new.is_none() && opening.plan.tests_home().is_none() {
            let uses = around::uses(opening.tree, spot);
            parts.push(Part::new("what calls it", 1, uses));
        }
    }
    parts
}

/// Makes parts fit a number of bytes: those of least worth are cut, then dropped. Returns what was touched.
fn fit(parts: &mut [Part], room: usize) -> Vec<&'static str> {
    let mut left_out = Vec::new();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|at| parts[*at].worth);
    for at in order {
        let total: usize = parts.iter().map(|part| part.text.len() + 2).sum();
        let over = total.saturating_sub(room);
        if over == 0 {
            break;
        }
        let part = &mut parts[at];
        if part.text.trim().is_empty() || part.worth == 9 {
            continue;
        }
        let wanted = part.text.len().saturating_sub(over);
        let kept = match part.worth {
            10 => wanted.max(part.least),
            _ if part.least > 0 && wanted >= part.least => wanted,
            _ => 0,
        };
        part.text = if kept == 0 {
            std::mem::take(&mut part.instead)
        } else {
            shortened(&part.text, kept)
        };
        left_out.push(part.name);
    }
    left_out.dedup();
    left_out
}

/// A smaller part of a long definition tells nothing.
const LEAST_FOLDED: usize = 600;

/// Returns one place as the model sees it: where it is, then its code in a fence, a long one folded.
fn shown(tree: &SourceTree, spot: &Spot, hints: &str, room: usize) -> Option<String> {
    let text = tree.text(&spot.path).ok()?;
    let code = text.content().get(spot.span.clone())?;
    if code.len() > room && room < LEAST_FOLDED {
        // Its first line at least tells that it is there.
        return head_of(tree, spot).filter(|_| room > 200);
    }
    fenced(tree, spot, text.content(), hints, room)
}

/// Returns a place of a text of its file: where it is, then its code in a fence, what does not fit folded.
pub(in crate::run) fn fenced(
    tree: &SourceTree,
    spot: &Spot,
    content: &str,
    hints: &str,
    room: usize,
) -> Option<String> {
    content.get(spot.span.clone())?;
    let file = tree.file(&spot.path);
    let language = file
        .map(|file| file.language.name().to_ascii_lowercase())
        .unwrap_or_default();
    // With its indentation: a method whose first line stands at the margin reads like another one.
    let line_start = content[..spot.span.start]
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let is_indented = content[line_start..spot.span.start].trim().is_empty();
    let start = if is_indented {
        line_start
    } else {
        spot.span.start
    };
    let code = content[start..spot.span.end].trim_end_matches(['\r', '\n']);
    let code = code.replace("\r\n", "\n");
    let class = class_line(&spot.name, &content[..start]);
    let mut notes: Vec<String> = class
        .map(|line| format!("in `{}`", line.trim()))
        .into_iter()
        .collect();
    let is_folded = code.len() > room;
    if is_folded {
        notes.push("long; read what is left out with `Action: read`".to_owned());
    }
    let note = if notes.is_empty() {
        String::new()
    } else {
        format!(" ({})", notes.join("; "))
    };
    let outside = match is_folded && (spot.name.is_empty() || is_written_class(tree, spot, &code)) {
        true => outside_functions(Language::of(&spot.path), &code),
        false => BTreeSet::new(),
    };
    let code = fold::folded(&code, spot.line, hints, &outside, room);
    // Code may hold fences of its own.
    let fence = if code.contains("```") { "````" } else { "```" };
    Some(format!(
        "{}, line {}{note}:\n{fence}{language}\n{code}\n{fence}",
        spot.path, spot.line
    ))
}

/// Says whether code is a class in which something was written by now: its methods had their turn.
fn is_written_class(tree: &SourceTree, spot: &Spot, code: &str) -> bool {
    let definitions = symbols::definitions(Language::of(&spot.path), code);
    let first = definitions.first();
    let is_class = first.is_some_and(|one| one.kind == DefinitionKind::Class);
    let is_as_it_was = |text: Text| text.content().replace("\r\n", "\n").contains(code);
    is_class && !tree.text(&spot.path).is_ok_and(is_as_it_was)
}

/// Returns the lines of a file or a class that stand outside of its functions, and the first line of each: what must
/// change there where no definition is named.
fn outside_functions(language: Language, code: &str) -> BTreeSet<usize> {
    let definitions = symbols::definitions(language, code);
    let functions = definitions.iter().filter(|one| one.kind.is_function());
    let inside: BTreeSet<usize> = functions
        .flat_map(|one| one.line as usize..one.end_line as usize)
        .collect();
    (0..code.lines().count())
        .filter(|at| !inside.contains(at))
        .collect()
}

/// Returns the line that opens the class of a method; `before` is the file up to the method.
fn class_line<'c>(name: &str, before: &'c str) -> Option<&'c str> {
    let (holders, _) = name.rsplit_once('.')?;
    let class = format!("class {}", holders.rsplit('.').next()?);
    let opens = |line: &&str| {
        let rest = line.trim_start().strip_prefix(class.as_str());
        rest.is_some_and(|rest| rest.starts_with([':', '(', ' ', '{', '[']))
            && line.ends_with([':', '{'])
    };
    before.lines().rev().map(str::trim_end).find(opens)
}

/// The most of a test file that is shown as an example of its style, in bytes.
const LONGEST_STYLE: usize = 900;

/// Returns where new tests go, and how those begin that are there.
fn tests_there(tree: &SourceTree, home: &RelPath, framework: &str) -> String {
    let kind = match framework {
        "" => String::new(),
        framework => format!(" ({framework})"),
    };
    match tree.text(home) {
        Ok(text) if !text.content().trim().is_empty() => {
            let content = text.content().replace("\r\n", "\n");
            let end = content.floor_char_boundary(LONGEST_STYLE.min(content.len()));
            let begin = content[..end].trim_end();
            let path = format!("{home}{kind}");
            let head = said("tests go into", &[("path", &path)]);
            format!("{head}\n```python\n{begin}\n```")
        }
        _ => said("tests go into new", &[("path", &format!("{home}{kind}"))]),
    }
}

/// Returns the words that ask for the tests of a new definition, in the conversation that wrote it.
pub(in crate::run) fn tests_next(
    tree: &SourceTree,
    home: &RelPath,
    framework: &str,
    name: &str,
) -> String {
    let there = tests_there(tree, home, framework);
    said("tests next", &[("name", name), ("there", &there)])
}

/// Returns the words that ask what of the task is left. `red` is how tests fail that failed before and may belong to it.
pub(in crate::run) fn review(diff: &str, is_tested: bool, red: &str) -> String {
    let diff = capped(diff.trim_end(), MOST_CODE);
    let (tested, red) = match (is_tested, red) {
        (false, _) => ("", String::new()),
        (true, "") => (", and the tests pass", String::new()),
        (true, red) => {
            let red = capped(red, LONGEST_FAILURE);
            (
                ", and no test is worse",
                said("fail as before", &[("what", &red)]) + "\n",
            )
        }
    };
    said(
        "review",
        &[("tested", tested), ("red", &red), ("diff", &diff)],
    )
}

/// Returns where a place is and how it begins, for one that is too long to show.
fn head_of(tree: &SourceTree, spot: &Spot) -> Option<String> {
    let text = tree.text(&spot.path).ok()?;
    let code = text.content().get(spot.span.clone())?;
    let head: String = code.lines().take(2).collect::<Vec<_>>().join("\n");
    Some(format!(
        "{}, line {} (long; read it with `Action: read`):\n{}",
        spot.path,
        spot.line,
        shortened(&head, 300)
    ))
}

/// Returns a text that is no longer than the cap: its head and its tail, and a word on what is missing.
pub(in crate::run) fn capped(text: &str, cap: usize) -> String {
    let count = text.chars().count();
    if count <= cap {
        return text.to_owned();
    }
    let head: String = text.chars().take(cap * 2 / 3).collect();
    let tail: String = text.chars().skip(count - cap / 3).collect();
    format!("{head}\n[… {} characters left out …]\n{tail}", count - cap)
}

/// Returns a text that is no longer than a number of bytes: its head and its tail, and a word on what is missing.
pub(in crate::run) fn shortened(text: &str, bytes: usize) -> String {
    const MARK: &str = "\n[… left out …]\n";
    if text.len() <= bytes {
        return text.to_owned();
    }
    let room = bytes.saturating_sub(MARK.len());
    let head = text.floor_char_boundary(room * 2 / 3);
    let tail = text.ceil_char_boundary(text.len() - room / 3);
    format!("{}{MARK}{}", &text[..head], &text[tail..])
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests lay out projects in a temporary folder"
)]
mod tests {
    use super::*;

    #[test]
    fn a_method_keeps_its_indentation_and_its_class() {
        let content = "class Other:\n    def m(self):\n        return 1\n\n\nclass Box(Other):\n    \"\"\"Holds.\"\"\"\n\n    @property\n    def m(self):\n        return 2\n\n\ndef m():\n    return 3\n";
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("box.py"), content).expect("a file");
        let tree = SourceTree::read(folder.path(), None).expect("a tree");
        let path = RelPath::parse("box.py").expect("a path");
        let spot = |name: &str| {
            let file = tree.file(&path).expect("the file");
            let mut known = file.facts.definitions.iter();
            let known = known.find(|known| *known.qualified == *name).expect(name);
            Spot {
                path: path.clone(),
                name: name.to_owned(),
                line: known.line,
                span: known.span(),
            }
        };
        let shown = |name: &str| fenced(&tree, &spot(name), content, "", 4_000).expect(name);
        assert_eq!(
            shown("Box.m"),
            "box.py, line 10 (in `class Box(Other):`):\n```python\n    @property\n    def m(self):\n        return 2\n```"
        );
        assert_eq!(
            shown("m"),
            "box.py, line 14:\n```python\ndef m():\n    return 3\n```"
        );
        let long: String = (0..200).map(|n| format!("        one = {n}\n")).collect();
        let more = format!("{long}\n    size = 3\n\n    def n(self):\n{long}");
        let content = content.replace("        return 2\n", &more);
        let spot = Spot {
            span: spot("Box").span.start..content.find("\n\ndef m").expect("the end"),
            ..spot("Box")
        };
        let shown = fenced(&tree, &spot, &content, "", 400).expect("a class");
        assert!(shown.contains("\n    size = 3\n"), "{shown}");
    }
}
