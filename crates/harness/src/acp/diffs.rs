//! A proposed change as editors show it: the texts before and after, and where it begins.

use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::{Diff, ToolCallLocation};
use harness_agent::ProposedFile;

/// Returns where a proposed file is.
pub(super) fn place(file: &ProposedFile, project: &Path) -> PathBuf {
    project.join(&file.path)
}

/// Returns where a change begins.
pub(super) fn location(file: &ProposedFile, project: &Path) -> ToolCallLocation {
    let (before, after) = (text(&file.before).lines(), text(&file.text).lines());
    let same = before.zip(after).take_while(|(old, new)| old == new);
    let line = u32::try_from(same.count() + 1).unwrap_or(u32::MAX);
    ToolCallLocation::new(place(file, project)).line(line)
}

/// Returns the change of a file as an editor shows it.
pub(super) fn shown(file: &ProposedFile, project: &Path) -> Diff {
    let diff = Diff::new(place(file, project), text(&file.text).to_owned());
    match &file.before {
        Some(before) => diff.old_text(before.clone()),
        None => diff,
    }
}

fn text(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use harness_agent::ProposedFile;

    use super::{location, shown};

    #[test]
    fn a_change_is_shown_whole_with_its_first_line() {
        let file = |before: Option<&str>, text: Option<&str>| ProposedFile {
            path: "shop/a.py".to_owned(),
            before: before.map(str::to_owned),
            text: text.map(str::to_owned),
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
            assert_eq!(diff.new_text, file.text.unwrap_or_default());
        }
    }
}
