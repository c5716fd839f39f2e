//! The requests of a client, each a call of the agent and back. What a message means and what may happen is decided there.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use harness_agent::{
    Agent, AgentOptions, Cancel, Dialogue, Listener, OptionsError, RunResult, Stopped, Turn,
};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, ErrorData,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use serde::Serialize;
use serde::de::DeserializeOwned;
use strum::VariantArray;
use tokio::runtime::Handle;

use crate::mcp::client::{Client, Teller};
use crate::mcp::questions::Questions;
use crate::mcp::roots::Roots;
use crate::mcp::tools::{AskInput, TestsInput, ToolName};
use crate::mcp::wire::{Gone, Runs};
use crate::mcp::{prompts, resources};
use crate::request::{ReportInput, RouteInput, RunInput, UndoInput, in_scope};
use crate::runtime::locked;
use crate::show::text::{self, Complaint};

/// What a client's model is told of this server.
const INSTRUCTIONS: &str = "A coding agent for one project folder on this machine. `brief`, `layout` and `route` look and need no model; `ask` answers questions about the code; `run` changes code and keeps a change only when the project's tests prove it; `undo` takes a run back. Name files and functions in tasks.";
const WIDTH: usize = 100;

/// Answers one client.
pub(super) struct Handler {
    agent: Agent,
    runs: Arc<Runs>,
    roots: Roots,
    gone: Gone,
    /// What was said to `run`, so that "undo that" and the answer to a question are understood.
    dialogue: Arc<Mutex<Dialogue>>,
}

impl From<Complaint> for CallToolResult {
    /// Tells why a call has no result of its own: what is wrong, what to do.
    fn from(complaint: Complaint) -> CallToolResult {
        let Complaint { message, hint, .. } = complaint;
        let message = match complaint.param {
            Some(field) => format!("{field}: {message}"),
            None => message,
        };
        let words = told(&message, &hint);
        CallToolResult::error(vec![ContentBlock::text(text::clean(&words))])
    }
}

/// One call of a tool.
struct Call {
    parameters: CallToolRequestParams,
    context: RequestContext<RoleServer>,
    questions: Arc<Mutex<Questions>>,
    /// A question beside the conversation, which may wait for an answer of the user.
    is_aside: bool,
}

impl Call {
    fn arguments<T: DeserializeOwned>(&mut self) -> Result<T, Complaint> {
        let arguments = self.parameters.arguments.take().unwrap_or_default();
        serde_json::from_value(arguments.into()).map_err(|error| {
            let message = format!("the arguments cannot be used: {error}");
            Complaint::usage(message, "the tool's input schema says what it takes")
        })
    }
}

/// How a call takes its turn.
#[derive(Clone, Copy)]
enum Lane {
    /// A report: soon done, and worth its answer though the client has closed its end.
    Looking,
    Reading,
    Writing,
}

impl Handler {
    pub(super) fn new(mut options: AgentOptions, gone: Gone) -> Handler {
        options.keep_no_record |= !options.allow_writes && options.record.is_none();
        let agent = Agent::new(options);
        Handler {
            dialogue: Arc::new(Mutex::new(agent.converse())),
            agent,
            runs: Arc::default(),
            roots: Roots::default(),
            gone,
        }
    }

    /// Returns the runs under way.
    pub(super) fn runs(&self) -> Arc<Runs> {
        Arc::clone(&self.runs)
    }

    fn tools(&self) -> impl Iterator<Item = ToolName> {
        let allow_writes = self.options().allow_writes;
        let offered = move |tool: &ToolName| allow_writes || !tool.needs_writes();
        ToolName::VARIANTS.iter().copied().filter(offered)
    }

    fn options(&self) -> &AgentOptions {
        self.agent.options()
    }

    async fn call(&self, tool: ToolName, mut call: Call) -> Result<CallToolResult, Complaint> {
        let call = &mut call;
        match tool {
            ToolName::Brief => {
                let agent = in_scope(&self.agent, call.arguments::<ReportInput>()?.scope);
                let brief = self.look(call, agent, Agent::brief).await?;
                Ok(shown(&brief, brief.render_for_person(WIDTH)))
            }
            ToolName::Layout => {
                let agent = in_scope(&self.agent, call.arguments::<ReportInput>()?.scope);
                let layout = self.look(call, agent, Agent::layout).await?;
                Ok(shown(&layout, layout.render_for_person(WIDTH)))
            }
            ToolName::Route => {
                let RouteInput { task, scope } = call.arguments()?;
                let agent = in_scope(&self.agent, scope);
                let plan = self
                    .look(call, agent, move |agent| agent.route(&task))
                    .await?;
                Ok(shown(&plan, plan.render(WIDTH)))
            }
            ToolName::Ask => {
                let AskInput { question, settings } = call.arguments()?;
                let options = settings.settle(self.options());
                let agent = self.agent.with_options(options);
                let ask =
                    move |dialogue: &mut Dialogue, listener: &mut dyn Listener, cancel: &Cancel| {
                        dialogue.ask(&question, listener, cancel)
                    };
                self.converse(call, Lane::Reading, agent, ask).await
            }
            ToolName::Run => self.run(call).await,
            ToolName::Tests => {
                let tests = call.arguments::<TestsInput>()?.tests.unwrap_or_default();
                let agent = self.agent.clone();
                let test = move |listener: &mut dyn Listener, cancel: &Cancel| {
                    agent.test(&tests, listener, cancel)
                };
                let result = self.work(call, Lane::Reading, test).await?;
                let words = match text::test_result(&result) {
                    words if words.is_empty() => told(&result.summary, &result.hint),
                    words => words,
                };
                Ok(shown(&result, words))
            }
            ToolName::Undo => {
                let run = call.arguments::<UndoInput>()?.run;
                let agent = self.agent.clone();
                let message = format!("undo {}", run.as_deref().unwrap_or("that"));
                let undo =
                    move |dialogue: &mut Dialogue, listener: &mut dyn Listener, cancel: &Cancel| {
                        dialogue.perform(&message, &Turn::Undo(run), listener, cancel)
                    };
                self.converse(call, Lane::Writing, agent, undo).await
            }
        }
    }

    /// Makes a report on the project.
    async fn look<T: Send + 'static>(
        &self,
        call: &Call,
        agent: Agent,
        report: impl FnOnce(&Agent) -> Result<T, OptionsError> + Send + 'static,
    ) -> Result<T, Complaint> {
        let work = move |_: &mut dyn Listener, cancel: &Cancel| report(&agent.stopped_by(cancel));
        self.work(call, Lane::Looking, work).await
    }

    async fn run(&self, call: &mut Call) -> Result<CallToolResult, Complaint> {
        let input: RunInput = call.arguments()?;
        let mut options = input.settings.settle(self.options());
        let is_dry = input.dry_run.unwrap_or_default();
        options.allow_writes &= !is_dry;
        let lane = if is_dry { Lane::Reading } else { Lane::Writing };
        let run = move |dialogue: &mut Dialogue, listener: &mut dyn Listener, cancel: &Cancel| {
            dialogue.say(&input.task, listener, cancel)
        };
        self.converse(call, lane, self.agent.with_options(options), run)
            .await
    }

    /// Takes a turn of the conversation, and remembers it.
    async fn converse(
        &self,
        call: &Call,
        lane: Lane,
        agent: Agent,
        turn: impl FnOnce(&mut Dialogue, &mut dyn Listener, &Cancel) -> Result<RunResult, OptionsError>
        + Send
        + 'static,
    ) -> Result<CallToolResult, Complaint> {
        let shared = Arc::clone(&self.dialogue);
        let work = move |listener: &mut dyn Listener, cancel: &Cancel| {
            let mut dialogue = locked(&shared).clone();
            let count = dialogue.count();
            dialogue.change_agent(agent);
            let result = turn(&mut dialogue, listener, cancel)?;
            Ok((result, count, dialogue))
        };
        let (result, count, dialogue) = self.work(call, lane, work).await?;
        // A call that asks for input comes again, one that was stopped tells nothing, and what a dry run showed did not
        // happen; its question waits for an answer all the same.
        let is_dry = matches!(lane, Lane::Reading) && !result.diff.is_empty();
        let is_whole = locked(&call.questions).open().is_none();
        let mut shared = locked(&self.dialogue);
        let is_between = call.is_aside && shared.waits_for_answer();
        let is_stopped = result.stopped == Stopped::Interrupted || call.context.ct.is_cancelled();
        if is_whole && !is_dry && !is_between && !is_stopped {
            shared.hear_since(count, &dialogue);
        }
        Ok(run_shown(&result))
    }

    /// Resources are for whoever has the project open.
    async fn check_roots(&self, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let refusal = self.roots.refusal(&self.options().project, false, context);
        match refusal.await {
            Some(message) => Err(ErrorData::invalid_params(message, None)),
            None => Ok(()),
        }
    }

    /// Does blocking work on a thread of its own, in its turn; a client that cancels or leaves stops it.
    async fn work<T: Send + 'static>(
        &self,
        call: &Call,
        lane: Lane,
        work: impl FnOnce(&mut dyn Listener, &Cancel) -> Result<T, OptionsError> + Send + 'static,
    ) -> Result<T, Complaint> {
        let waits_for_client = !matches!(lane, Lane::Looking);
        let lane = match lane {
            Lane::Looking | Lane::Reading => &self.runs.readers,
            Lane::Writing => &self.runs.writer,
        };
        let stopped = async {
            tokio::select! {
                () = call.context.ct.cancelled() => {}
                () = self.gone.heard(), if waits_for_client => {}
            }
        };
        tokio::pin!(stopped);
        let place = tokio::select! {
            place = lane.acquire() => place,
            () = &mut stopped => return Err(interrupted()),
        };
        let _place = place.map_err(|_| interrupted())?;
        let (teller, progress) = Teller::begin(&call.context);
        let mut client = Client {
            progress,
            questions: Arc::clone(&call.questions),
            handle: Handle::current(),
            last: Instant::now(),
        };
        let cancel = Cancel::default();
        let flag = cancel.clone();
        let mut task = tokio::task::spawn_blocking(move || work(&mut client, &flag));
        let ended = loop {
            tokio::select! {
                ended = &mut task => break ended,
                () = &mut stopped, if !cancel.stopped() => cancel.stop(),
            }
        };
        teller.end().await;
        let ended = ended.map_err(|_| {
            let hint = "this is a defect of harness: please report it";
            Complaint::usage("the call ended without a result", hint)
        })?;
        Ok(ended?)
    }
}

fn interrupted() -> Complaint {
    Complaint::usage("interrupted", "")
}

fn told(words: &str, hint: &str) -> String {
    match hint {
        "" => words.to_owned(),
        hint => format!("{words}\nhint: {hint}"),
    }
}

/// Returns a value as a client's program and its model read it.
fn shown<T: Serialize>(value: &T, words: String) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text::clean(&words))]);
    result.structured_content = serde_json::to_value(value).ok();
    result
}

fn run_shown(run: &RunResult) -> CallToolResult {
    let words = told(&run.in_markdown(), &run.hint);
    let is_error = match run.stopped {
        Stopped::Engine | Stopped::Refused | Stopped::Busy => true,
        Stopped::Done
        | Stopped::Question
        | Stopped::Steps
        | Stopped::Stuck
        | Stopped::Broke
        | Stopped::Interrupted => false,
    };
    let mut result = shown(run, words);
    result.is_error = Some(is_error);
    result
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        let name = Implementation::new("harness", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities)
            .with_server_info(name)
            .with_instructions(INSTRUCTIONS)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let mut tools = self.tools();
        tools
            .find(|tool| tool.name() == name)
            .map(ToolName::definition)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools().map(ToolName::definition).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        parameters: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let known = |tool: &ToolName| tool.name() == parameters.name;
        let Some(tool) = ToolName::VARIANTS.iter().copied().find(known) else {
            let message = format!("there is no tool `{}`", text::clean(&parameters.name));
            return Err(ErrorData::new(ErrorCode::INVALID_PARAMS, message, None));
        };
        if tool.needs_writes() && !self.options().allow_writes {
            let message = format!(
                "`{}` is off on this server: start it with --allow-writes",
                tool.name()
            );
            return Err(ErrorData::new(ErrorCode::INVALID_PARAMS, message, None));
        }
        let (project, writes) = (&self.options().project, tool.needs_writes());
        if let Some(message) = self.roots.refusal(project, writes, &context).await {
            let hint = "open that folder, or start the server for the one that is open";
            return Ok(CallToolResult::from(Complaint::usage(message, hint)).into());
        }
        let questions = Questions::of(&parameters, &context, &self.gone);
        let questions = Arc::new(Mutex::new(questions));
        let call = Call {
            parameters,
            context,
            questions: Arc::clone(&questions),
            is_aside: tool == ToolName::Ask,
        };
        let result = self.call(tool, call).await;
        let questions = locked(&questions);
        if let Some(open) = questions.open() {
            return Ok(open.into());
        }
        Ok(result.unwrap_or_else(CallToolResult::from).into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.check_roots(&context).await?;
        let agent = self.agent.clone();
        let found = resources::blocking(move || Ok(resources::list(agent.options()))).await?;
        Ok(ListResourcesResult::with_all_items(found))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(
            resources::templates(),
        ))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.check_roots(&context).await?;
        let agent = self.agent.clone();
        let found = resources::blocking(move || resources::read(&agent, &request.uri)).await?;
        Ok(found.into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = prompts::list(self.options().allow_writes);
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        prompts::get(&request.name, &arguments, self.options().allow_writes).map(Into::into)
    }

    async fn on_roots_list_changed(&self, _context: NotificationContext<RoleServer>) {
        self.roots.forget().await;
    }
}
