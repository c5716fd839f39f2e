//! The hooks behind what a task's code uses: `**` runs `__pow__`, `.evalf()` may run `_eval_evalf`.

use std::sync::LazyLock;

use regex::Regex;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::mention::project::{PlaceId, Project};
use crate::request::Request;
use crate::request::zone::Zone;

/// A definition that may run without its name being written.
#[derive(Clone, Debug)]
pub(crate) struct Hook {
    /// What the task writes.
    pub(crate) written: String,
    /// Less for a hook that many define.
    pub(crate) share: f32,
}

/// Operators and built-in functions with the methods that they run. What nearly every piece of code has is left out.
const OPERATORS: &[(&str, &[&str])] = &[
    ("**", &["__pow__", "__rpow__"]),
    ("//", &["__floordiv__", "__rfloordiv__"]),
    ("/", &["__truediv__", "__rtruediv__"]),
    ("%", &["__mod__", "__rmod__"]),
    ("@", &["__matmul__", "__rmatmul__"]),
    ("*", &["__mul__", "__rmul__"]),
    ("+", &["__add__", "__radd__"]),
    ("-", &["__sub__", "__rsub__"]),
    ("&", &["__and__", "__rand__"]),
    ("|", &["__or__", "__ror__"]),
    ("^", &["__xor__", "__rxor__"]),
    ("<<", &["__lshift__"]),
    (">>", &["__rshift__"]),
    ("==", &["__eq__"]),
    ("!=", &["__ne__"]),
    ("<", &["__lt__"]),
    ("<=", &["__le__"]),
    (">", &["__gt__"]),
    (">=", &["__ge__"]),
];
/// The same for functions that are called.
const FUNCTIONS: &[(&str, &[&str])] = &[
    ("len", &["__len__"]),
    ("repr", &["__repr__"]),
    ("str", &["__str__"]),
    ("hash", &["__hash__"]),
    ("bool", &["__bool__"]),
    ("iter", &["__iter__"]),
    ("next", &["__next__"]),
    ("abs", &["__abs__"]),
    ("round", &["__round__"]),
    ("float", &["__float__"]),
    ("int", &["__int__"]),
    ("dir", &["__dir__"]),
    ("format", &["__format__"]),
    ("reversed", &["__reversed__"]),
    ("copy", &["__copy__"]),
    ("deepcopy", &["__deepcopy__"]),
    ("dumps", &["__reduce__", "__getstate__"]),
    ("loads", &["__setstate__"]),
];

/// What a method or class is called by the code that does its work: `%` stands for its name.
const TEMPLATES: &[&str] = &[
    "_%", "__%", "_eval_%", "_do_%", "do_%", "_%_impl", "%_impl", "visit_%", "_visit_%", "_print_%",
];

/// A name that more definitions share than this leads nowhere.
const MOST_PLACES: usize = 40;

/// Returns the hooks that the code in a request may run.
pub(crate) fn hooks(request: &Request, project: &Project<'_>) -> FxHashMap<PlaceId, Hook> {
    static BINARY: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"[\w)\]]\s*(\*\*|//|==|!=|<=|>=|<<|>>|[-+*/%@&|^<>])\s*[\w(\[]").ok()
    });
    let mut found: FxHashMap<PlaceId, Hook> = FxHashMap::default();
    let mut add = |written: &str, name: &str| {
        let places = project.named(name);
        let places = places.iter().filter(|place| !project.file(place.file).test);
        let count = places.clone().count();
        if count > MOST_PLACES {
            return;
        }
        let share = 1.0 / (count as f32).sqrt();
        for &place in places {
            let known = found.get(&place).is_some_and(|hook| hook.share >= share);
            if !known {
                let written = written.to_owned();
                found.insert(place, Hook { written, share });
            }
        }
    };
    let mut operators: FxHashSet<&str> = FxHashSet::default();
    for passage in request.passages() {
        if matches!(passage.zone, Zone::Code | Zone::Inline) {
            let matches = BINARY
                .iter()
                .flat_map(|regex| regex.captures_iter(passage.text));
            operators.extend(matches.filter_map(|found| Some(found.get(1)?.as_str())));
        }
    }
    for (operator, methods) in OPERATORS {
        if operators.contains(operator) {
            methods.iter().for_each(|method| add(operator, method));
        }
    }
    let called: FxHashSet<&str> = request
        .written()
        .names
        .iter()
        .filter(|name| name.called)
        .filter_map(|name| name.text.rsplit('.').next())
        .collect();
    for name in called {
        for (_, methods) in FUNCTIONS.iter().filter(|(function, _)| *function == name) {
            methods.iter().for_each(|method| add(name, method));
        }
        if name.len() > 2 && !name.starts_with('_') {
            for template in TEMPLATES {
                add(name, &template.replace('%', name));
            }
        }
    }
    found
}
