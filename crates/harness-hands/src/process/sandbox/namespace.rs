//! A world of its own: processes, mounts and a network with nothing but loopback. Made by the child
//! itself between fork and exec, so everything here is a system call on memory prepared before.
#![expect(
    unsafe_code,
    reason = "read-only mounts and loopback have no safe call"
)]

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use harness_code::text::is_among;
use rustix::fs::{Mode, OFlags, open};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change};
use rustix::process::{getegid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, capabilities, remove_capability_from_bounding_set,
    set_capabilities, unshare_unsafe,
};

use crate::environment;
use crate::process::sandbox::{Confinement, places};

/// What the child needs to make its world.
#[derive(Debug)]
pub(crate) struct World {
    /// The lines that map the user and the group, where a user namespace is needed.
    owner: Option<(CString, CString)>,
    /// Layers for the overlay that is mounted over the project before all else, with what the kernel is told of them.
    overlay: Option<(CString, CString)>,
    /// Mounted onto another place, in this order, with all that is mounted beneath.
    binds: Vec<(CString, CString)>,
    /// Covered with an empty file system in memory.
    covered: Vec<CString>,
    /// Made read-only, in this order.
    frozen: Vec<CString>,
    /// Whether everything else on the disk is made read-only, where Landlock does not hold it.
    freeze_root: Option<Vec<CString>>,
    /// Whether the machine's network is its own too.
    network: bool,
}

/// Capabilities that root keeps inside, those that make it the owner of the user's files; without
/// them a suite that runs as root could not read files of others. All others go.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// The temporary folders that programs name without asking.
pub(crate) const SHARED_TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

impl World {
    /// Plans the world of a program. Makes the empty folders that mounts need, inside the program's
    /// own temporary folder.
    pub(crate) fn plan(confinement: &Confinement, landlock: bool) -> io::Result<World> {
        let (user, group) = (geteuid(), getegid());
        let has_admin =
            capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN));
        // Root makes namespaces without a user namespace, in which it would lose its users' files.
        let owner =
            (!user.is_root() || !has_admin).then(|| (map(user.as_raw()), map(group.as_raw())));
        let overlay = match &confinement.overlay {
            Some(overlay) => {
                let options = overlay.options(owner.is_some());
                let options = options.ok_or(io::ErrorKind::InvalidFilename)?;
                Some((text(&overlay.project)?, CString::new(options)?))
            }
            None => None,
        };
        let mut binds = Vec::new();
        let mut replaced: Vec<PathBuf> = SHARED_TEMPORARY.iter().map(PathBuf::from).collect();
        if !landlock {
            binds.extend(hidden_tables(confinement)?);
            replaced.extend(closed_places());
        }
        binds.extend(stand_ins(confinement, replaced)?);
        let covered = covered(confinement);
        // What is only to be read stays so where the folder around it is the program's own to change.
        let is_read = |place: &&PathBuf| {
            let mut open = confinement.writable.iter();
            let mut shared = SHARED_TEMPORARY.iter();
            shared.any(|shared| place.starts_with(shared))
                && !open.any(|open| open.starts_with(place))
        };
        let mut frozen = texts(&confinement.unchanged);
        let read: Vec<PathBuf> = confinement
            .readable
            .iter()
            .filter(is_read)
            .cloned()
            .collect();
        frozen.extend(texts(&read));
        let freeze_root = (!landlock).then(|| {
            let mut open = texts(&confinement.writable);
            open.extend(
                SHARED_TEMPORARY
                    .iter()
                    .filter_map(|place| CString::new(*place).ok()),
            );
            open
        });
        Ok(World {
            owner,
            overlay,
            binds,
            covered,
            frozen,
            freeze_root,
            network: confinement.network,
        })
    }

    /// Says whether `/tmp` inside is the program's own.
    pub(crate) fn replaces_tmp(confinement: &Confinement) -> bool {
        is_replaced(confinement, Path::new(SHARED_TEMPORARY[0]))
    }

    /// Leaves the shared world. The next child of the caller is the first process of the new one.
    pub(crate) fn leave(&self) -> io::Result<()> {
        let mut flags = UnshareFlags::NEWNS | UnshareFlags::NEWPID | UnshareFlags::NEWIPC;
        if !self.network {
            flags |= UnshareFlags::NEWNET;
        }
        if self.owner.is_some() {
            flags |= UnshareFlags::NEWUSER;
        }
        // SAFETY: the table of open files stays shared.
        unsafe { unshare_unsafe(flags) }?;
        if let Some((user, group)) = &self.owner {
            // Not there on very old kernels, which then do not ask for it either.
            let _ = write_to(c"/proc/self/setgroups", c"deny");
            write_to(c"/proc/self/uid_map", user)?;
            write_to(c"/proc/self/gid_map", group)?;
        }
        Ok(())
    }

    /// Arranges mounts and brings loopback up. Called by the first process of the new world.
    pub(crate) fn arrange(&self) -> io::Result<()> {
        mount_change(
            c"/",
            MountPropagationFlags::REC | MountPropagationFlags::PRIVATE,
        )?;
        let plain = MountFlags::NOSUID | MountFlags::NODEV;
        if let Some((project, options)) = &self.overlay {
            mount(c"overlay", &**project, c"overlay", plain, &**options)?;
        }
        for (from, to) in &self.binds {
            mount_bind_recursive(&**from, &**to)?;
        }
        for place in &self.covered {
            // A place that cannot be covered is still held by Landlock.
            let _ = mount(c"tmpfs", &**place, c"tmpfs", plain, None);
        }
        // Fails inside containers that hide parts of it; the old one then still shows the truth.
        let _ = mount(c"proc", c"/proc", c"proc", plain | MountFlags::NOEXEC, None);
        if let Some(open) = &self.freeze_root {
            self.freeze_all(open)?;
        }
        for place in &self.frozen {
            // What is not there needs no wall here; it is looked at afterwards.
            if mount_bind_recursive(&**place, &**place).is_ok() {
                set_read_only(place, true)?;
            }
        }
        match self.network {
            true => Ok(()),
            false => raise_loopback(),
        }
    }

    fn freeze_all(&self, open: &[CString]) -> io::Result<()> {
        for place in open {
            // Mounts of their own, so that they stay open when the rest is closed.
            let _ = mount_bind_recursive(&**place, &**place);
        }
        set_read_only(c"/", true)?;
        for place in open.iter().chain(&self.covered) {
            set_read_only(place, false)?;
        }
        Ok(())
    }
}

/// Gives up every capability but those that make root the owner of its users' files.
pub(crate) fn drop_capabilities() -> io::Result<()> {
    let kept = capabilities(None)?.permitted & KEPT;
    for bit in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << bit);
        if !KEPT.contains(capability) {
            // Fails for numbers that the kernel does not have, and for those who may not; then
            // nothing is gained by exec either, since new privileges are switched off.
            let _ = remove_capability_from_bounding_set(capability);
        }
    }
    let sets = CapabilitySets {
        effective: kept,
        permitted: kept,
        inheritable: CapabilitySet::empty(),
    };
    Ok(set_capabilities(None, sets)?)
}

fn map(id: u32) -> CString {
    CString::new(format!("{id} {id} 1\n")).unwrap_or_default()
}

/// Plans stand-ins for the temporary folders and the home folder, in which only what the program
/// may see is there, under the path it has outside. Opening files elsewhere is refused by Landlock;
/// this also hides sockets, which Landlock does not hold. Without Landlock more is `shared`: every
/// folder at the top that is not the system's.
fn stand_ins(
    confinement: &Confinement,
    mut shared: Vec<PathBuf>,
) -> io::Result<Vec<(CString, CString)>> {
    let system: Vec<PathBuf> = places::SYSTEM
        .split_ascii_whitespace()
        .map(PathBuf::from)
        .collect();
    // A home folder inside a temporary one is hidden with it.
    shared.extend(
        environment::home().filter(|home| !shared.iter().any(|place| home.starts_with(place))),
    );
    shared.retain(|place| is_replaced(confinement, place));
    // What lies in another of them is an empty folder there.
    let all = shared.clone();
    let is_above = |above: &PathBuf, place: &PathBuf| above != place && place.starts_with(above);
    shared.retain(|place| !all.iter().any(|above| is_above(above, place)));
    // The one that holds the stand-ins is covered last, since they are out of sight then.
    shared.sort_by_key(|place| confinement.temporary.starts_with(place));
    let mut binds = Vec::new();
    for shared in &shared {
        let name = shared.display().to_string().replace('/', "-");
        let stand_in = confinement.temporary.join(format!("stand-in{name}"));
        if shared.is_file() {
            // A file is covered by a file: containers have some at the top of the disk.
            std::fs::write(&stand_in, b"")?;
            binds.push((text(&stand_in)?, text(shared)?));
            continue;
        }
        std::fs::create_dir_all(&stand_in)?;
        for below in all.iter().filter(|place| is_above(shared, place)) {
            let rest = below.strip_prefix(shared).unwrap_or(below);
            clear_way(&stand_in, rest)?;
            std::fs::create_dir_all(stand_in.join(rest))?;
        }
        let visible = confinement.writable.iter().chain(&confinement.readable);
        let visible = visible.chain(&system);
        let mut inside: Vec<&PathBuf> = visible.filter(|place| place.starts_with(shared)).collect();
        inside.sort();
        // What lies in another of them is seen through that one.
        inside.dedup_by(|place, above| place.starts_with(above));
        for place in inside {
            let Ok(rest) = place.strip_prefix(shared) else {
                continue;
            };
            let onto = stand_in.join(rest);
            clear_way(&stand_in, rest)?;
            if place.is_dir() {
                std::fs::create_dir_all(&onto)?;
            } else if place.is_file() {
                onto.parent().map_or(Ok(()), std::fs::create_dir_all)?;
                std::fs::write(&onto, b"")?;
            } else {
                continue;
            }
            binds.push((text(place)?, text(&onto)?));
        }
        binds.push((text(&stand_in)?, text(shared)?));
    }
    Ok(binds)
}

/// Takes away what a program that ran before put in the way of a place: a link there would lead us out.
fn clear_way(stand_in: &Path, rest: &Path) -> io::Result<()> {
    let mut way = stand_in.to_path_buf();
    for part in rest.components() {
        way.push(part);
        match way.symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(_) => std::fs::remove_file(&way)?,
            Err(_) => return Ok(()),
        }
    }
    Ok(())
}

/// Returns what lies at the top and is not the system's own: homes, data, other disks.
fn closed_places() -> Vec<PathBuf> {
    // Each of these has a wall of its own, or none that a program could do without.
    const OWN_WALLS: &str = "/etc /dev /proc /sys /run /tmp";
    let entries = std::fs::read_dir("/").into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| {
            let is_open = |path| !is_among(OWN_WALLS, path) && !is_among(places::SYSTEM, path);
            path.to_str().is_some_and(is_open)
        })
        // A link that leads nowhere cannot be covered and shows nothing.
        .filter(|path| path.exists())
        .collect()
}

/// Plans to cover the secret parts of `/etc` with nothing.
fn hidden_tables(confinement: &Confinement) -> io::Result<Vec<(CString, CString)>> {
    let mut binds = Vec::new();
    if !is_replaced(confinement, Path::new("/etc")) {
        return Ok(binds);
    }
    let (folder, file) = (
        confinement.temporary.join("no-folder"),
        confinement.temporary.join("no-file"),
    );
    std::fs::create_dir_all(&folder)?;
    std::fs::write(&file, b"")?;
    for table in places::secret_tables() {
        let nothing = if table.is_dir() { &folder } else { &file };
        binds.push((text(nothing)?, text(&table)?));
    }
    Ok(binds)
}

/// Says whether a place is replaced by a stand-in: a real folder (`/var/tmp` may be a link) that
/// the program is not given as a whole.
fn is_replaced(confinement: &Confinement, place: &Path) -> bool {
    let visible = confinement.writable.iter().chain(&confinement.readable);
    let mut above = visible.filter(|seen| place.starts_with(seen));
    let is_real = place.parent().is_some() && place.canonicalize().is_ok_and(|real| real == place);
    is_real && above.next().is_none() && confinement.temporary.is_dir()
}

/// Places with doors to other programs: sockets of services, memory shared with others.
fn covered(confinement: &Confinement) -> Vec<CString> {
    let project = confinement.overlay.iter().map(|overlay| &overlay.project);
    let visible: Vec<&PathBuf> = confinement
        .writable
        .iter()
        .chain(&confinement.readable)
        .chain(project)
        .collect();
    let mut places = vec!["/dev/shm"];
    // Systems that keep their programs there need it.
    if !Path::new("/run/current-system").exists() {
        places.push("/run");
    }
    places.retain(|place| !visible.iter().any(|seen| seen.starts_with(place)));
    places
        .into_iter()
        .filter_map(|place| CString::new(place).ok())
        .collect()
}

fn texts(places: &[PathBuf]) -> Vec<CString> {
    places.iter().filter_map(|place| text(place).ok()).collect()
}

fn text(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

/// Makes what is mounted at a place read-only, with all that is mounted beneath, or the place alone writable again.
fn set_read_only(place: &CStr, read_only: bool) -> io::Result<()> {
    let (attr_set, attr_clr, how) = match read_only {
        true => (libc::MOUNT_ATTR_RDONLY, 0, libc::AT_RECURSIVE),
        false => (0, libc::MOUNT_ATTR_RDONLY, 0),
    };
    let attributes = libc::mount_attr {
        attr_set,
        attr_clr,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the path ends in a zero byte and the structure lives through the call.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            place.as_ptr(),
            how,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    match answer {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn raise_loopback() -> io::Result<()> {
    let socket = rustix::net::socket_with(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::DGRAM,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )?;
    // SAFETY: the structure is plain data for which zero is a value, and lives through the call.
    let answer = unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l' as libc::c_char;
        request.ifr_name[1] = b'o' as libc::c_char;
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        libc::ioctl(
            socket.as_raw_fd(),
            libc::SIOCSIFFLAGS as _,
            &raw mut request,
        )
    };
    match answer {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn write_to(path: &CStr, text: &CStr) -> io::Result<()> {
    let file = open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, text.to_bytes())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_covered_by_a_file_and_a_folder_by_a_folder() {
        let (disk, private) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (file, folder) = (disk.path().join(".dockerenv"), disk.path().join("srv"));
        std::fs::write(&file, "a secret").unwrap();
        std::fs::create_dir(&folder).unwrap();
        let confinement = Confinement {
            temporary: private.path().to_path_buf(),
            ..Confinement::default()
        };
        let binds = stand_ins(&confinement, vec![file.clone(), folder.clone()]).unwrap();
        let onto = |place: &Path| {
            let place = text(place).unwrap();
            let bind = binds.iter().find(|(_, onto)| *onto == place).unwrap();
            PathBuf::from(bind.0.to_str().unwrap())
        };
        assert_eq!(std::fs::read(onto(&file)).unwrap(), b"");
        assert_eq!(std::fs::read_dir(onto(&folder)).unwrap().count(), 0);
    }
}
