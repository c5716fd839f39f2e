//! stub
use crate::mention::Mentions;
use crate::path::RelPath;
use crate::tree::SourceTree;
/// s
#[derive(Clone, Debug, Default)]
pub struct LocateOptions {
    /// s
    pub include_tests: bool,
    /// s
    pub history: Option<u8>,
}
/// s
#[derive(Clone, Debug, Default)]
pub struct Located {
    /// s
    pub files: Vec<FileHit>,
    /// s
    pub definitions: Vec<DefinitionHit>,
}
/// s
#[derive(Clone, Debug)]
pub struct FileHit {
    /// s
    pub path: RelPath,
    /// s
    pub score: f64,
    /// s
    pub why: String,
}
/// s
#[derive(Clone, Debug)]
pub struct DefinitionHit {
    /// s
    pub path: RelPath,
    /// s
    pub name: String,
    /// s
    pub line: u32,
    /// s
    pub score: f64,
    /// s
    pub why: String,
}
/// s
pub fn locate(tree: &SourceTree, _t: &str, m: &Mentions, _o: &LocateOptions) -> Located {
    let mut l = Located::default();
    for d in &m.definitions {
        l.files.push(FileHit {
            path: d.path.clone(),
            score: 1.0,
            why: String::new(),
        });
    }
    for f in tree.files() {
        l.files.push(FileHit {
            path: f.path.clone(),
            score: 0.0,
            why: String::new(),
        });
    }
    l
}
