//! macOS: a seatbelt profile. Reading is closed for the home folder but for what is named, writing
//! for everything but what is named, the network for everything but loopback.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use crate::environment;
use crate::process::sandbox::{Confinement, Sandbox};

const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// Returns the walls that this machine has.
pub(crate) fn available() -> Sandbox {
    if Path::new(PROGRAM).exists() {
        Sandbox::Seatbelt
    } else {
        Sandbox::None
    }
}

/// Returns a command that runs a program behind the seatbelt.
pub(crate) fn command(
    program: &Path,
    arguments: &[OsString],
    confinement: &Confinement,
) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .arg("-p")
        .arg(profile(confinement))
        .arg(program)
        .args(arguments);
    command
}

fn profile(confinement: &Confinement) -> OsString {
    // The last rule that fits decides.
    let mut rules = vec![
        "(version 1)".to_string(),
        "(allow default)".to_string(),
        "(deny network*)".to_string(),
        "(allow network* (local ip \"localhost:*\") (remote ip \"localhost:*\"))".to_string(),
        "(allow network* (remote unix-socket))".to_string(),
        "(deny file-write*)".to_string(),
        "(allow file-write* (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/tty\") (literal \"/dev/dtracehelper\"))".to_string(),
        "(deny signal (target others))".to_string(),
        "(deny appleevent-send)".to_string(),
    ];
    if confinement.network {
        rules.push("(allow network*)".to_string());
    }
    for home in environment::home().iter().filter_map(|path| quoted(path)) {
        rules.push(format!("(deny file-read-data (subpath {home}))"));
        // Names of folders on the way to what is allowed.
        rules.push(format!("(allow file-read-metadata (subpath {home}))"));
    }
    for place in confinement.readable.iter().filter_map(|path| quoted(path)) {
        rules.push(format!("(allow file-read* (subpath {place}))"));
    }
    let temporary = std::iter::once(&confinement.temporary);
    for place in confinement
        .writable
        .iter()
        .chain(temporary)
        .filter_map(|path| quoted(path))
    {
        rules.push(format!("(allow file-read* file-write* (subpath {place}))"));
    }
    for place in confinement.unchanged.iter().filter_map(|path| quoted(path)) {
        rules.push(format!("(deny file-write* (subpath {place}))"));
    }
    OsString::from(rules.join("\n"))
}

fn quoted(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    Some(format!(
        "\"{}\"",
        text.replace('\\', "\\\\").replace('"', "\\\"")
    ))
}
