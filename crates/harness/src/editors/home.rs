//! Entries of ours in the settings that an editor reads from the user's home folder. They are put there by the person,
//! from the steps that a kit prints; here they are only looked for.

use std::path::PathBuf;

use harness_hands::user;

use crate::editors::handshake::Protocol;
use crate::editors::jsonc;

/// Settings are written by people; a longer file is something else.
const LONGEST: u64 = 4 * 1024 * 1024;

/// What was found in the settings of an editor.
pub(super) enum Found {
    /// An entry of ours.
    Entry(Entry),
    /// Settings that cannot be read, and why.
    Unreadable(&'static str, PathBuf, String),
}

/// One entry of ours.
pub(super) struct Entry {
    /// The editor whose settings have it.
    pub(super) editor: &'static str,
    /// The file.
    pub(super) path: PathBuf,
    /// The protocol that it is for.
    pub(super) protocol: Protocol,
    /// The program that it starts.
    pub(super) program: String,
    /// The project that it names.
    pub(super) project: Option<String>,
}

/// Returns the entries of ours in the settings of every editor, and which settings cannot be read.
pub(super) fn entries(own: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut unreadable = Vec::new();
    for (editor, path, holder) in places() {
        let is_readable = path
            .metadata()
            .is_ok_and(|about| about.is_file() && about.len() <= LONGEST);
        let bytes = is_readable.then(|| std::fs::read(&path).ok()).flatten();
        let Some(text) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) else {
            continue;
        };
        if text
            .trim_matches(['\u{feff}', ' ', '\t', '\r', '\n'])
            .is_empty()
        {
            continue;
        }
        let (program, words) = match jsonc::entry_in(&text, (holder, "harness"), own) {
            Ok(Some(entry)) => entry,
            Ok(None) => continue,
            Err(_) if unreadable.contains(&path) => continue,
            Err(reason) => {
                unreadable.push(path.clone());
                found.push(Found::Unreadable(editor, path, reason));
                continue;
            }
        };
        let protocol = match words.first().map(String::as_str) {
            Some("acp") => Protocol::Acp,
            Some("mcp") => Protocol::Mcp,
            _ => continue,
        };
        let project = words.get(1).filter(|word| !word.starts_with('-'));
        found.push(Found::Entry(Entry {
            editor,
            path,
            protocol,
            program,
            project: project.cloned(),
        }));
    }
    found
}

/// Returns the files that editors read, with the object in which servers stand.
fn places() -> Vec<(&'static str, PathBuf, &'static str)> {
    // Where Cline had them before its applications shared a folder.
    const CLINE: &str =
        "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json";
    let mut places = Vec::new();
    // The folder in which other programs have theirs too.
    let config = user::config_folder().and_then(|own| Some(own.parent()?.to_owned()));
    let home = user::home_folder();
    // Zed has the same folder on macOS as on Linux, and one with a capital letter on Windows.
    let zed = match (cfg!(windows), cfg!(target_os = "macos")) {
        (true, _) => config.as_ref().map(|config| config.join("Zed")),
        (false, true) => home.as_ref().map(|home| home.join(".config/zed")),
        (false, false) => config.as_ref().map(|config| config.join("zed")),
    };
    if let Some(zed) = zed {
        places.push(("zed", zed.join("settings.json"), "agent_servers"));
        places.push(("zed", zed.join("settings.json"), "context_servers"));
    }
    if let Some(config) = config {
        places.push(("cline", config.join(CLINE), "mcpServers"));
    }
    if let Some(home) = home {
        let cline = home.join(".cline/data/settings/cline_mcp_settings.json");
        places.push(("cline", cline, "mcpServers"));
        let windsurf = home.join(".codeium/windsurf/mcp_config.json");
        places.push(("windsurf", windsurf, "mcpServers"));
        places.push((
            "jetbrains",
            home.join(".jetbrains/acp.json"),
            "agent_servers",
        ));
    }
    places
}
