//! Which weights to load: a file that the user names, or one in the weights folder.

use std::path::{Path, PathBuf};

use crate::model::ModelError;
use crate::options::{DEFAULT_MODEL, shown};

/// The command that gets weights for a machine that has none.
const GET_SOME: &str =
    "get some with `python scripts/weights/import.py --name smollm2 --on-device`";

/// What a runtime can load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Weights {
    /// One GGUF file, or the first of several parts.
    Gguf(PathBuf),
    /// A folder in the form of MLX.
    Mlx(PathBuf),
}

impl Weights {
    /// Returns where they are.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Weights::Gguf(path) | Weights::Mlx(path) => path,
        }
    }

    /// Returns the name that selects them.
    pub(crate) fn name(&self) -> String {
        let path = self.path();
        let name = match self {
            Weights::Gguf(_) => path.file_stem(),
            Weights::Mlx(_) => path.file_name(),
        };
        name.unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// Returns the weights that `model` means. The default of the local engine means that none is named.
pub(crate) fn choose(model: &str, folder: Option<&Path>) -> Result<Weights, ModelError> {
    let as_path = Path::new(model);
    let looks_like_path = as_path
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("gguf"))
        || as_path.components().count() > 1;
    if as_path.is_file() && looks_like_path {
        return Ok(Weights::Gguf(
            std::fs::canonicalize(as_path).unwrap_or_else(|_| as_path.to_owned()),
        ));
    }
    if is_mlx(as_path) && looks_like_path {
        return Ok(Weights::Mlx(
            std::fs::canonicalize(as_path).unwrap_or_else(|_| as_path.to_owned()),
        ));
    }
    let there = folder.map(list).unwrap_or_default();
    let wanted = plain(model);
    if let Some(found) = there
        .iter()
        .find(|weights| plain(&weights.name()) == wanted)
    {
        return Ok(found.clone());
    }
    let close: Vec<&Weights> = there
        .iter()
        .filter(|weights| plain(&weights.name()).starts_with(&wanted))
        .collect();
    if let [only] = close.as_slice()
        && !wanted.is_empty()
    {
        return Ok((*only).clone());
    }
    let place = folder.map_or_else(
        || "the weights folder".to_owned(),
        |folder| shown(&folder.to_string_lossy()),
    );
    let named = !model.is_empty() && model != DEFAULT_MODEL;
    match there.as_slice() {
        [only] if !named => Ok(only.clone()),
        [] if named && looks_like_path => Err(ModelError::unusable(
            format!("there is no file `{}`", shown(model)),
            format!("name a GGUF file; or {GET_SOME}"),
        )),
        [] => Err(ModelError::unusable(
            format!("there are no weights on this machine (looked in `{place}`)"),
            format!("{GET_SOME}, or name a GGUF file with --model"),
        )),
        several => {
            let names: Vec<String> = several
                .iter()
                .take(12)
                .map(|weights| format!("`{}`", shown(&weights.name())))
                .collect();
            let message = if named {
                format!("there are no weights `{}` in `{place}`", shown(model))
            } else {
                format!("several weights are in `{place}`")
            };
            Err(ModelError::unusable(
                message,
                format!("choose with --model: {}", names.join(", ")),
            ))
        }
    }
}

/// Returns the weights in a folder, sorted by name.
pub(crate) fn list(folder: &Path) -> Vec<Weights> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else {
        return found;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let ending = path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("gguf"));
        if ending && path.is_file() && !is_later_part(&path) {
            found.push(Weights::Gguf(path));
        } else if is_mlx(&path) {
            found.push(Weights::Mlx(path));
        }
    }
    found.sort_by_key(Weights::name);
    found
}

fn is_mlx(path: &Path) -> bool {
    path.is_dir()
        && path.join("config.json").is_file()
        && path.join("tokenizer_config.json").is_file()
}

/// Large models come as `name-00001-of-00003.gguf`; the runtime finds the rest from the first.
fn is_later_part(path: &Path) -> bool {
    let name = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let Some((head, total)) = name.rsplit_once("-of-") else {
        return false;
    };
    let Some((_, part)) = head.rsplit_once('-') else {
        return false;
    };
    let digits = |text: &str| text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(total) && digits(part) && part != "00001"
}

/// Returns a name without what people vary: case, and the sign between name and tag.
fn plain(name: &str) -> String {
    name.trim()
        .to_ascii_lowercase()
        .trim_end_matches(".gguf")
        .replace([':', '_', ' '], "-")
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests lay files out")]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            std::fs::write(folder.path().join(name), b"GGUF").unwrap();
        }
        folder
    }

    #[track_caller]
    fn check(names: &[&str], model: &str, expected: &str) {
        let folder = folder(names);
        let answer = match choose(model, Some(folder.path())) {
            Ok(weights) => weights.name(),
            Err(ModelError::Unusable { message, hint, .. }) => format!("{message} | {hint}"),
            Err(other) => format!("{other:?}"),
        };
        assert!(
            answer
                .replace(&*folder.path().to_string_lossy(), "DIR")
                .starts_with(expected),
            "{answer}"
        );
    }

    #[test]
    fn the_only_weights_are_taken_without_asking() {
        check(&["smollm2.gguf", "notes.txt"], DEFAULT_MODEL, "smollm2");
        check(
            &["big-00001-of-00002.gguf", "big-00002-of-00002.gguf"],
            DEFAULT_MODEL,
            "big-00001-of-00002",
        );
    }

    #[test]
    fn a_name_selects_as_people_write_it() {
        let two = ["Qwen3-8B.gguf", "smollm2-135m.gguf"];
        check(&two, "qwen3:8b", "Qwen3-8B");
        check(&two, "smollm2-135M.GGUF", "smollm2-135m");
        check(&two, "smollm2", "smollm2-135m");
    }

    #[test]
    fn what_cannot_be_chosen_is_listed() {
        check(
            &["a.gguf", "b.gguf"],
            DEFAULT_MODEL,
            "several weights are in `DIR` | choose with --model: `a`, `b`",
        );
        check(
            &["a.gguf", "b.gguf"],
            "c",
            "there are no weights `c` in `DIR` | choose with --model: `a`, `b`",
        );
        check(
            &[],
            DEFAULT_MODEL,
            "there are no weights on this machine (looked in `DIR`) | get some with `python",
        );
        check(
            &[],
            "no/such.gguf",
            "there is no file `no/such.gguf` | name a GGUF file",
        );
    }

    #[test]
    fn a_file_is_taken_where_it_lies() {
        let folder = folder(&["x.gguf"]);
        let file = folder.path().join("x.gguf");
        assert_eq!(choose(&file.to_string_lossy(), None).unwrap().name(), "x");
    }
}
