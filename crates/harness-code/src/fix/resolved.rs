//! What a name of a Python project resolves to: a module, a class, another value. Types only; `values` and `lineage` find them.

use crate::scope::ScopeId;

/// The place of a file: those of the project first, then those outside in the order of asking.
pub(crate) type FileId = usize;

/// What a dotted module text stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ResolvedModule {
    /// A file of the project, or one outside that was read.
    File(FileId),
    /// A folder of the project without `__init__.py`; its path.
    Folder(String),
    /// A module of the standard library.
    Standard(&'static str),
    /// Installed, but not readable as Python.
    Opaque,
    /// Nothing that can be found.
    Unknown,
}

/// A class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ClassRef {
    /// Of a file that was read; the scope is that of its body.
    Read(FileId, ScopeId),
    /// Of the standard library: module and name.
    Standard(&'static str, &'static str),
}

/// What an expression stands for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Module(ResolvedModule),
    Class(ClassRef),
    Instance(ClassRef),
    /// A function of a file that was read; the scope is that of its body.
    Function(FileId, ScopeId),
    /// `super()` inside a method of this class.
    Super(ClassRef),
    /// Something of the standard library that is no class.
    Standard,
    Unknown,
}

/// The classes that a class inherits from, itself first.
#[derive(Clone, Debug)]
pub(crate) struct Lineage {
    pub(crate) classes: Vec<ClassRef>,
    /// Whether some base could not be read.
    pub(crate) open: bool,
}
