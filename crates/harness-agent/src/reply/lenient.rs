//! JSON as models write it: line ends inside strings, single quotes, comments, a comma too many, Python's constants.

use serde_json::{Map, Number, Value};

/// Deeper nesting than this is no call.
const DEEPEST: usize = 32;

/// Reads one value at the start of a text; returns it with how many bytes it took.
pub(super) fn value(text: &str) -> Option<(Value, usize)> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(0)?;
    Some((value, reader.at))
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        loop {
            let rest = self.rest();
            let words = rest.trim_start();
            self.at += rest.len() - words.len();
            if words.starts_with("//") || words.starts_with("# ") {
                self.at += words.find('\n').unwrap_or(words.len());
            } else {
                return;
            }
        }
    }

    fn takes(&mut self, sign: char) -> bool {
        self.blanks();
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len_utf8();
        }
        found
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        self.blanks();
        match self.rest().chars().next()? {
            '{' => self.object(depth),
            '[' => self.array(depth),
            '"' | '\'' | '`' => self.string().map(Value::String),
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.takes('{');
        let mut fields = Map::new();
        loop {
            if self.takes('}') {
                return Some(Value::Object(fields));
            }
            self.blanks();
            let quoted = self.rest().starts_with(['"', '\'']);
            let key = if quoted { self.string()? } else { self.bare()? };
            if !self.takes(':') {
                return None;
            }
            fields.insert(key, self.value(depth + 1)?);
            if !self.takes(',') {
                return self.takes('}').then_some(Value::Object(fields));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<Value> {
        self.takes('[');
        let mut items = Vec::new();
        loop {
            if self.takes(']') {
                return Some(Value::Array(items));
            }
            items.push(self.value(depth + 1)?);
            if !self.takes(',') {
                return self.takes(']').then_some(Value::Array(items));
            }
        }
    }

    fn bare(&mut self) -> Option<String> {
        let rest = self.rest();
        let length = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        self.at += length;
        (length > 0).then(|| rest[..length].to_owned())
    }

    fn word(&mut self) -> Option<Value> {
        let rest = self.rest();
        let length = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && !"+-._".contains(c))
            .unwrap_or(rest.len());
        let word = &rest[..length];
        self.at += length;
        match word {
            "true" | "True" => Some(Value::Bool(true)),
            "false" | "False" => Some(Value::Bool(false)),
            "null" | "None" => Some(Value::Null),
            _ => {
                let whole = word.parse::<i64>().ok().map(Number::from);
                let number = whole.or_else(|| Number::from_f64(word.parse().ok()?));
                number.map(Value::Number)
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        let rest = self.rest();
        let quote = rest.chars().next()?;
        for triple in ["\"\"\"", "'''", "```"] {
            if let Some(inside) = rest.strip_prefix(triple) {
                let end = inside.find(triple)?;
                self.at += end + 2 * triple.len();
                let text = &inside[..end];
                return Some(text.strip_prefix('\n').unwrap_or(text).to_owned());
            }
        }
        let mut text = String::new();
        let mut signs = rest.char_indices().skip(1).peekable();
        while let Some((at, sign)) = signs.next() {
            match sign {
                '\\' => match signs.next()?.1 {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    'b' => text.push('\u{8}'),
                    'f' => text.push('\u{c}'),
                    'u' => {
                        let digits: String = signs.by_ref().take(4).map(|(_, c)| c).collect();
                        let code = u32::from_str_radix(&digits, 16).ok()?;
                        text.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                    }
                    // A back-slash at a line's end joins two lines; before anything else it means that sign.
                    '\n' => {}
                    escaped @ ('"' | '\'' | '\\' | '/' | '`') => text.push(escaped),
                    other => {
                        text.push('\\');
                        text.push(other);
                    }
                },
                _ if sign == quote && closes(&rest[at + sign.len_utf8()..]) => {
                    self.at += at + sign.len_utf8();
                    return Some(text);
                }
                other => text.push(other),
            }
        }
        None
    }
}

/// Returns whether a quote ends its string: what follows must be what may follow a value.
fn closes(after: &str) -> bool {
    let after = after.trim_start();
    after.is_empty() || after.starts_with([',', '}', ']', ':', ')'])
}
