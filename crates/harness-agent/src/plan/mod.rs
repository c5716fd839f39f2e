//! What would happen to a task: free of effects. `run` follows it; what `route` shows of it is made here too.

pub(crate) mod fix;
mod home;
pub(crate) mod outline;
mod route;

use std::collections::HashSet;
use std::ops::Range;

use crate::env::Environment;
use crate::options::AgentOptions;
use crate::question::Question;
use crate::skill::{self, Skill};
use harness_code::edit::overloads;
use harness_code::locate::{self, LocateOptions, Located, TaskOccurrences};
use harness_code::mention::{Mentions, NamedDefinition, near_miss};
use harness_code::path::RelPath;
use harness_code::report::overview;
use harness_code::request::Request;
use harness_code::request::kind::Kind;
use harness_code::symbols::{Definition, DefinitionKind};
use harness_code::tree::SourceTree;

pub(crate) use fix::FixPlan;
pub(crate) use home::NewDefinition;
pub use route::Route;
pub(crate) use route::Rung;

/// A rename is asked about at most this often: which of two readings, which of two definitions, what is in doubt.
const MOST_QUESTIONS: usize = 3;
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

/// A place in the code that the model is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
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
    pub(crate) fn goes(&self) -> bool {
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

/// What would happen to a task. A plan never changes: what an answer, a run of the tests or the model adds makes a new
/// one.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// What is asked for.
    pub(crate) task: Request,
    /// The cheapest way that may do.
    pub(crate) rung: Rung,
    /// What the user must choose first.
    pub(crate) question: Option<Question>,
    /// What was found out by what did not do, for the first prompt.
    pub(crate) learned: String,
    /// Questions that were put, and answered, before.
    asked: Vec<Question>,
    /// Skills that are loaded, by name.
    skills: Vec<String>,
    located: Located,
    spots: Vec<Spot>,
    tests_home: Option<RelPath>,
    new_definition: Option<NewDefinition>,
    mentions: Mentions,
    certain_fix: Option<FixPlan>,
    /// The task is about the tests that fail, whichever those are; in a run that may start none it asks this instead.
    red_tests: Option<Question>,
    /// Tests that must pass, by their ids, whatever the task names.
    blamed: Vec<String>,
    /// Whether the places are those that red tests run.
    is_traced: bool,
    /// Whether the model listed the places.
    is_listed: bool,
    /// What the likeliest files define, where the model is to list the places first.
    outline: Option<String>,
    /// How long the documents are that a question about the project as a whole is shown, in tokens.
    documents: Option<u64>,
}

impl Plan {
    /// Works out what would happen to a task. Reads the tree, changes nothing.
    ///
    /// `occurrences` is what the tree says of the task's text.
    pub(crate) fn make(
        task: &Request,
        tree: &SourceTree,
        occurrences: &TaskOccurrences,
        options: &AgentOptions,
        environment: &Environment,
    ) -> Plan {
        let include_tests = matches!(task.kind(), Kind::Tests | Kind::Question);
        let fix_for = |mentions: &Mentions| {
            fix::find(tree, occurrences, mentions, environment, &options.scope)
        };
        // A rename says what it is about: where that is found, nothing has to be ranked.
        let renamed = (task.kind() == Kind::Rename)
            .then(|| fix_for(&Mentions::default()))
            .filter(|found| found.plan.is_some() || found.question.is_some());
        let (mentions, located) = match renamed {
            Some(_) => (locate::mentioned(tree, occurrences), Located::default()),
            None => locate::locate(tree, occurrences, LocateOptions { include_tests }),
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
            None if task.kind() == Kind::Rename => fix::Found::default(),
            None => fix_for(&mentions),
        };
        let names_nothing = !mentions.names_a_place() && found.plan.is_none();
        // Where only one file can be meant there is nothing to choose.
        let new_definition = home::for_new(task, tree, &mentions);
        let settled = red_tests.is_some() || new_definition.is_some() || located.files.len() == 1;
        let vague = task.kind().writes() && names_nothing && !settled;
        let ask = || vague.then(|| which_place(task, tree, &located));
        let question = found.question.or_else(ask);
        // What moves is written elsewhere, and not anew where it is.
        let is_rewritten =
            !task.moves_somewhere() && fits_a_reply(&spots, &mentions, options.max_tokens);
        let rung = match (&question, task.kind()) {
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
        let skills = skill::choose(&available, task, &options.skills);
        let tests_place = || home::for_tests(tree, &mentions, spots.first()?);
        let tests_home = (task.kind() == Kind::Tests).then(tests_place).flatten();
        Plan {
            task: task.clone(),
            rung,
            question,
            learned: String::new(),
            asked: Vec::new(),
            skills,
            located,
            spots,
            tests_home,
            new_definition,
            mentions,
            certain_fix: found.plan,
            red_tests,
            blamed: Vec::new(),
            is_traced: false,
            is_listed: false,
            outline,
            documents,
        }
    }

    /// Returns what is shown of the plan. `model` is the one that would be asked.
    pub(crate) fn route(&self, tree: &SourceTree, model: &str) -> Route {
        let fix = self.certain_fix.as_ref();
        let code = prompt_tokens(&self.task, &self.spots, self.outline.as_deref());
        Route {
            kind: self.task.kind_name(),
            goals: route::goals(&self.task),
            writes: self.task.kind().writes(),
            rung: self.rung,
            question: self.question.clone(),
            fix: fix.and_then(|fix| fix::shown(tree, fix)),
            files: self.located.files.clone(),
            definitions: route::definitions(&self.task, &self.mentions, &self.located),
            skills: self.skills.clone(),
            model: model.to_owned(),
            prompt_tokens: code + self.documents.unwrap_or(0),
            shown: self
                .spots
                .iter()
                .map(|spot| spot.path.to_string())
                .collect(),
            way: self.way(),
        }
    }

    /// Returns the way to meet the task, in words.
    fn way(&self) -> &'static str {
        match self.rung {
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
        }
    }

    /// Returns the plan without its fix, which was tried and was not enough.
    pub(crate) fn without_fix(&self, learned: String) -> Plan {
        Plan {
            certain_fix: None,
            learned,
            ..self.clone()
        }
    }

    /// Returns the plan turn by turn, with tools.
    pub(crate) fn turn_by_turn(&self) -> Plan {
        Plan {
            rung: Rung::Loop,
            ..self.clone()
        }
    }

    /// Returns the plan once the model has listed the places.
    pub(crate) fn with_listed_places(&self) -> Plan {
        Plan {
            is_listed: true,
            ..self.clone()
        }
    }

    /// Returns the plan for the code that red tests run, most likely first.
    pub(crate) fn about_code(&self, spots: Vec<Spot>, max_tokens: u32) -> Plan {
        let mut first = spots.iter().take(1);
        let fits = first.any(|spot| fits_reply(spot, max_tokens));
        Plan {
            rung: if fits { Rung::Rewrite } else { Rung::Loop },
            spots,
            is_traced: true,
            ..self.clone()
        }
    }

    /// Returns the plan once it is known that red tests tell of no other places.
    pub(crate) fn traced(&self) -> Plan {
        Plan {
            is_traced: true,
            ..self.clone()
        }
    }

    /// Returns the plan for a task that these tests pass.
    pub(crate) fn about_tests(&self, task: Request, blamed: Vec<String>) -> Plan {
        Plan {
            task,
            blamed,
            red_tests: None,
            certain_fix: None,
            ..self.clone()
        }
    }

    /// Returns the plan after a question was answered, which makes another task; what was found out holds on.
    pub(crate) fn following(self, before: &Plan, question: Question) -> Plan {
        Plan {
            learned: before.learned.clone(),
            asked: [&*before.asked, &[question]].concat(),
            ..self
        }
    }

    /// Returns what to ask before anything else: not what was answered already, and one thing only, but for a rename.
    pub(crate) fn open_question(&self, read_only: bool) -> Option<&Question> {
        // A run that starts no tests must be told what is red.
        let red = self.red_tests.as_ref().filter(|_| read_only);
        let question = red.or(self.question.as_ref())?;
        let most = match self.task.kind() {
            Kind::Rename => MOST_QUESTIONS,
            _ => 1,
        };
        // The same again means that the answer did not settle it; what comes next has to do with what was said.
        let is_open = self.asked.len() < most && !self.asked.contains(question);
        is_open.then_some(question)
    }

    /// Returns whether the task is that certain red tests pass.
    pub(crate) fn blames_tests(&self) -> bool {
        !self.blamed.is_empty()
    }

    /// Returns whether the places are those that red tests run.
    pub(crate) fn is_traced(&self) -> bool {
        self.is_traced
    }

    /// Returns whether the question is about the project as a whole.
    pub(crate) fn is_about_project(&self) -> bool {
        self.documents.is_some()
    }

    /// Returns what the likeliest files define, where the model is to list the places first.
    pub(crate) fn outline(&self) -> Option<&str> {
        self.outline.as_deref()
    }

    /// Returns whether the model listed the places.
    pub(crate) fn is_listed(&self) -> bool {
        self.is_listed
    }

    /// Returns whether the task is about the tests that fail, whichever those are.
    pub(crate) fn is_about_red_tests(&self) -> bool {
        self.red_tests.is_some()
    }

    /// Returns whether a task about red tests, which may name files of tests, is about this one.
    pub(crate) fn means_test(&self, id: &str) -> bool {
        let paths = &self.mentions.paths;
        match self.names_tests() {
            true => self.names_test(id),
            false => paths.is_empty() || paths.iter().any(|path| lies_in(id, path)),
        }
    }

    /// Returns what can be done without a model.
    pub(crate) fn certain_fix(&self) -> Option<&FixPlan> {
        self.certain_fix.as_ref()
    }

    /// Returns the places that the model is shown, most likely first.
    pub(crate) fn spots(&self) -> &[Spot] {
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

    /// Returns where the tests of a new definition go that is there now, where the task asks for some.
    pub(crate) fn home_of_new_tests(&self, tree: &SourceTree) -> Option<RelPath> {
        let new = self.new_definition.as_ref().filter(|new| new.with_test)?;
        let spot = Spot::nowhere_yet(&new.path, &new.name);
        home::for_tests(tree, &self.mentions, &spot)
    }

    /// Returns what the task names, resolved against the project.
    pub(crate) fn mentions(&self) -> &Mentions {
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

/// A sentence that names more definitions than this, or is longer, tells of them and is about something else.
const FEW_NAMED: usize = 3;
const SHORT_TASK: usize = 200;

fn rank(located: &Located, named: &NamedDefinition) -> usize {
    let mut hits = located.definitions.iter();
    let place = hits.position(|hit| hit.path == named.path && hit.name == named.qualified);
    place.unwrap_or(usize::MAX)
}

/// Returns the places to show: what the task names first, then what was found.
fn spots(task: &Request, tree: &SourceTree, mentions: &Mentions, located: &Located) -> Vec<Spot> {
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
    if task.text().len() > SHORT_TASK {
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
fn documents_tokens(task: &Request, tree: &SourceTree, mentions: &Mentions) -> Option<u64> {
    let is_whole =
        task.kind() == Kind::Question && overview::is_about_project(tree, task, mentions);
    is_whole.then(|| overview::overview(tree, None, task, MOST_CODE).len() as u64 / 4)
}

/// Returns how long the first prompt would be, about: the fixed words are about 350 tokens, of the rest one has about
/// four bytes.
fn prompt_tokens(task: &Request, spots: &[Spot], outline: Option<&str>) -> u64 {
    let shown = |spot: &Spot| spot.span.len().min(LONGEST_DEFINITION);
    let code = spots.iter().map(shown).sum::<usize>().min(MOST_CODE);
    let text = task.text().len().min(LONGEST_TASK);
    let outline = outline.map_or(0, str::len);
    350 + (code + text + outline) as u64 / 4
}

/// Says whether code cannot tell the places of a task: something is to be added, changed or mended in code, and no
/// single definition is named that could be written anew.
fn lists_places(task: &Request, tree: &SourceTree, mentions: &Mentions) -> bool {
    let is_code = |path: &RelPath| {
        let file = tree.file(path);
        file.is_some_and(|file| file.language.is_source() && !file.test)
    };
    let may_be_several = matches!(task.kind(), Kind::Add | Kind::Change | Kind::Fix);
    may_be_several && mentions.paths.iter().all(is_code)
}

/// Says whether a task is about whatever is red, and names nothing but tests.
fn is_about_red_tests(task: &Request, mentions: &Mentions) -> bool {
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
fn near_words(task: &Request, tree: &SourceTree) -> Vec<String> {
    let mut words: Vec<&str> = task
        .words()
        .filter(|word| word.len() >= LONG_WORD)
        .collect();
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
fn which_place(task: &Request, tree: &SourceTree, located: &Located) -> Question {
    let mut paths = task.written_paths();
    paths.retain(|path| !task.makes_new_in(path));
    let mut names: Vec<&str> = paths.iter().map(RelPath::as_str).collect();
    let additions = match task.kind() {
        Kind::Add => task.additions(),
        _ => &[],
    };
    // What is to be new is not misspelled.
    let is_new = |name: &&str| additions.iter().any(|addition| addition.name == **name);
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
    let is_member = additions
        .iter()
        .any(|addition| addition.member || addition.name.starts_with("__"));
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
    let gist: Vec<&str> = task.written_words().take(8).collect();
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
