//! What a program on Linux may read besides what it is given: the system, without its secrets.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use harness_code::text::is_among;

use crate::process::sandbox::Confinement;
use crate::process::sandbox::landlock::Allow;

/// What every program on Linux needs to read: programs, libraries, tables, its own state.
pub(crate) const SYSTEM: &str = "\
    /usr /bin /sbin /lib /lib32 /lib64 /libx32 /opt /nix/store /gnu/store /snap \
    /run/current-system /proc /sys /var/lib/dpkg /var/cache/fontconfig";

/// Parts of `/etc` that hold secrets.
const SECRET_TABLES: &str = "\
    shadow shadow- gshadow gshadow- sudoers sudoers.d ssh security docker kubernetes wireguard \
    openvpn NetworkManager krb5.keytab ppp letsencrypt";

const DEVICES: &str = "\
    /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /dev/ptmx /dev/pts";

/// Returns every place with what is allowed there; `own_tmp` says whether `/tmp` is the program's own.
pub(crate) fn places(
    confinement: &Confinement,
    own_tmp: bool,
) -> io::Result<Vec<(CString, Allow)>> {
    let mut places = Vec::new();
    let mut add = |path: &[u8], allow: Allow| -> io::Result<()> {
        places.push((CString::new(path)?, allow));
        Ok(())
    };
    for path in SYSTEM.split_ascii_whitespace() {
        add(path.as_bytes(), Allow::Read)?;
    }
    // One by one: a rule on the folder would allow all it holds.
    for entry in std::fs::read_dir("/etc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_secret = name
            .to_str()
            .is_some_and(|name| is_among(SECRET_TABLES, name));
        if name == "ssl" {
            add(b"/etc/ssl/certs", Allow::Read)?;
            add(b"/etc/ssl/openssl.cnf", Allow::Read)?;
        } else if !is_secret {
            add(entry.path().as_os_str().as_bytes(), Allow::Read)?;
        }
    }
    for path in DEVICES.split_ascii_whitespace() {
        add(path.as_bytes(), Allow::Device)?;
    }
    add(b"/dev/shm", Allow::Change)?;
    for path in &confinement.readable {
        add(path.as_os_str().as_bytes(), Allow::Read)?;
    }
    for path in &confinement.writable {
        add(path.as_os_str().as_bytes(), Allow::Change)?;
    }
    // Only where it is the program's own; the shared one stays closed.
    if own_tmp {
        add(b"/tmp", Allow::Change)?;
        add(b"/var/tmp", Allow::Change)?;
    }
    Ok(places)
}

/// Returns the secret parts of `/etc` that are there, for walls that cover them one by one.
pub(crate) fn secret_tables() -> Vec<PathBuf> {
    let folder = Path::new("/etc");
    let tables = SECRET_TABLES
        .split_ascii_whitespace()
        .map(|name| folder.join(name));
    let mut found: Vec<PathBuf> = tables
        .chain([folder.join("ssl/private")])
        // A link is looked through by whoever covers it.
        .filter_map(|path| path.canonicalize().ok())
        .filter(|path| path.starts_with(folder))
        .collect();
    found.dedup();
    found
}
