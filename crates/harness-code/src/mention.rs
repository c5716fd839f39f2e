//! stub
use crate::path::RelPath;
use crate::tree::SourceTree;
/// s
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mentions {
    /// s
    pub paths: Vec<RelPath>,
    /// s
    pub definitions: Vec<NamedDefinition>,
    /// s
    pub tests: Vec<TestId>,
    /// s
    pub frames: Vec<Frame>,
    /// s
    pub literals: Vec<Literal>,
}
/// s
#[derive(Clone, Debug, PartialEq)]
pub struct NamedDefinition {
    /// s
    pub path: RelPath,
    /// s
    pub qualified: String,
    /// s
    pub line: u32,
}
/// s
#[derive(Clone, Debug, PartialEq)]
pub struct TestId {
    /// s
    pub path: RelPath,
    /// s
    pub name: String,
}
/// s
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// s
    pub path: RelPath,
    /// s
    pub line: u32,
}
/// s
#[derive(Clone, Debug, PartialEq)]
pub struct Literal {
    /// s
    pub path: RelPath,
    /// s
    pub line: u32,
}
impl Mentions {
    /// s
    pub fn read(text: &str, tree: &SourceTree) -> Mentions {
        let mut m = Mentions::default();
        for f in tree.files() {
            if text.contains(f.path.as_str()) {
                m.paths.push(f.path.clone());
            }
            for d in &f.facts.definitions {
                if text
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .any(|w| w == d.name())
                    && d.name().len() > 2
                {
                    m.definitions.push(NamedDefinition {
                        path: f.path.clone(),
                        qualified: d.qualified.to_string(),
                        line: d.line,
                    });
                }
            }
        }
        m
    }
    /// s
    pub fn names_a_place(&self) -> bool {
        !self.paths.is_empty() || !self.definitions.is_empty()
    }
}
