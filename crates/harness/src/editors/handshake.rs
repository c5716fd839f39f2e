//! Whether our own protocol servers answer: the greeting of an editor, answered by the server that an editor would
//! start. Nothing that a project names is started for that.

use harness_agent::AgentOptions;
use serde_json::{Value, json};

use crate::acp::{self, AcpOptions};
use crate::mcp;
use crate::show::text::Complaint;

/// The protocols that editors speak with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The Model Context Protocol.
    Mcp,
    /// The Agent Client Protocol.
    Acp,
}

/// Both, in the order of reports.
pub const PROTOCOLS: [Protocol; 2] = [Protocol::Mcp, Protocol::Acp];

impl Protocol {
    /// Returns the command that serves it.
    pub fn command(self) -> &'static str {
        match self {
            Protocol::Mcp => "mcp",
            Protocol::Acp => "acp",
        }
    }
}

/// What the servers said: a sentence about themselves, or why they do not answer.
#[derive(Clone, Debug)]
pub struct Answers {
    mcp: Result<String, String>,
    acp: Result<String, String>,
}

impl Answers {
    /// Greets both servers with the settings that they would start with, or would not.
    pub fn ask(options: &Result<AgentOptions, Complaint>) -> Answers {
        let greet = |serve: fn(&AgentOptions) -> Result<String, Complaint>| match options {
            Ok(options) => serve(options).map_err(|complaint| complaint.message),
            Err(complaint) => Err(complaint.message.clone()),
        };
        Answers {
            mcp: greet(greet_mcp),
            acp: greet(greet_acp),
        }
    }

    /// Returns what one of them said.
    pub fn of(&self, protocol: Protocol) -> &Result<String, String> {
        match protocol {
            Protocol::Mcp => &self.mcp,
            Protocol::Acp => &self.acp,
        }
    }
}

fn greet_mcp(options: &AgentOptions) -> Result<String, Complaint> {
    let client = json!({"name": "harness doctor", "version": env!("CARGO_PKG_VERSION")});
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let read_only = AgentOptions {
        allow_writes: false,
        ..options.clone()
    };
    let input = format!(
        "{}\n{ready}\n{}\n",
        request(1, "initialize", &hello),
        request(2, "tools/list", &json!({}))
    );
    let output = mcp::answer(read_only, input.as_bytes())?;
    let version = result(&output, 1)?["protocolVersion"].clone();
    let tools = result(&output, 2)?["tools"].as_array().map_or(0, Vec::len);
    Ok(format!(
        "protocol {}, {tools} read-only tools",
        plain(&version)
    ))
}

fn greet_acp(options: &AgentOptions) -> Result<String, Complaint> {
    let hello = json!({"protocolVersion": 1, "clientCapabilities": {}});
    let input = format!("{}\n", request(1, "initialize", &hello));
    let options = AcpOptions {
        agent: options.clone(),
        project: Some(options.project.clone()),
    };
    let output = acp::answer(options, input.as_bytes())?;
    let version = result(&output, 1)?["protocolVersion"].clone();
    Ok(format!("protocol version {}", plain(&version)))
}

fn request(id: u32, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// Returns the result of a request among what a server wrote.
fn result(output: &[u8], id: u32) -> Result<Value, Complaint> {
    let messages = output
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let mut answers = messages.filter(|message| message["id"] == id);
    match answers.next() {
        Some(mut answer) if answer["result"].is_object() => Ok(answer["result"].take()),
        Some(answer) => Err(Complaint::usage(answer["error"]["message"].to_string(), "")),
        None => Err(Complaint::usage("it says nothing", "")),
    }
}

/// Returns a version as people write it.
fn plain(version: &Value) -> String {
    version
        .as_str()
        .map_or_else(|| version.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_servers_answer_a_greeting() {
        let project = tempfile::tempdir().unwrap();
        let answers = Answers::ask(&Ok(AgentOptions::new(project.path())));
        assert_eq!(
            answers.of(Protocol::Mcp).as_deref(),
            Ok("protocol 2025-06-18, 4 read-only tools")
        );
        assert_eq!(
            answers.of(Protocol::Acp).as_deref(),
            Ok("protocol version 1")
        );
        assert_eq!(std::fs::read_dir(project.path()).unwrap().count(), 0);
    }

    #[test]
    fn settings_with_which_no_server_starts_are_the_reason() {
        let wrong = Err(Complaint::usage("the settings are wrong", "mend them"));
        let answers = Answers::ask(&wrong);
        for protocol in PROTOCOLS {
            let reason = answers.of(protocol).as_deref().unwrap_err();
            assert_eq!(reason, "the settings are wrong");
        }
    }

    #[test]
    fn an_error_and_silence_are_no_answers() {
        let error = b"{\"id\": 1, \"error\": {\"message\": \"no\"}}\n";
        assert_eq!(result(error, 1).unwrap_err().message, "\"no\"");
        assert_eq!(result(b"junk\n", 1).unwrap_err().message, "it says nothing");
    }
}
