//! A commit of exactly what a run wrote, made with git's plumbing: nothing that the repository configures is started.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use harness_code::path::RelPath;
use harness_code::text::is_among;

use crate::environment;

/// Why nothing is committed, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NotCommitted {
    /// What is in the way.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl NotCommitted {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> NotCommitted {
        NotCommitted {
            message: message.into(),
            hint: hint.into(),
        }
    }
}

/// A file that a run changed: its bytes before and after, nothing where it was not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The file.
    pub path: RelPath,
    /// What it held before the run.
    pub before: Option<Vec<u8>>,
    /// What the run left.
    pub after: Option<Vec<u8>>,
    /// Whether it can be executed.
    pub executable: bool,
}

/// A commit that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its name, whole.
    pub id: String,
    /// The first line of its message.
    pub subject: String,
}

/// The git repository that a project lies in.
#[derive(Debug, Clone)]
pub struct Repository {
    git: PathBuf,
    top: PathBuf,
    /// The project's folder below the top, with a slash at its end.
    prefix: String,
}

/// What a repository may configure to be started, or to be fetched, switched off.
const SWITCHED_OFF: &str = "\
    core.hooksPath=/dev/null core.fsmonitor=false commit.gpgsign=false protocol.allow=never \
    user.useConfigOnly=true";
/// What git inherits: where it finds the user's own settings, and who the user is.
const INHERITED: &str = "\
    PATH HOME XDG_CONFIG_HOME USERPROFILE APPDATA SYSTEMROOT GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL \
    GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL EMAIL TMPDIR";
/// Files in `.git` that say that something is half done, and what.
const HALF_DONE: [(&str, &str); 6] = [
    ("MERGE_HEAD", "a merge"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("sequencer", "a cherry-pick or revert"),
];

impl Repository {
    /// Opens the repository that a project lies in.
    pub fn open(git: &Path, project: &Path) -> Result<Repository, NotCommitted> {
        if git.starts_with(project) {
            let message = format!("`{}` lies inside the project", git.display());
            return Err(NotCommitted::new(message, "start no git from a project"));
        }
        let mut repository = Repository {
            git: git.to_owned(),
            top: project.to_owned(),
            prefix: String::new(),
        };
        let said = repository.git(&["rev-parse", "--show-toplevel"], b"");
        let top = said.map_err(|said| {
            let message = format!("this folder is in no git repository that can be used ({said})");
            NotCommitted::new(message, "`git init` makes one; or leave --commit out")
        })?;
        let top = std::fs::canonicalize(top.trim_end_matches(['\r', '\n'])).ok();
        let real = std::fs::canonicalize(project).ok();
        let below = top.as_ref().zip(real.as_ref());
        let below = below.and_then(|(top, real)| real.strip_prefix(top).ok());
        let (Some(below), Some(top)) = (below, &top) else {
            // A repository can name another folder as its work tree.
            let message = "git's work tree is another folder than the project";
            return Err(NotCommitted::new(message, "check `core.worktree`"));
        };
        let parts = below
            .iter()
            .map(|part| format!("{}/", part.to_string_lossy()));
        repository.prefix = parts.collect();
        repository.top = top.clone();
        Ok(repository)
    }

    /// Says whether a commit could be made now, before anything is written.
    pub fn ready(&self) -> Result<(), NotCommitted> {
        for (file, what) in HALF_DONE {
            let place = self.git(&["rev-parse", "--git-path", file], b"");
            let place = place.map_err(failed)?;
            if self.top.join(place.trim_end()).symlink_metadata().is_ok() {
                let message = format!("{what} is under way in this repository");
                return Err(NotCommitted::new(message, "finish it or abort it first"));
            }
        }
        let identity = self.git(&["var", "GIT_COMMITTER_IDENT"], b"");
        let author = self.git(&["var", "GIT_AUTHOR_IDENT"], b"");
        if identity.is_err() || author.is_err() {
            return Err(NotCommitted::new(
                "git does not know who you are",
                "`git config --global user.name NAME` and `git config --global user.email ADDRESS`",
            ));
        }
        Ok(())
    }

    /// Returns those of some files that differ from what was committed last. Files that git rewrites are left out:
    /// only its filters could tell.
    pub fn uncommitted<'a>(&self, files: &'a [Changed]) -> Vec<&'a RelPath> {
        let head = self.head();
        let differs = |file: &&Changed| {
            let known = self.in_tree(head.as_deref(), &file.path).ok().flatten();
            let raw = file.before.as_ref().map(|bytes| self.hash(bytes));
            match (known, raw) {
                (Some(entry), Some(Ok(raw))) => entry.blob != raw && !self.is_filtered(&file.path),
                _ => false,
            }
        };
        let found = files.iter().filter(differs);
        found.map(|file| &file.path).collect()
    }

    /// Commits these files as the run left them, and nothing else. What else is staged stays staged.
    pub fn commit(&self, files: &[Changed], message: &str) -> Result<Commit, NotCommitted> {
        self.ready()?;
        let head = self.head();
        let mut entries = Vec::new();
        for file in files {
            self.check(head.as_deref(), file)?;
            entries.extend(self.entry(head.as_deref(), file)?);
            entries.push(0);
        }
        let index = tempfile::Builder::new()
            .prefix("harness-index-")
            .tempdir()
            .map_err(|error| failed(error.to_string()))?;
        let index = index.path().join("index");
        let private = |words: &[&str], input: &[u8]| {
            let mut command = self.command(words);
            command.env("GIT_INDEX_FILE", &index);
            heard(command, input).map_err(failed)
        };
        match &head {
            Some(head) => private(&["read-tree", head], b"")?,
            None => private(&["read-tree", "--empty"], b"")?,
        };
        private(&["update-index", "-z", "--index-info"], &entries)?;
        let tree = private(&["write-tree"], b"")?;
        let mut words = vec!["commit-tree", "--no-gpg-sign", tree.trim()];
        words.extend(head.iter().flat_map(|head| ["-p", head.as_str()]));
        let id = private(&words, message.as_bytes())?.trim().to_owned();
        // First the index: a commit without it would look like a staged removal of what was done.
        let staged = self.git(&["update-index", "-z", "--index-info"], &entries);
        staged.map_err(failed)?;
        let subject = message.lines().next().unwrap_or_default().to_owned();
        let note = format!("commit (harness): {subject}");
        let old = head.unwrap_or_default();
        let moved = ["update-ref", "-m", &note, "HEAD", &id, &old];
        self.git(&moved, b"").map_err(failed)?;
        Ok(Commit { id, subject })
    }

    /// Refuses a file whose commit would take along what is not the run's, or would need a program of the repository's.
    fn check(&self, head: Option<&str>, file: &Changed) -> Result<(), NotCommitted> {
        let path = &file.path;
        let refused = |message: String| {
            let hint = "the change is on disk; `git add` and `git commit` take it by hand";
            Err(NotCommitted::new(message, hint))
        };
        let known = self.in_tree(head, path)?;
        let staged = self.in_index(path)?;
        if known != staged {
            return refused(format!("`{path}` has staged changes of yours"));
        }
        if self.is_filtered(path) {
            return refused(format!("git rewrites `{path}` with a filter"));
        }
        match (&known, &file.before) {
            (Some(known), _) if !known.mode.starts_with("100") => {
                refused(format!("`{path}` is no plain file for git"))
            }
            (Some(known), Some(before)) if known.blob != self.hash(before).map_err(failed)? => {
                refused(format!(
                    "`{path}` had changes before the run that are not committed"
                ))
            }
            (None, Some(_)) => refused(format!("`{path}` was not in git before the run")),
            (None, None) if self.is_ignored(path) => refused(format!("git ignores `{path}`")),
            (None, None) if self.is_nested(path) => {
                refused(format!("`{path}` lies in a repository of its own"))
            }
            (Some(_), Some(_) | None) | (None, None) => Ok(()),
        }
    }

    /// Returns a line for git's index; a mode of zero removes.
    fn entry(&self, head: Option<&str>, file: &Changed) -> Result<Vec<u8>, NotCommitted> {
        let path = self.below_top(&file.path);
        let Some(after) = &file.after else {
            // As long as the names of this repository are.
            let none = "0".repeat(head.map_or(40, str::len));
            return Ok(format!("0 {none}\t{path}").into_bytes());
        };
        let words = ["hash-object", "-w", "--no-filters", "--stdin"];
        let blob = self.git(&words, after).map_err(failed)?;
        let known = self.in_tree(head, &file.path)?;
        let mode = match (known, file.executable) {
            (Some(known), _) => known.mode,
            (None, true) => "100755".to_owned(),
            (None, false) => "100644".to_owned(),
        };
        Ok(format!("{mode} {}\t{path}", blob.trim()).into_bytes())
    }

    fn hash(&self, bytes: &[u8]) -> Result<String, String> {
        let words = ["hash-object", "--no-filters", "--stdin"];
        Ok(self.git(&words, bytes)?.trim().to_owned())
    }

    fn head(&self) -> Option<String> {
        let head = self.git(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], b"");
        head.ok().map(|head| head.trim().to_owned())
    }

    fn in_tree(&self, head: Option<&str>, path: &RelPath) -> Result<Option<Entry>, NotCommitted> {
        let Some(head) = head else {
            return Ok(None);
        };
        let path = self.below_top(path);
        let listed = self.git(&["ls-tree", "-z", "--full-tree", head, "--", &path], b"");
        Ok(Entry::read(&listed.map_err(failed)?, 2))
    }

    fn in_index(&self, path: &RelPath) -> Result<Option<Entry>, NotCommitted> {
        let path = self.below_top(path);
        let listed = self.git(&["ls-files", "-z", "--stage", "--", &path], b"");
        Ok(Entry::read(&listed.map_err(failed)?, 1))
    }

    /// Says whether git would hand the file to a program, or change its line endings.
    fn is_filtered(&self, path: &RelPath) -> bool {
        let path = self.below_top(path);
        let told = self.git(&["check-attr", "-z", "filter", "ident", "--", &path], b"");
        let told = told.unwrap_or_default();
        let values = told.split('\0').skip(2).step_by(3);
        values
            .filter(|value| !value.is_empty())
            .any(|value| !["unspecified", "unset"].contains(&value))
    }

    fn is_ignored(&self, path: &RelPath) -> bool {
        let path = self.below_top(path);
        self.git(&["check-ignore", "--quiet", "--", &path], b"")
            .is_ok()
    }

    /// Says whether a folder between the project and the file is a repository itself.
    fn is_nested(&self, path: &RelPath) -> bool {
        let project = self.top.join(&self.prefix);
        let file = path.under(&project);
        let folders = file.ancestors().skip(1);
        let mut inside = folders.take_while(|folder| *folder != self.top && *folder != project);
        inside.any(|folder| folder.join(".git").symlink_metadata().is_ok())
    }

    fn below_top(&self, path: &RelPath) -> String {
        format!("{}{path}", self.prefix)
    }

    fn git(&self, words: &[&str], input: &[u8]) -> Result<String, String> {
        heard(self.command(words), input)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.git);
        command.arg("--literal-pathspecs").arg("-C").arg(&self.top);
        for setting in SWITCHED_OFF.split_ascii_whitespace() {
            command.args(["-c", setting]);
        }
        command.args(words).env_clear();
        let mut inherited = environment::all();
        inherited.retain(|(name, _)| name.to_str().is_some_and(|name| is_among(INHERITED, name)));
        command.envs(inherited);
        command
            .env("LC_ALL", "C")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

/// A file as a tree or an index lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    mode: String,
    blob: String,
}

impl Entry {
    /// Reads the first line of a list; the blob's name is its `column`th word.
    fn read(listed: &str, column: usize) -> Option<Entry> {
        let line = listed.split('\0').next()?;
        let words: Vec<&str> = line.split('\t').next()?.split(' ').collect();
        Some(Entry {
            mode: (*words.first()?).to_owned(),
            blob: (*words.get(column)?).to_owned(),
        })
    }
}

/// Runs git and returns what it said; the error is its first line.
fn heard(mut command: Command, input: &[u8]) -> Result<String, String> {
    let mut output = || -> io::Result<std::process::Output> {
        let mut child = command.spawn()?;
        let fed = match child.stdin.take() {
            Some(mut stdin) => stdin.write_all(input),
            None => Ok(()),
        };
        let output = child.wait_with_output()?;
        // Git may end before it has read all: then its own words say why.
        if output.status.success() {
            fed?;
        }
        Ok(output)
    };
    let output = output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(said.lines().next().unwrap_or("git failed").to_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn failed(said: impl Into<String>) -> NotCommitted {
    let hint = "the change is on disk; `git add` and `git commit` take it by hand";
    NotCommitted::new(format!("git could not commit: {}", said.into()), hint)
}
