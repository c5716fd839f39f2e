"""For each entry of SPEC's tables one small change of the source that takes it out, and the test that has to see it.

SPEC is the document that this program is built from; it is not part of the repository, so `ENTRIES` names what its tables
and lists hold. Rows have the form of rows.py, with an entry in place of a promise. A test of Python may also be a check of
tests/accept, as `FILE CLASS::NAME`, or one scenario, as `test_scenarios.py test_scenario[FOLDER]`.
"""

AGENT = "crates/harness-agent/src/"
CLI = "crates/harness/src/cli/"
CODE = "crates/harness-code/src/"
HANDS = "crates/harness-hands/src/"
PYTHON = "crates/harness-python/src/"
SERVER = "crates/harness/src/server/"

LEAVING = "harness-agent --lib model::remote::leaving_tests::"
READING = "test_server.py test_every_reading_route_answers"
REFUSED_FIRST = "test_server.py test_writes_are_refused_first_on_a_read_only_server"
CHAT = "test_server.py test_chat_as_editors_speak_it"
DEFAULTS = "test_options.py test_defaults"
FIXES = "test_agent.py test_a_run_fixes_and_says_what_it_did"
TOKENS = "test_tokens.py test_the_token_is_the_first_that_is_set"

ENTRIES = [
    # What the service does
    "python -m harness",
    "changes only inside the folder",
    "a .bak of every edited file",
    "the tests are run",
    "a misspelled name needs no model",
    "a rename needs no model",
    "such a fix runs the tests once",
    "a vague task asks",
    "forward slashes",
    "the draft guard",
    "traces are redacted",
    "weights can be imported",
    # Command line options
    "option --dry-run",
    "option --scope",
    "option --json",
    "option -v",
    "option --no-record",
    "option --project",
    "option --port",
    "option --allow-writes",
    "option --model",
    "option --engine",
    # AgentOptions
    "setting project",
    "setting task",
    "setting model",
    "setting engine",
    "setting scope",
    "setting skills",
    "setting steps",
    "setting max_tokens",
    "setting allow_writes",
    "setting record",
    "setting keep_no_record",
    "setting on_event",
    "setting on_question",
    # Result
    "result ok",
    "result summary",
    "result writes",
    "result steps",
    "result refusals",
    "result stopped",
    # Question
    "question render",
    "question answer",
    # States and transitions
    "a question ends a run without on_question",
    "on_question before the model",
    "read-only refuses patch",
    "read-only refuses edit",
    "read-only refuses run",
    "the prompt says read-only",
    # Commands
    "command list",
    "command brief",
    "command layout",
    "command route",
    "command ask",
    "command run",
    "command serve",
    "command editors",
    # HTTP server
    "bound to 127.0.0.1",
    "GET /health",
    "POST /v1/brief",
    "POST /v1/layout",
    "POST /v1/ask",
    "GET /v1/models",
    "POST /v1/chat/completions",
    "POST /v1/run",
    "the last user message",
    # Authentication
    "HARNESS_BASE_URL",
    "HARNESS_API_KEY",
    "the hub's token",
    "OLLAMA_HOST",
    # Events
    "on_event hears progress",
    "the first send is told",
    # Errors and limits
    "403 of /v1/run",
    "403 of a chat that writes",
    "stream is refused",
    "an AWS access key is not sent",
    "an Anthropic key is not sent",
    "a GitHub token is not sent",
    "a private key is not sent",
    "the kind of secret is named",
    "the value is never repeated",
    "200,000 characters",
    "HARNESS_MAX_SEND",
    "a local host is not checked",
    "read-only refusals are recorded",
    "command not found",
]

ROWS = [
    ("python -m harness", "the module does not start the program", [
        ("python/harness/__main__.py", "    sys.exit(main())", "    sys.exit(0)"),
    ], "test_program.py test_the_module_is_the_program"),
    ("changes only inside the folder", "`..` that leads out is not refused", [
        (CODE + "path.rs", "                    if parts.pop().is_none() {", "                    if parts.pop().is_none() && text.is_empty() {"),
    ], "test_scenarios.py test_scenario[007_the_folder_is_a_wall]"),
    ("a .bak of every edited file", "no copy is kept", [
        (HANDS + "permit.rs", "Backups::Kept, waiting", "Backups::None, waiting"),
    ], FIXES),
    ("the tests are run", "no project has tests", [
        (AGENT + "run/context.rs", "        self.found.suite.get_or_init(find).clone()\n", "        self.found.suite.get_or_init(find).clone().filter(|_| false)\n"),
    ], FIXES),
    ("a misspelled name needs no model", "no name is taken for misspelled", [
        (AGENT + "plan/fix.rs", "        Kind::Fix => {\n            // What was noted", "        Kind::Fix if task.text().is_empty() => {\n            // What was noted"),
        (AGENT + "plan/fix.rs", "Kind::Question | Kind::Add | Kind::Tests => Answer::Nothing,", "_ => Answer::Nothing,"),
    ], "test_scenarios.py test_scenario[004_misspelled_name_without_a_model]"),
    ("a rename needs no model", "a rename is left to the model", [
        (AGENT + "plan/fix.rs", "        Kind::Rename => renamed(task, whole, &surroundings(scope)),", "        Kind::Rename => Answer::Nothing,"),
    ], "test_scenarios.py test_scenario[024_rename_across_files]"),
    ("such a fix runs the tests once", "the tests also run before the fix", [
        (AGENT + "run/strategy/certain_fix.rs", "    let verdict = trial.judge(context, log, plan);\n", "    trial.baseline(context, log);\n    let verdict = trial.judge(context, log, plan);\n"),
    ], "test_agent.py test_a_fix_without_a_model_runs_the_tests_once"),
    ("a vague task asks", "a vague task is not asked about", [
        (AGENT + "plan/mod.rs", "let ask = || vague.then(", "let ask = || (vague && task.text.is_empty()).then("),
    ], "test_scenarios.py test_scenario[003_vague_task_is_asked_back]"),
    ("forward slashes", "backslashes stay", [
        (CODE + "path.rs", "        let slashed = text.replace('\\\\', \"/\");", "        let slashed = text.to_owned();"),
    ], "harness-code --lib path::tests"),
    ("the draft guard", "every draft may be written", [
        (AGENT + "guard/mod.rs", "    GUARDS.iter().find_map(|guard| guard(&input))\n", "    let _ = (GUARDS, input);\n    None\n"),
    ], "test_scenarios.py test_scenario[017_elided_code_is_refused]"),
    ("traces are redacted", "turns are written as they are", [
        (AGENT + "record.rs", "        let fields = self.redacted(fields);\n        self.write(project, kind, fields)", "        self.write(project, kind, fields)"),
    ], "accept.py Run::test_records"),
    ("weights can be imported", "the server does not hear of them", [
        ("scripts/weights/import.py", "            server.create(f\"{arguments.name}:{tag}\", target)\n", ""),
    ], "test_weights.py test_a_file_is_fetched_checked_and_created"),
    ("option --dry-run", "it is read and has no effect", [
        (CLI + "agent.rs", "        allow_writes: !arguments.dry_run,", "        allow_writes: true,"),
    ], "test_demo.py test_a_dry_run_shows_the_same_and_changes_nothing"),
    ("option --dry-run", "it is not an option of `run`", [
        (CLI + "args.rs", "    /// Refuse every change and run nothing; show what would change\n    #[arg(long)]", "    /// Refuse every change and run nothing; show what would change\n    #[arg(skip)]"),
    ], "test_demo.py test_a_dry_run_shows_the_same_and_changes_nothing"),
    ("option --scope", "it is read and has no effect", [
        (CLI + "settings.rs", "    options.scope = common.scope.clone().unwrap_or_default();", "    options.scope = String::new();"),
    ], "test_scenarios.py test_scenario[008_the_scope_is_a_wall]"),
    ("option --json", "`run` and `ask` print words", [
        (CLI + "outcome.rs", "    if common.json {\n        json::print(result);\n", "    if common.json && result.steps.len() > 99 {\n        json::print(result);\n"),
    ], "test_demo.py test_the_misspelled_name_is_fixed_without_a_model"),
    ("option --json", "`brief`, `layout` and `route` print words", [
        (CLI + "mod.rs", "    if common.json {\n        json::print(value);\n    } else {\n        text::result(&words());\n    }", "    let _ = (common, value);\n    text::result(&words());"),
    ], "test_server.py test_the_json_is_that_of_the_command_line"),
    ("option -v", "tool results are not shown", [
        (CLI + "progress.rs", "            results: common.verbose,", "            results: false,"),
    ], "test_command_line.py test_tool_results_are_shown_where_they_are_wanted"),
    ("option --no-record", "it is read and has no effect", [
        (CLI + "settings.rs", "    options.keep_no_record = common.no_record;\n", ""),
    ], "accept.py Run::test_records"),
    ("option --project", "`serve` takes the current folder", [
        (CLI + "agent.rs", "    let mut options = settings::checked_options(None, common, Some(&arguments.model))?;\n    options.allow_writes", "    let mut options = settings::checked_options(None, common, Some(&arguments.model))?;\n    options.project = std::path::PathBuf::from(\".\");\n    options.allow_writes"),
    ], "test_server.py test_the_json_is_that_of_the_command_line"),
    ("option --port", "any free port is taken", [
        (CLI + "agent.rs", "        port: arguments.port,", "        port: 0,"),
    ], "test_server.py test_a_port_in_use"),
    ("option --allow-writes", "`serve` stays read-only", [
        (CLI + "agent.rs", "    options.allow_writes = arguments.allow_writes;", "    options.allow_writes = false;"),
    ], "test_server.py test_a_run_and_its_undo"),
    ("option --allow-writes", "`serve` writes without it", [
        (CLI + "agent.rs", "    options.allow_writes = arguments.allow_writes;", "    options.allow_writes = true;"),
    ], REFUSED_FIRST),
    ("option --allow-writes", "`editors` writes the same without it", [
        (CLI + "editors.rs", "        allow_writes: arguments.allow_writes,", "        allow_writes: false,"),
    ], "test_editors.py test_what_is_written_permits_changes_only_where_that_is_asked_for"),
    ("option --model", "it is read and has no effect", [
        (CLI + "settings.rs", "        options.model.clone_from(name);", "        let _ = name;"),
    ], "test_server.py test_models_are_those_of_the_engine"),
    ("option --engine", "it is read and has no effect", [
        (CLI + "settings.rs", "        options.engine = engine.parse().map_err(Complaint::from)?;", "        let _: harness_agent::Engine = engine.parse().map_err(Complaint::from)?;"),
    ], "test_server.py test_the_engine_and_the_check_have_their_statuses"),
    ("setting project", "it may be left out", [
        (PYTHON + "options.rs", "    options.plain.project = project.ok_or_else(|| {", "    options.plain.project = project.or(Some(\".\".into())).ok_or_else(|| {"),
    ], "test_options.py test_a_missing_project_is_named"),
    ("setting task", "it is read and has no effect", [
        (PYTHON + "options.rs", "            \"task\" => plain.task = text(&name, &value)?,", "            \"task\" => drop(text(&name, &value)?),"),
    ], "test_agent.py test_the_argument_wins_over_the_task_of_the_options"),
    ("setting task", "its default is not empty", [
        (AGENT + "options.rs", "            task: String::new(),", "            task: \"tidy up\".to_owned(),"),
    ], DEFAULTS),
    ("setting model", "its default has four billion parameters", [
        (AGENT + "options.rs", "DEFAULT_MODEL: &str = \"qwen3:8b\"", "DEFAULT_MODEL: &str = \"qwen3:4b\""),
    ], DEFAULTS),
    ("setting model", "the local engine is always asked for the default", [
        (AGENT + "model/mod.rs", "local::Local::new(&options.model, environment)", "local::Local::new(crate::options::DEFAULT_MODEL, environment)"),
    ], "test_agent.py test_the_model_that_is_named_is_asked"),
    ("setting engine", "its default is not local", [
        (AGENT + "options.rs", "    #[default]\n    Local,", "    Local,"),
        (AGENT + "options.rs", "    /// Any chat-completions host.\n", "    /// Any chat-completions host.\n    #[default]\n"),
    ], DEFAULTS),
    ("setting engine", "there is no `on-device`", [
        (AGENT + "options.rs", "#[strum(serialize_all = \"kebab-case\")]\npub enum Engine", "#[strum(serialize_all = \"snake_case\")]\npub enum Engine"),
    ], "test_options.py test_what_may_be_written_in_several_ways"),
    ("setting engine", "`remote` is read and has no effect", [
        (PYTHON + "options.rs", "            \"engine\" => plain.engine = engine(&name, &value)?,", "            \"engine\" => drop(engine(&name, &value)?),"),
    ], TOKENS),
    ("setting scope", "it is read and has no effect", [
        (PYTHON + "options.rs", "            \"scope\" => plain.scope = scope(&name, &value)?,", "            \"scope\" => drop(scope(&name, &value)?),"),
    ], "test_scenarios.py test_scenario[008_the_scope_is_a_wall]"),
    ("setting skills", "they are read and have no effect", [
        (PYTHON + "options.rs", "            \"skills\" => plain.skills = texts(&name, &value)?,", "            \"skills\" => drop(texts(&name, &value)?),"),
    ], "test_never_show.py test_a_skill_of_the_project_that_is_listed_is_not_shown"),
    ("setting skills", "the task does not pick where none is named", [
        (AGENT + "skill.rs", "    let said: Vec<String> = task.words().map(str::to_lowercase).collect();", "    let said: Vec<String> = task.words().take(0).map(str::to_lowercase).collect();"),
    ], "harness-agent --lib skill::tests"),
    ("setting steps", "its default is 21", [
        (AGENT + "options.rs", "DEFAULT_STEPS: u32 = 20;", "DEFAULT_STEPS: u32 = 21;"),
    ], DEFAULTS),
    ("setting steps", "a run takes as many turns as it likes", [
        (AGENT + "run/conversation.rs", "    for number in 1..=steps {", "    for number in 1..=steps.max(20) {"),
    ], "test_scenarios.py test_scenario[083_the_step_budget_is_spent]"),
    ("setting max_tokens", "its default is 800", [
        (AGENT + "options.rs", "DEFAULT_MAX_TOKENS: u32 = 700;", "DEFAULT_MAX_TOKENS: u32 = 800;"),
    ], DEFAULTS),
    ("setting max_tokens", "a reply may be longer", [
        (AGENT + "run/talk.rs", "            max_tokens: self.room.reply(),", "            max_tokens: 700.max(self.room.reply()),"),
    ], "accept.py Run::test_steps_bound_the_model_calls"),
    ("setting allow_writes", "its default is false", [
        (AGENT + "options.rs", "            allow_writes: true,", "            allow_writes: false,"),
    ], DEFAULTS),
    ("setting allow_writes", "false is read and has no effect", [
        (AGENT + "run/mod.rs", "    let access = match input.options.allow_writes && !is_question {", "    let access = match !is_question {"),
    ], "test_scenarios.py test_scenario[006_dry_run_shows_and_writes_nothing]"),
    ("setting record", "without one no trace is kept", [
        (AGENT + "record.rs", "            None if options.allow_writes => Place::Project,", "            None if options.keep_no_record => Place::Project,"),
    ], "accept.py Run::test_a_whole_definition_in_a_fence"),
    ("setting record", "the file that is named stays empty", [
        (AGENT + "record.rs", "            Some(file) => Place::File(file.clone()),", "            Some(file) if file.as_os_str().is_empty() => Place::File(file.clone()),\n            Some(_) => Place::Project,"),
    ], "test_agent.py test_turns_are_recorded_in_the_file_that_is_named"),
    ("setting keep_no_record", "true is read and has no effect", [
        (AGENT + "record.rs", "            _ if options.keep_no_record => Place::Nowhere,\n", ""),
    ], "accept.py Run::test_records"),
    ("setting keep_no_record", "its default is true", [
        (AGENT + "options.rs", "            keep_no_record: false,", "            keep_no_record: true,"),
    ], DEFAULTS),
    ("setting on_event", "nobody is called", [
        (PYTHON + "agent.rs", "        listens: options.on_event.is_some(),", "        listens: false,"),
    ], FIXES),
    ("setting on_question", "nobody is called", [
        (PYTHON + "agent.rs", "        answers: options.on_question.is_some(),", "        answers: false,"),
    ], "test_agent.py test_an_answer_is_used"),
    ("result ok", "a run that gave up is ok", [
        (AGENT + "run/log.rs", "        let ok = ending.stopped == Stopped::Done;", "        let ok = ending.stopped != Stopped::Question;"),
    ], "test_scenarios.py test_scenario[083_the_step_budget_is_spent]"),
    ("result summary", "a question is told without its options", [
        (AGENT + "run/strategy/clarify.rs", "Ended::new(Stopped::Question, question.render())", "Ended::new(Stopped::Question, question.text.clone())"),
    ], "test_agent.py test_no_answer_stops_with_the_question"),
    ("result writes", "Python shows none", [
        ("python/harness/_values.py", "    return Result(**{**facts, **made})", "    return Result(**{**facts, **made, \"writes\": ()})"),
    ], FIXES),
    ("result steps", "no turn is kept", [
        (AGENT + "run/log.rs", "        self.history.push(step);\n", "        drop(step);\n"),
    ], "test_agent.py test_every_turn_is_in_the_steps"),
    ("result refusals", "no refusal is kept", [
        (AGENT + "run/log.rs", "        self.history.refuse(refusal.clone());\n", ""),
    ], "test_scenarios.py test_scenario[006_dry_run_shows_and_writes_nothing]"),
    ("result stopped", "a question has another word", [
        (AGENT + "run/result.rs", "    /// The user must choose first.\n", "    /// The user must choose first.\n    #[strum(serialize = \"asked\")]\n    #[serde(rename = \"asked\")]\n"),
    ], "test_agent.py test_no_answer_stops_with_the_question"),
    ("question render", "the options are left out", [
        (AGENT + "question.rs", "            text.push_str(&format!(\"\\n  {}. {option}\", index + 1));", "            let _ = (index, option);"),
    ], "harness-agent --lib task::question::tests"),
    ("question render", "Python shows the bare question", [
        ("python/harness/_values.py", "        \"\"\"The text to show to the user: the question, then its numbered options.\"\"\"\n", "        \"\"\"The text to show to the user: the question, then its numbered options.\"\"\"\n        return self.text\n"),
    ], "test_values.py test_a_question_renders_its_options"),
    ("question answer", "what is answered is forgotten", [
        (AGENT + "run/strategy/clarify.rs", "plan.task.with_answer(&answer)", "plan.task.with_answer(&answer[..0])"),
    ], "test_agent.py test_an_answer_is_used"),
    ("a question ends a run without on_question", "the model is asked instead", [
        (AGENT + "run/strategy/clarify.rs", "        let Some(answer) = answer else {\n", "        let Some(answer) = answer else {\n            if !context.cancel.stopped() {\n                return Outcome::Passed;\n            }\n"),
    ], "test_scenarios.py test_scenario[003_vague_task_is_asked_back]"),
    ("on_question before the model", "the question waits for the model", [
        (AGENT + "run/strategy/clarify.rs", "        let Some(question) = plan.open_question(context.read_only()) else {", "        let Some(question) = plan.open_question(context.read_only()).filter(|_| log.usage.model_calls > 0) else {"),
    ], "test_agent.py test_an_answer_is_used"),
    ("read-only refuses patch", "a patch is let through", [
        (AGENT + "action.rs", "        self.changes_files() || matches!(self, Action::Run { .. })", "        (self.changes_files() && !matches!(self, Action::Patch { .. })) || matches!(self, Action::Run { .. })"),
        (AGENT + "run/act.rs", "        Action::Patch { .. }\n        | Action::Edit { .. }", "        Action::Patch { .. } => Ok(\"patched\".to_owned()),\n        Action::Edit { .. }"),
    ], "harness-agent --test=hidden a_model_elsewhere_is_shown_no_credentials"),
    ("read-only refuses edit", "an edit is let through", [
        (AGENT + "action.rs", "        self.changes_files() || matches!(self, Action::Run { .. })", "        (self.changes_files() && !matches!(self, Action::Edit { .. })) || matches!(self, Action::Run { .. })"),
        (AGENT + "run/act.rs", "        Action::Patch { .. }\n        | Action::Edit { .. }", "        Action::Edit { .. } => Ok(\"edited\".to_owned()),\n        Action::Patch { .. }"),
    ], "accept.py CommandLine::test_ask_refuses_a_write"),
    ("read-only refuses run", "a run of the tests is let through", [
        (AGENT + "action.rs", "        self.changes_files() || matches!(self, Action::Run { .. })", "        self.changes_files()"),
        (AGENT + "run/act.rs", "        | Action::Run { .. }\n        | Action::Ask { .. }", "        | Action::Ask { .. }"),
        (AGENT + "run/act.rs", "        Action::Map { path } => tools::map(tree, door, path),", "        Action::Map { path } => tools::map(tree, door, path),\n        Action::Run { .. } => Ok(\"ran\".to_owned()),"),
    ], "accept.py Library::test_read_only"),
    ("the prompt says read-only", "it does not", [
        (AGENT + "run/prompt/mod.rs", "    if opening.read_only && !opening.answers {", "    if opening.read_only && opening.answers {"),
    ], "test_agent.py test_a_read_only_run_is_told_so_in_its_first_prompt"),
    ("command list", "nothing is printed without arguments", [
        (CLI + "mod.rs", "        text::result(&list::commands(program));\n", "        let _ = list::commands(program);\n"),
    ], "accept.py CommandLine::test_no_arguments_prints_the_command_list"),
    ("command list", "`editors` is not on it", [
        (CLI + "list.rs", "    (\"editors\", \"connects an editor\"),\n", ""),
    ], "harness --lib cli::list::tests"),
    ("command brief", "it shows the layout", [
        (CLI + "mod.rs", "        Command::Brief(arguments) => reports::brief(&arguments),", "        Command::Brief(arguments) => reports::layout(&arguments),"),
    ], "test_demo.py test_its_brief_tells_what_it_is"),
    ("command layout", "it shows the brief", [
        (CLI + "mod.rs", "        Command::Layout(arguments) => reports::layout(&arguments),", "        Command::Layout(arguments) => reports::brief(&arguments),"),
    ], "test_server.py test_the_json_is_that_of_the_command_line"),
    ("command route", "it shows nothing", [
        (CLI + "mod.rs", "        Command::Route(arguments) => reports::route(&arguments),", "        Command::Route(_) => Ok(Exit::Done),"),
    ], "test_server.py test_the_json_is_that_of_the_command_line"),
    ("command ask", "it does what is asked for", [
        (AGENT + "agent.rs", "        self.perform(Job::Answer(self.task(question)), None, listener, cancel)", "        self.perform(Job::Task(self.task(question)), None, listener, cancel)"),
    ], "test_agent.py test_ask_does_nothing_that_it_is_asked_to_do"),
    ("command run", "it never writes", [
        (CLI + "agent.rs", "        allow_writes: !arguments.dry_run,", "        allow_writes: false,"),
    ], "test_demo.py test_the_misspelled_name_is_fixed_without_a_model"),
    ("command serve", "nothing listens", [
        (CLI + "mod.rs", "        Command::Serve(arguments) => agent::serve(&arguments),", "        Command::Serve(_) => Ok(Exit::Done),"),
    ], READING),
    ("command editors", "nothing is written", [
        (CLI + "editors.rs", "        dry_run: arguments.dry_run,", "        dry_run: true,"),
    ], "test_editors.py test_there_and_away"),
    ("bound to 127.0.0.1", "the server listens on every address", [
        (SERVER + "mod.rs", "SocketAddr::from((Ipv4Addr::LOCALHOST, options.port))", "SocketAddr::from((Ipv4Addr::UNSPECIFIED, options.port))"),
    ], "test_server.py test_only_loopback_listens"),
    ("GET /health", "there is no such route", [
        (SERVER + "routes.rs", "        path: \"/health\",", "        path: \"/healthy\","),
    ], READING),
    ("POST /v1/brief", "there is no such route", [
        (SERVER + "routes.rs", "        path: \"/v1/brief\",", "        path: \"/v1/briefly\","),
    ], READING),
    ("POST /v1/layout", "there is no such route", [
        (SERVER + "routes.rs", "        path: \"/v1/layout\",", "        path: \"/v1/layouts\","),
    ], READING),
    ("POST /v1/layout", "an empty object is not enough", [
        ("crates/harness/src/request.rs", "pub(crate) struct ReportInput {\n    /// A subfolder of the project to stay inside.\n    pub(crate) scope: Option<String>,", "pub(crate) struct ReportInput {\n    #[expect(dead_code, reason = \"tried\")]\n    task: String,\n    /// A subfolder of the project to stay inside.\n    pub(crate) scope: Option<String>,"),
    ], READING),
    ("POST /v1/ask", "there is no such route", [
        (SERVER + "routes.rs", "        path: \"/v1/ask\",", "        path: \"/v1/asks\","),
    ], "test_server.py test_the_engine_and_the_check_have_their_statuses"),
    ("POST /v1/ask", "its task is not looked at", [
        (SERVER + "tasks.rs", "        lane: Lane::Reading,\n        task: body.task,", "        lane: Lane::Reading,\n        task: body.task.replace(|_: char| true, \"what is this?\"),"),
    ], "test_server.py test_the_engine_and_the_check_have_their_statuses"),
    ("GET /v1/models", "there is no such route", [
        (SERVER + "routes.rs", "        path: \"/v1/models\",", "        path: \"/v1/model\","),
    ], "test_server.py test_models_are_those_of_the_engine"),
    ("POST /v1/chat/completions", "there is no such route", [
        (SERVER + "routes.rs", "        path: \"/v1/chat/completions\",", "        path: \"/v1/chat/completion\","),
    ], CHAT),
    ("POST /v1/chat/completions", "the reply has a shape of its own", [
        (SERVER + "chat.rs", "                content: result.in_markdown(),", "                content: String::new(),"),
    ], CHAT),
    ("POST /v1/run", "there is no such route", [
        (SERVER + "routes.rs", "        path: \"/v1/run\",", "        path: \"/v1/running\","),
    ], "test_server.py test_a_run_and_its_undo"),
    ("the last user message", "the first one is the task", [
        (SERVER + "chat.rs", "messages.iter().rposition(", "messages.iter().position("),
    ], CHAT),
    ("HARNESS_BASE_URL", "it is not read", [
        (AGENT + "env.rs", "            base_url: text(\"HARNESS_BASE_URL\"),", "            base_url: None,"),
    ], TOKENS),
    ("HARNESS_BASE_URL", "the remote engine does without an address", [
        (AGENT + "model/remote/mod.rs", "        let Some(written) = environment.base_url.as_deref() else {", "        let Some(written) = environment.base_url.as_deref().or(Some(\"https://localhost/v1\")) else {"),
    ], "harness-agent --lib model::remote::tests::what_is_missing_is_said"),
    ("HARNESS_API_KEY", "it is not read", [
        (AGENT + "env.rs", "            api_key: text(\"HARNESS_API_KEY\")\n                .or_else(|| text(\"HF_TOKEN\"))", "            api_key: text(\"HF_TOKEN\")"),
    ], TOKENS),
    ("HARNESS_API_KEY", "the remote engine does without a token", [
        (AGENT + "model/remote/mod.rs", "        self.token.is_none().then(|| {", "        self.token.is_some().then(|| {"),
    ], "harness-agent --lib model::remote::tests::what_is_missing_is_said"),
    ("the hub's token", "it is not read", [
        (AGENT + "env.rs", "                .or_else(|| text(\"HF_TOKEN\"))\n", ""),
    ], TOKENS),
    ("OLLAMA_HOST", "what goes to another machine is not checked", [
        (AGENT + "model/chat/mod.rs", "                outbound::check(request, &body, self.max_send)?;", "                drop(outbound::check(request, &body, self.max_send));"),
    ], LEAVING + "every_kind_is_refused_in_every_place_by_every_engine_that_sends"),
    ("OLLAMA_HOST", "it is not read", [
        (AGENT + "env.rs", "            local_host: text(\"OLLAMA_HOST\"),", "            local_host: None,"),
    ], "test_agent.py test_ask_answers_and_changes_nothing"),
    ("on_event hears progress", "what is heard is not passed on", [
        (PYTHON + "agent.rs", "                caller.tell(&event);\n", "                let _ = &event;\n"),
    ], FIXES),
    ("the first send is told", "nothing is told", [
        (AGENT + "run/talk.rs", "        if first && left {", "        if first && left && characters == 0 {"),
    ], "harness-agent --test=hidden a_model_elsewhere_is_shown_no_credentials"),
    ("the first send is told", "every send is told", [
        (AGENT + "run/talk.rs", "        if first && left {", "        if left {"),
    ], "harness-agent --test=hidden a_model_elsewhere_is_shown_no_credentials"),
    ("403 of /v1/run", "it is done", [
        (SERVER + "work.rs", "            false => Err(writes_disabled()),\n        }\n    }\n}", "            false => Ok(MayWrite),\n        }\n    }\n}"),
    ], REFUSED_FIRST),
    ("403 of /v1/run", "the message does not say how to allow it", [
        (SERVER + "work.rs", "file changes are off on this server: start it with --allow-writes", "file changes are off on this server"),
    ], REFUSED_FIRST),
    ("403 of a chat that writes", "it is done", [
        (SERVER + "chat.rs", "        if turn.writes() && !server.options().allow_writes {", "        if turn.writes() && server.port == 0 {"),
    ], REFUSED_FIRST),
    ("stream is refused", "it is ignored", [
        (SERVER + "chat.rs", "    if body.stream == Some(true) {\n        let message", "    if body.stream == Some(true) && server.port == 0 {\n        let message"),
    ], CHAT),
    ("an AWS access key is not sent", "it is no secret", [
        (AGENT + "secret/tokens.txt", "| AKIA ASIA ABIA ACCA |", "| no-such-key-1 |"),
    ], LEAVING + "every_kind_is_refused_in_every_place_by_every_engine_that_sends"),
    ("an Anthropic key is not sent", "it is no secret", [
        (AGENT + "secret/tokens.txt", "| sk-ant- |", "| no-such-key-1 |"),
    ], LEAVING + "every_kind_is_refused_in_every_place_by_every_engine_that_sends"),
    ("a GitHub token is not sent", "it is no secret", [
        (AGENT + "secret/tokens.txt", "| ghp_ gho_ ghu_ ghr_ |", "| no-such-key-1 |"),
        (AGENT + "secret/tokens.txt", "| ghs_ |", "| no-such-key-2 |"),
        (AGENT + "secret/tokens.txt", "| github_pat_ |", "| no-such-key-3 |"),
    ], LEAVING + "nothing_leaves_that_holds_a_secret"),
    ("a private key is not sent", "it is no secret", [
        (AGENT + "secret/mod.rs", "            literal: \"PRIVATE KEY\",", "            literal: \"no-such-key-1\","),
    ], LEAVING + "every_kind_is_refused_in_every_place_by_every_engine_that_sends"),
    ("the kind of secret is named", "the refusal speaks of a secret", [
        (AGENT + "model/outbound.rs", "        message: format!(\"the prompt holds {name}{place}; nothing was sent\"),", "        message: format!(\"the prompt holds a secret{place}; nothing was sent\").replace(name, \"\"),"),
    ], "harness-agent --lib model::outbound::tests"),
    ("the value is never repeated", "the refusal shows what was found", [
        (AGENT + "model/outbound.rs", "            return Err(secret_found(secret.kind.name, &place));", "            return Err(secret_found(&message.content[secret.range.clone()], &place));"),
    ], LEAVING + "every_kind_is_refused_in_every_place_by_every_engine_that_sends"),
    ("200,000 characters", "the limit is ten times as high", [
        (AGENT + "model/outbound.rs", "DEFAULT_MAX_SEND: u64 = 200_000;", "DEFAULT_MAX_SEND: u64 = 2_000_000;"),
    ], LEAVING + "nothing_leaves_that_holds_a_secret"),
    ("200,000 characters", "what is too long is sent", [
        (AGENT + "model/outbound.rs", "    if characters > limit {", "    if characters > limit && limit == 0 {"),
    ], LEAVING + "nothing_leaves_that_holds_a_secret"),
    ("HARNESS_MAX_SEND", "it is not read", [
        (AGENT + "env.rs", "            max_send: text(\"HARNESS_MAX_SEND\"),", "            max_send: None,"),
    ], "test_agent.py test_how_much_may_leave_is_read_from_the_environment"),
    ("HARNESS_MAX_SEND", "the limit stays what it is", [
        (AGENT + "model/outbound.rs", "        .trim()\n        .replace(['_', ','], \"\")\n        .parse()\n", "        .trim()\n        .replace(['_', ','], \"\")\n        .parse()\n        .map(|_: u64| DEFAULT_MAX_SEND)\n"),
    ], "harness-agent --lib model::outbound::tests"),
    ("a local host is not checked", "the remote engine checks it too", [
        (AGENT + "model/chat/mod.rs", "            if !known.card.host.this_machine {", "            if known.card.host.this_machine {"),
    ], LEAVING + "this_machine_may_hear_everything"),
    ("read-only refusals are recorded", "the model alone hears of them", [
        (AGENT + "run/log.rs", "        self.history.refuse(refusal.clone());\n", "        if refusal.rule != \"write.read_only\" {\n            self.history.refuse(refusal.clone());\n        }\n"),
    ], "accept.py Run::test_dry_run_changes_and_starts_nothing"),
    ("command not found", "the installer does not say how to activate the environment", [
        ("scripts/run/install.py", "        print(\"\\n\".join(f\"    {line}\" for line in activation(python.parent)))\n", ""),
    ], "test_install.py test_at_the_end_it_says_how_to_activate_the_environment"),
]
