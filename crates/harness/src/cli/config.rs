//! `config` and `help`: every setting in force and where it came from, and the help of a command.

use std::path::Path;

use clap::CommandFactory;
use harness_agent::config::{Form, UserConfig};
use harness_agent::env::Environment;
use harness_hands::user;
use serde::Serialize;

use crate::cli::args::{Arguments, HelpArguments, ReportArguments};
use crate::cli::{settings, show};
use crate::exit::Exit;
use crate::show::text::{self, Complaint};

/// One setting in force.
#[derive(Serialize)]
struct Setting {
    name: &'static str,
    value: String,
    /// Where it came from: a flag, a variable of the environment, the config file, or nowhere.
    from: &'static str,
}

const FLAG: &str = "a flag";
const FILE: &str = "the config file";
const DEFAULT: &str = "the default";

/// Shows every setting in force and where it came from.
pub(super) fn config(arguments: &ReportArguments) -> Result<Exit, Complaint> {
    let common = &arguments.common;
    let options = settings::options(arguments.folder.as_deref(), common, None)?;
    options.check()?;
    let file = UserConfig::read()?;
    let environment = Environment::read();
    let either = |name, flag: bool, in_file: bool, value: &str| {
        let said = |is_said: bool| is_said.then(|| value.to_owned());
        setting(name, [(FLAG, said(flag)), (FILE, said(in_file))], value)
    };
    let (engine, model) = (options.engine.name(), options.model.as_str());
    let (steps, max_tokens) = (options.steps.to_string(), options.max_tokens.to_string());
    let mut found = vec![
        either(
            "engine",
            common.engine.is_some(),
            file.engine.is_some(),
            engine,
        ),
        either("model", common.model.is_some(), file.model.is_some(), model),
        either("steps", false, file.steps.is_some(), &steps),
        either("max_tokens", false, file.max_tokens.is_some(), &max_tokens),
    ];
    found.extend(of_environment(&file, &environment));
    found.extend(of_file(&file, &options.project));
    let path = user::config_folder().map(|folder| folder.join("config.toml"));
    let path = path.map_or(String::new(), |path| path.display().to_string());
    let is_there = !path.is_empty() && Path::new(&path).is_file();
    let value = serde_json::json!({"file": path, "found": is_there, "settings": found});
    show(common, &value, || {
        let widest = found.iter().map(|one| one.name.len()).max().unwrap_or(0);
        let rows = found.iter().map(|one| {
            let Setting { name, value, from } = one;
            let value = if value.is_empty() { "-" } else { value };
            format!("{name:widest$}  {value}  ({from})\n")
        });
        let told = match (path.as_str(), is_there) {
            ("", _) => "none, as no home folder is known",
            (path, true) => path,
            (path, false) => &format!("{path}, which is not there"),
        };
        format!("{}\nconfig file: {told}\n", rows.collect::<String>())
    })
}

/// Returns a setting as the first says it that says something, or as it usually is.
fn setting<const N: usize>(
    name: &'static str,
    said: [(&'static str, Option<String>); N],
    usual: &str,
) -> Setting {
    let mut said = said.into_iter();
    let said = said.find_map(|(from, value)| Some((from, value?)));
    let (from, value) = said.unwrap_or_else(|| (DEFAULT, usual.to_owned()));
    Setting { name, value, from }
}

/// Returns what the environment and then the file decide.
fn of_environment(file: &UserConfig, environment: &Environment) -> [Setting; 3] {
    let host = ("OLLAMA_HOST", environment.local_host.clone());
    let base = environment.base_url.as_deref().map(without_login);
    let base = ("HARNESS_BASE_URL", base);
    let base_in_file = file.base_url.as_deref().map(without_login);
    let limit = ("HARNESS_MAX_SEND", environment.max_send.clone());
    let limit_in_file = file.max_send.map(|limit| limit.to_string());
    [
        setting(
            "local_host",
            [host, (FILE, file.local_host.clone())],
            "127.0.0.1:11434",
        ),
        setting("base_url", [base, (FILE, base_in_file)], ""),
        setting("max_send", [limit, (FILE, limit_in_file)], "200000"),
    ]
}

/// Returns an address without the name and the password that it may hold.
fn without_login(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let end = rest.find('/').unwrap_or(rest.len());
    let host = rest[..end].rfind('@').map_or(0, |at| at + 1);
    let sign = if scheme.is_empty() { "" } else { "://" };
    format!("{scheme}{sign}{}", &rest[host..])
}

/// Returns what only the file decides.
fn of_file(file: &UserConfig, project: &Path) -> Vec<Setting> {
    let one = |name, value: Option<String>, usual: &str| setting(name, [(FILE, value)], usual);
    let listed = |items: Vec<String>| (!items.is_empty()).then(|| items.join(", "));
    let form = file.form.map(|form| match form {
        Form::Fenced => "fenced",
        Form::Actions => "actions",
        Form::Json => "json",
    });
    let readable = file.test_readable.iter();
    let readable = readable.map(|path| path.display().to_string()).collect();
    let folder = std::fs::canonicalize(project).unwrap_or_default();
    let tests = file.test_command(&folder).map(|words| words.join(" "));
    let seconds = |seconds: Option<u64>| seconds.map(|seconds| seconds.to_string());
    vec![
        one(
            "form",
            form.map(str::to_owned),
            "as task and engine ask for",
        ),
        one("search", file.search.map(|yes| yes.to_string()), "true"),
        one("test_seconds", seconds(file.test_seconds), "600"),
        one(
            "test_seconds_each",
            seconds(file.test_seconds_each),
            "ten times the usual, at least 10",
        ),
        one("test_readable", listed(readable), ""),
        one("test_variables", listed(file.test_variables.clone()), ""),
        one("never_show", listed(file.never_show.clone()), ""),
        one("tests of this project", tests, "told from its files"),
    ]
}

/// Shows the help of a command, or of all.
pub(super) fn help(arguments: &HelpArguments, program: &str) -> Result<Exit, Complaint> {
    let mut all = Arguments::command().bin_name(program.to_owned());
    all.build();
    let Some(name) = &arguments.command else {
        text::result(&all.render_help().to_string());
        return Ok(Exit::Done);
    };
    let Some(command) = all.find_subcommand_mut(name) else {
        let message = format!("there is no command `{name}`");
        return Err(Complaint::usage(
            message,
            format!("`{program}` alone lists the commands"),
        ));
    };
    text::result(&command.render_help().to_string());
    Ok(Exit::Done)
}
