//! A draft may not put a secret into a file.

use super::{GuardInput, added_lines};
use crate::history::Refusal;
use crate::secret;

pub(super) fn check(input: &GuardInput<'_, '_>) -> Option<Refusal> {
    let change = input.change;
    // A private key spans lines; looking at the added lines together finds it too.
    let added = added_lines(change).join("\n");
    let found = secret::find(&added).into_iter().next()?;
    let (path, kind) = (&change.path, found.kind.name);
    let reason = format!(
        "the draft for `{path}` holds a secret ({kind}): read it from the environment or a file outside the project"
    );
    Some(Refusal::new("draft.secret", reason, path.as_str()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{change, verdict};

    #[test]
    fn a_key_in_a_draft_is_refused_and_one_that_stood_there_is_not() {
        let key = ["AKIA", "Q3EGRD5MXZ7WTB2N"].concat();
        let with = format!("KEY = '{key}'\n");
        assert_eq!(
            verdict(super::check, "x", &change("a.py", "", &with)),
            "draft.secret"
        );
        assert_eq!(
            verdict(
                super::check,
                "x",
                &change("a.py", &with, &format!("{with}x = 1\n"))
            ),
            "ok"
        );
    }
}
