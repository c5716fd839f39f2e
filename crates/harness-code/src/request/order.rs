//! The orders of a task: "fix a, delete b and call c from d" gives three.

use std::ops::Range;

use crate::path::RelPath;
use crate::text::{is_among, whole_words};

use crate::request::kind::Kind;
use crate::request::{Request, kind_of};

/// One thing that a task orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Its verb, in small letters; empty where the task is no order.
    pub verb: String,
    /// Its words, with "it" replaced by what the orders before it name.
    pub task: Request,
}

/// Words that stand for what was named before.
const PRONOUNS: [&str; 3] = ["it", "them", "its"];
/// Verbs by which something new is asked for.
const MAKING: &str = "add make write create implement include introduce cover test provide";

/// Orders that put one thing into another.
pub(super) const PUTTING: &str = "include embed store attach";

impl Order {
    /// Returns whether it puts one thing into another.
    pub fn puts_into(&self) -> bool {
        is_among(PUTTING, &self.verb)
    }

    /// Returns whether it asks for a test that is not there yet.
    pub fn wants_test(&self) -> bool {
        let makes = is_among(MAKING, &self.verb);
        makes && (self.task.kind() == Kind::Tests || self.task.wants_test())
    }
}

/// The longest words of a goal, in characters: more is a story.
const LONGEST_GOAL: usize = 160;

impl Order {
    /// Returns what it asks for, for people: its first line, without what leads on to the next order.
    pub fn goal(&self) -> String {
        const LEADING_ON: &str = "and then also but & plus";
        let mut lines = self.task.text().lines().map(str::trim);
        let mut text = lines.find(|line| !line.is_empty()).unwrap_or_default();
        loop {
            let cut = text.trim_end_matches(|c: char| c.is_whitespace() || ",;.".contains(c));
            let last = cut.rsplit(char::is_whitespace).next().unwrap_or_default();
            if !is_among(LEADING_ON, last) || last == cut {
                text = cut;
                break;
            }
            text = &cut[..cut.len() - last.len()];
        }
        match text.chars().count() > LONGEST_GOAL {
            true => text.chars().take(LONGEST_GOAL).chain(['…']).collect(),
            false => text.to_owned(),
        }
    }
}

/// An order as it was read: its verb, and its words where they are not all of the task's.
pub(super) type OrderPart = (String, Option<Request>);

impl Request {
    /// Returns whether something new is asked for in this file.
    pub fn makes_new_in(&self, path: &RelPath) -> bool {
        let makes = |order: &Order| is_among(MAKING, &order.verb);
        let orders = self.orders().into_iter();
        orders
            .filter(makes)
            .any(|order| order.task.names_path(path))
    }

    /// Returns the orders of the task, in their order; the whole task where it has one or none.
    pub fn orders(&self) -> Vec<Order> {
        let parts = self.sentence.parts.get_or_init(|| self.read_parts());
        let order = |(verb, part): &OrderPart| Order {
            verb: verb.clone(),
            task: part.as_ref().unwrap_or(self).clone(),
        };
        parts.iter().map(order).collect()
    }

    fn read_parts(&self) -> Vec<OrderPart> {
        let part = |part: Range<usize>| self.sentence.gist.part(self.text(), part);
        let mut found = kind_of::orders(&self.sentence.gist.clauses);
        // "fix: allow tabs" and "fix #12: allow tabs" say of the order behind them what it is for.
        if let [(start, _), (next, _), ..] = found.as_slice()
            && is_label(&part(*start..*next))
            && is_plain(&part(*next..self.text().len()))
        {
            found.remove(1);
        }
        if found.len() < 2 {
            let verb = found.into_iter().next().map(|(_, verb)| verb);
            return vec![(verb.unwrap_or_default(), None)];
        }
        let starts: Vec<usize> = found.iter().map(|(start, _)| *start).collect();
        let mut named: Option<String> = None;
        let mut parts = Vec::new();
        for (at, (start, verb)) in found.into_iter().enumerate() {
            // What stands before the first order belongs to it.
            let start = if at == 0 { 0 } else { start };
            let end = starts.get(at + 1).copied().unwrap_or(self.text().len());
            let text = part(start..end);
            let task = Request::read(&without_pronouns(text.trim(), named.as_deref()));
            let new = task.addition().map(|addition| addition.name.clone());
            named = new.or_else(|| task.parameter()).or(named);
            parts.push((verb, Some(task)));
        }
        parts
    }
}

/// Says whether an order asks for nothing that is judged by its own words: no new name, no other name, nothing gone.
fn is_plain(text: &str) -> bool {
    const JUDGED: &str = "\
    add call create delete document drop extract implement inline introduce merge move pass remove \
    rename replace split test use";
    let task = Request::read(text);
    let verb = task.tokens().next();
    let verb = verb.map_or(String::new(), |token| token.text.to_lowercase());
    let is_judged = matches!(task.kind(), Kind::Rename | Kind::Tests) || task.addition().is_some();
    !is_judged && !is_among(JUDGED, &verb)
}

/// Says whether a text is one word, with numbers at most, before a colon.
fn is_label(text: &str) -> bool {
    let words = |text: &str| {
        text.split_whitespace()
            .filter(|word| word.contains(char::is_alphabetic))
            .count()
    };
    text.trim_end()
        .strip_suffix(':')
        .is_some_and(|text| words(text) == 1)
}

/// Puts a name in place of the words that stand for it.
fn without_pronouns(text: &str, name: Option<&str>) -> String {
    let Some(name) = name else {
        return text.to_owned();
    };
    let mut places: Vec<(usize, &str)> = PRONOUNS
        .iter()
        .flat_map(|word| whole_words(text, word).map(move |at| (at, *word)))
        .collect();
    places.sort_unstable();
    let mut replaced = text.to_owned();
    for (at, word) in places.into_iter().rev() {
        replaced.replace_range(at..at + word.len(), &format!("`{name}`"));
    }
    replaced
}

#[cfg(test)]
mod tests {
    use crate::request::Request;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let orders = Request::read(text).orders();
        let shown: Vec<String> = orders
            .iter()
            .map(|order| {
                let test = if order.wants_test() { " +test" } else { "" };
                let kind = order.task.kind().name();
                format!("{} {kind}: {}{test}", order.verb, order.task.text())
            })
            .collect();
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn a_task_is_cut_where_its_orders_begin() {
        check("fix total in cart.py", &["fix fix: fix total in cart.py"]);
        check(
            "Fix `a` in m.py, and delete `b`.",
            &[
                "fix fix: Fix `a` in m.py, and",
                "delete change: delete `b`.",
            ],
        );
        check(
            "Add a function `log_call` to m.py and call it from `main`",
            &[
                "add add: Add a function `log_call` to m.py and",
                "call change: call `log_call` from `main`",
            ],
        );
        check(
            "Add a class Base to m.py and derive Square from it",
            &[
                "add add: Add a class Base to m.py and",
                "derive change: derive Square from `Base`",
            ],
        );
        check(
            "Add `c` to m.py. Also rename `b` to `d`.",
            &[
                "add add: Add `c` to m.py.",
                "rename rename: Also rename `b` to `d`.",
            ],
        );
        check(
            "Refactor total, keep the tests green",
            &[
                "refactor change: Refactor total,",
                "keep tests: keep the tests green",
            ],
        );
        check(
            "Fix total and add a test for it",
            &[
                "fix fix: Fix total and",
                "add tests: add a test for it +test",
            ],
        );
        check(
            "fix: allow tabs in parse",
            &["fix fix: fix: allow tabs in parse"],
        );
        check(
            "fix: rename `a` to `b`",
            &["fix fix: fix:", "rename rename: rename `a` to `b`"],
        );
        check("", &[" fix: "]);
    }
}
