//! Which definitions a failing test blames: those it runs and the passing ones do not, those the task or the traceback names.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use harness_code::language::Language;
use harness_code::mention::NamedDefinition;
use harness_code::mutate::MutationKind;
use harness_code::path::RelPath;
use harness_code::symbols::{self, Definition};
use harness_code::text::Text;
use harness_code::tree;
use harness_hands::suite::Failure;
use harness_hands::suite::tried::Trace;

use crate::run::evidence::passes_through;

/// More definitions than this share no blame worth looking into.
const MOST: usize = 14;
/// A definition that the task names, against one that only runs.
const NAMED: f32 = 6.0;
/// A definition on the way of the traceback.
const ON_THE_WAY: f32 = 2.0;
/// A definition that the test is called after.
const CALLED_AFTER: f32 = 2.0;

/// A name that the message says means nothing.
const ACCUSED: f32 = 8.0;
/// The same, and what comes in its place is what Python suggests.
const SUGGESTED: f32 = 20.0;

/// A change of the line that a loop which never ends begins with.
const LOOP_HEAD: f32 = 3.0;
/// A line that such a loop forgot.
const LOOP_STEP: f32 = 4.0;
/// Any other change in such a loop.
const IN_LOOP: f32 = 1.5;

/// Returns how much the places where tests hung speak for a change of a line.
pub(super) fn hang_weight(
    failures: &[Failure],
    path: &RelPath,
    line: u32,
    kind: MutationKind,
) -> f32 {
    let hung = failures.iter().filter(|failure| failure.hung.is_some());
    let of_file = hung.filter(|failure| failure.file.as_deref() == Some(path.as_str()));
    let weight = |head: u32| match line {
        _ if line == head => LOOP_HEAD,
        _ if line > head && kind == MutationKind::LineMissing => LOOP_STEP,
        _ if line > head => IN_LOOP,
        _ => 1.0,
    };
    of_file
        .filter_map(|failure| failure.line)
        .map(weight)
        .fold(1.0, f32::max)
}

/// What is known besides the traces.
pub(in crate::run) struct Hints<'a> {
    /// Definitions that the task names.
    pub(in crate::run) named: &'a [NamedDefinition],
    /// The failing tests.
    pub(in crate::run) failures: &'a [Failure],
    /// The folder that changes must stay in.
    pub(in crate::run) scope: Option<&'a RelPath>,
}

/// Returns the names that the messages of failing tests speak of: those that mean nothing where they stand, and those
/// that Python suggests instead.
pub(super) fn accused(failures: &[Failure], targets: &[String]) -> Accused {
    const WRONG: [&str; 5] = [
        "has no attribute '",
        "name '",
        "local variable '",
        "unexpected keyword argument '",
        "free variable '",
    ];
    const MEANT: &str = "Did you mean: '";
    let mut accused = Accused::default();
    let blamed = failures
        .iter()
        .filter(|failure| targets.contains(&failure.id));
    for failure in blamed {
        let quoted = |before: &str| {
            let (_, rest) = failure.message.split_once(before)?;
            let name = rest.split('\'').next()?;
            Some(name.to_owned()).filter(|name| !name.is_empty())
        };
        accused
            .wrong
            .extend(WRONG.iter().filter_map(|before| quoted(before)));
        accused.meant.extend(quoted(MEANT));
    }
    accused
}

/// What messages say about names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Accused {
    /// Names that mean nothing.
    wrong: Vec<String>,
    /// Names that Python would have understood.
    meant: Vec<String>,
}

impl Accused {
    /// Returns how much the messages speak for putting one text in the place of another.
    pub(super) fn weight(&self, old: &str, new: &str) -> f32 {
        let last = |text: &str| text.rsplit('.').next().unwrap_or_default().to_owned();
        let wrong = self.wrong.contains(&last(old));
        let meant = self.meant.contains(&last(new));
        match (wrong, meant) {
            (true, true) => SUGGESTED,
            (true, false) => ACCUSED,
            (false, _) => 1.0,
        }
    }
}

/// A definition under suspicion.
pub(in crate::run) struct Suspect {
    pub(in crate::run) path: RelPath,
    pub(in crate::run) name: String,
    pub(super) span: Range<usize>,
    /// Its lines, without the first: that one runs when the file is imported.
    pub(in crate::run) rows: RangeInclusive<u32>,
    /// How much speaks against it.
    pub(super) weight: f32,
    /// How much the tests alone speak against it.
    pub(super) suspicion: f32,
    /// The failing tests that run it.
    pub(super) tests: Vec<String>,
    /// The passing tests that run it.
    pub(super) near: Vec<String>,
    /// How much speaks against each of its lines.
    lines: BTreeMap<u32, f32>,
}

impl Suspect {
    /// Returns how much the tests point at a line.
    pub(super) fn line_weight(&self, line: u32) -> f32 {
        if let Some(found) = self.lines.get(&line) {
            return 0.2 + found;
        }
        // A statement over several lines is seen at its first.
        let near = self.lines.range(line.saturating_sub(3)..line).next_back();
        near.map_or(0.1, |(_, found)| 0.12 + found * 0.6)
    }
}

/// Files by path, as they are in the copy.
pub(in crate::run) type FileTexts = BTreeMap<RelPath, Text>;

/// Returns the definitions under suspicion, most suspect first, and the files they are in.
pub(in crate::run) fn suspects(
    read: &dyn Fn(&RelPath) -> Option<Text>,
    traces: &[Trace],
    hints: &Hints<'_>,
) -> (Vec<Suspect>, FileTexts) {
    let mut files = FileTexts::new();
    let mut found = Vec::new();
    let failing: Vec<&Trace> = traces.iter().filter(|trace| trace.failing).collect();
    let mut names: Vec<&String> = failing
        .iter()
        .flat_map(|trace| trace.lines.keys())
        .collect();
    names.sort();
    names.dedup();
    for name in names {
        let Ok(path) = RelPath::parse(name) else {
            continue;
        };
        let outside = hints.scope.is_some_and(|scope| !path.starts_with(scope));
        if outside || tree::is_test(&path) || Language::of(&path) != Language::Python {
            continue;
        }
        let Some(text) = read(&path) else { continue };
        found.extend(in_file(name, &path, text.content(), traces, hints));
        files.insert(path, text);
    }
    let any_named = found.iter().any(|(named, _)| *named);
    let mut suspects: Vec<Suspect> = found
        .into_iter()
        .map(|(named, mut suspect)| {
            if any_named && !named {
                suspect.weight *= 0.3;
            }
            suspect
        })
        .collect();
    suspects.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    suspects.truncate(MOST);
    (suspects, files)
}

/// Returns the outermost functions of a file that failing tests run, and whether the task names them.
fn in_file(
    name: &str,
    path: &RelPath,
    content: &str,
    traces: &[Trace],
    hints: &Hints<'_>,
) -> Vec<(bool, Suspect)> {
    let definitions = symbols::definitions(Language::Python, content);
    let is_inner = |parent: Option<u32>| {
        let mut around = parent;
        while let Some(known) = around.and_then(|at| definitions.get(at as usize)) {
            if known.kind.is_function() {
                return true;
            }
            around = known.parent;
        }
        false
    };
    let mut found = Vec::new();
    for definition in definitions.iter().filter(|known| known.kind.is_function()) {
        if is_inner(definition.parent) {
            continue;
        }
        let Some(mut suspect) = Suspect::of(definition, path, name, traces) else {
            continue;
        };
        let mut names = hints.named.iter();
        let named = names.any(|one| one.path == *path && *one.qualified == *definition.qualified);
        suspect.weight *= emphasis(definition, path, named, &suspect.tests, hints);
        found.push((named, suspect));
    }
    found
}

/// Returns the lines of a definition without the first, which runs when the file is imported.
fn body_lines(definition: &Definition) -> RangeInclusive<u32> {
    match definition.line == definition.end_line {
        true => definition.line..=definition.line,
        false => definition.line + 1..=definition.end_line,
    }
}

impl Suspect {
    /// Returns a definition with how suspicious it is by the tests that run it (Ochiai); nothing where no failing test
    /// does.
    fn of(
        definition: &Definition,
        path: &RelPath,
        file: &str,
        traces: &[Trace],
    ) -> Option<Suspect> {
        let body = body_lines(definition);
        let mut counts: BTreeMap<u32, (f32, f32)> = BTreeMap::new();
        let (mut tests, mut near) = (Vec::new(), Vec::new());
        for trace in traces {
            let ran = trace.lines.get(file).into_iter().flatten();
            let mut runs = false;
            for line in ran.filter(|line| body.contains(line)) {
                let (failing, passing) = counts.entry(*line).or_default();
                *if trace.failing { failing } else { passing } += 1.0;
                runs = true;
            }
            if runs {
                let list = if trace.failing { &mut tests } else { &mut near };
                list.push(trace.test.clone());
            }
        }
        if tests.is_empty() {
            return None;
        }
        let failures = traces.iter().filter(|trace| trace.failing).count() as f32;
        let ochiai = |bad: f32, good: f32| bad / (failures * (bad + good)).sqrt().max(1e-6);
        let lines = counts
            .into_iter()
            .filter(|(_, (bad, _))| *bad > 0.0)
            .map(|(line, (bad, good))| (line, ochiai(bad, good)));
        let suspicion = ochiai(tests.len() as f32, near.len() as f32);
        Some(Suspect {
            path: path.clone(),
            name: definition.qualified.to_string(),
            span: definition.span(),
            rows: body,
            weight: suspicion,
            suspicion,
            tests,
            near,
            lines: lines.collect(),
        })
    }
}

/// Returns how much more a definition is worth looking at than what the tests run of it says.
fn emphasis(
    definition: &Definition,
    path: &RelPath,
    named: bool,
    tests: &[String],
    hints: &Hints<'_>,
) -> f32 {
    let on_the_way = hints.failures.iter().any(|failure| {
        let lines = definition.line..=definition.end_line;
        passes_through(&failure.traceback, path, &lines)
    });
    let bare = definition.name().trim_matches('_').to_lowercase();
    let called_after = bare.len() > 2
        && tests.iter().any(|test| {
            let last = test.rsplit([':', '.']).next().unwrap_or(test);
            last.to_lowercase().contains(&bare)
        });
    let factor = |holds: bool, factor: f32| if holds { factor } else { 1.0 };
    factor(named, NAMED) * factor(on_the_way, ON_THE_WAY) * factor(called_after, CALLED_AFTER)
}

#[cfg(test)]
mod tests {
    #[test]
    fn messages_accuse_names() {
        let failure = |id: &str, message: &str| Failure {
            id: id.to_owned(),
            message: message.to_owned(),
            traceback: String::new(),
            file: None,
            line: None,
            hung: None,
        };
        let failures = [
            failure("a", "AttributeError: module 're' has no attribute 'word'"),
            failure(
                "b",
                "NameError: name 'totl' is not defined. Did you mean: 'total'?",
            ),
            failure("c", "NameError: name 'other' is not defined"),
        ];
        let found = accused(&failures, &["a".to_owned(), "b".to_owned()]);
        assert_eq!(
            (found.wrong.join(" "), found.meant.join(" ")),
            ("word totl".to_owned(), "total".to_owned())
        );
        assert!(found.weight("totl", "total") > found.weight("totl", "size"));
        assert!(found.weight("word", "search") > found.weight("re", "os"));
        assert!(found.weight("other", "x") <= 1.0);
    }

    use super::*;

    #[test]
    fn a_loop_that_never_ends_is_where_to_look() {
        let path = RelPath::parse("shop/count.py").unwrap();
        let failure = |hung| Failure {
            id: "a".to_owned(),
            message: String::new(),
            traceback: String::new(),
            file: Some("shop/count.py".to_owned()),
            line: Some(3),
            hung,
        };
        let hung = [failure(Some(std::time::Duration::from_secs(10)))];
        let weight = |line, kind| hang_weight(&hung, &path, line, kind);
        assert!(weight(5, MutationKind::LineMissing) > weight(3, MutationKind::Comparison));
        assert!(weight(3, MutationKind::Comparison) > weight(4, MutationKind::Constant));
        assert!(weight(4, MutationKind::Constant) > weight(2, MutationKind::Constant));
        assert_eq!(
            hang_weight(&[failure(None)], &path, 3, MutationKind::Comparison),
            1.0
        );
    }

    #[test]
    fn tracebacks_are_read_in_both_forms() {
        let path = RelPath::parse("shop/pricing.py").unwrap();
        let passes = |traceback: &str| passes_through(traceback, &path, &(10..=14));
        assert!(passes("shop/pricing.py:12: in total\n"));
        assert!(passes("  File \"/x/shop/pricing.py\", line 12, in total\n"));
        assert!(!passes("shop/pricing.py:22: in total\n"));
        assert!(!passes("old-shop/pricing.py:12: in total\n"));
        assert!(!passes("shop/pricing.py"));
    }

    #[test]
    fn what_only_failing_tests_run_is_most_suspect() {
        let code = "def a():\n    return 1\n\ndef b():\n    return 2\n";
        let trace = |test: &str, failing, lines: &[u32]| Trace {
            test: test.to_owned(),
            failing,
            lines: BTreeMap::from([("m.py".to_owned(), lines.to_vec())]),
        };
        let traces = [
            trace("t::one", true, &[2, 5]),
            trace("t::two", false, &[2]),
            trace("t::three", false, &[2]),
        ];
        let hints = Hints {
            named: &[],
            failures: &[],
            scope: None,
        };
        let read = |_: &RelPath| Some(Text::new(code));
        let (found, _) = suspects(&read, &traces, &hints);
        let names: Vec<&str> = found.iter().map(|suspect| suspect.name.as_str()).collect();
        assert_eq!(names, ["b", "a"]);
        assert!(found[0].line_weight(5) > found[1].line_weight(2));
    }
}
