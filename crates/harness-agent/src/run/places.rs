//! Tasks with more than one place. Where code can tell, the next place is what calls something as it was, or what the
//! task names and nobody changed; where it cannot, the model lists the places first. Each is then one request.

use std::sync::LazyLock;

use harness_code::mention::near_miss;
use harness_code::path::RelPath;
use harness_code::tree::{self, SourceTree};
use regex::Regex;

use crate::history::Refusal;
use crate::model::{Card, Shape};
use crate::plan::{self, LONGEST_DEFINITION, NewDefinition, Place, Plan, Spot, outline};
use crate::run::context::Context;
use crate::run::prompt::said::{self, said};
use crate::run::prompt::{self, around};
use crate::run::work::Work;
use harness_code::request::kind::Kind;

/// Words for what a file holds besides its definitions.
const MODULE: [&str; 8] = [
    "module", "imports", "import", "file", "header", "toplevel", "top", "globals",
];
/// A longer list is no list of places any more.
const MOST_PLACES: usize = 12;
/// A list, a change and a look back are at least this many steps.
pub(super) const LEAST_STEPS: u32 = 4;

/// Returns whether the model is asked for the places before anything else.
pub(super) fn are_asked_for(context: &Context<'_>, plan: &Plan, card: &Card, shape: Shape) -> bool {
    plan.outline().is_some()
        && shape != Shape::Object
        && !card.abilities.tiny
        && context.options.steps >= LEAST_STEPS
}

/// Turns to the code that must change next, as far as code can tell. Returns the words that ask for it.
pub(super) fn next(work: &mut Work<'_>, reason: &str) -> Option<String> {
    if work.plan.task.kind() == Kind::Fix {
        return None;
    }
    let spot = work.trial.next_place(work.context, &work.plan)?;
    let is_asked = |place: &Spot| place.path == spot.path && place.name == spot.name;
    let fits = plan::fits_reply(&spot, work.context.options.max_tokens);
    if !fits || work.places.current().is_some_and(is_asked) {
        return None;
    }
    ask_and_turn_to(work, spot, reason)
}

/// Turns to a place: a reply that names none is about it. Returns the words that ask for it.
fn ask_and_turn_to(work: &mut Work<'_>, spot: Spot, reason: &str) -> Option<String> {
    let words = ask_for(work, &spot, reason)?;
    work.trial
        .remember_shown(work.context, std::slice::from_ref(&spot));
    work.places.turn_to(spot);
    Some(words)
}

/// Turns to the next place of the list. Returns the words that ask for it.
pub(super) fn next_listed(work: &mut Work<'_>) -> Option<String> {
    while let Some(place) = work.places.take() {
        let (path, name) = (&place.spot.path, place.spot.name.as_str());
        // What is new may have come with another place.
        let is_there = || work.trial.place(work.context, path, name).is_some();
        if place.is_new && !name.is_empty() && is_there() {
            continue;
        }
        let reason = said::turn_to_place(path, name, &place.what);
        if let Some(words) = ask_and_turn_to(work, place.spot, &reason) {
            return Some(words);
        }
    }
    None
}

/// Turns again to a place that was written and by which a test fails: the one that the failure passes through, else,
/// where tests fail that passed before, the last one. Returns the words that ask for it.
pub(super) fn repair(work: &mut Work<'_>, reason: &str, is_worse: bool) -> Option<String> {
    let last = work.places.current().filter(|_| is_worse).cloned();
    let blamed = work.trial.blamed_place(work.context, &work.plan);
    let spot = blamed.or(last)?;
    let spot = work.trial.place(work.context, &spot.path, &spot.name)?;
    if spot.name.is_empty() || !work.places.may_repair(&spot) {
        return None;
    }
    ask_and_turn_to(work, spot, reason)
}

/// Turns to the next place of the list where the one at hand needs a name that only a later one brings: it is asked for
/// again at the end. Returns the words.
pub(super) fn postponed(work: &mut Work<'_>, refusal: &Refusal) -> Option<String> {
    let waits = refusal.rule == "draft.unresolved" && work.places.postpone();
    let next = waits.then(|| next_listed(work)).flatten()?;
    let why = refusal.reason.split(':').next().unwrap_or_default();
    Some(said("not yet", &[("why", why), ("next", &next)]))
}

/// Returns the words that ask for one place, with its code as it is now: all of it anew where that fits a reply, else the
/// lines that change.
fn ask_for(work: &Work<'_>, spot: &Spot, reason: &str) -> Option<String> {
    let reason = reason.trim_end();
    let (context, plan, trial) = (work.context, &work.plan, &*work.trial);
    let now = trial.place(context, &spot.path, &spot.name);
    let content = trial.content(context, &spot.path);
    let shown = match (&now, &content) {
        (Some(now), Some(content)) => {
            let hints = format!("{}\n{reason}", plan.task.text());
            let shown = prompt::fenced(context.tree(), now, content, &hints, LONGEST_DEFINITION)?;
            if !plan::fits_reply(now, context.options.max_tokens) {
                let parts = [
                    ("path", spot.path.as_str()),
                    ("reason", reason),
                    ("shown", &shown),
                ];
                return Some(said("place patch", &parts));
            }
            shown
        }
        _ => around::home(
            context.tree(),
            &NewDefinition {
                path: spot.path.clone(),
                name: spot.name.clone(),
                with_test: false,
                in_new_file: content.is_none(),
            },
        ),
    };
    let name = match spot.name.as_str() {
        "" => spot.path.as_str(),
        name => name,
    };
    Some(said(
        "place next",
        &[("name", name), ("reason", reason), ("shown", &shown)],
    ))
}

/// What a list of places comes to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Listed {
    /// Places to go through, in their order.
    Places(Vec<Place>),
    /// What is wrong with some of them, for the model, and the others.
    Problems(String, Vec<Place>),
    /// The reply is no list.
    Nothing,
}

/// Returns when a place that is there has its turn: what stands outside of definitions first, because the others need
/// its imports, and a class behind its methods, so that only its own lines are left.
fn turn_of(spot: &Spot, all: &[Spot]) -> u8 {
    let is_inner = |other: &Spot| {
        let inner = other.name.strip_prefix(&*spot.name);
        other.path == spot.path && inner.is_some_and(|rest| rest.starts_with('.'))
    };
    match spot.name.is_empty() {
        true => 0,
        false if all.iter().any(is_inner) => 2,
        false => 1,
    }
}

/// Reads a list of places. What is new comes first, so that the code can be imported at any time; tests are not changed
/// unless they are asked for.
pub(super) fn read(
    tree: &SourceTree,
    reply: &str,
    with_tests: bool,
    is_staged: &dyn Fn(&RelPath, &str) -> bool,
) -> Listed {
    let mut problems: Vec<String> = Vec::new();
    let mut places: Vec<Place> = Vec::new();
    let lines = reply.lines();
    let written = lines.filter_map(|line| place_of(tree, line, is_staged));
    for place in written.take(MOST_PLACES) {
        match place {
            Ok(place) => {
                let is_known = |known: &Place| {
                    known.spot.path == place.spot.path && known.spot.name == place.spot.name
                };
                let is_wanted = with_tests || !tree::is_test(&place.spot.path);
                if is_wanted && !places.iter().any(is_known) {
                    places.push(place);
                }
            }
            Err(problem) => problems.push(problem),
        }
    }
    let spots: Vec<Spot> = places.iter().map(|place| place.spot.clone()).collect();
    places.sort_by_key(|place| match (tree.file(&place.spot.path), place.is_new) {
        (None, _) => (0, 0),
        (Some(_), true) => (1, 0),
        (Some(file), false) if !file.test => (2, turn_of(&place.spot, &spots)),
        (Some(_), false) => (3, 0),
    });
    match (problems.is_empty(), places.is_empty()) {
        (false, _) => Listed::Problems(problems.join("\n"), places),
        (true, true) => Listed::Nothing,
        (true, false) => Listed::Places(places),
    }
}

/// Finds the place that one line of a list writes, or says what is wrong with it; nothing where it writes none.
fn place_of(
    tree: &SourceTree,
    line: &str,
    is_staged: &dyn Fn(&RelPath, &str) -> bool,
) -> Option<Result<Place, String>> {
    static SHAPE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let bullet = r"^\s*(?:[-*•]|\d+[.)])?\s*";
        let path = r"(?<path>[\w./-]+\.\w+)\s*(?:::?|,|\s[-–—])\s*";
        let name = r"(?:(?<new>new)\s+)?(?:(?:function|class|method|def)\s+)?(?<name>[\w.]+)(?:\([^)]*\))?";
        let what = r"\s*(?:$|(?:::?|,|\s[-–—])\s*(?<what>.*)$)";
        Regex::new(&format!("(?i){bullet}{path}{name}{what}")).ok()
    });
    let line = line.replace(['`', '*'], "");
    let found = SHAPE.as_ref()?.captures(&line)?;
    let part = |name: &str| found.name(name).map_or("", |part| part.as_str().trim());
    let is_new = found.name("new").is_some();
    let spot = spot_of(tree, part("path"), part("name"), is_new, is_staged);
    let what = part("what").to_owned();
    Some(spot.map(|(spot, is_new)| Place { spot, is_new, what }))
}

/// Finds a place in the project and says whether it is new, or what is wrong with it.
fn spot_of(
    tree: &SourceTree,
    written: &str,
    name: &str,
    is_new: bool,
    is_staged: &dyn Fn(&RelPath, &str) -> bool,
) -> Result<(Spot, bool), String> {
    let bad = |_| said("no path", &[("path", written)]);
    let path = RelPath::parse(written).map_err(bad)?;
    let path = match tree.file(&path) {
        Some(_) => path,
        None => tree.ending_with(written).cloned().unwrap_or(path),
    };
    let is_file = MODULE.contains(&name.to_lowercase().as_str());
    if is_staged(&path, name) {
        return Ok((Spot::nowhere_yet(&path, name), false));
    }
    let Some(file) = tree.file(&path) else {
        return match near_miss(tree, &[written]) {
            _ if is_new && is_file => Ok((Spot::nowhere_yet(&path, ""), true)),
            _ if is_new => Ok((Spot::nowhere_yet(&path, name), true)),
            Some(near) => {
                let meant = near.meant.join(" or ");
                Err(said("near file", &[("path", written), ("meant", &meant)]))
            }
            None => Err(said("no file", &[("path", written)])),
        };
    };
    if is_file && !outline::names(file).contains(&name) {
        return Ok((Spot::nowhere_yet(&path, ""), false));
    }
    let definitions = file.facts.definitions.iter();
    let mut same = definitions.filter(|one| *one.qualified == *name || one.name() == name);
    match (same.next(), same.next()) {
        (Some(one), None) => {
            let spot = plan::definition(tree, &path, &one.qualified, one.line);
            Ok((
                spot.unwrap_or_else(|| Spot::nowhere_yet(&path, name)),
                false,
            ))
        }
        (Some(_), Some(_)) => Err(said(
            "several of a name",
            &[("path", path.as_str()), ("name", name)],
        )),
        (None, _) if is_new => Ok((Spot::nowhere_yet(&path, name), true)),
        (None, _) => Err(said(
            "no definition",
            &[
                ("name", name),
                ("path", path.as_str()),
                ("names", &outline::names(file).join(", ")),
            ],
        )),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests lay files out")]
mod tests {
    use super::*;

    fn tree() -> (tempfile::TempDir, SourceTree) {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let cart = "class Cart:\n    def add(self):\n        pass\n\n\nclass Bag:\n    def add(self):\n        pass\n\n\ndef total():\n    pass\n";
        write("shop/cart.py", cart);
        write("shop/report.py", "def report():\n    pass\n");
        write("tests/test_cart.py", "def test_total():\n    pass\n");
        let tree = SourceTree::read(folder.path(), None).unwrap();
        (folder, tree)
    }

    fn listed(reply: &str) -> Vec<String> {
        let (_folder, tree) = tree();
        match read(&tree, reply, false, &|_, _| false) {
            Listed::Places(places) => places
                .iter()
                .map(|one| {
                    let new = if one.is_new { "new " } else { "" };
                    format!("{}: {new}{}: {}", one.spot.path, one.spot.name, one.what)
                })
                .collect(),
            Listed::Problems(words, _) => vec![words],
            Listed::Nothing => Vec::new(),
        }
    }

    #[test]
    fn lists_are_read_in_the_shapes_that_models_write() {
        let expected = ["shop/cart.py: total: add the tax"];
        for reply in [
            "shop/cart.py: total: add the tax",
            "- `shop/cart.py`: `total`: add the tax",
            "1. **shop/cart.py** - total() - add the tax",
            "Sure, these:\n\n* shop/cart.py :: total: add the tax\n\nThat is all.",
            "cart.py: function total(prices): add the tax",
        ] {
            assert_eq!(listed(reply), expected, "{reply}");
        }
        assert_eq!(
            listed("shop/cart.py: Cart.add: x"),
            ["shop/cart.py: Cart.add: x"]
        );
        for reply in [
            "",
            "nothing",
            "I would change the total.",
            "```python\nx = 1\n```",
        ] {
            assert_eq!(listed(reply), [""; 0], "{reply}");
        }
    }

    #[test]
    fn what_is_new_comes_first_and_tests_are_left_alone() {
        let reply = "shop/report.py: report: show it\ntests/test_cart.py: test_total: check it\nshop/cart.py: new tax: computes it\nshop/tax.py: new rate: the rate";
        assert_eq!(
            listed(reply),
            [
                "shop/tax.py: new rate: the rate",
                "shop/cart.py: new tax: computes it",
                "shop/report.py: report: show it",
            ]
        );
    }

    #[test]
    fn imports_come_before_what_needs_them_and_a_class_behind_its_methods() {
        let reply = "shop/cart.py: Cart: a\nshop/report.py: report: b\nshop/cart.py: Cart.add: c\nshop/cart.py: module: d";
        assert_eq!(
            listed(reply),
            [
                "shop/cart.py: : d",
                "shop/report.py: report: b",
                "shop/cart.py: Cart.add: c",
                "shop/cart.py: Cart: a",
            ]
        );
    }

    #[test]
    fn what_stands_outside_of_definitions_is_a_place_too() {
        for name in ["module", "imports", "Header"] {
            let reply = format!("shop/cart.py: {name}: import the tax");
            assert_eq!(listed(&reply), ["shop/cart.py: : import the tax"]);
        }
    }

    #[test]
    fn places_that_are_there_are_kept_beside_others() {
        let (_folder, tree) = tree();
        let reply = "shop/report.py: reprot: x\nshop/cart.py: total: y";
        let Listed::Problems(_, places) = read(&tree, reply, false, &|_, _| false) else {
            panic!("one name is wrong");
        };
        assert_eq!(places.len(), 1);
        assert_eq!(places[0].spot.name, "total");
    }

    #[test]
    fn unknown_names_are_answered_with_those_that_are_there() {
        let words = listed("shop/report.py: reprot: show it").join("\n");
        assert_eq!(
            words,
            "There is no `reprot` in shop/report.py; it has report."
        );
        let words = listed("shop/cart.py: add: x").join("\n");
        assert!(words.contains("as `Class.add`"), "{words}");
        let words = listed("shop/crat.py: total: x").join("\n");
        assert!(words.contains("did you mean shop/cart.py"), "{words}");
        assert_eq!(listed("Node.js: done"), ["There is no Node.js."]);
        let words = listed("../outside.py: total: x").join("\n");
        assert!(words.contains("no path inside"), "{words}");
    }
}
