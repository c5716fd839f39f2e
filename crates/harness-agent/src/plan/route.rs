//! What `route` shows of a plan, to programs and to people.

use harness_code::locate::{DefinitionHit, FileHit, Located};
use harness_code::mention::Mentions;
use schemars::JsonSchema;
use serde::Serialize;
use strum::IntoStaticStr;

use crate::plan::{FEW_NAMED, SHORT_TASK};
use crate::question::Question;
use crate::secret;
use harness_code::request::Request;

/// The cheapest way that may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Rung {
    /// The user must choose first.
    Question,
    /// A certain fix, no model.
    Fix,
    /// One definition, written anew by the model.
    Rewrite,
    /// Turn by turn, with tools.
    Loop,
    /// An answer, nothing changes.
    Answer,
}

impl Rung {
    /// Returns the word that people are shown.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One thing that a task asks for.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct PlannedGoal {
    /// What it is, in the words of the task.
    pub text: String,
}

/// A fix that needs no model.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct PlannedFix {
    /// What kind of fix it is.
    pub kind: String,
    /// The change as a unified diff.
    pub diff: String,
}

/// Where a task would lead, before anything happens.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Route {
    /// What the task asks for.
    pub kind: &'static str,
    /// What the task asks for, one by one.
    pub goals: Vec<PlannedGoal>,
    /// Whether it would change files.
    pub writes: bool,
    /// The cheapest way that may do.
    pub rung: Rung,
    /// What the user must choose first.
    pub question: Option<Question>,
    /// A fix that needs no model.
    pub fix: Option<PlannedFix>,
    /// Files that the task may be about, best first.
    pub files: Vec<FileHit>,
    /// Definitions that the task may be about, best first.
    pub definitions: Vec<DefinitionHit>,
    /// Skills that would be loaded.
    pub skills: Vec<String>,
    /// The model that would be asked, or a suggestion of its size.
    pub model: String,
    /// How long the first prompt would be, about.
    pub prompt_tokens: u64,
    /// Files of which the first prompt shows something.
    #[serde(skip)]
    pub shown: Vec<String>,
    /// The way, in words.
    #[serde(skip)]
    pub(crate) way: &'static str,
}

impl Route {
    /// Returns it as text for a person.
    pub fn render(&self, width: usize) -> String {
        let mut text = format!(
            "kind     {}{}\n",
            self.kind,
            if self.writes { ", changes files" } else { "" }
        );
        text.push_str(&format!("way      {} ({})\n", self.rung.name(), self.way));
        if !matches!(self.rung, Rung::Question | Rung::Fix) {
            text.push_str(&format!(
                "model    {}, about {} tokens in the first prompt\n",
                self.model, self.prompt_tokens
            ));
        }
        if !self.skills.is_empty() {
            text.push_str(&format!("skills   {}\n", self.skills.join(", ")));
        }
        if let Some(question) = &self.question {
            text.push_str(&format!(
                "question {}\n",
                question.render().replace('\n', "\n         ")
            ));
        }
        if let Some(fix) = &self.fix {
            text.push_str(&format!("fix      {}\n{}", fix.kind, fix.diff));
        }
        let definitions = self.definitions.iter().map(|hit| {
            let place = format!("{}:{} {}", hit.path, hit.line, hit.name);
            (place, hit.why.as_str())
        });
        section(&mut text, "definitions", definitions, width);
        let files = self.files.iter();
        let files = files.map(|hit| (hit.path.to_string(), hit.why.as_str()));
        section(&mut text, "files", files, width);
        text
    }
}

/// Rows of a section that a person is shown.
const MOST_ROWS: usize = 5;

fn section<'a>(
    text: &mut String,
    title: &str,
    rows: impl Iterator<Item = (String, &'a str)>,
    width: usize,
) {
    let rows: Vec<(String, &str)> = rows.take(MOST_ROWS).collect();
    if rows.is_empty() {
        return;
    }
    text.push_str(&format!("\n{title}\n"));
    let widths = rows.iter().map(|(place, _)| place.chars().count());
    let widest = widths.max().unwrap_or(0);
    for (place, why) in rows {
        if widest + 6 + 40 > width {
            // Deeper would be code, which no terminal of ours breaks.
            text.push_str(&format!("  {place}\n   {why}\n"));
        } else {
            let room = width.saturating_sub(widest + 4);
            let why: String = why.chars().take(room).collect();
            text.push_str(&format!("  {place:widest$}  {why}\n"));
        }
    }
}

pub(super) fn goals(task: &Request) -> Vec<PlannedGoal> {
    let goals = task.orders().into_iter().map(|order| order.goal());
    let planned = |text: String| PlannedGoal {
        text: secret::redact(&text).into_owned(),
    };
    goals.map(planned).collect()
}

/// Returns the definitions that a task may be about: what a short one names comes first, here as in a prompt.
pub(super) fn definitions(
    task: &Request,
    mentions: &Mentions,
    located: &Located,
) -> Vec<DefinitionHit> {
    let is_short = mentions.definitions.len() <= FEW_NAMED && task.text().len() <= SHORT_TASK;
    let named = mentions.definitions.iter().filter(|_| is_short);
    let mut all: Vec<DefinitionHit> = named
        .map(|hit| DefinitionHit {
            path: hit.path.clone(),
            name: hit.qualified.clone(),
            line: hit.line,
            score: 1.0,
            why: "the task names it".to_owned(),
        })
        .collect();
    for hit in &located.definitions {
        let is_same = |one: &&mut DefinitionHit| {
            (&one.path, &one.name, one.line) == (&hit.path, &hit.name, hit.line)
        };
        match all.iter_mut().find(is_same) {
            Some(known) => known.why.clone_from(&hit.why),
            None => all.push(hit.clone()),
        }
    }
    all
}
