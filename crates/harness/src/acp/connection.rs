//! The requests of an editor, one handler each.

use std::sync::Arc;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, Implementation, InitializeRequest, InitializeResponse,
    ListSessionsRequest, LoadSessionRequest, NewSessionRequest, PromptCapabilities, PromptRequest,
    SessionCapabilities, SessionListCapabilities, SetSessionModeRequest,
};
use agent_client_protocol::{Agent, Lines};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::acp::sessions::Sessions;
use crate::acp::{lines, prompt};

/// Answers an editor until it closes its end.
pub(super) async fn serve(
    sessions: &Arc<Sessions>,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) {
    macro_rules! shared {
        () => {
            Arc::clone(sessions)
        };
    }
    let (first, new, load) = (shared!(), shared!(), shared!());
    let (list, mode, ask, cancel) = (shared!(), shared!(), shared!(), shared!());
    let built = Agent
        .v1()
        .name("harness")
        .on_receive_request(
            async move |request: InitializeRequest, responder, _connection| {
                first.meet(&request.client_capabilities);
                responder.respond(introduction())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder, _connection| {
                responder.respond_with_result(new.begin(&request.cwd).await)
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: LoadSessionRequest, responder, connection| {
                responder.respond_with_result(load.load(&request, &connection).await)
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ListSessionsRequest, responder, _connection| {
                responder.respond_with_result(list.list(request.cwd.as_deref()).await)
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: SetSessionModeRequest, responder, _connection| {
                responder.respond_with_result(mode.set_mode(&request))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, connection| {
                // Begun before the next message is read: that may be the word to stop it.
                let begun = match prompt::begin(&ask, request, connection) {
                    Ok(begun) => begun,
                    Err(error) => return responder.respond_with_error(error),
                };
                // A turn takes long; other messages go on meanwhile.
                tokio::spawn(async move {
                    drop(responder.respond_with_result(begun.perform().await));
                });
                Ok(())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_notification(
            async move |notification: CancelNotification, _connection| {
                cancel.stop(&notification.session_id);
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        );
    let (outgoing, incoming) = lines::both(input, output);
    let wire = Lines::new(outgoing, incoming);
    // However the connection ended, there is nobody left to tell.
    drop(built.connect_to(wire).await);
}

fn introduction() -> InitializeResponse {
    let sessions = SessionCapabilities::new().list(SessionListCapabilities::new());
    let capabilities = AgentCapabilities::new()
        .load_session(true)
        .prompt_capabilities(PromptCapabilities::new().embedded_context(true))
        .session_capabilities(sessions);
    InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(capabilities)
        .agent_info(Implementation::new("harness", env!("CARGO_PKG_VERSION")))
}
