//! Changing: what an action would make of the project's files. Computes; the trial applies.

use harness_code::edit::{ChangeSet, FileChange};
use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::text::Text;
use harness_code::tree::{self, SourceTree};
use harness_hands::door::Door;

use crate::action::Action;
use crate::draft::{self, Files, Focus};
use crate::history::Refusal;
use crate::plan::Spot;
use crate::tool::{Contents, requested, unreadable};

/// Returns the draft with an `__init__.py` in each new folder that gets Python code, where the packages around it
/// have one.
pub(crate) fn with_package_files(mut draft: ChangeSet, tree: &SourceTree) -> ChangeSet {
    let mut found: Vec<RelPath> = Vec::new();
    let is_new = |change: &&FileChange| {
        change.before.is_none()
            && change.language() == Language::Python
            && !tree::is_test(&change.path)
    };
    for change in draft.files.iter().filter(is_new) {
        let mut folder = change.path.parent();
        while let Some(here) = folder.filter(|here| !has_files(tree, here)) {
            let Ok(file) = here.join("__init__.py") else {
                break;
            };
            let is_known = found.contains(&file) || draft.files.iter().any(|one| one.path == file);
            if !is_known && is_package(tree, &here, here.parent().as_ref()) {
                found.push(file);
            }
            folder = here.parent();
        }
    }
    draft.files.extend(found.into_iter().map(|path| FileChange {
        path,
        before: None,
        after: Some(String::new()),
    }));
    draft
}

fn has_files(tree: &SourceTree, folder: &RelPath) -> bool {
    tree.files()
        .iter()
        .any(|file| file.path.starts_with(folder))
}

/// Says whether a new folder is a package with a file of its own: the one around it is, or all of those beside it are.
fn is_package(tree: &SourceTree, here: &RelPath, folder: Option<&RelPath>) -> bool {
    let has_own = |here: &RelPath| {
        here.join("__init__.py")
            .is_ok_and(|file| tree.file(&file).is_some())
    };
    if let Some(folder) = folder {
        return has_own(folder);
    }
    const SCRIPTS: [&str; 6] = ["scripts", "tools", "bin", "examples", "docs", "bench"];
    if SCRIPTS.contains(&here.file_name()) {
        return false;
    }
    let code = tree
        .sources()
        .filter(|file| file.language == Language::Python && !file.test);
    let mut folders: Vec<RelPath> = code.filter_map(|file| file.path.parent()).collect();
    folders.retain(|folder| folder.parent().is_none());
    !folders.is_empty() && folders.iter().all(has_own)
}

/// Works out what an action would change. `focus` is where the prompt looked, for replies that name no place.
pub(crate) fn proposed(
    tree: &SourceTree,
    door: &Door,
    contents: &Contents<'_>,
    focus: Option<&Spot>,
    action: &Action,
) -> Result<ChangeSet, Refusal> {
    let focus = focus.map(|spot| Focus {
        path: spot.path.clone(),
        name: spot.name.clone(),
    });
    let project = Project {
        tree,
        door,
        contents,
    };
    draft::drafted(&project, focus.as_ref(), action)
}

struct Project<'a> {
    tree: &'a SourceTree,
    door: &'a Door,
    contents: &'a Contents<'a>,
}

impl Files for Project<'_> {
    fn open(&self, written: &str) -> Result<(RelPath, Option<String>), Refusal> {
        let path = requested(self.tree, self.door, written)?;
        let bytes = (self.contents)(&path).map_err(|error| unreadable(&path, &error))?;
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

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests lay files out")]
mod tests {
    use super::*;

    #[test]
    fn new_packages_have_the_file_that_makes_them_one() {
        let added = |files: &[&str], new: &str| -> Vec<String> {
            let folder = tempfile::tempdir().unwrap();
            for name in files {
                let path = folder.path().join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "x = 1\n").unwrap();
            }
            let tree = SourceTree::read(folder.path(), None).unwrap();
            let change = FileChange {
                path: RelPath::parse(new).unwrap(),
                before: None,
                after: Some("y = 1\n".to_owned()),
            };
            let files = with_package_files(vec![change].into(), &tree)
                .files
                .into_iter();
            files.skip(1).map(|one| one.path.to_string()).collect()
        };
        let package = ["shop/__init__.py", "shop/cart.py"];
        assert_eq!(added(&package, "shop/tax/vat.py"), ["shop/tax/__init__.py"]);
        assert_eq!(added(&package, "tax/vat.py"), ["tax/__init__.py"]);
        assert_eq!(added(&package, "shop/tax.py"), [""; 0]);
        assert_eq!(added(&package, "tests/test_vat.py"), [""; 0]);
        assert_eq!(added(&["shop/cart.py"], "shop/tax/vat.py"), [""; 0]);
        assert_eq!(added(&["main.py"], "tax/vat.py"), [""; 0]);
        assert_eq!(added(&package, "tax/vat.js"), [""; 0]);
        assert_eq!(added(&package, "scripts/deploy.py"), [""; 0]);
    }
}
