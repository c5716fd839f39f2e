//! Names that Python itself provides, and names that older Pythons did.

use std::sync::LazyLock;

use ruff_python_stdlib::builtins::{python_builtins, python_magic_globals};
use rustc_hash::FxHashSet;

use crate::text::is_among;

/// The newest minor version whose builtins count: a name that any Python 3 has is not misspelled.
const NEWEST_MINOR: u8 = 15;

/// Names that every module has besides, and names that Python has on one system or for type checkers only.
const MODULE_GLOBALS: &str = "__file__ __name__ __doc__ __builtins__ __annotations__ __debug__ __loader__ __spec__ __package__ \
    __cached__ WindowsError reveal_type reveal_locals";

static BUILTINS: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| {
    python_builtins(NEWEST_MINOR, false)
        .chain(python_magic_globals(NEWEST_MINOR))
        .chain(MODULE_GLOBALS.split_ascii_whitespace())
        .filter(|name| !is_among("__path__ __module__ __qualname__ __dict__", name))
        .collect()
});

/// Names of Python 2 and of interactive sessions: seen in code that runs on both, never misspellings.
const ELSEWHERE: &str = "unicode basestring long xrange unichr raw_input reduce file cmp execfile reload buffer \
    apply intern coerce StandardError get_ipython _ __ ngettext _n N_ copyright profile undefined ipython display \
    spark dbutils";

/// Returns whether every Python 3 module can use `name` without binding it.
pub(crate) fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(name)
}

/// Returns the builtins, in no particular order.
pub(crate) fn builtins() -> impl Iterator<Item = &'static str> {
    BUILTINS.iter().copied()
}

/// Returns whether `name` is provided by another Python or by a tool that runs the file.
pub(crate) fn is_from_elsewhere(name: &str) -> bool {
    is_among(ELSEWHERE, name)
}

/// Returns whether `name` is a keyword of any Python 3.
pub(crate) fn is_keyword(name: &str) -> bool {
    ruff_python_stdlib::keyword::is_keyword(name)
}

/// Returns whether `name` could be written as a name at all.
pub(crate) fn is_identifier(name: &str) -> bool {
    ruff_python_stdlib::identifiers::is_identifier(name)
}
