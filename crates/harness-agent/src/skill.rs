//! Skills: short texts on how to do a kind of work well. Loaded and chosen here; they are text, never executed.

use std::path::{Path, PathBuf};

use harness_hands::user;

use harness_code::request::Request;
use harness_code::request::kind::Kind;

/// The longest skill that is shown to a model, in characters; more would crowd the code out.
pub(crate) const LONGEST_SKILL: usize = 4_000;
/// Where a project keeps skills, first wins.
const PROJECT_FOLDERS: [&str; 3] = [".harness/skills", ".agents/skills", ".claude/skills"];

/// Reads the built-in skills of these names from their folders.
macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../skills/", $name, "/SKILL.md")))),*]
    };
}

/// The skills inside the program: name and `SKILL.md`.
const BUILT_IN: &[(&str, &str)] = built_in![
    "fix-a-bug",
    "add-a-feature",
    "write-tests",
    "refactor",
    "review",
    "explain-code",
    "read-files-safely",
    "command-line-apps",
    "raise-clear-errors",
    "numbers-and-money",
    "boundaries",
    "keep-it-fast",
    "document",
    "concurrency",
];
/// Skills that a task can bring along: each is read by the model before any code.
const MOST_CHOSEN: usize = 2;

/// One skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Skill {
    /// Its name.
    pub name: String,
    /// When it helps, in one sentence.
    pub description: String,
    /// The text for the model.
    pub text: String,
    /// Words of a task that call for it.
    words: Vec<String>,
    /// The file it was read from; none for those that are built in.
    pub file: Option<PathBuf>,
}

/// Returns the names of the skills that can be used in a project.
pub fn skill_names(project: &Path) -> Vec<String> {
    let skills = available(project).into_iter();
    skills.map(|skill| skill.name).collect()
}

/// Returns every skill that can be used in this project: the project's own, the user's, then the built-in ones.
pub(crate) fn available(project: &Path) -> Vec<Skill> {
    let mut skills: Vec<Skill> = Vec::new();
    let own = PROJECT_FOLDERS.iter().map(|folder| project.join(folder));
    let users = user::config_folder().map(|folder| folder.join("skills"));
    for folder in own.chain(users) {
        for path in skill_files(&folder) {
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            let skill = read(&folder_name(&path), &text);
            let file = Some(path);
            add(&mut skills, Skill { file, ..skill });
        }
    }
    for (name, text) in BUILT_IN {
        add(&mut skills, read(name, text));
    }
    skills
}

/// A skill that nobody has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unknown {
    /// The name that was asked for.
    pub name: String,
    /// The names that can be used.
    pub known: Vec<String>,
}

/// Checks that every named skill exists.
pub(crate) fn check_names(project: &Path, names: &[String]) -> Result<(), Unknown> {
    if names.is_empty() {
        return Ok(());
    }
    let known: Vec<String> = available(project)
        .into_iter()
        .map(|skill| skill.name)
        .collect();
    match names.iter().find(|name| !known.contains(name)) {
        None => Ok(()),
        Some(name) => Err(Unknown {
            name: name.clone(),
            known,
        }),
    }
}

/// Returns the names of the skills to load: the ones asked for, else those that fit the kind of task and its words.
pub(crate) fn choose(known: &[Skill], task: &Request, asked: &[String]) -> Vec<String> {
    if !asked.is_empty() {
        return asked.to_vec();
    }
    let usual = match task.kind() {
        Kind::Fix => Some("fix-a-bug"),
        Kind::Add => Some("add-a-feature"),
        Kind::Tests => Some("write-tests"),
        Kind::Question => Some("explain-code"),
        Kind::Rename | Kind::Change => None,
    };
    let said: Vec<String> = task.words().map(str::to_lowercase).collect();
    let mut fitting: Vec<(usize, String)> = known
        .iter()
        .filter(|skill| Some(skill.name.as_str()) != usual)
        .map(|skill| (skill.called_for(&said), skill.name.clone()))
        .filter(|(count, _)| *count >= ENOUGH_WORDS)
        .collect();
    // More words first; of equal ones the project's own, which come first.
    fitting.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let fitting = fitting.into_iter().map(|(_, name)| name);
    usual
        .map(str::to_owned)
        .into_iter()
        .chain(fitting)
        .take(MOST_CHOSEN)
        .collect()
}

/// Shorter words of a description are those of every sentence.
const LONGEST_PLAIN: usize = 4;
/// One shared word is chance.
const ENOUGH_WORDS: usize = 2;

impl Skill {
    /// Counts the words of a task that call for this skill; its whole name said is as good as two.
    fn called_for(&self, said: &[String]) -> usize {
        let named = words(&self.name).all(|word| said.contains(&word));
        let shared = self.words.iter().filter(|word| said.contains(word)).count();
        shared.max(if named { ENOUGH_WORDS } else { 0 })
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

fn add(skills: &mut Vec<Skill>, skill: Skill) {
    if !skills.iter().any(|known| known.name == skill.name) {
        skills.push(skill);
    }
}

fn skill_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries
        .flatten()
        // A link could lead out of the project; real folders only.
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path().join("SKILL.md"))
        .filter(|path| {
            std::fs::symlink_metadata(path)
                .is_ok_and(|facts| facts.is_file() && facts.len() < 64 * 1024)
        })
        .collect();
    files.sort();
    files
}

fn folder_name(path: &Path) -> String {
    path.parent()
        .and_then(Path::file_name)
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// Reads a `SKILL.md`: front matter with `name` and `description`, then the text.
fn read(folder: &str, source: &str) -> Skill {
    let mut skill = Skill {
        name: folder.to_owned(),
        description: String::new(),
        text: source.trim().to_owned(),
        words: Vec::new(),
        file: None,
    };
    let Some(rest) = source.strip_prefix("---") else {
        return skill;
    };
    let Some((head, body)) = rest.split_once("\n---") else {
        return skill;
    };
    for line in head.lines() {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim().trim_matches('"');
        match key.trim() {
            "name" if !value.is_empty() => value.clone_into(&mut skill.name),
            "description" => value.clone_into(&mut skill.description),
            "words" => skill.words = words(value).collect(),
            _ => {}
        }
    }
    if skill.words.is_empty() {
        // Skills of others say when they help in their description.
        skill.words = words(&skill.description)
            .filter(|word| word.len() > LONGEST_PLAIN)
            .collect();
    }
    skill.text = body
        .trim_start_matches('-')
        .trim()
        .chars()
        .take(LONGEST_SKILL)
        .collect();
    skill
}

#[cfg(test)]
mod tests {
    use super::{BUILT_IN, Kind, Request, available, check_names, choose, read};

    #[test]
    fn a_task_picks_the_skill_of_its_kind_and_the_one_its_words_call_for() {
        let known: Vec<_> = BUILT_IN
            .iter()
            .map(|(name, text)| read(name, text))
            .collect();
        let chosen = |kind, task: &str| choose(&known, &Request::read(task).with_kind(kind), &[]);
        for (kind, task, expected) in [
            (
                Kind::Fix,
                "fix the off by one in the last page",
                &["fix-a-bug", "boundaries"][..],
            ),
            (Kind::Fix, "total() comes out too low", &["fix-a-bug"]),
            (
                Kind::Fix,
                "rounding of the tax percent is wrong",
                &["fix-a-bug", "numbers-and-money"],
            ),
            (
                Kind::Add,
                "add a --quiet flag as an argparse option",
                &["add-a-feature", "command-line-apps"],
            ),
            (
                Kind::Add,
                "reading a csv file: add an encoding parameter",
                &["add-a-feature", "read-files-safely"],
            ),
            (Kind::Tests, "write tests for parse", &["write-tests"]),
            (
                Kind::Change,
                "refactor and simplify price.py",
                &["refactor"],
            ),
            (
                Kind::Change,
                "make search faster, it is slow",
                &["keep-it-fast"],
            ),
            (
                Kind::Change,
                "write a docstring and document total",
                &["document"],
            ),
            (
                Kind::Question,
                "review the code of cart.py: anything risky?",
                &["explain-code", "review"],
            ),
            (
                Kind::Question,
                "where is the race between the threads?",
                &["explain-code", "concurrency"],
            ),
            (
                Kind::Change,
                "validate the input and raise a clear error",
                &["raise-clear-errors"],
            ),
            (Kind::Rename, "rename a to b", &[]),
        ] {
            assert_eq!(chosen(kind, task), expected, "{task}");
        }
        let asked = ["review".to_owned()];
        assert_eq!(choose(&known, &Request::read("fix it"), &asked), asked);
    }

    #[test]
    fn every_built_in_skill_has_a_description_its_folders_name_and_its_line_in_the_docs() {
        let listed = include_str!("../../../docs/reference/skills.md");
        for (name, text) in BUILT_IN {
            let skill = read("elsewhere", text);
            assert_eq!(&skill.name, name);
            let line = format!("| `{name}` | {} |", skill.description);
            assert!(listed.contains(&line), "{line}");
            assert!(
                !skill.description.is_empty() && !skill.text.is_empty(),
                "{name}"
            );
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test lays a project out")]
    fn a_project_s_own_skill_wins_over_a_built_in_one() {
        let project = tempfile::tempdir().unwrap();
        let folder = project.path().join(".agents/skills/write-tests");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(
            folder.join("SKILL.md"),
            "---\nname: write-tests\ndescription: ours\n---\nOur way.\n",
        )
        .unwrap();
        let skills = available(project.path());
        let ours = skills
            .iter()
            .find(|skill| skill.name == "write-tests")
            .unwrap();
        assert_eq!(
            (ours.description.as_str(), ours.text.as_str()),
            ("ours", "Our way.")
        );
    }

    #[test]
    fn an_unknown_skill_is_an_error_that_lists_the_known_ones() {
        let project = tempfile::tempdir().unwrap();
        let error = check_names(project.path(), &["nosuch".to_owned()]).unwrap_err();
        assert_eq!(error.name, "nosuch");
        assert!(format!("{error:?}").contains("fix-a-bug"), "{error:?}");
    }
}
