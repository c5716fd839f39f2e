//! The attempts on Linux. The system's shell makes them, started as any program is.

use std::ffi::OsString;
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crate::process::attack::{Answer, Attempt, SelfTest};
use crate::process::private::Private;
use crate::process::sandbox::{Confinement, Sandbox, landlock};
use crate::process::{Limits, Program, start};
use crate::scratch::PRIVATE_PREFIX;

/// How long one attempt may take; each is a handful of system calls.
const PATIENCE: Duration = Duration::from_secs(30);

const SIGNAL: &str = "signal the harness";
const END_KEEPER: &str = "end the process that watches it";
const CHANGE_GIT: &str = "change `.git`";
const LEFT_BEHIND: &str = "leave a process behind";
const LOOPBACK: &str = "(needed) reach loopback";

/// What is tried, in the order in which a person reads it, and a script that ends with 0 when the walls held or what is
/// needed works, with 1 when not, with 2 when it cannot be tried. `$1` is what lies outside, `$2` the number of our
/// process, `$3` the home folder, `$4` the port of a server of ours, `$5` the temporary folder. None harms the machine
/// where nothing holds it.
const ATTEMPTS: &[(&str, &str)] = &[
    (
        "write a file outside the project",
        r#"! echo x > "$1/new" && ! echo x > /usr/harness-was-here && ! echo x > /harness-was-here"#,
    ),
    (
        "change a file outside the project",
        r#"! echo x >> "$1/secret" && ! rm "$1/secret""#,
    ),
    ("read a file outside the project", r#"! cat "$1/secret""#),
    (
        "reach outside through a link it makes",
        r#"ln -s "$1/secret" soft || exit 2; ! cat soft && ! echo x >> soft && ! ln "$1/secret" hard && ! mv "$1/secret" hard"#,
    ),
    (
        "read the table of passwords",
        r#"test -z "$(cat /etc/shadow)""#,
    ),
    (
        "list the home folder",
        r#"test -z "$3" || test -z "$(ls -A "$3")""#,
    ),
    (
        "read the environment of the harness",
        r#"! cat "/proc/$2/environ" && test -z "$(tr '\0' '\n' < /proc/1/environ | grep -v -e ^HARNESS_STARTED= -e ^PWD=)""#,
    ),
    (SIGNAL, r#"! kill -0 "$2""#),
    // The first process of a table gets no signal from inside it, and `kill` says nothing of that.
    (
        END_KEEPER,
        r#"kill -9 "$PPID"; sleep 0.1; test -d "/proc/$PPID""#,
    ),
    (
        "connect to a server of this machine",
        r#"command -v bash || exit 2; ! bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$1"' connect "$4""#,
    ),
    // An address for documentation, which leads nowhere; a datagram needs only a route, and none is sent.
    (
        "connect to another machine",
        "command -v bash || exit 2; ! bash -c 'exec 3<>/dev/udp/192.0.2.1/53'",
    ),
    (
        "mount a file system",
        "if mount -t tmpfs x mount; then umount mount; exit 1; fi",
    ),
    ("make namespaces of its own", "! unshare -U true"),
    (
        CHANGE_GIT,
        "! echo x >> .git/config && ! rm .git/config && ! mv .git away",
    ),
    // A minute is enough to be seen; one that does get away ends by itself.
    (
        LEFT_BEHIND,
        "command -v setsid || exit 2; (setsid sh -c 'i=0; while [ $i -lt 6000 ]; do echo x >> beat; sleep 0.01; i=$((i+1)); done' &); until test -s beat; do sleep 0.01; done",
    ),
    ("(needed) write in the project", "echo x > made"),
    (
        "(needed) write in /tmp or TMPDIR",
        r#"echo x > "$5/harness-made-$2" && rm "$5/harness-made-$2""#,
    ),
    (
        LOOPBACK,
        "command -v bash || exit 2; bash -c 'exec 3<>/dev/udp/127.0.0.1/9'",
    ),
    ("(needed) start another program", "cat /dev/null"),
];

/// Attacks the given walls, each time on ground that no other attempt has touched.
pub(crate) fn attack(sandbox: Sandbox) -> SelfTest {
    let attempt = |(name, script): &(&'static str, &str)| {
        let ground = Ground::new();
        let answer = ground.map_or(Answer::Untried, |ground| {
            ground.attempt(sandbox, name, script)
        });
        Attempt { name, answer }
    };
    let attempts = ATTEMPTS.iter().map(attempt).collect();
    SelfTest { sandbox, attempts }
}

/// What it means that an attempt got through: SECURITY.md says what these walls do not hold.
fn got_through(sandbox: Sandbox, name: &str) -> Answer {
    // Landlock cannot take back a right that the folder above gives, and has no network of its own.
    let is_known = match name {
        CHANGE_GIT | LOOPBACK => sandbox == Sandbox::Confined,
        SIGNAL | END_KEEPER => sandbox == Sandbox::Confined && !landlock::holds_signals(),
        _ => false,
    };
    if is_known { Answer::Known } else { Answer::Bad }
}

/// A project, something outside it, and a server that nobody inside may reach.
struct Ground {
    folder: tempfile::TempDir,
    private: Private,
    listener: TcpListener,
}

impl Ground {
    fn new() -> io::Result<Ground> {
        let folder = tempfile::Builder::new().prefix(PRIVATE_PREFIX).tempdir()?;
        for name in ["project/.git", "project/mount", "outside"] {
            std::fs::create_dir_all(folder.path().join(name))?;
        }
        std::fs::write(folder.path().join("project/.git/config"), "[core]\n")?;
        std::fs::write(folder.path().join("outside/secret"), "secret\n")?;
        Ok(Ground {
            folder,
            private: Private::new()?,
            listener: TcpListener::bind("127.0.0.1:0")?,
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        let root = self.folder.path();
        let real = root.canonicalize();
        real.unwrap_or_else(|_| root.to_path_buf()).join(name)
    }

    fn attempt(&self, sandbox: Sandbox, name: &str, script: &str) -> Answer {
        let program = self.program(sandbox, script);
        let Ok(mut tree) = start(&program, sandbox, Stdio::null()) else {
            return Answer::Untried;
        };
        let ended = tree.wait(PATIENCE);
        tree.end();
        let code = match ended {
            Some(Some(status)) if libc::WIFEXITED(status) => libc::WEXITSTATUS(status),
            // No signal is a good end: the filter answers with an error, so whoever dies of one was not stopped by it.
            Some(Some(_)) => return Answer::Untried,
            // Whoever watched it is gone, or it goes on and on.
            Some(None) | None => 1,
        };
        match code {
            0 if name == LEFT_BEHIND && self.is_beating() => Answer::Bad,
            0 => Answer::Good,
            1 => got_through(sandbox, name),
            _ => Answer::Untried,
        }
    }

    fn program(&self, sandbox: Sandbox, script: &str) -> Program {
        let project = self.path("project");
        let home = crate::environment::home().unwrap_or_default();
        let port = self
            .listener
            .local_addr()
            .map_or(0, |address| address.port());
        let temporary = match sandbox.has_namespaces() {
            true => PathBuf::from("/tmp"),
            false => self.private.temporary(),
        };
        let arguments: [OsString; 8] = [
            "-c".into(),
            script.into(),
            "attack".into(),
            self.path("outside").into(),
            std::process::id().to_string().into(),
            // Root's home folder may be the root itself.
            if home == Path::new("/") {
                OsString::new()
            } else {
                home.into()
            },
            port.to_string().into(),
            temporary.into(),
        ];
        Program {
            program: PathBuf::from("/bin/sh"),
            arguments: arguments.into(),
            folder: project.clone(),
            environment: Vec::new(),
            confinement: Confinement {
                network: false,
                overlay: None,
                writable: vec![project.clone(), self.private.temporary()],
                readable: Vec::new(),
                unchanged: vec![project.join(".git")],
                temporary: self.private.path().to_path_buf(),
            },
            limits: Limits::default(),
        }
    }

    /// Says whether the process that was to be left behind still writes.
    fn is_beating(&self) -> bool {
        let beat = self.path("project/beat");
        let length = || beat.metadata().map_or(0, |found| found.len());
        let first = length();
        std::thread::sleep(Duration::from_millis(60));
        length() != first
    }
}
