//! The fuzz bodies of the servers as property tests: noise, and almost-requests.

#[path = "../../../fuzz/request.rs"]
mod body;
#[path = "../../../fuzz/protocol.rs"]
mod protocol;

use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn noise(data in proptest::collection::vec(any::<u8>(), 0..300)) {
        body::request(&data);
    }

    #[test]
    fn almost_requests(
        route in any::<u8>(),
        name in "task|scope|model|skills|steps|max_tokens|dry_run|messages|stream|role|[a-z]{0,4}",
        value in r#"null|true|-?[0-9]{1,25}(\.[0-9]+)?(e[0-9]{1,4})?|"[a-z \\]{0,8}"|\[\]|\{\}|\["a", 1\]|\[\{"role": "user", "content": "x"\}\]|\[{1,200}"#,
        tail in r#"[\}\],:" ]{0,4}"#,
    ) {
        let text = format!("{{\"{name}\": {value}{tail}}}");
        let mut data = vec![route];
        data.extend_from_slice(text.as_bytes());
        body::request(&data);
    }
}

const METHODS: &str = "initialize|ping|server/discover|tools/list|tools/call|resources/list|resources/templates/list|resources/read|resources/subscribe|prompts/list|prompts/get|completion/complete|logging/setLevel|session/new|session/load|session/list|session/prompt|session/set_mode|session/cancel|authenticate|notifications/cancelled|notifications/roots/list_changed|[a-z/]{0,6}";

/// A value for a field that some message has.
const FIELD: &str = r#""(name|uri|cwd|sessionId|modeId|cursor|arguments|task|question|prompt|mcpServers|protocolVersion|capabilities|clientCapabilities|clientInfo|requestId|level|ref|_meta)": (null|true|-?[0-9]{1,25}|"(brief|layout|route|ask|run|undo|tests|fix|harness://brief|harness://runs/x/diff|/|\.\.|ask|debug|[a-z]{0,3})"|\[\]|\{\}|\{"roots": \{\}, "elicitation": \{\}\}|\{"task": "rename a to b"\}|\[\{"type": "text", "text": "hello"\}\]|\[{1,200})"#;

/// A line of JSON-RPC, mostly whole.
fn line() -> impl Strategy<Value = String> {
    let params = proptest::collection::vec(FIELD, 0..4);
    let id = r#"|"id": (-?[0-9]{1,2}|"[a-z]{0,2}"|null|1\.5|[0-9]{20}|\[\]), "#;
    let tail = r#"|\]|\}|,|\x00| \r"#;
    (id, METHODS, params, tail).prop_map(|(id, method, params, tail)| {
        let params = params.join(", ");
        format!(
            "{{\"jsonrpc\": \"2.0\", {id}\"method\": \"{method}\", \"params\": {{{params}}}}}{tail}"
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn noise_instead_of_a_protocol(data in proptest::collection::vec(any::<u8>(), 0..300)) {
        let project = tempfile::tempdir().unwrap();
        protocol::conversation(project.path(), &data);
    }

    #[test]
    fn almost_conversations(
        first in any::<u8>(),
        lines in proptest::collection::vec(line(), 0..12),
    ) {
        let project = tempfile::tempdir().unwrap();
        let mut data = vec![first];
        data.extend_from_slice(lines.join("\n").as_bytes());
        protocol::conversation(project.path(), &data);
    }
}
