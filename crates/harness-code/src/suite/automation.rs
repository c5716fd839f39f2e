//! What tox and nox install for tests: read from their files, which are never run.

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, ExprCall, Stmt};
use toml::{Table, Value};

use crate::path::RelPath;
use crate::suite::manifest::{distribution, ini, inside, strings, texts};
use crate::text::is_among;

/// One thing to install.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asked {
    /// A requirement, as pip reads it.
    Package(String),
    /// A file of requirements.
    File(RelPath),
    /// A file of versions to keep to.
    Constraints(RelPath),
    /// An extra of the project.
    Extra(String),
    /// A dependency group of the project.
    Group(String),
}

/// Returns what tox installs where it runs tests: from its own files, or from its part of the project's.
pub(super) fn tox(text: &dyn Fn(&str) -> Option<String>, pyproject: &Table) -> Vec<Asked> {
    let within = inside(pyproject, "tool.tox.legacy_tox_ini").and_then(Value::as_str);
    let inis = [
        text("tox.ini"),
        text("setup.cfg"),
        within.map(str::to_owned),
    ];
    let own: Option<Table> = text("tox.toml").and_then(|text| text.parse().ok());
    let own = own
        .as_ref()
        .and_then(|own| inside(own, "env_run_base"))
        .or_else(|| inside(pyproject, "tool.tox.env_run_base"));
    let listed = |key: &str| -> Vec<String> {
        let lines = inis.iter().flatten();
        let lines = lines.flat_map(|text| ini(text, "testenv", key));
        let own = own.and_then(Value::as_table).and_then(|own| own.get(key));
        // `py39: mock` holds for some environments only, `{[base]deps}` stands elsewhere.
        let lines = lines.chain(strings(own));
        let lines = lines.map(|line| line.replace("{toxinidir}/", "").replace("{tox_root}/", ""));
        lines
            .filter(|line| !line.contains(": ") && !line.contains('{'))
            .collect()
    };
    let names = |key: &str| -> Vec<String> {
        let lines = listed(key).into_iter();
        let names = lines.flat_map(|line| line.split(',').map(name).collect::<Vec<_>>());
        names.flatten().collect()
    };
    let deps = listed("deps");
    let deps = deps.iter().flat_map(|line| asked(line));
    deps.chain(names("extras").into_iter().map(Asked::Extra))
        .chain(names("dependency_groups").into_iter().map(Asked::Group))
        .collect()
}

/// Returns what the sessions of a `noxfile.py` that speak of tests install by words that stand there.
pub(super) fn nox(text: &str) -> Vec<Asked> {
    let Ok(module) = ruff_python_parser::parse_module(text) else {
        return Vec::new();
    };
    let mut calls = Calls(Vec::new());
    for statement in &module.syntax().body {
        if let Stmt::FunctionDef(session) = statement
            && session.name.contains("test")
        {
            calls.visit_body(&session.body);
        }
    }
    calls.0
}

struct Calls(Vec<Asked>);

impl Visitor<'_> for Calls {
    fn visit_expr(&mut self, expression: &Expr) {
        if let Expr::Call(call) = expression
            && let Expr::Attribute(attribute) = &*call.func
            && attribute.attr.as_str() == "install"
        {
            self.0.extend(installed(call));
        }
        walk_expr(self, expression);
    }
}

/// Options of pip that take the next word.
const OPTIONS: &str = "-r -c -e --requirement --constraint --editable";
const FLAGS: &str = "-U --upgrade -q --quiet --pre";

fn installed(call: &ExprCall) -> Vec<Asked> {
    // What is no text holds its place, so that the option before it takes nothing else.
    let words = call.arguments.args.iter().flat_map(|one| match texts(one) {
        none if none.is_empty() => vec![String::new()],
        some => some,
    });
    let mut words = words.filter(|word| !is_among(FLAGS, word));
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        if is_among(OPTIONS, &word) {
            let named = words.next().unwrap_or_default();
            found.extend(asked(&format!("{word} {named}")));
        } else if word.starts_with('-') {
            // It may make the word after it something else.
            return Vec::new();
        } else {
            found.extend(asked(&word));
        }
    }
    found
}

/// Reads one line of what pip is given.
fn asked(line: &str) -> Vec<Asked> {
    let line = line.trim();
    let behind = |options: [&str; 2]| {
        let mut rests = options
            .iter()
            .filter_map(|option| line.strip_prefix(option));
        rests.next().map(|rest| rest.trim_start_matches(['=', ' ']))
    };
    let path = |name: &str| RelPath::parse(name.trim_start_matches("./")).ok();
    if let Some(name) = behind(["-r", "--requirement"]) {
        return path(name).map(Asked::File).into_iter().collect();
    }
    if let Some(name) = behind(["-c", "--constraint"]) {
        return path(name).map(Asked::Constraints).into_iter().collect();
    }
    let line = behind(["-e", "--editable"]).unwrap_or(line);
    if let Some(extras) = line
        .strip_prefix(".[")
        .and_then(|rest| rest.strip_suffix(']'))
    {
        let names = extras.split(',').filter_map(name);
        return names.map(Asked::Extra).collect();
    }
    let required = line.split(';').next().unwrap_or_default().trim();
    let has_more = required.contains(" -") || line.contains("://");
    let is_package = distribution(required).is_some() && !has_more;
    let package = is_package.then(|| Asked::Package(line.to_owned()));
    package.into_iter().collect()
}

/// Returns the name of an extra or a group, where it is one.
fn name(text: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name = text.trim();
    let is_name =
        name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_plain);
    is_name.then(|| name.to_owned())
}
