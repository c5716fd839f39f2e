//! The fields of a request: typed, each wrong one named.

use serde_json::{Map, Value};

use crate::server::answer::Problem;

/// The fields of one request, taken out one by one.
pub(super) struct Fields(pub(super) Map<String, Value>);

impl Fields {
    /// Takes a text that must be there and say something.
    pub(super) fn required_text(&mut self, name: &str) -> Result<String, Problem> {
        match self.text(name)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            Some(_) => Err(Problem::field(name, format!("`{name}` is empty"))),
            None => Err(Problem::field(name, format!("`{name}` is missing"))),
        }
    }

    /// Takes a text; null is as good as nothing.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, Problem> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Problem::field(name, format!("`{name}` must be a string"))),
        }
    }

    /// Takes a whole number from 1.
    pub(super) fn count(&mut self, name: &str) -> Result<Option<u32>, Problem> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                let number = value
                    .as_u64()
                    .and_then(|number| u32::try_from(number).ok())
                    .filter(|number| *number > 0);
                number.map(Some).ok_or_else(|| {
                    Problem::field(name, format!("`{name}` must be a whole number from 1"))
                })
            }
        }
    }

    /// Takes a yes or no.
    pub(super) fn flag(&mut self, name: &str) -> Result<Option<bool>, Problem> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(_) => Err(Problem::field(
                name,
                format!("`{name}` must be true or false"),
            )),
        }
    }

    /// Takes a list of texts.
    pub(super) fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>, Problem> {
        let wrong = || Problem::field(name, format!("`{name}` must be a list of strings"));
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Array(items)) => {
                let texts: Option<Vec<String>> = items
                    .into_iter()
                    .map(|item| match item {
                        Value::String(text) => Some(text),
                        _ => None,
                    })
                    .collect();
                texts.map(Some).ok_or_else(wrong)
            }
            Some(_) => Err(wrong()),
        }
    }

    /// Refuses what nobody took.
    pub(super) fn end(self) -> Result<(), Problem> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => Err(Problem::field(
                name,
                format!("there is no field `{name}` here"),
            )),
        }
    }
}
