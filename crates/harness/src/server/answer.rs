//! Answers: a status and one JSON document; errors in the chat-completions shape.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use harness_agent::RunResult;
use schemars::JsonSchema;
use serde::Serialize;

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
    pub(super) harness: Option<Box<RunResult>>,
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

    /// Returns what is sent of it.
    pub(super) fn told(&self) -> ErrorReply<'_> {
        ErrorReply {
            error: ErrorWords {
                message: &self.message,
                kind: self.kind(),
                code: self.code,
                param: self.param.as_deref(),
                hint: &self.hint,
            },
            harness: self.harness.as_deref(),
        }
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

/// A problem as it is sent.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(rename = "Error")]
pub(super) struct ErrorReply<'a> {
    error: ErrorWords<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "RunResult")]
    harness: Option<&'a RunResult>,
}

#[derive(Debug, JsonSchema, Serialize)]
#[schemars(inline)]
struct ErrorWords<'a> {
    message: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    code: &'static str,
    param: Option<&'a str>,
    hint: &'a str,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = answer(self.status, &self.told());
        if let Some((name, text)) = self.header
            && let Ok(text) = HeaderValue::from_str(&text)
        {
            response.headers_mut().insert(name, text);
        }
        response
    }
}

/// An answer of one JSON document.
pub(super) struct Document<T>(pub(super) T);

impl<T: Serialize> IntoResponse for Document<T> {
    fn into_response(self) -> Response {
        answer(StatusCode::OK, &self.0)
    }
}

fn answer<T: Serialize>(status: StatusCode, value: &T) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (status, headers, json::document(value)).into_response()
}
