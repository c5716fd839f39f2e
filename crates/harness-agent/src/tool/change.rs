//! Changing: what an action would make of the project's files. Computes; the trial applies.

use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::text::Text;
use harness_code::tree::{self, SourceTree};
use harness_hands::door::{Door, DoorError};

use crate::action::Action;
use crate::draft::{self, FileDraft, Files, Focus};
use crate::guard::Change;
use crate::history::Refusal;
use crate::plan::Spot;
use crate::tool::{Contents, requested, trespass};

/// What an action would do to the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Draft {
    /// Files that change or come.
    pub(crate) changes: Vec<Change>,
    /// Files that go.
    pub(crate) gone: Vec<RelPath>,
}

impl Draft {
    /// Returns the draft of one file.
    pub(crate) fn of(change: Change) -> Draft {
        Draft {
            changes: vec![change],
            gone: Vec::new(),
        }
    }
}

/// Works out what an action would change. `focus` is where the prompt looked, for replies that name no place.
pub(crate) fn proposed(
    tree: &SourceTree,
    door: &Door,
    contents: &Contents<'_>,
    focus: Option<&Spot>,
    action: &Action,
) -> Result<Draft, Refusal> {
    let focus = focus.map(|spot| Focus {
        path: spot.path.clone(),
        name: spot.name.clone(),
    });
    let project = Project {
        tree,
        door,
        contents,
    };
    let mut draft = Draft::default();
    for FileDraft {
        path,
        before,
        after,
    } in draft::drafted(&project, focus.as_ref(), action)?
    {
        match after {
            Some(after) => draft.changes.push(Change {
                language: Language::of(&path),
                path,
                before,
                after,
            }),
            None => draft.gone.push(path),
        }
    }
    Ok(draft)
}

struct Project<'a> {
    tree: &'a SourceTree,
    door: &'a Door,
    contents: &'a Contents<'a>,
}

impl Files for Project<'_> {
    fn open(&self, written: &str) -> Result<(RelPath, Option<String>), Refusal> {
        let path = requested(self.tree, self.door, written)?;
        let bytes = (self.contents)(&path).map_err(|error| refused(&path, &error))?;
        let content = match bytes {
            Some(bytes) => Some(content(&path, &bytes)?),
            None => None,
        };
        Ok((path, content))
    }

    fn ending_with(&self, path: &str) -> Option<RelPath> {
        self.tree.ending_with(path).cloned()
    }

    fn home_of(&self, name: &str) -> Option<RelPath> {
        let mut homes = self
            .tree
            .definitions()
            .filter(|(file, known)| {
                known.parent.is_none() && known.name() == name && !tree::is_test(&file.path)
            })
            .map(|(file, _)| file.path.clone());
        let home = homes.next()?;
        homes.next().is_none().then_some(home)
    }
}

fn content(path: &RelPath, bytes: &[u8]) -> Result<String, Refusal> {
    match Text::decode(bytes) {
        Ok(text) => Ok(text.into_content()),
        Err(_) => Err(Refusal::new(
            "draft.binary",
            format!("`{path}` is not text: change another file"),
            path.as_str(),
        )),
    }
}

fn refused(path: &RelPath, error: &DoorError) -> Refusal {
    match error.trespass() {
        Some(broken) => trespass(broken.clone()),
        None => Refusal::new("path.unreadable", error.to_string(), path.as_str()),
    }
}
