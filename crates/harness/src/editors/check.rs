//! Whether an editor is still connected: what its files name is looked at and never started, since a project may come
//! from a stranger.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use harness_code::path::RelPath;
use harness_hands::settings::{Settings, SettingsError};
use serde::Serialize;
use serde_json::Value;

use crate::editors::handshake::{Answers, PROTOCOLS, Protocol};
use crate::editors::home::{self, Entry, Found};
use crate::editors::kits::{self, File, KITS, Wishes};
use crate::editors::{Base, as_text, base_of};
use crate::server::DEFAULT_PORT;

/// A server on this machine answers at once or not at all.
const PATIENCE: Duration = Duration::from_millis(500);

/// How a file of an editor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is there and would work.
    Works,
    /// It is not there, or holds nothing of ours.
    NotSetUp,
    /// It is there and would not work.
    Broken,
}

/// One file of an editor, looked at.
#[derive(Clone, Debug, Serialize)]
pub struct Checked {
    /// The editor.
    pub editor: &'static str,
    /// The file, relative to the project or in the user's home folder.
    pub path: String,
    /// How it is.
    pub state: State,
    /// What was found.
    pub found: String,
    /// What to do about it; empty when there is nothing to do.
    pub hint: String,
}

/// What is looked at, and with which settings.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// The project, by its full path.
    pub project: &'a Path,
    /// The model that chat providers name.
    pub model: &'a str,
    /// What our own servers say.
    pub answers: &'a Answers,
}

/// Says whether an editor is connected: nothing is broken, and its files work, or an entry in the user's own settings.
pub fn is_connected(files: &[Checked]) -> bool {
    let is_at_home = |file: &&Checked| Path::new(&file.path).is_absolute();
    let (at_home, in_project): (Vec<&Checked>, Vec<&Checked>) = files.iter().partition(is_at_home);
    let works = |file: &&Checked| file.state == State::Works;
    files.iter().all(|file| file.state != State::Broken)
        && (in_project.iter().all(works) || at_home.iter().any(works))
}

/// Looks at the files of one editor, or of all; `None` when nobody knows the editor.
pub fn check(look: Look<'_>, name: Option<&str>) -> Result<Option<Vec<Checked>>, SettingsError> {
    let is_chosen = |editor: &str| name.is_none_or(|name| editor == name);
    let chosen = || KITS.iter().filter(|kit| is_chosen(kit.name));
    if chosen().next().is_none() {
        return Ok(None);
    }
    let settings = Settings::open(look.project)?;
    let wishes = Wishes {
        allow_writes: false,
        model: look.model.to_owned(),
        project: look.project.display().to_string(),
        program: kits::program(),
    };
    let files = chosen().flat_map(|kit| kit.files.iter().map(|file| (kit.name, file)));
    let in_project = files.map(|(editor, file)| {
        let (state, found) = look_at(&settings, file, &wishes, look.answers);
        let hint = match state {
            State::Works => String::new(),
            State::NotSetUp | State::Broken if found.starts_with(SILENT) => {
                "start it with `harness serve`".to_owned()
            }
            State::NotSetUp | State::Broken if found.ends_with("not ours") => {
                format!("`harness editors {editor}` prints what belongs there")
            }
            State::NotSetUp | State::Broken => format!("`harness editors {editor}` writes it"),
        };
        Checked {
            editor,
            path: file.path.to_owned(),
            state,
            found,
            hint,
        }
    });
    let at_home = home::entries(&wishes.program);
    let at_home = at_home.into_iter().filter_map(|found| match found {
        Found::Entry(entry) => look_at_home(entry, &wishes, look.answers),
        Found::Unreadable(editor, path, found) => Some(Checked {
            editor,
            path: path.display().to_string(),
            state: State::NotSetUp,
            found,
            hint: "put its brackets and commas right; the editor cannot read it either".to_owned(),
        }),
    });
    let at_home = at_home.filter(|file| is_chosen(file.editor));
    Ok(Some(in_project.chain(at_home).collect()))
}

/// Looks at an entry in the user's own settings; one for another project says nothing about this one.
fn look_at_home(entry: Entry, wishes: &Wishes, answers: &Answers) -> Option<Checked> {
    let project = entry.project.as_deref().unwrap_or(&wishes.project);
    if !is_same(project, &wishes.project) {
        return None;
    }
    let (state, found) = answering(
        started(&entry.program, project, wishes),
        &[entry.protocol],
        answers,
    );
    let hint = match state {
        State::Works | State::NotSetUp => String::new(),
        State::Broken => format!(
            "`harness editors {}` prints what belongs there",
            entry.editor
        ),
    };
    Some(Checked {
        editor: entry.editor,
        path: entry.path.display().to_string(),
        state,
        found,
        hint,
    })
}

fn look_at(
    settings: &Settings,
    file: &File,
    wishes: &Wishes,
    answers: &Answers,
) -> (State, String) {
    let broken = |found: String| (State::Broken, found);
    let Ok(path) = RelPath::parse(file.path) else {
        return broken("it has no path".to_owned());
    };
    let bytes = match settings.read(&path) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return (State::NotSetUp, "it is not there".to_owned()),
        Err(error) => return broken(error.to_string()),
    };
    let Some(text) = as_text(&bytes) else {
        return broken("it is not UTF-8".to_owned());
    };
    let mut edited = String::new();
    match base_of(&text, file, wishes, &[]) {
        Err(reason) => return broken(reason),
        Ok(Base::NamedAlike(reason)) => return (State::NotSetUp, reason),
        Ok(Base::Edited(reason)) => edited = format!("; {reason}"),
        Ok(Base::Text { text: rest, .. }) if rest == text => {
            return (State::NotSetUp, "it holds nothing of ours".to_owned());
        }
        Ok(Base::Foreign) => return (State::NotSetUp, "it is not ours".to_owned()),
        Ok(Base::Absent | Base::Changed | Base::Text { .. }) => {}
    }
    if file.starts_program() {
        return match file.named_in(&text, &wishes.program) {
            Some((program, project)) => {
                let project = project.as_deref().unwrap_or(&wishes.project);
                let spoken = PROTOCOLS.map(|protocol| file.speaks(protocol).then_some(protocol));
                let spoken: Vec<Protocol> = spoken.into_iter().flatten().collect();
                let started = started(&program, project, wishes);
                let (state, found) = answering(started, &spoken, answers);
                (state, found + &edited)
            }
            None => broken("it names no program".to_owned()),
        };
    }
    if file.names_server() {
        return answered(wishes);
    }
    (State::Works, "it is there".to_owned())
}

/// Adds whether the server that a file starts answers.
fn answering(
    (state, found): (State, String),
    spoken: &[Protocol],
    answers: &Answers,
) -> (State, String) {
    if state != State::Works || spoken.is_empty() {
        return (state, found);
    }
    for protocol in spoken {
        if let Err(reason) = answers.of(*protocol) {
            let found = format!("`harness {}` does not answer: {reason}", protocol.command());
            return (State::Broken, found);
        }
    }
    (state, format!("{found}, which answers"))
}

/// Says whether two paths lead to the same place.
fn is_same(one: &str, other: &str) -> bool {
    one == other
        || std::fs::canonicalize(one)
            .is_ok_and(|one| std::fs::canonicalize(other).is_ok_and(|other| one == other))
}

/// Judges the program and the project that a file names.
fn started(program: &str, project: &str, wishes: &Wishes) -> (State, String) {
    let found = if Path::new(program).is_absolute() && !Path::new(program).is_file() {
        format!("it starts `{program}`, which is not there")
    } else if !is_same(program, &wishes.program) {
        format!(
            "it starts `{program}`, which is not this program (`{}`)",
            wishes.program
        )
    } else if !is_same(project, &wishes.project) {
        format!("it is for another project, `{project}`")
    } else {
        return (State::Works, format!("it starts `{program}`"));
    };
    (State::Broken, found)
}

const SILENT: &str = "no server";

/// Asks the server at the usual address whose it is.
fn answered(wishes: &Wishes) -> (State, String) {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT));
    let Some(health) = health_of(address) else {
        let found = format!("{SILENT} of harness answers at {address}");
        return (State::Broken, found);
    };
    match health["project"].as_str() {
        Some(project) if project != wishes.project => {
            let found = format!("the server at {address} is for another project, `{project}`");
            (State::Broken, found)
        }
        _ => (State::Works, format!("the server at {address} answers")),
    }
}

/// Returns what a server of ours says of itself.
fn health_of(address: SocketAddr) -> Option<Value> {
    /// A health answer is short; more comes from something else.
    const LONGEST: u64 = 64 * 1024;
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    let request = format!("GET /health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.take(LONGEST).read_to_end(&mut answer).ok()?;
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n")?;
    if head.starts_with("HTTP/1.1 401") {
        // It wants its token, and that is an answer.
        return Some(Value::Null);
    }
    let health: Value = serde_json::from_str(body).ok()?;
    health["routes"].is_array().then_some(health)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn answering(answer: &'static str) -> SocketAddr {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let _ = stream.read(&mut request).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        });
        address
    }

    #[test]
    fn only_a_server_of_ours_counts_as_an_answer() {
        let ours = "HTTP/1.1 200 OK\r\n\r\n{\"project\": \"/p\", \"routes\": []}";
        assert_eq!(health_of(answering(ours)).unwrap()["project"], "/p");
        assert!(health_of(answering("HTTP/1.1 401 Unauthorized\r\n\r\n{}")).is_some());
        assert!(health_of(answering("HTTP/1.1 200 OK\r\n\r\n{\"ok\": true}")).is_none());
        assert!(health_of(answering("SSH-2.0-OpenSSH_9.2\r\n")).is_none());
        let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = closed.local_addr().unwrap();
        drop(closed);
        assert!(health_of(address).is_none());
    }
}
