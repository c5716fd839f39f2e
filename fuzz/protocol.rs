//! The fuzz body of the protocol servers: any bytes are a conversation. A plain function; property tests run it too.

use std::collections::BTreeMap;
use std::path::Path;

use harness::acp::AcpOptions;
use harness_agent::{AgentOptions, Engine};
use serde_json::{Value, json};

/// The most that one message is answered with: the list of tools is the longest.
const LONGEST_ANSWER: usize = 64 * 1024;

/// Conversations about an empty project: the first byte picks the protocol, and whether a handshake comes first.
pub(crate) fn conversation(project: &Path, data: &[u8]) {
    let Some((first, lines)) = data.split_first() else {
        return;
    };
    let (is_mcp, begins) = (first & 1 == 0, first & 2 == 0);
    let mut input = Vec::new();
    if begins {
        input.extend_from_slice(handshake(is_mcp).as_bytes());
    }
    input.extend_from_slice(lines);
    input.push(b'\n');
    let agent = AgentOptions {
        // Without a base address nothing is called.
        engine: Engine::Remote,
        ..AgentOptions::new(project)
    };
    let answered = match is_mcp {
        true => harness::mcp::answer(agent, &input),
        false => {
            let project = Some(project.to_owned());
            harness::acp::answer(AcpOptions { agent, project }, &input)
        }
    };
    match answered {
        Ok(output) => judge(&input, &output, begins, is_mcp),
        Err(_) => assert!(!begins, "a conversation that had begun was given up"),
    }
}

fn handshake(is_mcp: bool) -> String {
    let client = json!({"name": "fuzz", "version": "1"});
    let (version, ready) = match is_mcp {
        true => (json!("2025-06-18"), "notifications/initialized"),
        false => (json!(1), "x/ready"),
    };
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
    let hello = json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params});
    let ready = json!({"jsonrpc": "2.0", "method": ready});
    format!("{hello}\n{ready}\n")
}

/// Every request is answered once, nothing else is answered, and nothing grows without bound.
fn judge(input: &[u8], output: &[u8], begins: bool, is_mcp: bool) {
    let requests = input.split(|byte| *byte == b'\n').filter_map(request);
    let mut asked: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for request in requests {
        asked.entry(id_of(&request)).or_default().push(request);
    }
    // Messages that are JSON but no message of the protocol: the answer has no id.
    let mut refused = 0;
    let mut answers: BTreeMap<String, usize> = BTreeMap::new();
    for line in output.split(|byte| *byte == b'\n') {
        assert!(line.len() <= LONGEST_ANSWER, "{}", line.len());
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            assert!(line.is_empty(), "{}", String::from_utf8_lossy(line));
            continue;
        };
        let is_answer = message.get("method").is_none();
        match is_answer && message["id"].is_null() {
            true => refused += 1,
            false if is_answer => *answers.entry(id_of(&message)).or_default() += 1,
            false => {}
        }
    }
    // What is no JSON and looks like a request is answered with the id that it seems to have.
    let seems = |line: &&[u8]| {
        let text = String::from_utf8_lossy(line);
        serde_json::from_slice::<Value>(line).is_err()
            && text.contains("id")
            && text.contains("method")
    };
    let broken = input.split(|byte| *byte == b'\n').filter(seems).count();
    for (id, count) in &answers {
        let most = asked.get(id).map_or(0, Vec::len) + broken;
        assert!(*count <= most, "{id} is answered {count} times");
    }
    let cancelled = |id: &str| {
        let input = String::from_utf8_lossy(input);
        input.contains("cancel") && input.contains(id)
    };
    for (id, requests) in &asked {
        let [request] = requests.as_slice() else {
            continue;
        };
        let must = begins && !works(request) && !cancelled(id) && is_exact(&request["id"]);
        if must && answers.get(id) != Some(&1) {
            // Only the editor's SDK may leave the id out.
            assert!(!is_mcp && refused > 0, "{request}");
            refused -= 1;
        }
    }
}

/// Returns an id as a key: `-0` is answered as `0`.
fn id_of(message: &Value) -> String {
    match message["id"].as_f64() {
        Some(0.0) => "0".to_owned(),
        _ => message["id"].to_string(),
    }
}

/// Returns whether every JSON library reads this id the same way.
fn is_exact(id: &Value) -> bool {
    id.is_i64() || id.is_string()
}

/// Returns whether a request takes a while: it is stopped when its client leaves.
fn works(request: &Value) -> bool {
    request["method"] == "session/prompt" || request["method"] == "tools/call"
}

/// Returns the request on a line: an object with a method, and an id that is a number or a text.
fn request(line: &[u8]) -> Option<Value> {
    let message: Value = serde_json::from_slice(line).ok()?;
    let id = message.get("id")?;
    let is_request = message["jsonrpc"] == "2.0"
        && (id.is_number() || id.is_string())
        && message["method"].is_string()
        && matches!(message.get("params"), None | Some(Value::Object(_)));
    is_request.then_some(message)
}
