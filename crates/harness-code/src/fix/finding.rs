//! A name that does not resolve, what can be done about it, and what the finders of such names ask of a project.

use std::collections::HashMap;
use std::ops::Range;

use rustc_hash::FxHashSet;

use super::installed::Installed;
use super::program::{File, Program};
use super::resolved::FileId;
use crate::path::RelPath;
use crate::scope::{BindingKind, ScopeKind};
use crate::spelling::Closest;

/// What is known about a misspelling.
#[derive(Clone, Debug, Default)]
pub struct MisspellingRequest {
    /// Files that the task names; empty for the whole project.
    pub files: Vec<RelPath>,
    /// Names that an error message or the task calls undefined; empty when none is named.
    pub names: Vec<String>,
    /// The only names that the answer may be about; `None` for any.
    pub about: Option<Vec<String>>,
    /// The files that hold some of these names, where that is known already; other names are looked for on disk.
    pub holding: HashMap<String, Vec<RelPath>>,
    /// Lines of tracebacks.
    pub lines: Vec<(RelPath, u32)>,
    /// Nothing outside this folder may change.
    pub scope: Option<RelPath>,
    /// Where installed packages are.
    pub installed: Installed,
}

impl MisspellingRequest {
    /// Whether an error message or the task says that this name is wrong, so that no doubt about dynamic code is left.
    pub(crate) fn confirms(&self, name: &str) -> bool {
        self.names.iter().any(|named| named == name)
    }

    /// Whether the answer may be about this name.
    pub(crate) fn concerns(&self, name: &str) -> bool {
        let among = |names: &Vec<String>| names.iter().any(|named| named == name);
        (self.names.is_empty() || among(&self.names)) && self.about.as_ref().is_none_or(among)
    }

    pub(crate) fn is_narrow(&self) -> bool {
        !self.names.is_empty() || self.about.is_some()
    }
}

/// One name that does not resolve.
#[derive(Debug)]
pub(crate) struct UnresolvedName {
    pub(crate) file: FileId,
    pub(crate) span: Range<usize>,
    pub(crate) wrong: String,
    pub(crate) verdict: Verdict,
    pub(crate) kind: &'static str,
}

/// What can be done about it.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// Exactly one name was meant: these changes in its file.
    Fix {
        /// The right name.
        right: String,
        /// What changes.
        edits: Vec<(Range<usize>, String)>,
    },
    /// Several could be.
    Several(Vec<String>),
    /// Nothing that is known could be; it is said beside what is fixed.
    Unknown,
}

impl Verdict {
    /// A name becomes another one.
    pub(crate) fn replaced(right: &str, span: Range<usize>) -> Verdict {
        Verdict::Fix {
            right: right.to_string(),
            edits: vec![(span, right.to_string())],
        }
    }

    /// What can be done about a name with these candidates; `None` without any.
    pub(crate) fn of(near: &Closest<'_>, span: Range<usize>) -> Option<Verdict> {
        match near {
            Closest::One(right) => Some(Verdict::replaced(right, span)),
            Closest::Several(names) => Some(Verdict::Several(
                names.iter().map(|name| (*name).to_string()).collect(),
            )),
            Closest::None => None,
        }
    }
}

impl UnresolvedName {
    pub(crate) fn misspelled(
        file: &File<'_>,
        span: Range<usize>,
        wrong: &str,
        verdict: Verdict,
    ) -> UnresolvedName {
        UnresolvedName {
            file: file.id,
            span,
            wrong: wrong.to_string(),
            verdict,
            kind: "misspelled_name",
        }
    }
}

/// What the kinds of findings need.
pub(crate) struct Search<'r, 's> {
    pub(crate) program: &'r Program<'s>,
    pub(crate) request: &'r MisspellingRequest,
    /// Names that every module of the project has.
    pub(crate) builtins: Vec<String>,
}

impl<'s> Search<'_, 's> {
    /// Whether the task names this file or this name.
    pub(crate) fn points_at(&self, file: &File<'_>, name: &str) -> bool {
        let named = |path: &RelPath| self.program.path(file.id) == Some(path);
        self.request.confirms(name)
            || self.request.files.iter().any(named)
            || self.request.lines.iter().any(|(path, _)| named(path))
    }

    /// Whether a name stands in the project only where `file` fails to resolve it: then no dynamic code can mean it,
    /// because what code makes up by name it mentions somewhere.
    pub(crate) fn is_nowhere_else(&self, name: &str, places: usize) -> bool {
        let finder = memchr::memmem::Finder::new(name);
        let mut seen = 0;
        for id in self.program.ids() {
            let text = self.program.sources.text(id).as_bytes();
            let words = finder
                .find_iter(text)
                .filter(|at| is_word(text, *at..at + name.len()));
            seen += words.count();
            if seen > places {
                return false;
            }
        }
        true
    }

    /// Whether some function of this name in the project takes a parameter of this name: then a call may reach it.
    pub(crate) fn takes_somewhere(&self, function: &str, parameter: &str) -> bool {
        self.in_holding(parameter, |file| {
            let mut bindings = file.scopes.bindings.iter();
            bindings.any(|binding| {
                let holder = file.scopes.scope_of(binding.symbol);
                let kind = holder.and_then(|holder| file.scopes.kind(holder));
                matches!(binding.kind, BindingKind::Parameter(one) if one.name.as_str() == parameter)
                    && matches!(kind, Some(ScopeKind::Function(node)) if node.name.as_str() == function)
            })
        })
    }

    /// Whether any file of the project gives something this name: then an object may have it.
    pub(crate) fn is_defined_somewhere(&self, name: &str) -> bool {
        self.is_set_somewhere(name) || self.in_holding(name, |file| file.members().defines(name))
    }

    /// Whether any file of the project imports a module, or something below the package that it belongs to.
    pub(crate) fn is_imported(&self, module: &str) -> bool {
        let top = module.split('.').next().unwrap_or(module);
        self.in_holding(top, |file| {
            let mut imports = file.scopes.imports.iter();
            imports.any(|import| import.level == 0 && import.module.split('.').next() == Some(top))
        })
    }

    /// Whether any file of the project sets an attribute of this name on something.
    pub(crate) fn is_set_somewhere(&self, name: &str) -> bool {
        self.in_holding(name, |file| {
            let mut stores = file.scopes.stores.iter();
            stores.any(|store| store.node.attr.as_str() == name)
        })
    }

    /// Whether something holds for a file whose text has the name.
    fn in_holding(&self, name: &str, holds: impl Fn(&File<'s>) -> bool) -> bool {
        self.program.files_holding(name).any(|file| holds(&file))
    }
}

/// What the broken imports of a file were meant to bind.
pub(crate) struct Repaired {
    pub(crate) wrong: FxHashSet<String>,
    pub(crate) right: FxHashSet<String>,
}

impl Repaired {
    pub(crate) fn of(findings: &[UnresolvedName]) -> Repaired {
        let mut repaired = Repaired {
            wrong: FxHashSet::default(),
            right: FxHashSet::default(),
        };
        for finding in findings {
            repaired.wrong.insert(finding.wrong.clone());
            match &finding.verdict {
                Verdict::Fix { right, .. } => repaired.right.extend([right.clone()]),
                Verdict::Several(names) => repaired.right.extend(names.iter().cloned()),
                Verdict::Unknown => {}
            }
        }
        repaired
    }
}

/// Whether bytes are a whole word of a text: `args` is none in `kwargs`.
fn is_word(text: &[u8], span: Range<usize>) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let before = span.start.checked_sub(1).and_then(|at| text.get(at));
    !before.is_some_and(is_part) && !text.get(span.end).is_some_and(is_part)
}

/// Whether a name is quoted in a file: asked for with `hasattr`, listed in a table, set by name.
pub(crate) fn is_quoted(file: &File<'_>, name: &str) -> bool {
    let quoted = |quote: char| {
        let wanted = format!("{quote}{name}{quote}");
        memchr::memmem::find(file.content().as_bytes(), wanted.as_bytes()).is_some()
    };
    quoted('\'') || quoted('"')
}

/// Whether a name belongs to Python's own machinery.
pub(crate) fn is_special(name: &str) -> bool {
    name.starts_with("__") && name.ends_with("__")
}
