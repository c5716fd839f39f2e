//! How the path of the program stands in a file: as a string, or as a word of a shell's line inside of another format.
//! What is written can be read again.

/// How the path is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    /// A string of JSON, YAML, Lua or Lisp, with its quotes.
    Text,
    /// A word of a shell's line.
    Shell,
    /// The same inside an attribute of XML.
    ShellInXml,
    /// The same inside a string of TOML that Helix takes for a command of its own.
    ShellInHelix,
}

/// What stands for the path in the files of the kits, and how it is written there.
pub(super) const PLACEHOLDERS: [(&str, Notation); 4] = [
    ("\"{program}\"", Notation::Text),
    ("{program as word}", Notation::Shell),
    ("{program in XML}", Notation::ShellInXml),
    ("{program in Helix}", Notation::ShellInHelix),
];

/// What XML writes in another way.
const ENTITIES: [(&str, &str); 4] = [
    ("&", "&amp;"),
    ("<", "&lt;"),
    (">", "&gt;"),
    ("\"", "&quot;"),
];

impl Notation {
    /// Returns a path as it is written.
    pub(super) fn write(self, path: &str) -> String {
        match self {
            // A JSON string is a string in YAML, Lua and Lisp too.
            Notation::Text => serde_json::Value::from(path).to_string(),
            Notation::Shell => word(path),
            Notation::ShellInXml => ENTITIES.iter().fold(word(path), |text, (plain, entity)| {
                text.replace(plain, entity)
            }),
            Notation::ShellInHelix => {
                let line = Notation::Text.write(&word(path).replace('%', "%%"));
                line[1..line.len() - 1].to_owned()
            }
        }
    }

    /// Returns the path that is written so.
    pub(super) fn read(self, text: &str) -> Option<String> {
        match self {
            Notation::Text => serde_json::from_str(text).ok(),
            Notation::Shell => only_word(text),
            Notation::ShellInXml => {
                let plain = ENTITIES
                    .iter()
                    .rev()
                    .fold(text.to_owned(), |text, (plain, entity)| {
                        text.replace(entity, plain)
                    });
                only_word(&plain)
            }
            Notation::ShellInHelix => {
                let line: String = serde_json::from_str(&format!("\"{text}\"")).ok()?;
                only_word(&line.replace("%%", "%"))
            }
        }
    }
}

/// Returns a path as one word of a line that this machine's shell reads.
fn word(path: &str) -> String {
    if cfg!(windows) {
        let is_plain = !path.contains([' ', '\t', '&', '(', ')', '^', ';', ',', '\'']);
        return match is_plain {
            true => path.to_owned(),
            false => format!("\"{path}\""),
        };
    }
    // Only a zero byte cannot be quoted, and no path has one.
    shlex::try_quote(path).map_or_else(|_| path.to_owned(), std::borrow::Cow::into_owned)
}

fn only_word(line: &str) -> Option<String> {
    if cfg!(windows) {
        let bare = line
            .strip_prefix('"')
            .and_then(|line| line.strip_suffix('"'));
        return Some(bare.unwrap_or(line).to_owned());
    }
    match shlex::split(line)?.as_slice() {
        [word] => Some(word.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for path in [
            "/usr/bin/harness",
            "/home/a b/.venv/bin/harness",
            "/it's/100%/\"x\" & <y>/harness",
            "/$HOME/`id`/äß漢/harness",
            r"C:\Program Files\x\harness.exe",
            r"C:\x\harness.exe",
        ] {
            for (_, notation) in PLACEHOLDERS {
                let is_known = cfg!(not(windows)) || !path.contains('"');
                let written = notation.write(path);
                assert!(
                    !is_known || notation.read(&written).as_deref() == Some(path),
                    "{notation:?}: {written}"
                );
            }
        }
    }

    #[test]
    #[cfg(unix)]
    fn each_format_gets_what_it_can_read() {
        let path = "/a b/100%/\"x\" & y/harness";
        assert_eq!(Notation::Shell.write(path), "'/a b/100%/\"x\" & y/harness'");
        assert_eq!(
            Notation::ShellInXml.write(path),
            "'/a b/100%/&quot;x&quot; &amp; y/harness'"
        );
        assert_eq!(
            Notation::ShellInHelix.write(path),
            r#"'/a b/100%%/\"x\" & y/harness'"#
        );
        assert_eq!(
            Notation::ShellInXml.write("/usr/bin/harness"),
            "/usr/bin/harness"
        );
        assert_eq!(Notation::Shell.read("harness brief"), None);
    }
}
