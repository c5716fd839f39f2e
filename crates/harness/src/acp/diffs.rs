//! A proposed change as editors show it: the texts before and after, and where it begins.

use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::{Diff, ToolCallLocation};
use harness_code::edit::FileChange;

/// Returns where a proposed file is.
pub(super) fn place(file: &FileChange, project: &Path) -> PathBuf {
    file.path.under(project)
}

/// Returns where a change begins.
pub(super) fn location(file: &FileChange, project: &Path) -> ToolCallLocation {
    let (before, after) = (file.old_text().lines(), file.new_text().lines());
    let same = before.zip(after).take_while(|(old, new)| old == new);
    let line = u32::try_from(same.count() + 1).unwrap_or(u32::MAX);
    ToolCallLocation::new(place(file, project)).line(line)
}

/// Returns the change of a file as an editor shows it.
pub(super) fn shown(file: &FileChange, project: &Path) -> Diff {
    let diff = Diff::new(place(file, project), file.new_text());
    match &file.before {
        Some(before) => diff.old_text(before.clone()),
        None => diff,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use harness_code::edit::FileChange;
    use harness_code::path::RelPath;

    use super::{location, shown};

    #[test]
    fn a_change_is_shown_whole_with_its_first_line() {
        let file = |before: Option<&str>, text: Option<&str>| FileChange {
            path: RelPath::parse("shop/a.py").unwrap(),
            before: before.map(str::to_owned),
            after: text.map(str::to_owned),
        };
        let project = Path::new("/p");
        let cases = [
            (file(Some("a\r\nb\r\n"), Some("a\r\nc")), 2),
            (file(None, Some("a\n")), 1),
            (file(Some("a\nb\n"), None), 1),
            (file(Some("a\n"), Some("a\nb\n")), 2),
        ];
        for (file, line) in cases {
            assert_eq!(location(&file, project).line, Some(line), "{file:?}");
            let diff = shown(&file, project);
            assert_eq!(diff.old_text, file.before);
            assert_eq!(diff.new_text, file.after.unwrap_or_default());
        }
    }
}
