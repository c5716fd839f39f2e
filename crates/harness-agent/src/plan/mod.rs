//! What would happen to a task: free of effects. `route` prints it, `run` follows it, the server asks it.

pub(crate) mod fix;
mod home;
pub(crate) mod outline;

use std::collections::{HashSet, VecDeque};
use std::ops::Range;

use harness_code::edit::overloads;
use harness_code::locate::{self, LocateOptions, Located, Noted};
use harness_code::mention::{Mentions, NamedDefinition, near_miss};
use harness_code::path::RelPath;
use harness_code::report::overview;
use harness_code::symbols::{Definition, DefinitionKind};
use harness_code::tree::SourceTree;
use schemars::JsonSchema;
use serde::Serialize;

use crate::env::Environment;
use crate::options::AgentOptions;
use crate::secret;
use crate::skill::{self, Skill};
use crate::task::Task;
use crate::task::kind::Kind;
use crate::task::question::Question;

pub(crate) use fix::FixPlan;
pub(crate) use home::NewDefinition;

/// How many places the first prompt shows.
const MOST_SPOTS: usize = 3;
/// The longest task that the first prompt shows, in characters; a pasted log is cut in its middle.
pub(crate) const LONGEST_TASK: usize = 6_000;
/// The most code that it shows, in characters: about 1,500 tokens.
pub(crate) const MOST_CODE: usize = 6_000;
/// The longest single definition that it shows, in characters.
pub(crate) const LONGEST_DEFINITION: usize = 4_000;
/// A definition that is longer than this share of a reply cannot be written anew in one (a token is about four bytes).
const LONGEST_REWRITE: f64 = 0.6 * 4.0;

/// The cheapest way that may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rung {
    /// The user must choose first.
    Question,
    /// A certain fix, no model.
    Fix,
    /// One definition, written anew by the model.
    Rewrite,
    /// Turn by turn, with tools.
    Loop,
    /// An answer, nothing changes.
    Answer,
}

impl Rung {
    /// Returns the word that people are shown.
    pub fn name(self) -> &'static str {
        match self {
            Rung::Question => "question",
            Rung::Fix => "fix",
            Rung::Rewrite => "rewrite",
            Rung::Loop => "loop",
            Rung::Answer => "answer",
        }
    }
}

/// One thing that a task asks for.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct PlannedGoal {
    /// What it is, in the words of the task.
    pub text: String,
}

/// A fix that needs no model.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct PlannedFix {
    /// What kind of fix it is.
    pub kind: String,
    /// The change as a unified diff.
    pub diff: String,
}

/// A file that the task may be about.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct PlannedFile {
    /// The file.
    pub path: String,
    /// How likely it is; only the order means something.
    pub score: f64,
    /// What speaks for it.
    pub why: String,
}

/// A definition that the task may be about.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct PlannedDefinition {
    /// The file.
    pub path: String,
    /// The definition, as `Class.name`.
    pub name: String,
    /// Its first line.
    pub line: u32,
    /// How likely it is; only the order means something.
    pub score: f64,
    /// What speaks for it.
    pub why: String,
}

/// A place in the code that the model is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The file.
    pub path: RelPath,
    /// The definition; empty means the whole file.
    pub name: String,
    /// Its first line.
    pub line: u32,
    /// Its bytes in the file's content.
    pub span: Range<usize>,
}

impl Spot {
    /// Returns a definition of a file.
    pub(crate) fn of(path: &RelPath, one: &Definition) -> Spot {
        Spot {
            path: path.clone(),
            name: one.qualified.to_string(),
            line: one.line,
            span: one.span(),
        }
    }

    /// Returns a whole file of this length.
    pub(crate) fn whole(path: &RelPath, length: usize) -> Spot {
        Spot {
            path: path.clone(),
            name: String::new(),
            line: 1,
            span: 0..length,
        }
    }

    /// Returns a place for something that is not there yet.
    pub(crate) fn nowhere_yet(path: &RelPath, name: &str) -> Spot {
        Spot {
            name: name.to_owned(),
            ..Spot::whole(path, 0)
        }
    }
}

/// A place is asked for again this often.
const MOST_REPAIRS: usize = 2;

/// A place that must change, as the model listed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Where it is; what is not there yet has no bytes.
    pub(crate) spot: Spot,
    pub(crate) is_new: bool,
    /// What changes there, in the model's words.
    pub(crate) what: String,
}

impl Place {
    /// Says whether what changes at this place is that it goes.
    fn goes(&self) -> bool {
        let mut words = self.what.split_whitespace();
        let first = words.next().unwrap_or_default();
        let first = first.trim_end_matches([',', '.', ':', ';']);
        let orders = ["remove", "removed", "delete", "deleted", "drop", "dropped"];
        let rest: Vec<&str> = words.map(|word| word.trim_end_matches('.')).collect();
        !self.spot.name.is_empty()
            && orders.iter().any(|word| first.eq_ignore_ascii_case(word))
            && matches!(rest.as_slice(), [] | ["it" | "this"])
    }
}

/// What the model's list came to.
#[derive(Clone, Debug, Default)]
struct ListedPlaces {
    /// Places that are still to be written; none where there was no list.
    waiting: Option<VecDeque<Place>>,
    /// The one that was last taken from them.
    taken: Option<Place>,
    /// Those that were put behind the others.
    postponed: Vec<Place>,
    /// Definitions that should go.
    removals: Vec<Spot>,
    /// Places that were asked for again because a test failed by them.
    repaired: Vec<(RelPath, String)>,
}

/// What would happen to a task.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Plan {
    /// What the task asks for.
    pub kind: &'static str,
    /// What the task asks for, one by one.
    pub goals: Vec<PlannedGoal>,
    /// Whether it would change files.
    pub writes: bool,
    /// The cheapest way that may do.
    pub rung: Rung,
    /// What the user must choose first.
    pub question: Option<Question>,
    /// A fix that needs no model.
    pub fix: Option<PlannedFix>,
    /// Files that the task may be about, best first.
    pub files: Vec<PlannedFile>,
    /// Definitions that the task may be about, best first.
    pub definitions: Vec<PlannedDefinition>,
    /// Skills that would be loaded.
    pub skills: Vec<String>,
    /// The model that would be asked, or a suggestion of its size.
    pub model: String,
    /// How long the first prompt would be, about.
    pub prompt_tokens: u64,
    #[serde(skip)]
    spots: Vec<Spot>,
    #[serde(skip)]
    tests_home: Option<RelPath>,
    #[serde(skip)]
    new_definition: Option<NewDefinition>,
    #[serde(skip)]
    mentions: Mentions,
    #[serde(skip)]
    certain_fix: Option<FixPlan>,
    /// The task is about the tests that fail, whichever those are; in a run that may start none it asks this instead.
    #[serde(skip)]
    red_tests: Option<Question>,
    /// Tests that must pass, by their ids, whatever the task names.
    #[serde(skip)]
    blamed: Vec<String>,
    /// The place that the model was last asked for, of a task with several.
    #[serde(skip)]
    place: Option<Spot>,
    /// Places that come after it, where the model listed them.
    #[serde(skip)]
    listed: ListedPlaces,
    /// What the likeliest files define, where the model is to list the places first.
    #[serde(skip)]
    outline: Option<String>,
    #[serde(skip)]
    about_project: bool,
}

impl Plan {
    /// Works out what would happen to a task. Reads the tree, changes nothing.
    ///
    /// `noted` is what the tree says of the task's text.
    pub fn make(
        task: &Task,
        tree: &SourceTree,
        noted: &Noted,
        options: &AgentOptions,
        environment: &Environment,
    ) -> Plan {
        let include_tests = matches!(task.kind, Kind::Tests | Kind::Question);
        let fix_for = |mentions: &Mentions| {
            fix::find(task, tree, noted, mentions, environment, &options.scope)
        };
        // A rename says what it is about: where that is found, nothing has to be ranked.
        let renamed = (task.kind == Kind::Rename)
            .then(|| fix_for(&Mentions::default()))
            .filter(|found| found.plan.is_some() || found.question.is_some());
        let (mentions, located) = match renamed {
            Some(_) => (locate::mentioned(tree, noted), Located::default()),
            None => locate::locate(tree, noted, LocateOptions { include_tests }),
        };
        let red_tests = is_about_red_tests(task, &mentions).then(|| which_test(&located));
        let mut spots = spots(task, tree, &mentions, &located);
        let documents = documents_tokens(task, tree, &mentions);
        if red_tests.is_some() || documents.is_some() {
            // What the tests run is known once they ran; the project as a whole is told from its documents.
            spots.clear();
        }
        let found = match renamed {
            Some(found) => found,
            None if task.kind == Kind::Rename => fix::Found::default(),
            None => fix_for(&mentions),
        };
        let names_nothing = !mentions.names_a_place() && found.plan.is_none();
        // Where only one file can be meant there is nothing to choose.
        let new_definition = home::for_new(task, tree, &mentions);
        let settled = red_tests.is_some() || new_definition.is_some() || located.files.len() == 1;
        let vague = task.kind.writes() && names_nothing && !settled;
        let ask = || vague.then(|| which_place(task, tree, &located));
        let question = found.question.or_else(ask);
        // What moves is written elsewhere, and not anew where it is.
        let is_rewritten =
            !task.moves_somewhere() && fits_a_reply(&spots, &mentions, options.max_tokens);
        let rung = match (&question, task.kind) {
            (_, Kind::Question) => Rung::Answer,
            (Some(_), _) => Rung::Question,
            (None, _) if found.plan.is_some() => Rung::Fix,
            (None, _) if new_definition.is_some() || is_rewritten => Rung::Rewrite,
            (None, _) => Rung::Loop,
        };
        let lists =
            rung == Rung::Loop && red_tests.is_none() && lists_places(task, tree, &mentions);
        let outline = lists.then(|| outline::of(tree, located.files.iter().map(|hit| &hit.path)));
        let available = skill::available(tree.root());
        let skills = skill::choose(&available, task.kind, &task.text, &options.skills);
        let tests_place = || home::for_tests(tree, &mentions, spots.first()?);
        let tests_home = (task.kind == Kind::Tests).then(tests_place).flatten();
        Plan {
            kind: task.kind_name(),
            goals: planned_goals(task),
            writes: task.kind.writes(),
            rung,
            question,
            fix: found.plan.as_ref().and_then(|plan| fix::shown(tree, plan)),
            files: located.files.iter().map(planned_file).collect(),
            definitions: planned_definitions(task, &mentions, &located),
            skills,
            model: options.model.clone(),
            prompt_tokens: prompt_tokens(task, &spots, outline.as_deref()) + documents.unwrap_or(0),
            spots,
            tests_home,
            new_definition,
            mentions,
            certain_fix: found.plan,
            red_tests,
            blamed: Vec::new(),
            place: None,
            listed: ListedPlaces::default(),
            outline,
            about_project: documents.is_some(),
        }
    }

    /// Returns whether the question is about the project as a whole.
    pub(crate) fn is_about_project(&self) -> bool {
        self.about_project
    }

    /// Returns the place that the model was last asked for, of a task with several.
    pub(crate) fn place(&self) -> Option<&Spot> {
        self.place.as_ref()
    }

    /// Turns to one place of a task with several: a reply that names no place is about it.
    pub(crate) fn turn_to_place(&mut self, spot: Spot) {
        self.tests_home = None;
        self.place = Some(spot);
    }

    /// Goes through these places, one after the other; code takes away what should go.
    pub(crate) fn list_places(&mut self, places: Vec<Place>) {
        let (going, staying): (Vec<Place>, _) = places.into_iter().partition(Place::goes);
        self.listed = ListedPlaces {
            waiting: Some(staying.into()),
            removals: going.into_iter().map(|place| place.spot).collect(),
            repaired: std::mem::take(&mut self.listed.repaired),
            ..ListedPlaces::default()
        };
    }

    /// Says whether a place that was written may be asked for again, which is noted.
    pub(crate) fn may_repair(&mut self, spot: &Spot) -> bool {
        let name = (spot.path.clone(), spot.name.clone());
        let repaired = self.listed.repaired.iter();
        let count = repaired.filter(|known| **known == name).count();
        self.listed.repaired.push(name);
        count < MOST_REPAIRS
    }

    /// Returns the definitions that should go by the model's list.
    pub(crate) fn removals(&self) -> &[Spot] {
        &self.listed.removals
    }

    /// Says whether the model's list is of nothing but what should go.
    pub(crate) fn only_removes(&self) -> bool {
        let waiting = self.listed.waiting.as_ref();
        waiting.is_some_and(VecDeque::is_empty)
            && self.listed.taken.is_none()
            && !self.listed.removals.is_empty()
    }

    /// Forgets what should go: it was tried.
    pub(crate) fn forget_removals(&mut self) {
        self.listed.removals.clear();
    }

    /// Returns what the likeliest files define, where the model is to list the places first.
    pub(crate) fn outline(&self) -> Option<&str> {
        self.outline.as_deref()
    }

    /// Returns whether the model listed the places.
    pub(crate) fn is_listed(&self) -> bool {
        self.listed.waiting.is_some()
    }

    /// Returns the next place of the list, which is then behind.
    pub(crate) fn take_place(&mut self) -> Option<Place> {
        let next = self.listed.waiting.as_mut()?.pop_front()?;
        self.listed.taken = Some(next.clone());
        Some(next)
    }

    /// Puts the place at hand behind all others, once. Returns whether there are others.
    pub(crate) fn postpone_place(&mut self) -> bool {
        let listed = &mut self.listed;
        let (Some(place), Some(waiting)) = (listed.taken.take(), &mut listed.waiting) else {
            return false;
        };
        let may_wait = !waiting.is_empty() && !listed.postponed.contains(&place);
        if may_wait {
            listed.postponed.push(place.clone());
            waiting.push_back(place);
        }
        may_wait
    }

    /// Returns whether the task is about the tests that fail, whichever those are.
    pub(crate) fn is_about_red_tests(&self) -> bool {
        self.red_tests.is_some()
    }

    /// Goes on without a run of the tests: what is red must be told.
    pub(crate) fn ask_for_the_test(&mut self) {
        self.question = self.red_tests.take();
        self.rung = Rung::Question;
    }

    /// Returns whether a task about red tests, which may name files of tests, is about this one.
    pub(crate) fn means_test(&self, id: &str) -> bool {
        let paths = &self.mentions.paths;
        match self.names_tests() {
            true => self.names_test(id),
            false => paths.is_empty() || paths.iter().any(|path| lies_in(id, path)),
        }
    }

    /// Turns to tests that must pass and to the code that they run, most likely first.
    pub(crate) fn turn_to(&mut self, blamed: Vec<String>, spots: Vec<Spot>, max_tokens: u32) {
        let fits = spots
            .first()
            .is_some_and(|spot| fits_reply(spot, max_tokens));
        self.rung = if fits { Rung::Rewrite } else { Rung::Loop };
        (self.blamed, self.spots) = (blamed, spots);
    }

    /// Returns what can be done without a model.
    pub(crate) fn certain_fix(&self) -> Option<&FixPlan> {
        self.certain_fix.as_ref()
    }

    /// Returns the places that the model is shown, most likely first.
    pub fn spots(&self) -> &[Spot] {
        &self.spots
    }

    /// Returns the file that new tests go to, for a task that asks for them.
    pub(crate) fn tests_home(&self) -> Option<&RelPath> {
        self.tests_home.as_ref()
    }

    /// Returns the definition that the task asks for and that is not there yet, where its home is known.
    pub(crate) fn new_definition(&self) -> Option<&NewDefinition> {
        self.new_definition.as_ref()
    }

    /// Returns whether the task asks for a file that is not there yet.
    pub(crate) fn makes_file(&self) -> bool {
        self.new_definition
            .as_ref()
            .is_some_and(|new| new.in_new_file)
    }

    /// Goes on from a new definition, which is there now, to its tests. Returns where they go.
    pub(crate) fn turn_to_tests(&mut self, tree: &SourceTree) -> Option<&RelPath> {
        let new = self.new_definition.as_ref().filter(|new| new.with_test)?;
        if self.tests_home.is_some() {
            return None;
        }
        let spot = Spot::nowhere_yet(&new.path, &new.name);
        self.tests_home = home::for_tests(tree, &self.mentions, &spot);
        self.tests_home.as_ref()
    }

    /// Returns what a reply means that names no place: the place shown, or where new code goes.
    pub fn focus(&self) -> Option<Spot> {
        match (&self.tests_home, &self.new_definition) {
            (Some(path), _) => Some(Spot::nowhere_yet(path, "")),
            _ if self.place.is_some() => self.place.clone(),
            (None, Some(new)) => Some(Spot::nowhere_yet(&new.path, &new.name)),
            (None, None) => self.spots.first().cloned(),
        }
    }

    /// Returns what the task names, resolved against the project.
    pub fn mentions(&self) -> &Mentions {
        &self.mentions
    }

    /// Returns whether the task names tests at all.
    pub(crate) fn names_tests(&self) -> bool {
        !self.blamed.is_empty()
            || self.mentions.tests.iter().any(|test| !test.name.is_empty())
            || self.named_test_functions().next().is_some()
    }

    /// Returns whether the task names this test: by its id, or as a function of a test file.
    pub(crate) fn names_test(&self, id: &str) -> bool {
        if !self.blamed.is_empty() {
            return self.blamed.iter().any(|blamed| blamed == id);
        }
        let ids = self.mentions.tests.iter();
        let mut ids = ids.filter(|test| !test.name.is_empty()).peekable();
        if ids.peek().is_some() {
            return ids.any(|test| is_test_called(id, &test.path, &test.name));
        }
        let mut functions = self.named_test_functions();
        functions.any(|named| is_test_called(id, &named.path, &named.qualified))
    }

    fn named_test_functions(&self) -> impl Iterator<Item = &NamedDefinition> {
        let definitions = self.mentions.definitions.iter();
        let tests = definitions.filter(|named| harness_code::tree::is_test(&named.path));
        tests.filter(|named| {
            let name = last_part(&named.qualified);
            name.to_ascii_lowercase().starts_with("test")
        })
    }

    /// Returns the skills to load.
    pub(crate) fn load_skills(&self, tree: &SourceTree) -> Vec<Skill> {
        let is_hidden = |skill: &Skill| {
            let inside = skill.file.as_ref()?.strip_prefix(tree.root()).ok()?;
            tree.hides(&RelPath::parse(inside.to_str()?).ok()?)
        };
        let known = skill::available(tree.root()).into_iter();
        known
            .filter(|skill| self.skills.contains(&skill.name) && is_hidden(skill).is_none())
            .collect()
    }

    /// Returns the plan as text for a person.
    pub fn render(&self, width: usize) -> String {
        let mut text = format!(
            "kind     {}{}\n",
            self.kind,
            if self.writes { ", changes files" } else { "" }
        );
        let way = match self.rung {
            Rung::Question => "asks you first",
            Rung::Fix => "certain fix, no model",
            Rung::Rewrite if self.makes_file() => "a new file, written by the model",
            Rung::Rewrite if self.new_definition.is_some() => {
                "one new definition, written by the model"
            }
            Rung::Rewrite => "one definition, written anew by the model",
            Rung::Loop if self.is_about_red_tests() => {
                "the tests are run; what is red is worked on"
            }
            Rung::Loop if self.outline.is_some() => {
                "the model lists the places, then writes one after the other"
            }
            Rung::Loop => "turn by turn, with tools",
            Rung::Answer => "an answer, nothing changes",
        };
        text.push_str(&format!("way      {} ({way})\n", self.rung.name()));
        if !matches!(self.rung, Rung::Question | Rung::Fix) {
            text.push_str(&format!(
                "model    {}, about {} tokens in the first prompt\n",
                self.model, self.prompt_tokens
            ));
        }
        if !self.skills.is_empty() {
            text.push_str(&format!("skills   {}\n", self.skills.join(", ")));
        }
        if let Some(question) = &self.question {
            text.push_str(&format!(
                "question {}\n",
                question.render().replace('\n', "\n         ")
            ));
        }
        if let Some(fix) = &self.fix {
            text.push_str(&format!("fix      {}\n{}", fix.kind, fix.diff));
        }
        let definitions = self.definitions.iter().map(|hit| {
            let place = format!("{}:{} {}", hit.path, hit.line, hit.name);
            (place, hit.why.as_str())
        });
        section(&mut text, "definitions", definitions, width);
        let files = self.files.iter();
        let files = files.map(|hit| (hit.path.clone(), hit.why.as_str()));
        section(&mut text, "files", files, width);
        text
    }
}

/// Says whether a case is the one that a sentence writes, which ends at the first blank and may lack its bracket.
fn is_case(case: Option<&str>, written: &str) -> bool {
    let written = written.trim_end_matches(']');
    case.is_some_and(|case| {
        let case = case.trim_end_matches(']');
        case == written || case.starts_with(&format!("{written} "))
    })
}

/// Says whether a test of a report is the one that a file and a name tell: `TestA::test_total`, `TestA.test_total`, or
/// one case of it, `test_total[add]`.
pub(crate) fn is_test_called(id: &str, path: &RelPath, name: &str) -> bool {
    let cut = |text: &str| -> (Vec<String>, Option<String>) {
        let (base, case) = match text.split_once('[') {
            Some((base, case)) => (base, Some(case.to_owned())),
            None => (text, None),
        };
        let dotted = base.replace("::", ".");
        (dotted.split('.').map(str::to_owned).collect(), case)
    };
    let ((parts, case), (wanted, wanted_case)) = (cut(id), cut(name));
    let is_python = path.extension() == Some("py");
    parts.ends_with(&wanted)
        && wanted_case.is_none_or(|wanted| is_case(case.as_deref(), &wanted))
        && (!is_python || lies_in(id, path))
}

/// Says whether a test lies in a file, by its id: `tests/test_a.py::test_b` or `tests.test_a.T.test_b`.
pub(crate) fn lies_in(id: &str, path: &RelPath) -> bool {
    let file = path.as_str();
    let module = file
        .rsplit_once('.')
        .map_or(file, |(stem, _)| stem)
        .replace('/', ".");
    let dotted = |module: &str| {
        let rest = id.strip_prefix(module);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    // Discovery may start in the folder of the tests.
    let short = module.rsplit('.').next().unwrap_or(&module);
    let by_path = id.strip_prefix(file);
    by_path.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        || dotted(&module)
        || (harness_code::tree::is_test(path) && dotted(short))
}

/// Rows of a section that a person is shown.
const MOST_ROWS: usize = 5;

fn section<'a>(
    text: &mut String,
    title: &str,
    rows: impl Iterator<Item = (String, &'a str)>,
    width: usize,
) {
    let rows: Vec<(String, &str)> = rows.take(MOST_ROWS).collect();
    if rows.is_empty() {
        return;
    }
    text.push_str(&format!("\n{title}\n"));
    let widths = rows.iter().map(|(place, _)| place.chars().count());
    let widest = widths.max().unwrap_or(0);
    for (place, why) in rows {
        if widest + 6 + 40 > width {
            // Deeper would be code, which no terminal of ours breaks.
            text.push_str(&format!("  {place}\n   {why}\n"));
        } else {
            let room = width.saturating_sub(widest + 4);
            let why: String = why.chars().take(room).collect();
            text.push_str(&format!("  {place:widest$}  {why}\n"));
        }
    }
}

fn planned_file(hit: &locate::FileHit) -> PlannedFile {
    PlannedFile {
        path: hit.path.to_string(),
        score: hit.score,
        why: hit.why.clone(),
    }
}

/// A sentence that names more definitions than this, or is longer, tells of them and is about something else.
const FEW_NAMED: usize = 3;
const SHORT_TASK: usize = 200;

/// Returns the definitions that a task may be about: what a short one names comes first, here as in a prompt.
fn planned_definitions(
    task: &Task,
    mentions: &Mentions,
    located: &Located,
) -> Vec<PlannedDefinition> {
    let is_short = mentions.definitions.len() <= FEW_NAMED && task.text.len() <= SHORT_TASK;
    let named = mentions.definitions.iter().filter(|_| is_short);
    let mut all: Vec<PlannedDefinition> = named
        .map(|hit| PlannedDefinition {
            path: hit.path.to_string(),
            name: hit.qualified.clone(),
            line: hit.line,
            score: 1.0,
            why: "the task names it".to_owned(),
        })
        .collect();
    for hit in located.definitions.iter().map(planned_definition) {
        let is_same = |one: &&mut PlannedDefinition| {
            (&one.path, &one.name, one.line) == (&hit.path, &hit.name, hit.line)
        };
        match all.iter_mut().find(is_same) {
            Some(known) => known.why = hit.why,
            None => all.push(hit),
        }
    }
    all
}

fn planned_definition(hit: &locate::DefinitionHit) -> PlannedDefinition {
    let (path, name) = (hit.path.to_string(), hit.name.clone());
    PlannedDefinition {
        path,
        name,
        line: hit.line,
        score: hit.score,
        why: hit.why.clone(),
    }
}

fn rank(located: &Located, named: &NamedDefinition) -> usize {
    let mut hits = located.definitions.iter();
    let place = hits.position(|hit| hit.path == named.path && hit.name == named.qualified);
    place.unwrap_or(usize::MAX)
}

/// Returns the places to show: what the task names first, then what was found.
fn spots(task: &Task, tree: &SourceTree, mentions: &Mentions, located: &Located) -> Vec<Spot> {
    let mut spots: Vec<Spot> = Vec::new();
    let mut add = |spot: Option<Spot>| {
        if let Some(spot) = spot
            && spots.len() < MOST_SPOTS
            && !spots.iter().any(|known| {
                known.path == spot.path
                    && known.span.start <= spot.span.start
                    && spot.span.end <= known.span.end
            })
        {
            spots.push(spot);
        }
    };
    let wanted = |path: &RelPath| !tree.file(path).is_some_and(|file| file.test);
    let named =
        |named: &NamedDefinition| definition(tree, &named.path, &named.qualified, named.line);
    let mut definitions: Vec<&NamedDefinition> = mentions.definitions.iter().collect();
    if task.text.len() > SHORT_TASK {
        // A report tells of many: how well each fits says more than which comes first.
        definitions.sort_by_key(|named| rank(located, named));
    }
    definitions
        .into_iter()
        .filter(|named| wanted(&named.path))
        .for_each(|hit| add(named(hit)));
    // The innermost frame inside the project is the last one of a traceback.
    mentions
        .frames
        .iter()
        .rev()
        .filter(|frame| wanted(&frame.path))
        .for_each(|frame| add(around(tree, &frame.path, frame.line)));
    for path in &mentions.paths {
        let inside = located
            .definitions
            .iter()
            .filter(|hit| &hit.path == path && task.speaks_of(last_part(&hit.name)));
        inside.for_each(|hit| add(definition(tree, &hit.path, &hit.name, hit.line)));
        add(whole_file(tree, path));
    }
    mentions
        .literals
        .iter()
        .for_each(|literal| add(around(tree, &literal.path, literal.line)));
    if mentions.definitions.is_empty() {
        located
            .definitions
            .iter()
            .filter(|hit| wanted(&hit.path))
            .for_each(|hit| add(definition(tree, &hit.path, &hit.name, hit.line)));
    }
    mentions.definitions.iter().for_each(|hit| add(named(hit)));
    spots
}

/// Returns a name without the definitions around it.
pub(crate) fn last_part(qualified: &str) -> &str {
    qualified.rsplit('.').next().unwrap_or(qualified)
}

/// Returns a definition of the project as a place to show, the one nearest to a line.
pub(crate) fn definition(
    tree: &SourceTree,
    path: &RelPath,
    qualified: &str,
    line: u32,
) -> Option<Spot> {
    let file = tree.file(path)?;
    let definitions = file.facts.definitions.iter();
    let same = definitions.filter(|known| &*known.qualified == qualified);
    let mut found = same.clone().min_by_key(|known| known.line.abs_diff(line))?;
    let mut span = found.span();
    // A function is shown with its overloads.
    if let Some(all) = overloads(&file.facts.definitions, qualified)
        && all.contains(&span.start)
    {
        found = same.min_by_key(|known| known.line)?;
        span = all;
    }
    Some(Spot {
        span,
        ..Spot::of(path, found)
    })
}

/// Returns the innermost definition around a line, or else the file.
pub(crate) fn around(tree: &SourceTree, path: &RelPath, line: u32) -> Option<Spot> {
    let file = tree.file(path)?;
    let inside = file
        .facts
        .definitions
        .iter()
        .filter(|known| (known.line..=known.end_line).contains(&line));
    let found = inside.min_by_key(|known| known.end_line - known.line);
    match found {
        Some(found) => Some(Spot::of(path, found)),
        None => whole_file(tree, path),
    }
}

fn whole_file(tree: &SourceTree, path: &RelPath) -> Option<Spot> {
    tree.file(path)?;
    let length = tree.text(path).ok()?.content().len();
    Some(Spot::whole(path, length))
}

/// A whole definition can be written anew when it is known and short enough for one reply.
fn fits_a_reply(spots: &[Spot], mentions: &Mentions, max_tokens: u32) -> bool {
    let known = !mentions.definitions.is_empty()
        || !mentions.frames.is_empty()
        || !mentions.tests.is_empty();
    let Some(first) = spots.first() else {
        return false;
    };
    known && !first.name.is_empty() && fits_reply(first, max_tokens)
}

/// Returns whether a place is short enough to be written anew in one reply.
pub(crate) fn fits_reply(spot: &Spot, max_tokens: u32) -> bool {
    (spot.span.len() as f64) < f64::from(max_tokens) * LONGEST_REWRITE
}

/// Returns how long the project's documents are that a question about the project as a whole is shown; nothing for
/// other tasks.
fn documents_tokens(task: &Task, tree: &SourceTree, mentions: &Mentions) -> Option<u64> {
    let is_whole =
        task.kind == Kind::Question && overview::is_about_project(tree, &task.text, mentions);
    is_whole.then(|| overview::overview(tree, None, &task.text, MOST_CODE).len() as u64 / 4)
}

/// Returns how long the first prompt would be, about: the fixed words are about 350 tokens, of the rest one has about
/// four bytes.
fn prompt_tokens(task: &Task, spots: &[Spot], outline: Option<&str>) -> u64 {
    let shown = |spot: &Spot| spot.span.len().min(LONGEST_DEFINITION);
    let code = spots.iter().map(shown).sum::<usize>().min(MOST_CODE);
    let text = task.text.len().min(LONGEST_TASK);
    let outline = outline.map_or(0, str::len);
    350 + (code + text + outline) as u64 / 4
}

/// Says whether code cannot tell the places of a task: something is to be added, changed or mended in code, and no
/// single definition is named that could be written anew.
fn lists_places(task: &Task, tree: &SourceTree, mentions: &Mentions) -> bool {
    let is_code = |path: &RelPath| {
        let file = tree.file(path);
        file.is_some_and(|file| file.language.is_source() && !file.test)
    };
    let may_be_several = matches!(task.kind, Kind::Add | Kind::Change | Kind::Fix);
    may_be_several && mentions.paths.iter().all(is_code)
}

fn planned_goals(task: &Task) -> Vec<PlannedGoal> {
    let goals = task.orders().into_iter().map(|order| order.goal());
    let planned = |text: String| PlannedGoal {
        text: secret::redact(&text).into_owned(),
    };
    goals.map(planned).collect()
}

/// Says whether a task is about whatever is red, and names nothing but tests.
fn is_about_red_tests(task: &Task, mentions: &Mentions) -> bool {
    let is_test = harness_code::tree::is_test;
    let (definitions, paths) = (&mentions.definitions, &mentions.paths);
    let is_known = |path: &RelPath| {
        let mut ids = mentions.tests.iter();
        paths.contains(path) || ids.any(|test| test.path == *path)
    };
    task.is_about_red_tests()
        // A test that is not there is not what fails.
        && task.written_paths().iter().filter(|path| path.extension().is_some()).all(is_known)
        && mentions.frames.is_empty()
        && definitions.iter().all(|hit| is_test(&hit.path))
        && paths.iter().all(is_test)
}

/// Returns the question for a task about what is red where no test may be run.
fn which_test(located: &Located) -> Question {
    let options = located.files.iter().map(|hit| hit.path.to_string());
    Question::new(
        "a read-only run starts no tests, so what fails is not known; which test, file or function is it about?",
        options,
    )
}

/// Returns definitions that a plain word of the task is nearly the name of: "fix ronded".
fn near_words(task: &Task, tree: &SourceTree) -> Vec<String> {
    let words = task.text.split(|c: char| !c.is_alphanumeric());
    let mut words: Vec<&str> = words.filter(|word| word.len() >= LONG_WORD).collect();
    keep_first(&mut words);
    // A word that is exactly the name of something is no misspelling of it; where it stands is for the ranking to say.
    let written: HashSet<&str> = words.iter().copied().collect();
    let names = tree.definitions().map(|(_, one)| one.name());
    let known: HashSet<&str> = names.filter(|name| written.contains(name)).collect();
    words.retain(|word| !known.contains(word));
    near_miss(tree, &words).map_or(Vec::new(), |near| near.meant.into_iter().take(2).collect())
}

/// Leaves each word once, and of a pasted log only the first.
fn keep_first(words: &mut Vec<&str>) {
    let mut seen = HashSet::new();
    words.retain(|word| seen.insert(*word));
    words.truncate(MOST_WORDS);
}

/// What is nearly named is looked for by so many words: a long report, not a whole log.
const MOST_WORDS: usize = 400;

/// Shorter plain words are near to names by chance.
const LONG_WORD: usize = 6;

/// Returns the question for a task that names no place; its options are what is nearly named, else the likeliest files.
fn which_place(task: &Task, tree: &SourceTree, located: &Located) -> Question {
    let mut paths = task.written_paths();
    let making = task.making();
    paths.retain(|path| !making.is_in(path));
    let mut names: Vec<&str> = paths.iter().map(RelPath::as_str).collect();
    let wishes = match task.kind {
        Kind::Add => task.wishes(),
        _ => Vec::new(),
    };
    // What is to be new is not misspelled.
    let is_new = |name: &&str| wishes.iter().any(|wish| wish.name == **name);
    names.extend(task.code_names().into_iter().filter(|name| !is_new(name)));
    keep_first(&mut names);
    if let Some(near) = near_miss(tree, &names) {
        let text = format!("there is no `{}`; did you mean one of these?", near.written);
        return Question::new(text, near.meant);
    }
    let mut options = near_words(task, tree);
    let definitions = located.definitions.iter();
    let code = definitions.filter(|hit| !harness_code::tree::is_test(&hit.path));
    // A new method goes into a class, and not into a function.
    let is_member = wishes
        .iter()
        .any(|wish| wish.member || wish.name.starts_with("__"));
    let home = |hit: &locate::DefinitionHit| {
        let is_class = |name: &str| {
            let known = tree.file(&hit.path).map(|file| &file.facts.definitions);
            let mut known = known.into_iter().flatten();
            known.any(|one| *one.qualified == *name && one.kind == DefinitionKind::Class)
        };
        let outer = hit.name.rsplit_once('.').map(|(outer, _)| outer);
        let name = match outer.filter(|_| is_member && !is_class(&hit.name)) {
            Some(outer) => outer,
            None => &hit.name,
        };
        (!is_member || is_class(name)).then(|| format!("{name} in {}", hit.path))
    };
    let mut homes: Vec<String> = code.filter_map(home).collect();
    let mut seen: HashSet<String> = options.iter().cloned().collect();
    homes.retain(|home| seen.insert(home.clone()));
    options.extend(homes.into_iter().take(2));
    options.extend(located.files.iter().map(|hit| hit.path.to_string()));
    let gist: Vec<&str> = task.text.split_whitespace().take(8).collect();
    let gist = gist.join(" ");
    let text = format!("\"{gist}\" names no file and no function; which one is it about?");
    Question::new(text, options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_definition_is_said_to_go() {
        let goes = |what: &str| {
            let spot = Spot {
                path: RelPath::parse("a.py").unwrap(),
                name: "A.f".to_owned(),
                line: 1,
                span: 0..0,
            };
            let what = what.to_owned();
            let is_new = false;
            Place { spot, is_new, what }.goes()
        };
        assert!(goes("remove it") && goes("Delete this.") && goes("dropped"));
        assert!(!goes("remove this default") && !goes("remove the check") && !goes("make it work"));
    }

    #[test]
    fn a_test_is_named_as_a_whole() {
        let cases = [
            ("tests/test_a.py::test_total", "test_total", true),
            ("tests/test_a.py::test_total[add]", "test_total", true),
            ("tests/test_a.py::test_total[add]", "test_total[add]", true),
            ("tests/test_a.py::test_total[mul]", "test_total[add]", false),
            ("tests/test_a.py::test_total[add]", "test_total[add", true),
            (
                "tests/test_a.py::test_total[add two]",
                "test_total[add",
                true,
            ),
            (
                "tests/test_a.py::test_total[added]",
                "test_total[add",
                false,
            ),
            ("tests/test_a.py::test_total_tax", "test_total", false),
            ("tests/test_b.py::test_total", "test_total", false),
            (
                "tests/test_a.py::TestA::test_total",
                "TestA::test_total",
                true,
            ),
            (
                "tests/test_a.py::TestB::test_total",
                "TestA::test_total",
                false,
            ),
            ("tests.test_a.TestA.test_total", "TestA::test_total", true),
            ("test_a.TestA.test_total", "TestA.test_total", true),
        ];
        let path = RelPath::parse("tests/test_a.py").unwrap();
        for (id, name, expected) in cases {
            assert_eq!(is_test_called(id, &path, name), expected, "{id} {name}");
        }
    }

    #[test]
    fn tests_lie_in_files() {
        let path = RelPath::parse("tests/test_shop.py").unwrap();
        let cases = [
            ("tests/test_shop.py::PricingTest::test_a", true),
            ("tests.test_shop.PricingTest.test_a", true),
            ("test_shop.PricingTest.test_a", true),
            ("tests.test_shopping.T.test_a", false),
            ("tests/test_other.py::test_a", false),
        ];
        for (id, expected) in cases {
            assert_eq!(lies_in(id, &path), expected, "{id}");
        }
    }
}
