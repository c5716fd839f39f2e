//! The fields of a request, checked against the table: every wrong one is named.

use serde_json::{Map, Value};

use crate::server::answer::Problem;
use crate::server::table::{Field, Kind, Need, Others, Shape};

/// The fields of one request, all of them right.
#[derive(Debug)]
pub(super) struct Fields(Map<String, Value>);

impl Fields {
    /// Checks a body against its form.
    pub(super) fn check(shape: &Shape, mut body: Map<String, Value>) -> Result<Fields, Problem> {
        let mut known = Map::new();
        for field in shape.fields {
            match body.remove(field.name) {
                None | Some(Value::Null) if field.need == Need::Optional => {}
                None | Some(Value::Null) => {
                    return Err(wrong(field, format!("`{}` is missing", field.name)));
                }
                Some(value) => {
                    check(field, &value)?;
                    known.insert(field.name.to_owned(), value);
                }
            }
        }
        match (shape.others, body.keys().next()) {
            (Others::Refused, Some(name)) => Err(Problem::field(
                name,
                format!("there is no field `{name}` here"),
            )),
            (Others::Ignored, _) => {
                known.extend(body);
                Ok(Fields(known))
            }
            (Others::Refused, None) => Ok(Fields(known)),
        }
    }

    /// Takes a text.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        match self.0.remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Takes a number.
    pub(super) fn count(&mut self, name: &str) -> Option<u32> {
        u32::try_from(self.0.remove(name)?.as_u64()?).ok()
    }

    /// Takes a yes or no; absent is no.
    pub(super) fn flag(&mut self, name: &str) -> bool {
        self.0.remove(name).and_then(|value| value.as_bool()) == Some(true)
    }

    /// Takes a list of texts.
    pub(super) fn texts(&mut self, name: &str) -> Option<Vec<String>> {
        let Some(Value::Array(items)) = self.0.remove(name) else {
            return None;
        };
        let texts = items.into_iter().filter_map(|item| match item {
            Value::String(text) => Some(text),
            _ => None,
        });
        Some(texts.collect())
    }

    /// Takes a list as it is.
    pub(super) fn list(&mut self, name: &str) -> Vec<Value> {
        match self.0.remove(name) {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        }
    }

    /// Returns whether a client of the chat protocol wants to be told what a streamed reply cost.
    pub(super) fn wants_usage(&self) -> bool {
        let options = self.0.get("stream_options");
        options.and_then(|options| options.get("include_usage")) == Some(&Value::Bool(true))
    }

    /// Returns whether a field that the table does not know is there and says something.
    pub(super) fn has(&self, name: &str) -> bool {
        match self.0.get(name) {
            None | Some(Value::Null) => false,
            Some(Value::Array(items)) => !items.is_empty(),
            Some(_) => true,
        }
    }
}

fn check(field: &Field, value: &Value) -> Result<(), Problem> {
    let name = field.name;
    let must = |good: bool, what: &str| {
        if good {
            return Ok(());
        }
        Err(wrong(field, format!("`{name}` must be {what}")))
    };
    match field.kind {
        Kind::Text => must(value.is_string(), "a string"),
        Kind::Task => {
            must(value.is_string(), "a string")?;
            if value.as_str().is_some_and(|text| text.trim().is_empty()) {
                return Err(wrong(field, format!("`{name}` is empty")));
            }
            Ok(())
        }
        Kind::Count => {
            let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
            must(
                number.is_some_and(|number| number > 0),
                "a whole number from 1",
            )
        }
        Kind::Flag => must(value.is_boolean(), "true or false"),
        Kind::Never => {
            must(value.is_boolean(), "true or false")?;
            if value.as_bool() == Some(true) {
                let problem = wrong(
                    field,
                    format!("`{name}` is not possible here: replies come in one piece"),
                );
                return Err(Problem {
                    hint: format!(
                        "set `{name}` to false, or use the base address /v1/stream, where it may be true"
                    ),
                    ..problem
                });
            }
            Ok(())
        }
        Kind::Texts => {
            let texts = value.as_array();
            must(
                texts.is_some_and(|texts| texts.iter().all(Value::is_string)),
                "a list of strings",
            )
        }
        Kind::Messages => {
            let messages = value.as_array();
            must(
                messages.is_some_and(|messages| messages.iter().all(Value::is_object)),
                "a list of messages",
            )
        }
    }
}

fn wrong(field: &Field, message: String) -> Problem {
    Problem::field(field.name, message)
}
