//! The words of the command line: every command and option, as clap reads them and help shows them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// A coding agent for one project folder, on your own machine.
#[derive(Debug, Parser)]
#[command(
    name = "harness",
    version,
    disable_help_subcommand = true,
    max_term_width = 100
)]
#[command(
    after_help = "Run `harness` alone for a short list, `harness COMMAND --help` for one command."
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands, in the order that help shows them.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what the project is, on one screen
    Brief(ReportArguments),
    /// Show what makes the project hard to read, worst first
    Layout(LayoutArguments),
    /// Show what would happen to a task, without doing it
    #[command(override_usage = "harness route [OPTIONS] [DIR] TASK")]
    Route(RouteArguments),
    /// Answer a question about the project; never changes files
    #[command(override_usage = "harness ask [OPTIONS] [DIR] QUESTION")]
    Ask(AskArguments),
    /// Do a task: change files inside the folder, then run the project's tests
    #[command(override_usage = "harness run [OPTIONS] [DIR] TASK")]
    Run(RunArguments),
    /// Run the project's tests in the sandbox, as a run would
    Test(TestArguments),
    /// Talk: each line is a task or a question, read in the light of the last ones
    Chat(ChatArguments),
    /// Start the HTTP server on 127.0.0.1
    Serve(ServeArguments),
    /// Speak the Model Context Protocol on standard input and output
    Mcp(McpArguments),
    /// Speak the Agent Client Protocol on standard input and output
    Acp(AcpArguments),
    /// Write the files that connect an editor; alone, list the editors
    Editors(EditorsArguments),
    /// Take a run back, byte for byte
    Undo(UndoArguments),
    /// Show the latest runs, or tell the story of one
    Last(LastArguments),
    /// Write what a dry run or a run that took its change back proposed
    Apply(ApplyArguments),
    /// Make an environment outside the project in which its tests run, after asking
    Prepare(PrepareArguments),
    /// Remove the `.bak` files that runs left, after listing them
    Clean(CleanArguments),
    /// Apply what a run recorded and judge it again, without a model
    Replay(ReplayArguments),
    /// List the models that the engine has, their sizes and what fits this machine
    Models(ModelsArguments),
    /// Check this machine: engine, sandbox, folders
    Doctor(DoctorArguments),
    /// Show every setting in force and where it came from
    Config(ReportArguments),
    /// Show how a command is used
    Help(HelpArguments),
    /// Print completions for a shell
    Completions(CompletionsArguments),
    /// Print a manual page
    Man(ManArguments),
}

/// Options that every command on a project takes; without effect where no model or trace is involved.
#[derive(Args, Clone, Debug, Default)]
pub struct CommonArguments {
    /// The project folder [default: this folder]
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Stay inside this subfolder
    #[arg(long, value_name = "DIR")]
    pub scope: Option<String>,
    /// Print one JSON document on stdout
    #[arg(long)]
    pub json: bool,
    /// Also write the result to this file, as JSON; whole or not at all
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Also show tool results
    #[arg(short = 'v', long)]
    pub verbose: bool,
    /// Show only the result
    #[arg(short = 'q', long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// The model [default: qwen3:8b]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Where the model runs: local, on-device or remote [default: local]
    #[arg(long, value_name = "ENGINE")]
    pub engine: Option<String>,
    /// Write no trace
    #[arg(long)]
    pub no_record: bool,
}

/// Options of the commands that call a model.
#[derive(Args, Clone, Debug, Default)]
pub struct ModelArguments {
    /// Load this skill (repeatable); without it the task picks
    #[arg(long = "skill", value_name = "NAME")]
    pub skills: Vec<String>,
    /// The most model turns [default: 20]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub steps: Option<u32>,
    /// The longest reply, in tokens [default: 700]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_tokens: Option<u32>,
    /// Append redacted turns to this file [default: .harness/traces.jsonl in the project]
    #[arg(long, value_name = "FILE", conflicts_with = "no_record")]
    pub record: Option<PathBuf>,
}

/// `brief` and `config`.
#[derive(Args, Debug)]
pub struct ReportArguments {
    /// The project folder [default: this folder]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Options of every project command.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// `layout`.
#[derive(Args, Debug)]
pub struct LayoutArguments {
    /// The project folder [default: this folder]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// How the findings are printed, and written to the file of --output
    #[arg(long, value_name = "FORMAT", value_enum, conflicts_with = "json")]
    pub format: Option<FindingFormat>,
    /// Exit 1 when a finding weighs this much or more (1 to 100)
    #[arg(long, value_name = "WEIGHT", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub fail_at: Option<u32>,
    /// Options of every project command.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// The formats of findings.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingFormat {
    /// For a person.
    Text,
    /// What --json prints.
    Json,
    /// SARIF 2.1.0, as code scanning reads it.
    Sarif,
    /// A JUnit report, as CI servers read it.
    Junit,
}

/// `route`.
#[derive(Args, Debug)]
pub struct RouteArguments {
    /// The project folder, when it is not this one, then the task; `-` reads it from standard input
    #[arg(value_name = "TASK", num_args = 1.., required = true)]
    pub words: Vec<OsString>,
    /// Options of every project command.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// `ask`.
#[derive(Args, Debug)]
pub struct AskArguments {
    /// The project folder, when it is not this one, then the question; `-` reads it from standard input
    #[arg(value_name = "QUESTION", num_args = 1.., required = true)]
    pub words: Vec<OsString>,
    /// Options of every project command.
    #[command(flatten)]
    pub common: CommonArguments,
    /// Options of the commands that call a model.
    #[command(flatten)]
    pub model: ModelArguments,
}

/// `run`.
#[derive(Args, Debug)]
pub struct RunArguments {
    /// The project folder, when it is not this one, then the task; `-` reads it from standard input
    #[arg(value_name = "TASK", num_args = 1.., required = true)]
    pub words: Vec<OsString>,
    /// Refuse every change and run nothing; show what would change
    #[arg(long)]
    pub dry_run: bool,
    /// Refuse to run the tests where no sandbox can be had
    #[arg(long)]
    pub require_sandbox: bool,
    /// Leave unproven changes on disk where they made nothing worse
    #[arg(long)]
    pub keep: bool,
    /// Show the change and ask before it is kept; where nobody can be asked, exit 3
    #[arg(long)]
    pub ask: bool,
    /// Show long changes without a pager
    #[arg(long)]
    pub no_pager: bool,
    /// Commit exactly what the run wrote; nothing that the repository configures is started
    #[arg(long, conflicts_with = "dry_run")]
    pub commit: bool,
    /// Stop after so many seconds, with files whole
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub seconds: Option<u32>,
    /// Show this file of the project to the model, whatever it holds; can be repeated
    #[arg(long, value_name = "PATH")]
    pub file: Vec<PathBuf>,
    /// How the tests are run.
    #[command(flatten)]
    pub suite: SuiteArguments,
    /// Options of every project command.
    #[command(flatten)]
    pub common: CommonArguments,
    /// Options of the commands that call a model.
    #[command(flatten)]
    pub model: ModelArguments,
}

/// How the project's tests are run this time.
#[derive(Args, Debug, Default)]
pub struct SuiteArguments {
    /// Run the tests with this Python [default: the first that has what they need]
    #[arg(long, value_name = "PATH")]
    pub python: Option<PathBuf>,
    /// Run the tests with this command; no shell reads it [default: what the project's files tell]
    #[arg(long, value_name = "CMD")]
    pub test_command: Option<String>,
}

/// `prepare`.
#[derive(Args, Debug)]
pub struct PrepareArguments {
    /// The project folder [default: this folder]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Do it without asking
    #[arg(long)]
    pub yes: bool,
    /// Remove what was prepared for this project
    #[arg(long, conflicts_with = "yes")]
    pub remove: bool,
    /// Make the environment with this Python [default: the one that the project asks for, or the first on the PATH]
    #[arg(long, value_name = "PATH")]
    pub python: Option<PathBuf>,
    /// Options of every project command.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// `test`.
#[derive(Args, Debug)]
pub struct TestArguments {
    /// The tests to run: ids, files, folders or names [default: all of them]; a project folder may come first (`.`, `/path/to/it`)
    #[arg(value_name = "TEST")]
    pub tests: Vec<String>,
    /// Refuse to run the tests where no sandbox can be had
    #[arg(long)]
    pub require_sandbox: bool,
    /// How the tests are run.
    #[command(flatten)]
    pub suite: SuiteArguments,
    /// Options of every project command.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// `chat`.
#[derive(Args, Debug)]
pub struct ChatArguments {
    /// The project folder [default: this folder]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Take up the last conversation about this project
    #[arg(long)]
    pub resume: bool,
    /// Show each change and ask before it is kept
    #[arg(long)]
    pub ask: bool,
    /// Show long changes without a pager
    #[arg(long)]
    pub no_pager: bool,
    /// Show this file of the project to the model, whatever it holds; can be repeated
    #[arg(long, value_name = "PATH")]
    pub file: Vec<PathBuf>,
    /// Options of every project command.
    #[command(flatten)]
    pub common: CommonArguments,
    /// Options of the commands that call a model.
    #[command(flatten)]
    pub model: ModelArguments,
}

/// `serve`.
#[derive(Args, Debug)]
pub struct ServeArguments {
    /// The port to listen on; 0 picks a free one
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = crate::server::DEFAULT_PORT)]
    pub port: u16,
    /// Permit file changes
    #[arg(long)]
    pub allow_writes: bool,
    /// Require this bearer token from clients
    #[arg(long, value_name = "TOKEN")]
    pub token: Option<String>,
    /// Options of every project command.
    #[command(flatten)]
    pub common: CommonArguments,
    /// Options of the commands that call a model.
    #[command(flatten)]
    pub model: ModelArguments,
}

/// `mcp`.
#[derive(Args, Debug)]
pub struct McpArguments {
    /// The project folder [default: this folder]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Offer the tools that change files and run the project's tests
    #[arg(long)]
    pub allow_writes: bool,
    /// Options of every project command.
    #[command(flatten)]
    pub common: CommonArguments,
    /// Options of the commands that call a model.
    #[command(flatten)]
    pub model: ModelArguments,
}

/// `acp`.
#[derive(Args, Debug)]
pub struct AcpArguments {
    /// The one project that is served [default: the folder of each session]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Options of every project command.
    #[command(flatten)]
    pub common: CommonArguments,
    /// Options of the commands that call a model.
    #[command(flatten)]
    pub model: ModelArguments,
}

/// `editors`.
#[derive(Args, Debug)]
pub struct EditorsArguments {
    /// The editor; without it the names are listed
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Let the written configuration permit file changes
    #[arg(long)]
    pub allow_writes: bool,
    /// Show what would be written, write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Take out what was put in
    #[arg(long)]
    pub remove: bool,
    /// Say whether what was put in still works; without NAME, for every editor
    #[arg(long, conflicts_with_all = ["allow_writes", "dry_run", "remove"])]
    pub check: bool,
    /// Options of every project command.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// `undo`.
#[derive(Args, Debug)]
pub struct UndoArguments {
    /// The run to take back [default: the latest]
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Restore even where a file has changed since
    #[arg(long)]
    pub force: bool,
    /// Options of every project command.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// `last`.
#[derive(Args, Debug)]
pub struct LastArguments {
    /// The run to tell of; without it the latest are listed
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Print a commit message for the run, or for the latest that changed something
    #[arg(long)]
    pub commit_message: bool,
    /// Options of every project command.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// `apply`.
#[derive(Args, Debug)]
pub struct ApplyArguments {
    /// The run whose change is to be written
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Leave it on disk unproven, where it makes nothing worse
    #[arg(long)]
    pub keep: bool,
    /// Options of every project command.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// `clean`.
#[derive(Args, Debug)]
pub struct CleanArguments {
    /// The project folder [default: this folder]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Remove without asking
    #[arg(long)]
    pub yes: bool,
    /// Also caches, prepared environments, kept proposals and downloaded weights
    #[arg(long)]
    pub all: bool,
    /// Options of every project command.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// `replay`.
#[derive(Args, Debug)]
pub struct ReplayArguments {
    /// The run to judge again
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Options of every project command.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// `models`.
#[derive(Args, Debug)]
pub struct ModelsArguments {
    /// Options of every project command.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// `doctor`.
#[derive(Args, Debug)]
pub struct DoctorArguments {
    /// Run the project's tests too, as a run would
    #[arg(long)]
    pub tests: bool,
    /// Options of every project command.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// `help`.
#[derive(Args, Debug)]
pub struct HelpArguments {
    /// The command; without it all of them
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}

/// `completions`.
#[derive(Args, Debug)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
}

/// `man`.
#[derive(Args, Debug)]
pub struct ManArguments {
    /// The command; without it the page of the program
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}

/// The shells that completions exist for.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// GNU bash.
    Bash,
    /// The Z shell.
    Zsh,
    /// The friendly shell.
    Fish,
    /// PowerShell.
    #[value(name = "powershell", alias = "pwsh")]
    PowerShell,
    /// Nushell.
    #[value(name = "nushell", alias = "nu")]
    Nushell,
}
