//! Fuzz bodies for what models write: read, and worked out against files. Plain functions; property tests run them too.

use std::collections::BTreeMap;

use harness_agent::Refusal;
use harness_agent::draft::{self, Files, Focus};
use harness_agent::reply;
use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::symbols::parses;

struct Map(BTreeMap<String, String>);

impl Files for Map {
    fn open(&self, path: &str) -> Result<(RelPath, Option<String>), Refusal> {
        let path = RelPath::parse(path)
            .map_err(|problem| Refusal::new("path.bad", problem.to_string(), path))?;
        let content = self.0.get(path.as_str()).cloned();
        Ok((path, content))
    }

    fn ending_with(&self, _path: &str) -> Option<RelPath> {
        None
    }

    fn home_of(&self, _name: &str) -> Option<RelPath> {
        None
    }
}

/// A reply against a file: never a panic; what parsed parses afterwards, or nothing would be written.
pub fn reply(content: &str, text: &str) {
    let reading = reply::read(text);
    let _ = reply::is_cut(text);
    let _ = reply::read(&reply::joined(text, content));
    let Some(action) = reading.action else { return };
    let files = Map(BTreeMap::from([("a.py".to_owned(), content.to_owned())]));
    let Ok(path) = RelPath::parse("a.py") else {
        return;
    };
    for name in ["f", "A.m", ""] {
        let focus = Focus {
            path: path.clone(),
            name: name.to_owned(),
        };
        let Ok(drafts) = draft::drafted(&files, Some(&focus), &action) else {
            continue;
        };
        for draft in drafts.files {
            let language = Language::of(&draft.path);
            let parsed = draft
                .before
                .as_deref()
                .is_none_or(|before| parses(language, before));
            let whole = draft
                .after
                .as_deref()
                .is_none_or(|after| parses(language, after));
            assert!(!parsed || whole, "{:?}", draft.after);
        }
    }
}
