//! Which certain fix a task allows: a misspelled name that it speaks of, a rename by name, a removal of what nothing uses.
//! Proposes; nothing is applied here.

use std::collections::{HashMap, HashSet};

use harness_code::edit;
use harness_code::fix::{
    self, Answer, Installed, MisspellingRequest, Place, Proposal, RemovalRequest, Surroundings,
};
use harness_code::locate::TaskOccurrences;
use harness_code::mention::Mentions;
use harness_code::path::RelPath;
use harness_code::request::rename::Rename;
use harness_code::suite::packages_of;
use harness_code::text::whole_words;
use harness_code::tree::{self, SourceTree};
use harness_hands::suite::Failure;

use crate::env::Environment;
use crate::plan::route::PlannedFix;
use crate::question::Question;
use crate::suite;
use harness_code::request::Request;
use harness_code::request::kind::Kind;

/// Words by which a task says that a name cannot be resolved.
const UNRESOLVED: [&str; 14] = [
    "nameerror",
    "importerror",
    "modulenotfounderror",
    "attributeerror",
    "unboundlocalerror",
    "is not defined",
    "undefined",
    "unresolved",
    "cannot import",
    "no attribute",
    "misspel",
    "mis-spel",
    "typo",
    "spelling",
];

/// A task that calls no name wrong can only be about a name that it speaks of, and one that more files hold is no slip.
const MOST_HOLDING: usize = 8;

/// What can be done without a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FixPlan {
    /// Exactly one change can be right.
    Certain(Proposal),
    /// What was asked for would break something.
    Refused(String),
}

/// What the fixes have to say to a task.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) plan: Option<FixPlan>,
    pub(super) question: Option<Question>,
}

/// Looks for a certain fix.
pub(super) fn find(
    tree: &SourceTree,
    occurrences: &TaskOccurrences,
    mentions: &Mentions,
    environment: &Environment,
    scope: &str,
) -> Found {
    let task = occurrences.request();
    // A name is used outside the scope too, and in files that no model is shown: what it means is known only from the
    // whole project.
    let scope = RelPath::parse(scope).ok();
    let limited = scope.is_some() || tree.lacks_hidden();
    let read = limited
        .then(|| SourceTree::read(tree.root(), None).ok())
        .flatten();
    let whole = read.as_ref().unwrap_or(tree);
    let surroundings = |scope| Surroundings {
        scope,
        installed: installed(whole, environment),
    };
    let answer = match task.kind() {
        Kind::Fix => {
            // What was noted is known of the part that was read.
            let occurrences = Some(occurrences).filter(|_| !limited);
            misspelled(task, whole, occurrences, mentions, surroundings(scope))
        }
        Kind::Rename => renamed(task, whole, &surroundings(scope)),
        Kind::Change => removed(task, whole, mentions, scope),
        Kind::Question | Kind::Add | Kind::Tests => Answer::Nothing,
    };
    match answer {
        Answer::Certain(proposal) => Found {
            plan: Some(FixPlan::Certain(proposal)),
            question: None,
        },
        Answer::Ask { text, options } => Found {
            plan: None,
            question: Some(Question::new(text, options)),
        },
        Answer::Refuse { reason, places } => Found {
            plan: Some(FixPlan::Refused(with_places(reason, &places))),
            question: None,
        },
        Answer::Nothing => Found::default(),
    }
}

/// How many places of a refusal are listed; the rest is counted.
const PLACES: usize = 8;

/// Returns the reason of a refusal with the places that it is about.
fn with_places(reason: String, places: &[Place]) -> String {
    if places.is_empty() {
        return reason;
    }
    let listed: Vec<String> = places
        .iter()
        .take(PLACES)
        .map(|place| format!("{}:{}", place.path, place.line))
        .collect();
    let more = match places.len().saturating_sub(PLACES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{reason} ({}{more})", listed.join(", "))
}

/// A misspelled name, when the task is about one: another finding in the same file is not what was asked for.
fn misspelled(
    task: &Request,
    tree: &SourceTree,
    occurrences: Option<&TaskOccurrences>,
    mentions: &Mentions,
    surroundings: Surroundings,
) -> Answer {
    let words = task.text().to_lowercase();
    let says_so = UNRESOLVED.iter().any(|word| words.contains(word));
    let names = quoted_names(task);
    let places_named = !mentions.paths.is_empty() || !mentions.frames.is_empty();
    let mut holding = HashMap::new();
    let mut about = None;
    if let Some(occurrences) = occurrences {
        let owned = |paths: Vec<&RelPath>| paths.into_iter().cloned().collect();
        for name in &names {
            let files = occurrences.files_with(tree, name).map(owned);
            holding.extend(files.map(|files| (name.clone(), files)));
        }
        if !says_so && names.is_empty() && !places_named {
            let few = |name: &&String| {
                let files = occurrences.files_with(tree, name).unwrap_or_default();
                (1..=MOST_HOLDING).contains(&files.len())
            };
            let slips: Vec<String> = occurrences.words().iter().filter(few).cloned().collect();
            for name in &slips {
                let files = occurrences.files_with(tree, name).map(owned);
                holding.extend(files.map(|files| (name.clone(), files)));
            }
            about = Some(slips);
        }
    }
    let request = MisspellingRequest {
        files: mentions.paths.clone(),
        names,
        about,
        holding,
        lines: mentions
            .frames
            .iter()
            .map(|frame| (frame.path.clone(), frame.line))
            .collect(),
        scope: surroundings.scope,
        installed: surroundings.installed,
    };
    let answer = fix::misspelled(tree, &request);
    let spoken_of = match &answer {
        Answer::Certain(proposal) => {
            says_so
                || replaced(tree, proposal)
                    .iter()
                    .any(|name| task.speaks_of(name))
        }
        Answer::Ask { .. } | Answer::Refuse { .. } => says_so,
        Answer::Nothing => false,
    };
    if spoken_of { answer } else { Answer::Nothing }
}

/// Returns the certain fix of what a red test stopped at: a misspelled name in the code, and nothing in a test.
pub(crate) fn of_failure(
    tree: &SourceTree,
    failure: &Failure,
    surroundings: Surroundings,
) -> Option<Proposal> {
    let said = Request::read(&failure.message);
    let words = said.text().to_lowercase();
    UNRESOLVED.iter().find(|word| words.contains(*word))?;
    let path = RelPath::parse(failure.file.as_deref()?).ok()?;
    let request = MisspellingRequest {
        names: quoted_names(&said),
        lines: vec![(path, failure.line?)],
        scope: surroundings.scope,
        installed: surroundings.installed,
        ..MisspellingRequest::default()
    };
    let in_code = |edit: &edit::Edit| !tree::is_test(&edit.path);
    match fix::misspelled(tree, &request) {
        Answer::Certain(proposal) if proposal.edits.iter().all(in_code) => Some(proposal),
        _ => None,
    }
}

/// The renames that the task asks for by name.
fn renamed(task: &Request, tree: &SourceTree, surroundings: &Surroundings) -> Answer {
    let renames = task.renames();
    match (fix::rename_all(tree, renames, surroundings), renames) {
        (Answer::Certain(_), [readings]) if is_about_another(task, tree, readings) => {
            Answer::Nothing
        }
        (answer, _) => answer,
    }
}

/// Says whether a sentence speaks of another definition behind the new name and of what it should be called, however it
/// says so: a part of what is asked for is not certain.
fn is_about_another(task: &Request, tree: &SourceTree, readings: &[Rename]) -> bool {
    const JOINTS: [&str; 9] = [
        "to", "into", "->", "=>", "→", "with", "by", "called", "instead",
    ];
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let last = |name: &str| name.rsplit(['.', '/']).next().unwrap_or(name).to_owned();
    readings.iter().any(|one| {
        let new = last(one.new.trim_end_matches(".py"));
        let Some(at) = whole_words(task.text(), &new).next() else {
            return false;
        };
        let words: Vec<&str> = task.written_words_from(at + new.len()).collect();
        let Some(joint) = words.iter().rposition(|word| JOINTS.contains(word)) else {
            return false;
        };
        let own = [Some(one.old.as_str()), Some(&one.new), one.class.as_deref()];
        let own: HashSet<&str> = own
            .into_iter()
            .flatten()
            .flat_map(|name| name.split(['.', '/']))
            .collect();
        let spoken = words[..joint]
            .iter()
            .flat_map(|word| word.split(|c| !is_part(c)));
        let others: HashSet<&str> = spoken.filter(|word| !own.contains(word)).collect();
        tree.definitions()
            .any(|(_, one)| others.contains(one.name()))
    })
}

/// A definition that the task asks to be gone, and nothing else.
fn removed(
    task: &Request,
    tree: &SourceTree,
    mentions: &Mentions,
    scope: Option<RelPath>,
) -> Answer {
    match task
        .only_removed()
        .filter(|_| mentions.definitions.len() == 1)
    {
        Some(name) => fix::removed(
            tree,
            &RemovalRequest {
                name,
                files: mentions.paths.clone(),
                scope,
            },
        ),
        None => Answer::Nothing,
    }
}

/// Returns the words that a proposal takes out.
fn replaced(tree: &SourceTree, proposal: &Proposal) -> Vec<String> {
    let word = |edit: &edit::Edit| {
        let text = tree.text(&edit.path).ok()?;
        text.content().get(edit.range.clone()).map(str::to_owned)
    };
    proposal
        .edits
        .iter()
        .filter_map(word)
        .filter(|word| !word.is_empty())
        .collect()
}

/// Returns names in quotes, as Python's own messages write them: `name 'totlas' is not defined`.
fn quoted_names(task: &Request) -> Vec<String> {
    let is_name = |word: &&str| {
        !word.is_empty() && word.len() < 80 && word.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    ['\'', '`', '"']
        .iter()
        .flat_map(|quote| task.between(*quote))
        .filter(is_name)
        .map(str::to_owned)
        .collect()
}

/// Returns where the packages of the project's interpreter are, as far as its path tells.
pub(crate) fn installed(tree: &SourceTree, environment: &Environment) -> Installed {
    let suite = suite::told_by_files(tree, None, environment);
    let Some(python) = suite.and_then(|suite| suite.interpreter) else {
        return Installed::default();
    };
    let roots = packages_of(&tree.root().join(python), environment.home.as_deref());
    Installed { roots }
}

/// Returns a fix as `route` shows it.
pub(super) fn shown(tree: &SourceTree, plan: &FixPlan) -> Option<PlannedFix> {
    let FixPlan::Certain(proposal) = plan else {
        return None;
    };
    let mut diff = String::new();
    // What is hidden changes too, and is not shown.
    let files = proposal.by_file().into_iter();
    for (path, edits) in files.filter(|(path, _)| tree.hides(path).is_none()) {
        let text = tree.text(path).ok()?;
        let after = edit::apply(text.content(), &edits).ok()?;
        diff.push_str(&edit::unified_diff(
            path.as_str(),
            Some(text.content()),
            Some(&after),
        ));
    }
    for (from, to) in &proposal.moves {
        diff.push_str(&format!("rename {from} to {to}\n"));
    }
    Some(PlannedFix {
        kind: proposal.kind.to_owned(),
        diff,
    })
}
