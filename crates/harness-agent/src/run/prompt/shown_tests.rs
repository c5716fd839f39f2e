//! Every form of a prompt, as a model gets it, in a file that a person reads: `tests/prompts`. The project that is shown
//! is made up, and has one of everything that a prompt can be given.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::said::{masked, observation, said, turn_to_place, unread, with_held_back};
use super::{fenced, review, tests_next};
use crate::config::Form;
use crate::model::Card;
use crate::plan::Plan;
use crate::run::form::{self, Known};
use crate::run::resources::Ready;
use crate::run::scripted_tests::{Scene, Stage, diff, messages_shown, path};
use crate::run::strategy::pursue;
use harness_code::request::kind::Kind;

const SAID: &str = include_str!("../../../prompts/said.md");
const PRICING: &str = "def discount(total, percent):\n    \"\"\"Return a total less a discount in percent.\"\"\"\n    return total - percent\n";
const FILES: [(&str, &str); 5] = [
    ("pricing.py", PRICING),
    (
        "report.py",
        "from pricing import discount\n\n\ndef line(total):\n    return f\"now {discount(total, 10)}\"\n",
    ),
    (
        "test_pricing.py",
        "import unittest\n\nfrom pricing import discount\n\n\nclass T(unittest.TestCase):\n    def test_discount(self):\n        self.assertEqual(discount(200, 10), 180)\n",
    ),
    ("AGENTS.md", "Prices are whole cents.\n"),
    (
        ".harness/skills/cents/SKILL.md",
        "---\nname: cents\ndescription: Prices.\n---\nRound once, at the end.\n",
    ),
];
const FAILURE: &str = "assert discount(200, 10) == 180\nAssertionError: 190 != 180";
const LEARNED: &str = "renaming `percent` was tried and taken back: no test passes yet";
const FIX: &str = "fix discount in pricing.py: it takes percents for money";

/// Lays the project out with everything that a prompt can be given.
fn stage(task: &str) -> Stage {
    let mut stage = Stage::new(&FILES, task);
    stage.options.context = "The user sells tea.".to_owned();
    stage.options.skills = vec!["cents".to_owned()];
    stage
}

/// In a window of so many tokens some of it must stay out.
const NARROW: u32 = 1_216;

/// What the models of these prompts can do.
#[derive(Clone, Copy)]
enum Size {
    Usual,
    Tiny,
    /// A window in which not everything has room.
    Narrow,
}

fn card(scene: &mut Scene<'_, '_>, size: Size) -> Card {
    let ready = scene.resources.engine(scene.context, scene.log);
    let Ok(Ready { mut card, .. }) = ready else {
        panic!("no engine");
    };
    card.abilities.tiny = matches!(size, Size::Tiny);
    if matches!(size, Size::Narrow) {
        card.window = NARROW;
    }
    card
}

/// Returns the first request about the task, and what is said once that did not do.
fn opened(stage: &Stage, size: Size, made: impl FnOnce(&Plan) -> Plan) -> (String, Option<String>) {
    let came = stage.play(|scene| {
        let card = card(scene, size);
        let plan = form::fitting(scene.context, &made(scene.plan), &card);
        // Other tasks have no red test, and nothing was tried for them.
        let known = match plan.task.kind() == Kind::Fix {
            true => Known {
                failure: FAILURE.to_owned(),
                learned: LEARNED.to_owned(),
            },
            false => Known::default(),
        };
        let (opened, _) = form::of_work(scene.context, &plan, &card, &known);
        (messages_shown(&opened.messages), opened.held_back)
    });
    came.value
}

fn first(task: &str) -> String {
    opened(&stage(task), Size::Usual, Plan::clone).0
}

/// Returns the first request of a run that needs no tests.
fn begun(stage: &Stage) -> String {
    let came = stage.play(|scene| {
        let plan = scene.plan.clone();
        pursue(scene.context, scene.log, plan, scene.resources)
    });
    messages_shown(&came.requests[0].messages)
}

/// Returns what begins a conversation, by the name of its file.
fn beginnings() -> Vec<(&'static str, String)> {
    let mut object = stage("round the prices in pricing.py");
    object.config.form = Some(Form::Json);
    let mut narrow = stage(FIX);
    narrow.options.files = vec![PathBuf::from("long.py")];
    narrow.write(
        "long.py",
        &"# A long line that says nothing at all.\n".repeat(200),
    );
    let shown = |stage: &Stage, size| opened(stage, size, Plan::clone).0;
    vec![
        ("rewrite", first(FIX)),
        ("rewrite_tiny", shown(&stage(FIX), Size::Tiny)),
        ("rewrite_left_out", shown(&stage(FIX), Size::Narrow)),
        (
            "new_definition",
            first("add a function tax(total) to pricing.py that returns a fifth of the total"),
        ),
        (
            "new_file",
            first("create tax.py with a function tax(total) that returns a fifth of the total"),
        ),
        ("tests", first("write tests for discount in pricing.py")),
        (
            "work",
            opened(&stage(FIX), Size::Usual, Plan::turn_by_turn).0,
        ),
        ("work_places", first("round the prices in pricing.py")),
        ("object", shown(&object, Size::Usual)),
        ("answer", begun(&stage("where is discount defined?"))),
        (
            "answer_project",
            begun(&stage("what does this project do?")),
        ),
        ("read_only", begun(&stage(FIX).read_only())),
    ]
}

/// Returns what is said in the course of a conversation, by the name of its file.
fn courses() -> Vec<(&'static str, String)> {
    let stage = stage(FIX);
    let came = stage.play(|scene| {
        let tree = scene.context.tree();
        let spot = scene.plan.spots()[0].clone();
        let shown = fenced(tree, &spot, PRICING, "", 4_000).expect("the code");
        let turn = turn_to_place(&spot.path, &spot.name, "takes percents");
        let shown = [("reason", turn.as_str()), ("shown", &shown)];
        let name = [[("name", spot.name.as_str())].as_slice(), &shown].concat();
        let path_there = [[("path", spot.path.as_str())].as_slice(), &shown].concat();
        let (next, patch) = (said("place next", &name), said("place patch", &path_there));
        vec![
            ("place_next", next),
            ("place_patch", patch),
            (
                "tests_next",
                tests_next(tree, &path("test_pricing.py"), "unittest", "tax"),
            ),
        ]
    });
    let problem = said(
        "no definition",
        &[
            ("name", "dicount"),
            ("path", "pricing.py"),
            ("names", "discount"),
        ],
    );
    let written = PRICING.replace("- percent", "- total * percent / 100");
    let diff = diff("pricing.py", PRICING, &written);
    let not_it = said("not it", &[("what", FAILURE)]);
    let (_, held_back) = opened(&stage, Size::Tiny, Plan::clone);
    let held_back = held_back.expect("the code is kept back");
    let again = said("places again", &[("problems", &problem)]);
    let mut said = came.value;
    said.extend([
        ("places_again", again),
        ("review", review(&diff, true, "")),
        ("review_red", review(&diff, true, FAILURE)),
        ("menu", observation(&not_it, &["run".to_owned()], true)),
        ("held_back", with_held_back(&not_it, &held_back)),
    ]);
    said.into_iter()
        .map(|(name, words)| (name, format!("# user\n\n{words}\n")))
        .collect()
}

/// Returns every sentence of `prompts/said.md` with something put in.
fn sentences() -> String {
    const PARTS: [(&str, &str); 18] = [
        ("class", "Box"),
        ("diff", "+    return 180"),
        ("files", "\n- report.py: line"),
        ("lines", "report.py, line 5"),
        ("meant", "prices.py"),
        ("name", "discount"),
        ("names", "discount, tax"),
        ("next", "Now `tax` in pricing.py."),
        ("path", "pricing.py"),
        ("problems", "pricing.py has no `dicount`"),
        ("reason", "`discount` must stay"),
        ("red", "Red as before.\n"),
        ("shown", "def discount(): ..."),
        ("tested", ", and the tests pass"),
        ("there", "They go into test_pricing.py."),
        ("tool", "fly"),
        ("what", "190 != 180"),
        ("why", "`tax` is not defined"),
    ];
    let headings = SAID.split("\n## ").skip(1);
    let headings = headings.filter_map(|section| section.lines().next());
    let sentence = |heading: &str| {
        let words = match heading {
            "unread" => unread("discount"),
            "masked" => masked().to_owned(),
            heading => said(heading, &PARTS),
        };
        assert!(!words.contains('{'), "{heading}: {words}");
        format!("# {heading}\n\n{words}\n")
    };
    headings.map(sentence).collect::<Vec<_>>().join("\n")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/prompts")
}

/// Returns the files that are there, by name.
fn on_disk(folder: &Path) -> BTreeMap<String, String> {
    let Ok(files) = std::fs::read_dir(folder) else {
        return BTreeMap::new();
    };
    let paths = files.map(|file| file.unwrap().path());
    let named = paths.map(|path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        (name, text.replace("\r\n", "\n"))
    });
    named.collect()
}

#[expect(
    clippy::disallowed_methods,
    reason = "whoever asks for it has the files of the repository written"
)]
fn update(folder: &Path, now: &BTreeMap<String, String>) {
    std::fs::create_dir_all(folder).unwrap();
    for name in on_disk(folder)
        .keys()
        .filter(|name| !now.contains_key(*name))
    {
        std::fs::remove_file(folder.join(format!("{name}.md"))).unwrap();
    }
    for (name, text) in now {
        std::fs::write(folder.join(format!("{name}.md")), text).unwrap();
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "whoever runs the test asks by it"
)]
fn prompts_are_what_the_files_show() {
    let mut now: BTreeMap<String, String> = BTreeMap::new();
    for (name, text) in beginnings().into_iter().chain(courses()) {
        now.insert(name.to_owned(), text);
    }
    now.insert("said".to_owned(), sentences());
    let folder = folder();
    if std::env::var_os("UPDATE_PROMPTS").is_some() {
        return update(&folder, &now);
    }
    let kept = on_disk(&folder);
    let names = now
        .keys()
        .chain(kept.keys().filter(|name| !now.contains_key(*name)));
    for name in names {
        let (kept, now) = (kept.get(name), now.get(name));
        let text = |text: Option<&String>| text.cloned().unwrap_or_default();
        let change = diff(&format!("{name}.md"), &text(kept), &text(now));
        assert!(
            kept == now,
            "models are shown something else than tests/prompts/{name}.md says:\n{change}\n\
             where that is meant, `UPDATE_PROMPTS=1 cargo test -p harness-agent prompts` writes the files anew; read them"
        );
    }
}
