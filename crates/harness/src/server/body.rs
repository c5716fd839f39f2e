//! Request bodies: bounded in size and time, JSON whatever the content type says.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, StatusCode, header};
use serde_json::{Map, Value};

use crate::server::answer::Problem;

/// The largest body (CONTRACT, HTTP).
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
    match serde_json::from_slice::<Value>(&bytes) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(bad("the body is not a JSON object")),
        Err(error) => Err(bad(&format!("the body is not JSON: {error}"))),
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
