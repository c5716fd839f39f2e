//! Skills: short texts on how to do a kind of work well. Loaded and chosen here; they are text, never executed.

use std::path::{Path, PathBuf};

use crate::task::kind::Kind;

/// The longest skill that is shown to a model, in characters; more would crowd the code out.
pub const LONGEST_SKILL: usize = 4_000;
/// Where a project keeps skills, first wins.
const PROJECT_FOLDERS: [&str; 3] = [".harness/skills", ".agents/skills", ".claude/skills"];

/// The skills inside the program: name and `SKILL.md`.
const BUILT_IN: &[(&str, &str)] = &[
    ("fix-a-bug", include_str!("../skills/fix-a-bug/SKILL.md")),
    (
        "add-a-feature",
        include_str!("../skills/add-a-feature/SKILL.md"),
    ),
    (
        "write-tests",
        include_str!("../skills/write-tests/SKILL.md"),
    ),
];

/// One skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// When it helps, in one sentence.
    pub description: String,
    /// The text for the model.
    pub text: String,
}

/// Returns every skill that can be used in this project: the project's own, then the built-in ones.
pub fn available(project: &Path) -> Vec<Skill> {
    let mut skills: Vec<Skill> = Vec::new();
    for folder in PROJECT_FOLDERS {
        for path in skill_files(&project.join(folder)) {
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            add(&mut skills, read(&folder_name(&path), &text));
        }
    }
    for (name, text) in BUILT_IN {
        add(&mut skills, read(name, text));
    }
    skills
}

/// A skill that nobody has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The name that was asked for.
    pub name: String,
    /// The names that can be used.
    pub known: Vec<String>,
}

/// Checks that every named skill exists.
pub fn check_names(project: &Path, names: &[String]) -> Result<(), Unknown> {
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

/// Returns the names of the skills to load: the ones asked for, else the one that fits the kind of task.
pub fn choose(kind: Kind, asked: &[String]) -> Vec<String> {
    if !asked.is_empty() {
        return asked.to_vec();
    }
    let name = match kind {
        Kind::Fix => "fix-a-bug",
        Kind::Add => "add-a-feature",
        Kind::Tests => "write-tests",
        Kind::Question | Kind::Rename | Kind::Change => return Vec::new(),
    };
    vec![name.to_owned()]
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
            _ => {}
        }
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
    use super::{BUILT_IN, available, check_names, read};

    #[test]
    fn every_built_in_skill_has_a_description_and_its_folders_name() {
        for (name, text) in BUILT_IN {
            let skill = read("elsewhere", text);
            assert_eq!(&skill.name, name);
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
