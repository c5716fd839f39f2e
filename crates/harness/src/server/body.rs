//! Request bodies: bounded in size and time, JSON whatever the content type says.

use std::fmt;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, StatusCode, header};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::server::answer::Problem;

/// The largest body: a task and its settings are far smaller.
const MOST_BYTES: usize = 1024 * 1024;
/// A client that has not sent its body by then is not going to.
const BODY_TIME: Duration = Duration::from_secs(10);

/// Reads the one JSON object of a request. An empty body is an empty object.
pub(super) async fn object(headers: &HeaderMap, body: Body) -> Result<Map<String, Value>, Problem> {
    let length = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > MOST_BYTES as u64) {
        return Err(too_large());
    }
    let Ok(read) = tokio::time::timeout(BODY_TIME, to_bytes(body, MOST_BYTES)).await else {
        let hint = "send the whole body at once";
        return Err(Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            "slow_request",
            "the body did not arrive in time",
            hint,
        ));
    };
    let bytes = read.map_err(|error| {
        // The limit is the only error of axum's own; all others are the client's connection.
        let limited = std::error::Error::source(&error)
            .is_some_and(|source| source.to_string().contains("length limit"));
        if limited {
            too_large()
        } else {
            bad("the body could not be read")
        }
    })?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    parse(&bytes)
}

/// Reads the one JSON object that bytes are. Never panics, whatever they are.
pub(super) fn parse(bytes: &[u8]) -> Result<Map<String, Value>, Problem> {
    match serde_json::from_slice::<Once>(bytes) {
        Ok(Once(Value::Object(fields))) => Ok(fields),
        Ok(_) => Err(bad("the body is not a JSON object")),
        Err(error) => Err(bad(&format!("the body is not JSON: {error}"))),
    }
}

/// A JSON value in which no name stands twice: of two equal names one would be lost in silence.
struct Once(Value);

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Once, D::Error> {
        deserializer.deserialize_any(OnceVisitor).map(Once)
    }
}

struct OnceVisitor;

impl<'de> Visitor<'de> for OnceVisitor {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Once(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom(format_args!("`{name}` stands twice")));
            }
            let Once(value) = fields.next_value()?;
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

fn bad(message: &str) -> Problem {
    Problem::new(
        StatusCode::BAD_REQUEST,
        "invalid_body",
        message,
        "send one JSON object in UTF-8",
    )
}

fn too_large() -> Problem {
    let hint = "send the part that matters";
    Problem::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "body_too_large",
        "the body is larger than 1 MiB",
        hint,
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::parse;

    fn message(text: &str) -> String {
        parse(text.as_bytes()).map_or_else(|problem| problem.message, |_| "fine".to_owned())
    }

    #[test]
    fn one_object_and_every_name_once() {
        assert_eq!(
            message(r#"{"a": [1, 2.5, null, true, "x", {"b": -1}]}"#),
            "fine"
        );
        assert!(message(r#"{"a": 1, "a": 2}"#).contains("`a` stands twice"));
        assert!(message(r#"{"a": {"b": 1, "b": 2}}"#).contains("`b` stands twice"));
        assert!(message("[]").contains("not a JSON object"));
        let deep = "[".repeat(100_000);
        assert!(message(&format!(r#"{{"a": {deep}"#)).contains("recursion limit"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_body_or_a_400(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Err(problem) = parse(&bytes) {
                prop_assert_eq!(problem.status.as_u16(), 400);
            }
        }

        #[test]
        fn almost_json_is_a_body_or_a_400(text in r#"[\{\}\[\]",:a\\u0-9eE+\-. ]{0,60}"#) {
            drop(parse(text.as_bytes()));
        }
    }
}
