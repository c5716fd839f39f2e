//! The one way in: files beneath one folder, found by descriptor at the moment of use.
//!
//! A [`Door`] reads. It never follows a link, never leaves its folder and its scope, and never
//! opens anything but plain files. Changing files is the business of [`crate::write`].

pub mod protected;
pub mod request;

#[cfg(unix)]
#[path = "folder_unix.rs"]
pub(crate) mod folder;
#[cfg(not(unix))]
#[path = "folder_other.rs"]
pub(crate) mod folder;

use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use harness_code::path::RelPath;

use crate::door::folder::Folder;

/// No file larger than this is read whole or edited: source files are far smaller, and an edit
/// holds the old and the new bytes in memory at once.
pub(crate) const FILE_LIMIT: u64 = 64 * 1024 * 1024;

/// A path that may not be used, and why: data for the result, never a crash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct Trespass {
    /// The stable id of the rule, such as `path.outside`.
    pub rule: &'static str,
    /// The path as it was asked for.
    pub path: String,
    /// What is wrong and what to do instead, in one sentence.
    pub sentence: String,
}

/// Leads out of the project folder.
pub const OUTSIDE: &str = "path.outside";
/// Goes through a symbolic link.
pub(crate) const LINK: &str = "path.link";
/// Is a device, pipe or socket.
pub(crate) const SPECIAL: &str = "path.special";
/// Has a name that means something else on another platform.
pub const NAME: &str = "path.name";
/// Lies outside the scope of this run.
pub const SCOPE: &str = "path.scope";
/// Belongs to git, to the harness, to a virtual environment, or makes other programs run things.
pub(crate) const PROTECTED: &str = "path.protected";

impl Trespass {
    pub(crate) fn new(rule: &'static str, path: impl fmt::Display, sentence: String) -> Trespass {
        Trespass {
            rule,
            path: path.to_string(),
            sentence,
        }
    }

    pub(crate) fn link(path: impl fmt::Display) -> Trespass {
        let sentence =
            format!("`{path}` is or goes through a symbolic link; use the path of the file itself");
        Trespass::new(LINK, path, sentence)
    }

    fn special(path: impl fmt::Display) -> Trespass {
        let sentence = format!("`{path}` is not a plain file; only plain files can be used");
        Trespass::new(SPECIAL, path, sentence)
    }

    fn scope(path: &RelPath, scope: &RelPath) -> Trespass {
        let sentence =
            format!("`{path}` lies outside the scope `{scope}` of this run; stay inside it");
        Trespass::new(SCOPE, path, sentence)
    }
}

/// Why a path gave no file.
#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    /// The path may not be used at all.
    #[error(transparent)]
    Trespass(#[from] Trespass),
    /// Nothing is there.
    #[error("there is no file `{path}`")]
    Missing {
        /// The path that was asked for.
        path: String,
    },
    /// A folder where a file was asked for, or the other way round.
    #[error("`{path}` is {found}, not {wanted}")]
    Kind {
        /// The path that was asked for.
        path: String,
        /// What is there.
        found: &'static str,
        /// What was needed.
        wanted: &'static str,
    },
    /// Larger than [`FILE_LIMIT`].
    #[error("`{path}` has {bytes} bytes; files over {} MB are not read", FILE_LIMIT / 1024 / 1024)]
    TooLarge {
        /// The path that was asked for.
        path: String,
        /// Its size.
        bytes: u64,
    },
    /// The system said no.
    #[error("cannot use `{path}`: {}", reason(.source))]
    Io {
        /// The path that was asked for.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

impl DoorError {
    /// Returns the rule that was broken, when the path may not be used at all.
    pub fn trespass(&self) -> Option<&Trespass> {
        match self {
            DoorError::Trespass(trespass) => Some(trespass),
            DoorError::Missing { .. }
            | DoorError::Kind { .. }
            | DoorError::TooLarge { .. }
            | DoorError::Io { .. } => None,
        }
    }

    pub(crate) fn from_io(path: impl fmt::Display, source: io::Error) -> DoorError {
        let path = path.to_string();
        if source.kind() == io::ErrorKind::NotFound {
            DoorError::Missing { path }
        } else {
            DoorError::Io { path, source }
        }
    }
}

/// Says an error of the system in the words a person would use.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        io::ErrorKind::StorageFull => "the disk is full".to_string(),
        io::ErrorKind::QuotaExceeded => "the disk quota is used up".to_string(),
        io::ErrorKind::ReadOnlyFilesystem => "the disk is read-only".to_string(),
        _ if error.raw_os_error() == Some(BROKEN) => "the disk does not work".to_string(),
        _ => error.to_string().to_lowercase(),
    }
}

/// The number of an input/output error: EIO, and its like on Windows.
const BROKEN: i32 = if cfg!(windows) { 1117 } else { 5 };

/// What a name in a folder stands for; links are seen, not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A plain file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, or on Windows any other redirection.
    Link,
    /// A device, pipe or socket.
    Special,
}

impl Kind {
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Kind::File => "a file",
            Kind::Folder => "a folder",
            Kind::Link => "a link",
            Kind::Special => "a device, pipe or socket",
        }
    }
}

/// What is known of a name without opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata {
    /// What it is.
    pub kind: Kind,
    /// Its size in bytes.
    pub bytes: u64,
    /// Permission bits; zero where the platform has none.
    pub mode: u32,
    /// When it was changed last, in nanoseconds since 1970.
    pub modified: i128,
    /// What tells it from every other file of the machine, where the platform says.
    pub(crate) identity: (u64, u64),
    pub(crate) owner: (u32, u32),
}

impl Metadata {
    /// Returns whether both belong to the same user, where the platform says.
    pub fn same_owner(&self, other: &Metadata) -> bool {
        self.owner.0 == other.owner.0
    }
}

/// The way into one project folder, or one scope of it.
#[derive(Debug)]
pub struct Door {
    root: PathBuf,
    folder: Folder,
    scope: Option<RelPath>,
}

impl Door {
    /// Opens the way into a project folder. Links on the way to the folder itself are the user's
    /// own and are followed once, here.
    pub fn open(project: &Path) -> Result<Door, DoorError> {
        let shown = project.display();
        let root = project.canonicalize().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => DoorError::Missing {
                path: shown.to_string(),
            },
            _ => DoorError::from_io(shown, error),
        })?;
        if !root.is_dir() {
            let path = project.display().to_string();
            return Err(DoorError::Kind {
                path,
                found: "a file",
                wanted: "a folder",
            });
        }
        let folder =
            Folder::open(&root).map_err(|error| DoorError::from_io(project.display(), error))?;
        Ok(Door {
            root,
            folder,
            scope: None,
        })
    }

    /// Returns the same way in, walled to one folder of the project.
    pub(crate) fn scoped(self, scope: &RelPath) -> Result<Door, DoorError> {
        match self.metadata(scope)? {
            Some(found) if found.kind == Kind::Folder => Ok(Door {
                scope: Some(scope.clone()),
                ..self
            }),
            Some(found) => Err(DoorError::Kind {
                path: scope.to_string(),
                found: found.kind.noun(),
                wanted: "a folder",
            }),
            None => Err(DoorError::Missing {
                path: scope.to_string(),
            }),
        }
    }

    /// Returns the project folder, absolute and free of links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder this door is walled to.
    pub fn scope(&self) -> Option<&RelPath> {
        self.scope.as_ref()
    }

    /// Reads what a model or person wrote as a path: see [`request::parse_request`].
    pub fn request(&self, text: &str) -> Result<RelPath, Trespass> {
        let path = request::parse_request(text, &self.root)?;
        self.within_scope(&path)?;
        Ok(path)
    }

    /// Reads a whole plain file.
    pub fn read(&self, path: &RelPath) -> Result<Vec<u8>, DoorError> {
        self.within_scope(path)?;
        self.folder_of(path)?.read(path.file_name(), path)
    }

    /// Reads a whole plain file, or gives nothing where nothing is there. What is there and cannot be read is an error.
    pub fn find(&self, path: &RelPath) -> Result<Option<Vec<u8>>, DoorError> {
        match self.read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(DoorError::Missing { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Says whether something is there (a link counts as something).
    pub fn exists(&self, path: &RelPath) -> Result<bool, DoorError> {
        Ok(self.metadata(path)?.is_some())
    }

    /// Returns what is known of a path, or `None` when nothing is there.
    pub fn metadata(&self, path: &RelPath) -> Result<Option<Metadata>, DoorError> {
        self.within_scope(path)?;
        match self.folder_of(path) {
            Ok(folder) => folder
                .metadata(path.file_name())
                .map_err(|error| DoorError::from_io(path, error)),
            Err(DoorError::Missing { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Refuses a path outside the scope; without a scope everything in the project is inside.
    pub fn within_scope(&self, path: &RelPath) -> Result<(), Trespass> {
        match &self.scope {
            Some(scope) if !path.starts_with(scope) => Err(Trespass::scope(path, scope)),
            Some(_) | None => Ok(()),
        }
    }

    /// Opens the folder that holds `path`.
    pub(crate) fn folder_of(&self, path: &RelPath) -> Result<Folder, DoorError> {
        match path.parent() {
            Some(parent) => self.folder.enter(&parent),
            None => self
                .folder
                .again()
                .map_err(|error| DoorError::from_io(path, error)),
        }
    }

    /// Opens a folder of the project.
    pub(crate) fn enter(&self, path: &RelPath) -> Result<Folder, DoorError> {
        self.folder.enter(path)
    }

    /// Returns a second handle to the same folder, without the scope: for the harness's own records.
    pub(crate) fn unscoped(&self) -> Result<Door, DoorError> {
        let folder = self
            .folder
            .again()
            .map_err(|error| DoorError::from_io(self.root.display(), error))?;
        Ok(Door {
            root: self.root.clone(),
            folder,
            scope: None,
        })
    }
}

impl Folder {
    /// Reads a whole plain file.
    pub(crate) fn read(&self, name: &str, path: &RelPath) -> Result<Vec<u8>, DoorError> {
        self.read_with(name, path).map(|(bytes, _)| bytes)
    }

    /// Reads a whole plain file and what was known of it when it was opened.
    pub(crate) fn read_with(
        &self,
        name: &str,
        path: &RelPath,
    ) -> Result<(Vec<u8>, Metadata), DoorError> {
        let (file, found) = self.open_file(name, path)?;
        let too_large = |bytes: u64| DoorError::TooLarge {
            path: path.to_string(),
            bytes,
        };
        if found.bytes > FILE_LIMIT {
            return Err(too_large(found.bytes));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(found.bytes).unwrap_or(0) + 1);
        // The file may grow while it is read.
        file.take(FILE_LIMIT + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| DoorError::from_io(path, error))?;
        if bytes.len() as u64 > FILE_LIMIT {
            return Err(too_large(bytes.len() as u64));
        }
        Ok((bytes, found))
    }
}

/// Refuses everything that is no plain file.
pub(crate) fn plain_file(found: &Metadata, path: &RelPath) -> Result<(), DoorError> {
    match found.kind {
        Kind::File => Ok(()),
        Kind::Folder => Err(DoorError::Kind {
            path: path.to_string(),
            found: Kind::Folder.noun(),
            wanted: Kind::File.noun(),
        }),
        Kind::Link => Err(Trespass::link(path).into()),
        Kind::Special => Err(Trespass::special(path).into()),
    }
}
