//! What interpreters said of themselves, kept for as long as nothing that they said it from has changed: asking one
//! starts it once more, which is half of the cost of a small suite.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::environment;

/// As many as one process meets; the oldest go first.
const MOST: usize = 32;

/// Files beside a project, or above it, by which version managers choose.
const VERSION_FILES: &[&str] = &[
    ".python-version",
    ".tool-versions",
    "mise.toml",
    ".mise.toml",
];

/// Answers that are kept in this process.
#[derive(Debug)]
pub(crate) struct Remembered<T> {
    answers: Mutex<Vec<Known<T>>>,
}

#[derive(Debug)]
struct Known<T> {
    /// Who was asked, and what else the answer hangs on.
    question: Question,
    /// How everything looked that the answer was made from.
    stamps: Vec<Stamp>,
    answer: T,
}

/// Whom we ask, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    /// The program, as it was found.
    pub(crate) program: PathBuf,
    /// Where it was started: a version manager looks there.
    pub(crate) folder: PathBuf,
    /// The variables that it was given beside the usual ones.
    pub(crate) variables: Vec<String>,
}

/// How a file or a folder looked.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    path: PathBuf,
    look: Look,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Look {
    /// It was not there.
    Absent,
    /// When it was changed, its length and its number.
    File(Option<SystemTime>, u64, u64),
    /// The names of what could be imported from it, sorted. Its time would change with every file that a run
    /// replaces in it.
    Folder(Vec<OsString>),
}

impl<T: Clone> Remembered<T> {
    pub(crate) const fn new() -> Remembered<T> {
        Remembered {
            answers: Mutex::new(Vec::new()),
        }
    }

    /// Returns what was answered, when all that it was made from is as it was then.
    pub(crate) fn find(&self, question: &Question) -> Option<T> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let at = answers
            .iter()
            .position(|known| known.question == *question)?;
        let is_still_so = answers[at]
            .stamps
            .iter()
            .all(|stamp| *stamp == Stamp::of(&stamp.path));
        if !is_still_so {
            answers.remove(at);
            return None;
        }
        Some(answers[at].answer.clone())
    }

    /// Keeps an answer that an interpreter at `executable` made from the given folders of packages.
    /// Nothing is kept when one of these was changed since `asked`: it may have been after the answer.
    pub(crate) fn keep(
        &self,
        question: Question,
        (asked, executable, packages): (SystemTime, &Path, &[PathBuf]),
        answer: T,
    ) {
        // A program that starts another one by rules of its own may start a third one tomorrow.
        let is_itself = question.program == executable;
        if !is_itself && !is_shim(&question.program) {
            return;
        }
        let mut watched = vec![question.program.clone(), executable.to_path_buf()];
        watched.extend(question.program.canonicalize());
        watched.extend(executable.canonicalize());
        for folder in [
            executable.parent(),
            executable.parent().and_then(Path::parent),
        ] {
            watched.extend(folder.map(|folder| folder.join("pyvenv.cfg")));
        }
        if !is_itself {
            watched.extend(choices(&question.folder));
        }
        for folder in packages {
            watched.push(folder.clone());
            watched.extend(leads(folder));
        }
        watched.sort();
        watched.dedup();
        let changed = |path: &PathBuf| path.metadata().and_then(|found| found.modified());
        if watched
            .iter()
            .any(|path| changed(path).is_ok_and(|time| time >= asked))
        {
            return;
        }
        let stamps = watched.iter().map(|path| Stamp::of(path)).collect();
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.retain(|known| known.question != question);
        if answers.len() >= MOST {
            answers.remove(0);
        }
        answers.push(Known {
            question,
            stamps,
            answer,
        });
    }
}

impl Stamp {
    fn of(path: &Path) -> Stamp {
        let look = match path.metadata() {
            Err(_) => Look::Absent,
            Ok(found) if found.is_dir() => Look::Folder(names(path)),
            Ok(found) => {
                #[cfg(unix)]
                let number = std::os::unix::fs::MetadataExt::ino(&found);
                #[cfg(not(unix))]
                let number = 0;
                Look::File(found.modified().ok(), found.len(), number)
            }
        };
        Stamp {
            path: path.to_path_buf(),
            look,
        }
    }
}

fn names(folder: &Path) -> Vec<OsString> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<OsString> = entries
        .map(|entry| entry.file_name())
        .filter(|name| {
            let name = name.to_string_lossy();
            // What is kept beside a changed file, and what lives for a moment.
            !name.starts_with('.') && !name.contains(".bak") && name != "__pycache__"
        })
        .collect();
    names.sort();
    names
}

/// Says whether a program is one of pyenv's, whose rules are known: the version files decide.
pub(crate) fn is_shim(program: &Path) -> bool {
    program
        .parent()
        .is_some_and(|folder| folder.ends_with("shims"))
        && pyenv().is_some_and(|root| program.starts_with(root))
}

fn pyenv() -> Option<PathBuf> {
    environment::folder("PYENV_ROOT")
        .or_else(|| environment::home().map(|home| home.join(".pyenv")))
}

/// Returns every file by which pyenv chooses a version for a folder, there or not.
fn choices(folder: &Path) -> Vec<PathBuf> {
    let above = folder.ancestors();
    let mut files: Vec<PathBuf> = above
        .flat_map(|folder| VERSION_FILES.iter().map(move |name| folder.join(name)))
        .collect();
    files.extend(
        pyenv()
            .into_iter()
            .flat_map(|root| [root.join("version"), root.join("versions")]),
    );
    files
}

/// Returns the files in a folder of packages that lead to other folders.
fn leads(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            name.ends_with(".pth") || name.starts_with("__editable__") && name.ends_with(".py")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    struct Bench {
        folder: tempfile::TempDir,
        known: Remembered<u32>,
    }

    impl Bench {
        fn new() -> Bench {
            let folder = tempfile::tempdir().unwrap();
            for name in ["venv/bin", "venv/packages", "project"] {
                std::fs::create_dir_all(folder.path().join(name)).unwrap();
            }
            for name in ["venv/bin/python", "venv/pyvenv.cfg", "venv/packages/a.pth"] {
                std::fs::write(folder.path().join(name), "one").unwrap();
            }
            Bench {
                folder,
                known: Remembered::new(),
            }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn question(&self) -> Question {
            Question {
                program: self.path("venv/bin/python"),
                folder: self.path("project"),
                variables: Vec::new(),
            }
        }

        fn keep(&self) {
            let python = self.path("venv/bin/python");
            let packages = [self.path("venv/packages")];
            // Some disks count time in steps of milliseconds, one way or the other.
            std::thread::sleep(Duration::from_millis(20));
            let asked = SystemTime::now();
            self.known
                .keep(self.question(), (asked, &python, &packages), 7);
        }
    }

    #[test]
    fn an_answer_is_kept_while_nothing_changes() {
        let bench = Bench::new();
        assert_eq!(bench.known.find(&bench.question()), None);
        bench.keep();
        assert_eq!(bench.known.find(&bench.question()), Some(7));
        let other = Question {
            variables: vec!["PYTHONHOME".to_string()],
            ..bench.question()
        };
        assert_eq!(bench.known.find(&other), None);
    }

    #[test]
    fn a_change_of_anything_it_was_made_from_ends_it() {
        type Change = fn(&Bench);
        let changes: &[Change] = &[
            |bench| std::fs::write(bench.path("venv/bin/python"), "another").unwrap(),
            |bench| std::fs::write(bench.path("venv/pyvenv.cfg"), "another").unwrap(),
            |bench| std::fs::create_dir(bench.path("venv/packages/pytest")).unwrap(),
            |bench| std::fs::write(bench.path("venv/packages/a.pth"), "elsewhere").unwrap(),
            |bench| std::fs::remove_dir_all(bench.path("venv")).unwrap(),
        ];
        for (index, change) in changes.iter().enumerate() {
            let bench = Bench::new();
            bench.keep();
            std::thread::sleep(Duration::from_millis(20));
            change(&bench);
            assert_eq!(bench.known.find(&bench.question()), None, "change {index}");
            assert_eq!(bench.known.find(&bench.question()), None);
        }
    }

    #[test]
    fn what_changed_while_it_was_asked_is_not_relied_on() {
        let bench = Bench::new();
        let (asked, python) = (SystemTime::UNIX_EPOCH, bench.path("venv/bin/python"));
        bench.known.keep(bench.question(), (asked, &python, &[]), 7);
        assert_eq!(bench.known.find(&bench.question()), None);
    }

    #[test]
    fn one_that_starts_another_by_rules_of_its_own_is_asked_each_time() {
        let bench = Bench::new();
        let elsewhere = bench.path("venv/bin/python3.11");
        let asked = SystemTime::now() + Duration::from_secs(1);
        bench
            .known
            .keep(bench.question(), (asked, &elsewhere, &[]), 7);
        assert_eq!(bench.known.find(&bench.question()), None);
    }

    #[test]
    fn the_version_files_of_all_folders_above_are_watched() {
        let files = choices(Path::new("/home/me/shop"));
        for name in [
            "/home/me/shop/.python-version",
            "/home/.tool-versions",
            "/.python-version",
        ] {
            assert!(files.contains(&PathBuf::from(name)), "{name}");
        }
    }
}
