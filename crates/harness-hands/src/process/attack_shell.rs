//! The attempts where a program must be started to be behind the walls: the system's shell makes them.

use std::ffi::OsString;
use std::path::Path;

use super::{Ground, LEFT_BEHIND};
use crate::process::attack::{Answer, Attempt};
use crate::process::platform::Payload;
use crate::process::sandbox::Sandbox;

/// What is tried, and a script that ends well when the walls held or what is needed works. `$1` is what lies
/// outside, `$2` the number of our process, `$3` the home folder.
const ATTEMPTS: &[(&str, &str)] = &[
    (
        "write a file outside the project",
        "! echo x > \"$1/new\" && ! echo x > /usr/harness-was-here && ! echo x > /harness-was-here",
    ),
    (
        "change a file outside the project",
        "! echo x >> \"$1/secret\" && ! rm \"$1/secret\"",
    ),
    ("read a file outside the project", "! cat \"$1/secret\""),
    (
        "reach outside through a link it makes",
        "ln -s \"$1/secret\" soft; ! cat soft && ! ln \"$1/secret\" hard",
    ),
    (
        "read the table of passwords",
        "test -z \"$(cat /etc/shadow)\"",
    ),
    (
        "list the home folder",
        "test -z \"$3\" || test -z \"$(ls -A \"$3\")\"",
    ),
    (
        "read the environment of the harness",
        "! cat \"/proc/$2/environ\" && test -z \"$(tr '\\0' '\\n' < /proc/1/environ | grep -v -e ^HARNESS_STARTED= -e ^PWD=)\"",
    ),
    ("signal the harness", "! kill -0 \"$2\""),
    (
        "see a network beside loopback",
        "! grep -v -e '|' -e ' lo:' /proc/net/dev",
    ),
    (
        "mount a file system",
        "if mount -t tmpfs x mount; then umount mount; exit 1; fi",
    ),
    ("make namespaces of its own", "! unshare -U true"),
    (
        "change `.git`",
        "! echo x >> .git/config && ! rm .git/config && ! mv .git away",
    ),
    (
        LEFT_BEHIND,
        "(setsid sh -c 'i=0; while [ $i -lt 6000 ]; do echo x >> beat; sleep 0.01; i=$((i+1)); done' &); until test -s beat; do sleep 0.01; done",
    ),
    ("(needed) write in the project", "echo x > made"),
    (
        "(needed) write in /tmp",
        "echo x > \"/tmp/harness-made-$2\" && rm \"/tmp/harness-made-$2\"",
    ),
    (
        "(needed) serve and connect on loopback",
        "grep -q 127.0.0.1 /proc/net/fib_trie",
    ),
    ("(needed) start another program", "cat /dev/null"),
];

pub(super) fn attempts(sandbox: Sandbox) -> Vec<Attempt> {
    let home = crate::environment::home().unwrap_or_default();
    // Root's home folder may be the root itself.
    let home = if home == Path::new("/") {
        OsString::new()
    } else {
        home.into_os_string()
    };
    let attempt = |(name, script): &(&'static str, &str)| {
        let answer = match Ground::new() {
            Ok(ground) => ground.shell_attempt(sandbox, name, script, &home),
            Err(_) => Answer::Untried,
        };
        Attempt { name, answer }
    };
    ATTEMPTS.iter().map(attempt).collect()
}

impl Ground {
    fn shell_attempt(&self, sandbox: Sandbox, name: &str, script: &str, home: &OsString) -> Answer {
        let words: Vec<OsString> = vec![
            "-c".into(),
            script.into(),
            "attack".into(),
            self.path("outside").into_os_string(),
            std::process::id().to_string().into(),
            home.clone(),
        ];
        let program = self.program("/bin/sh", words);
        self.answer(name, &program, sandbox, Payload::Program, Answer::Bad)
    }
}
