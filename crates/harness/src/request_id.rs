//! The id of a request that cannot be read as a whole. Without it the client would wait for an answer for ever.

use serde_json::Value;

/// The longest id that is answered, as it is written.
const LONGEST_ID: usize = 200;

/// Looks for the id of a request, byte by byte: of a message that is too long, nested too deeply, or no text.
#[derive(Debug, Default)]
pub(crate) struct RequestId {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// The key whose value is being read, and what is read, of the outermost object.
    key: Vec<u8>,
    token: Vec<u8>,
    id: Option<Value>,
    has_method: bool,
}

impl RequestId {
    /// Returns the id of the request on a line.
    pub(crate) fn of(line: &[u8]) -> Option<Value> {
        let mut search = RequestId::default();
        search.read(line);
        search.found()
    }

    /// Goes on with more of the message.
    pub(crate) fn read(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.take(*byte));
    }

    /// Returns the id, where the message is a request that wants an answer.
    pub(crate) fn found(self) -> Option<Value> {
        let id = self.id.filter(|id| id.is_string() || id.is_number());
        id.filter(|_| self.has_method)
    }

    fn take(&mut self, byte: u8) {
        let is_outermost = self.depth == 1;
        if self.in_string {
            self.in_string = self.is_escaped || byte != b'"';
            self.is_escaped = !self.is_escaped && byte == b'\\';
        } else {
            match byte {
                b'{' | b'[' => self.depth += 1,
                b':' if is_outermost => {
                    self.key = std::mem::take(&mut self.token);
                    self.has_method |= self.key.trim_ascii() == b"\"method\"";
                    return;
                }
                b'}' | b']' | b',' => {
                    if is_outermost {
                        self.end_value();
                    }
                    if byte != b',' {
                        self.depth = self.depth.saturating_sub(1);
                    }
                    return;
                }
                b'"' => self.in_string = true,
                _ => {}
            }
        }
        if is_outermost && self.token.len() <= LONGEST_ID {
            self.token.push(byte);
        }
    }

    fn end_value(&mut self) {
        let value = std::mem::take(&mut self.token);
        if std::mem::take(&mut self.key).trim_ascii() == b"\"id\"" {
            self.id = serde_json::from_slice(&value).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::RequestId;

    #[test]
    fn the_id_is_found_wherever_it_stands() {
        let deep = "[".repeat(100_000);
        let long = "x".repeat(1_000);
        let cases: [(&str, Option<Value>); 9] = [
            (r#"{"id":7,"method":"a"}"#, Some(json!(7))),
            (
                r#"{"method":"a","params":{"id":8,"b":"}\"{"},"id" : "x\"y"}"#,
                Some(json!("x\"y")),
            ),
            (
                &format!(r#"{{"method":"a","id":9,"params":{deep}"#),
                Some(json!(9)),
            ),
            (
                &format!(r#"{{"{long}":"{long}","id":"i","method":"{long}","#),
                Some(json!("i")),
            ),
            // An answer, a notification, no id of a request, nothing.
            (r#"{"id":7,"result":{"method":"a"}}"#, None),
            (r#"{"method":"a","params":{"id":8}}"#, None),
            (r#"{"id":null,"method":"a"}"#, None),
            (r#"[{"id":7,"method":"a"}]"#, None),
            ("}}}]", None),
        ];
        for (line, id) in cases {
            assert_eq!(RequestId::of(line.as_bytes()), id, "{line:.100}");
        }
    }

    #[test]
    fn a_message_may_come_in_pieces() {
        let mut search = RequestId::default();
        for byte in br#"{"jsonrpc":"2.0","method":"m","params":{"a":["\\"]},"id":12}"# {
            search.read(&[*byte]);
        }
        assert_eq!(search.found(), Some(json!(12)));
    }
}
