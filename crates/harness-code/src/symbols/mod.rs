//! What one file holds: its definitions, imports, and the names it uses. One file at a time; the project is in `tree`.

pub mod code;
#[cfg(feature = "grammar")]
mod comment;
#[cfg(feature = "grammar")]
mod grammar;
#[cfg(feature = "grammar")]
mod importing;
#[cfg(all(test, feature = "grammar"))]
#[expect(clippy::unwrap_used, reason = "only tests are in there")]
mod languages_tests;
#[cfg(feature = "grammar")]
mod naming;
mod python;

use std::ops::Range;

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::language::{self, Language};

/// What was read from one file, kept small: source text is read again on demand.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Everything defined in the file, outermost first, in source order.
    pub definitions: Vec<Definition>,
    /// Every import statement, one entry a module.
    pub imports: Vec<Import>,
    /// The first paragraph of the file's own documentation.
    pub doc: Option<Box<str>>,
    /// Every name the file reads, calls or sets, attribute names included; each once.
    pub names: Names,
    /// Strings shaped like a dotted name, each once: modules and classes are often named this way.
    pub dotted: Box<[Box<str>]>,
    /// Whether the file is meant to be started: Python's `if __name__ == "__main__"`.
    pub runnable: bool,
    /// Whether the parser found a syntax error. What could be read is here all the same.
    pub broken: bool,
}

/// A function, class, or other thing with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The name with the definitions around it: `Class.method`.
    pub qualified: Box<str>,
    /// What is defined.
    pub kind: DefinitionKind,
    /// The line of the name, from 1.
    pub line: u32,
    /// The last line, from 1.
    pub end_line: u32,
    start: u32,
    header: u32,
    end: u32,
    name_start: u32,
    name_length: u16,
    /// Position of the definition around this one in [`Facts::definitions`].
    pub parent: Option<u32>,
    /// The first line as written, on one line: `def total(lines, tax=0)`.
    pub signature: Box<str>,
    /// The first paragraph of its documentation.
    pub doc: Option<Box<str>>,
    /// Decorators as written, without the `@`.
    pub decorators: Box<[Box<str>]>,
    /// The names it calls, each once; look them up in [`Facts::names`].
    pub calls: Box<[NameId]>,
}

/// What kind of thing a definition is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DefinitionKind {
    /// A function outside a class.
    Function,
    /// A function of a class.
    Method,
    /// A class, struct, enum or other type with a body.
    Class,
    /// An interface, trait or protocol.
    Interface,
    /// A module or namespace inside a file.
    Module,
    /// A variable, constant or attribute at the top of a file or class.
    Variable,
    /// A macro.
    Macro,
}

impl DefinitionKind {
    /// Says whether this is code that runs when called.
    pub fn is_function(self) -> bool {
        match self {
            DefinitionKind::Function | DefinitionKind::Method | DefinitionKind::Macro => true,
            DefinitionKind::Class
            | DefinitionKind::Interface
            | DefinitionKind::Module
            | DefinitionKind::Variable => false,
        }
    }
}

impl Definition {
    /// Returns the name without what is around it.
    pub fn name(&self) -> &str {
        let start = self
            .qualified
            .len()
            .saturating_sub(usize::from(self.name_length));
        self.qualified.get(start..).unwrap_or(&self.qualified)
    }

    /// Returns the bytes of the whole definition, decorators included, without leading blanks.
    pub fn span(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns the bytes of the name.
    pub fn name_span(&self) -> Range<usize> {
        self.name_start as usize..self.name_start as usize + usize::from(self.name_length)
    }

    /// Returns where the definition itself starts: after its decorators, attributes or `export`.
    pub fn header_start(&self) -> usize {
        self.header as usize
    }

    /// Returns how many lines it spans, from the line of its name.
    pub fn lines(&self) -> u32 {
        self.end_line.saturating_sub(self.line) + 1
    }
}

/// One module that a file imports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The module as written, without leading dots.
    pub module: Box<str>,
    /// How many dots lead it (Python's relative imports).
    pub level: u8,
    /// What `from ... import` takes; empty for a plain import; `*` for everything.
    pub names: Box<[ImportedName]>,
    /// The name a plain import is bound to, when it is renamed.
    pub alias: Option<Box<str>>,
    /// The line of the statement, from 1.
    pub line: u32,
    /// When it runs.
    pub when: ImportTime,
}

/// One name of a `from ... import`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedName {
    /// The name in the other module.
    pub name: Box<str>,
    /// What it is called here, when renamed.
    pub alias: Option<Box<str>>,
}

/// When an import statement runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ImportTime {
    /// While the file itself is imported.
    Start,
    /// While the file is imported, where a failure is caught.
    Guarded,
    /// When a function is called.
    Later,
    /// Only for type checkers.
    Typing,
}

/// The number of a name in [`Names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(u32);

/// The names of one file, each once, in one piece of memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    text: Box<str>,
    ends: Box<[u32]>,
}

impl Names {
    /// Returns the name of this number.
    pub fn get(&self, id: NameId) -> &str {
        let at = id.0 as usize;
        let Some(&end) = self.ends.get(at) else {
            return "";
        };
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        self.text.get(start as usize..end as usize).unwrap_or("")
    }

    /// Returns all names in the order they first appear.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len()).map(|at| self.get(NameId(at as u32)))
    }

    /// Says whether the file uses `name`.
    pub fn contains(&self, name: &str) -> bool {
        self.iter().any(|known| known == name)
    }

    /// Returns how many names there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Says whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// Collects names while a file is read.
#[derive(Default)]
pub(crate) struct NameCollector<'a> {
    known: FxHashMap<&'a str, u32>,
    order: Vec<&'a str>,
}

impl<'a> NameCollector<'a> {
    pub(crate) fn id(&mut self, name: &'a str) -> NameId {
        let next = self.order.len() as u32;
        let id = *self.known.entry(name).or_insert(next);
        if id == next {
            self.order.push(name);
        }
        NameId(id)
    }

    pub(crate) fn finish(self) -> Names {
        let mut text = String::with_capacity(self.order.iter().map(|name| name.len()).sum());
        let mut ends = Vec::with_capacity(self.order.len());
        for name in self.order {
            text.push_str(name);
            ends.push(text.len() as u32);
        }
        Names {
            text: text.into(),
            ends: ends.into(),
        }
    }
}

/// Returns what a definition calls, each name once.
fn sorted(mut calls: Vec<NameId>) -> Box<[NameId]> {
    calls.sort_unstable();
    calls.dedup();
    calls.into()
}

/// A file while it is being read: the text, what was found in it, and for Python the tree.
pub struct Reading<'a> {
    /// The language of the file.
    pub language: Language,
    /// Its content without a byte-order mark.
    pub content: &'a str,
    /// What was found in it.
    pub facts: &'a Facts,
    /// Python's syntax tree and tokens; `None` for other languages.
    pub module: Option<&'a language::python::ParsedModule>,
}

/// Reads one file and lets `look` see it while its syntax tree exists.
pub fn read_with<T>(
    language: Language,
    content: &str,
    look: impl FnOnce(&Reading<'_>) -> T,
) -> (Facts, T) {
    match language {
        Language::Python => language::python::with_parsed(content, |module| {
            let facts = match module {
                Some(module) => python::facts(content, module),
                None => Facts {
                    broken: true,
                    ..Facts::default()
                },
            };
            let looked = look(&Reading {
                language,
                content,
                facts: &facts,
                module,
            });
            (facts, looked)
        }),
        _ => {
            let facts = by_grammar(language, content).unwrap_or_default();
            let looked = look(&Reading {
                language,
                content,
                facts: &facts,
                module: None,
            });
            (facts, looked)
        }
    }
}

#[cfg(feature = "grammar")]
fn by_grammar(language: Language, content: &str) -> Option<Facts> {
    grammar::facts(language, content)
}

#[cfg(not(feature = "grammar"))]
fn by_grammar(_: Language, _: &str) -> Option<Facts> {
    None
}

/// Reads one file.
pub fn read(language: Language, content: &str) -> Facts {
    read_with(language, content, |_| ()).0
}

/// Returns what `content` defines.
pub fn definitions(language: Language, content: &str) -> Vec<Definition> {
    read(language, content).definitions
}

/// Says whether `content` defines what this qualified name says.
pub fn defines(language: Language, content: &str, qualified: &str) -> bool {
    let mut definitions = definitions(language, content).into_iter();
    definitions.any(|one| *one.qualified == *qualified)
}

/// Says whether `content` is free of syntax errors: exactly for Python, as far as the grammar tells for others.
pub fn parses(language: Language, content: &str) -> bool {
    syntax_errors(language, content) == 0
}

/// Returns how many places of `content` are not the language; 0 where nothing can be told.
///
/// A grammar may not know the newest syntax, so compare the numbers before and after a change.
pub fn syntax_errors(language: Language, content: &str) -> usize {
    match language {
        Language::Python => language::python::with_parsed(content, |module| {
            module.map_or(1, |module| module.errors().len())
        }),
        _ => grammar_errors(language, content),
    }
}

#[cfg(feature = "grammar")]
fn grammar_errors(language: Language, content: &str) -> usize {
    let tree = language::grammar_of(language)
        .and_then(|grammar| language::grammar::parse(grammar, content));
    tree.map_or(0, |tree| language::grammar::errors(tree.root_node()))
}

#[cfg(not(feature = "grammar"))]
fn grammar_errors(_: Language, _: &str) -> usize {
    0
}

/// Where lines start, to turn an offset into a line number.
pub(crate) struct Lines {
    starts: Vec<u32>,
}

impl Lines {
    pub(crate) fn of(content: &str) -> Lines {
        let bytes = content.as_bytes();
        let mut starts = Vec::with_capacity(bytes.len() / 32 + 1);
        starts.push(0);
        for at in memchr::memchr_iter(b'\n', bytes) {
            starts.push(at as u32 + 1);
        }
        Lines { starts }
    }

    /// Returns the line of this offset, from 1.
    pub(crate) fn line(&self, offset: u32) -> u32 {
        self.starts.partition_point(|&start| start <= offset) as u32
    }
}

/// Returns `text` on one line, at most `longest` characters.
pub(crate) fn one_line(text: &str, longest: usize) -> Box<str> {
    let mut line = String::with_capacity(text.len().min(longest));
    let mut count = 0;
    for word in text.split_whitespace() {
        if count > 0 {
            line.push(' ');
            count += 1;
        }
        for character in word.chars() {
            if count >= longest {
                line.push('…');
                return line.into();
            }
            line.push(character);
            count += 1;
        }
    }
    line.into()
}

/// Documentation kept for each definition, in characters: a summary for a map, not the manual.
pub(crate) const DOC_LENGTH: usize = 160;

/// Signatures kept for each definition, in characters.
pub(crate) const SIGNATURE_LENGTH: usize = 160;

/// Returns the first paragraph of a documentation text on one line.
pub(crate) fn first_paragraph(text: &str) -> Option<Box<str>> {
    let text = text.trim_start();
    let mut end = text.len();
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() && offset > 0 {
            end = offset;
            break;
        }
        offset += line.len();
    }
    let summary = one_line(text.get(..end)?, DOC_LENGTH);
    (!summary.is_empty()).then_some(summary)
}
