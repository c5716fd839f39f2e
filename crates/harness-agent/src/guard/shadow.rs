//! A new file may not take the name of a standard-library module: imports all over would find it instead.

use harness_code::language::Language;

use super::{Change, Facts};
use crate::history::Refusal;
use crate::task::Task;

/// Modules that nearly every program imports, directly or not.
const COMMON: &str = " abc argparse ast asyncio base64 calendar code collections contextlib copy csv dataclasses \
    datetime decimal email enum functools glob hashlib html http inspect io itertools json logging math operator os \
    pathlib queue random re select socket string tempfile time types typing ";

pub(super) fn check(change: &Change, task: &Task, _facts: &Facts<'_>) -> Option<Refusal> {
    // Deeper down a module has its package in front of its name and hides nothing.
    let found_first = matches!(change.path.folder(), "" | "src");
    let stem = change.path.stem();
    let standard = COMMON.contains(&format!(" {stem} "));
    let shadows =
        change.before.is_none() && change.language == Language::Python && found_first && standard;
    if !shadows || task.names_path(&change.path) {
        return None;
    }
    let path = &change.path;
    let reason =
        format!("`{path}` would hide the standard library's `{stem}`: choose another name");
    Some(Refusal::new(
        "draft.shadows_standard_library",
        reason,
        path.as_str(),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::Change;
    use super::super::testing::{change, verdict};

    #[test]
    fn a_new_file_may_not_hide_a_standard_module() {
        let new = |path: &str| Change {
            before: None,
            ..change(path, "", "x = 1\n")
        };
        let rule = |change: &Change| verdict(super::check, "add a helper", change);
        assert_eq!(rule(&new("random.py")), "draft.shadows_standard_library");
        assert_eq!(rule(&new("src/email.py")), "draft.shadows_standard_library");
        assert_eq!(rule(&new("shop/random.py")), "ok");
        assert_eq!(rule(&change("random.py", "", "x = 1\n")), "ok");
    }
}
