//! Answers: a status and one JSON document; errors in the chat-completions shape.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Value, json};

use crate::show::json;

/// What a request comes to when it cannot be served.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub(super) status: StatusCode,
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) param: Option<String>,
    pub(super) hint: String,
    /// The result of the run behind it, where there was one.
    pub(super) harness: Option<Value>,
    /// A header that belongs to the status: `allow`, `retry-after`.
    pub(super) header: Option<(header::HeaderName, String)>,
}

impl Problem {
    /// Returns a problem with nothing but its words.
    pub(super) fn new(
        status: StatusCode,
        code: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Problem {
        let (message, hint) = (message.into(), hint.into());
        Problem {
            status,
            code,
            message,
            param: None,
            hint,
            harness: None,
            header: None,
        }
    }

    /// Returns a 400 about one field.
    pub(super) fn field(name: &str, message: impl Into<String>) -> Problem {
        let hint = "GET /v1/openapi.json describes every field";
        Problem {
            param: Some(name.to_owned()),
            ..Problem::new(StatusCode::BAD_REQUEST, "invalid_field", message, hint)
        }
    }

    /// Returns the JSON document that tells it.
    pub(super) fn document(&self) -> String {
        json::document(&self.value())
    }

    /// Returns what tells it, as one value.
    pub(super) fn value(&self) -> Value {
        let mut value = json!({"error": {
            "message": self.message, "type": self.kind(), "code": self.code, "param": self.param, "hint": self.hint,
        }});
        if let (Some(harness), Some(fields)) = (&self.harness, value.as_object_mut()) {
            fields.insert("harness".to_owned(), harness.clone());
        }
        value
    }

    fn kind(&self) -> &'static str {
        match self.status.as_u16() {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            409 => "conflict_error",
            429 => "rate_limit_error",
            503 => "overloaded_error",
            400..=499 => "invalid_request_error",
            _ => "engine_error",
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = answer(self.status, &self.value());
        if let Some((name, text)) = self.header
            && let Ok(text) = HeaderValue::from_str(&text)
        {
            response.headers_mut().insert(name, text);
        }
        response
    }
}

/// Returns a response with one JSON document.
pub(super) fn answer<T: Serialize>(status: StatusCode, value: &T) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (status, headers, json::document(value)).into_response()
}
