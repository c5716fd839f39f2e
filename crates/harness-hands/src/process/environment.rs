//! The environment of a started program: what it needs by name, never what the user keeps secret.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use harness_code::text::is_among;

use crate::environment;

/// The variable by which a process of ours is known wherever it hangs in the tree.
pub(crate) const MARK: &str = "HARNESS_STARTED";

/// Names that tests need and that hold no secret. Everything else stays with the user.
const KEPT: &str = "\
    PATH LANG LANGUAGE TZ TERM COLUMNS LINES USER LOGNAME SHELL VIRTUAL_ENV CONDA_PREFIX \
    CONDA_DEFAULT_ENV PYENV_VERSION PYENV_ROOT PYTHONPATH PYTHONHASHSEED PYTHONUTF8 \
    PYTHONIOENCODING PYTHONWARNINGS DJANGO_SETTINGS_MODULE GOPATH GOROOT GOFLAGS GOMODCACHE \
    JAVA_HOME MAVEN_HOME M2_HOME GRADLE_HOME NODE_PATH NODE_ENV CARGO_HOME RUSTUP_HOME \
    RUSTUP_TOOLCHAIN RUSTFLAGS RUST_BACKTRACE LD_LIBRARY_PATH DYLD_LIBRARY_PATH \
    DYLD_FALLBACK_LIBRARY_PATH SSL_CERT_FILE SSL_CERT_DIR XDG_DATA_DIRS NIX_PATH NIX_SSL_CERT_FILE \
    NIX_LD NIX_LD_LIBRARY_PATH DEVELOPER_DIR SDKROOT CI";
/// Windows starts almost nothing without these.
const KEPT_ON_WINDOWS: &str = "\
    SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE \
    PROGRAMFILES PROGRAMFILES(X86) PROGRAMDATA USERNAME";

/// Returns the environment of a program: what is kept of ours, a home and a temporary folder of its
/// own, and what its caller adds.
pub(crate) fn scrubbed(
    home: &Path,
    temporary: &Path,
    kept: &[String],
    more: &[(&str, &OsStr)],
) -> Vec<(OsString, OsString)> {
    let mut variables: Vec<(OsString, OsString)> = environment::all()
        .into_iter()
        .filter(|(name, _)| is_kept(name) || kept.iter().any(|kept| name == kept.as_str()))
        .collect();
    let own = [
        ("HOME", home.as_os_str()),
        ("USERPROFILE", home.as_os_str()),
        ("TMPDIR", temporary.as_os_str()),
        ("TEMP", temporary.as_os_str()),
        ("TMP", temporary.as_os_str()),
        ("NO_COLOR", OsStr::new("1")),
    ];
    for (name, value) in own.iter().chain(more) {
        variables.retain(|(known, _)| known != name);
        variables.push((OsString::from(name), value.to_os_string()));
    }
    variables
}

pub(crate) fn is_kept(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    let name = if cfg!(windows) {
        name.to_ascii_uppercase()
    } else {
        name.to_string()
    };
    is_among(KEPT, &name) || is_among(KEPT_ON_WINDOWS, &name) || name.starts_with("LC_")
}

/// Returns a value that no other started program of this machine has.
pub(crate) fn mark() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let nanoseconds = now.map_or(0, |now| now.as_nanos());
    format!(
        "{}-{nanoseconds}-{}",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    )
}
