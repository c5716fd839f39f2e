//! A run's question, put to the client's user: as a request where the protocol has one, else as a result that asks for
//! input and is called again with it.

use std::collections::BTreeMap;

use harness_agent::Question;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, InputRequest, InputRequiredResult, ProtocolVersion,
    ServerRequest,
};
use rmcp::service::RequestContext;
use serde::{Deserialize, Serialize};

use crate::mcp::wire::Gone;

/// The field of the form, and the name of the one input that is ever asked for.
const ANSWER: &str = "answer";
/// Questions of one call; a run asks fewer.
const MOST_ANSWERED: usize = 16;

/// A question that was put, and what the user said.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Answered {
    question: String,
    #[serde(default)]
    answer: Option<String>,
}

/// How the client's user can be asked.
enum Way {
    /// Not at all.
    None,
    /// By a request to the client.
    Request(Box<RequestContext<RoleServer>>, Gone),
    /// By a result that asks for input.
    Result,
}

/// The questions of one call.
pub(super) struct Questions {
    way: Way,
    /// What was answered in earlier rounds of the same call.
    answered: Vec<Answered>,
    open: Option<Question>,
}

impl Questions {
    /// Reads what the client can do, and what was answered before.
    pub(super) fn of(
        call: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        gone: &Gone,
    ) -> Questions {
        let capabilities = context.client_capabilities().unwrap_or_default();
        // Neither form nor address named means forms.
        let has_forms = capabilities
            .elicitation
            .is_some_and(|can| can.form.is_some() || can.url.is_none());
        let asks_by_result = context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        let way = match (has_forms, asks_by_result) {
            (false, _) => Way::None,
            (true, true) => Way::Result,
            (true, false) => Way::Request(Box::new(context.clone()), gone.clone()),
        };
        Questions {
            way,
            answered: answers(call),
            open: None,
        }
    }

    /// Puts a question; `None` means that nobody answered, here or yet.
    pub(super) async fn put(&mut self, question: &Question) -> Option<String> {
        let asked = question.render();
        if let Some(known) = self.answered.iter().find(|known| known.question == asked) {
            return known.answer.clone();
        }
        match &self.way {
            Way::None => None,
            Way::Result => {
                self.open = Some(question.clone());
                None
            }
            Way::Request(context, gone) => {
                let request = ServerRequest::ElicitRequest(ElicitRequest::new(form(asked)));
                let reply = tokio::select! {
                    reply = context.peer.send_request(request) => reply.ok()?,
                    () = context.ct.cancelled() => return None,
                    () = gone.heard() => return None,
                };
                match reply {
                    ClientResult::ElicitResult(result) => answer_of(&result),
                    _ => None,
                }
            }
        }
    }

    /// Returns the result that asks for input, where a question is still open.
    pub(super) fn open(&self) -> Option<InputRequiredResult> {
        let asked = self.open.as_ref()?.render();
        let mut answered = self.answered.clone();
        let (question, answer) = (asked.clone(), None);
        answered.push(Answered { question, answer });
        let request = InputRequest::Elicitation(ElicitRequest::new(form(asked)));
        let requests = BTreeMap::from([(ANSWER.to_owned(), request)]);
        let state = serde_json::to_string(&answered).ok();
        Some(InputRequiredResult::new(Some(requests), state))
    }
}

/// Returns the questions and answers of earlier rounds. The state comes from the client: it holds nothing that its user
/// may not say, and what cannot be read is nothing.
fn answers(call: &CallToolRequestParams) -> Vec<Answered> {
    let state = call.request_state.as_deref().unwrap_or_default();
    let mut answered: Vec<Answered> = serde_json::from_str(state).unwrap_or_default();
    answered.truncate(MOST_ANSWERED);
    let responses = call.input_responses.as_ref();
    let response = responses.and_then(|responses| responses.get(ANSWER).cloned());
    let said = response.and_then(|value| serde_json::from_value::<ElicitResult>(value).ok());
    if let (Some(last), Some(said)) = (answered.last_mut(), said) {
        last.answer = answer_of(&said);
    }
    answered
}

fn answer_of(result: &ElicitResult) -> Option<String> {
    let is_given = result.action == ElicitationAction::Accept;
    let words = result.content.as_ref().filter(|_| is_given)?.get(ANSWER)?;
    words.as_str().map(str::to_owned)
}

fn form(message: String) -> ElicitRequestParams {
    let about = "an option's number, its text, or your own words";
    let schema = ElicitationSchema::builder()
        .required_string_with(ANSWER, |field| field.description(about))
        .build()
        .unwrap_or_else(|_| ElicitationSchema::new(BTreeMap::new()));
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: schema,
    }
}
