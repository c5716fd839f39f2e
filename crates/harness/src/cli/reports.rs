//! `brief`, `layout`, `route`: what is known without a model. They write nothing.

use std::path::Path;

use harness_agent::Agent;
use harness_agent::env::Environment;

use crate::cli::args::{
    CommonArguments, FindingFormat, LayoutArguments, ReportArguments, RouteArguments,
};
use crate::cli::progress::while_reading;
use crate::cli::{output, settings, show};
use crate::exit::Exit;
use crate::show::text::{self, Complaint};
use crate::show::{annotations, findings, json};

/// Prints the brief.
pub(super) fn brief(arguments: &ReportArguments) -> Result<Exit, Complaint> {
    let agent = agent(arguments.folder.as_deref(), &arguments.common)?;
    let brief = while_reading(&arguments.common, || agent.brief())?;
    show(&arguments.common, &brief, || {
        brief.render_for_person(text::width())
    })
}

/// Prints the layout.
pub(super) fn layout(arguments: &LayoutArguments) -> Result<Exit, Complaint> {
    let common = &arguments.common;
    let project = settings::project(arguments.folder.as_deref(), common)?;
    let agent = agent(arguments.folder.as_deref(), common)?;
    let layout = while_reading(common, || agent.layout())?;
    let workflow = Environment::read().workflow;
    let named = |path: &str| match &workflow {
        Some(workflow) => annotations::in_repository(workflow, &project, path),
        None => path.to_owned(),
    };
    let report = match arguments.format {
        None | Some(FindingFormat::Text) => None,
        Some(FindingFormat::Json) => Some(json::document(&layout)),
        Some(FindingFormat::Sarif) => Some(json::document(&findings::sarif(&layout, &named))),
        Some(FindingFormat::Junit) => Some(findings::junit(&layout, &named)),
    };
    match report {
        Some(report) => {
            text::bytes(report.as_bytes());
            output::write_text(common, || report)?;
        }
        None => {
            show(common, &layout, || layout.render_for_person(text::width()))?;
        }
    }
    annotations::print(&project, &annotations::of_layout(&layout));
    let fails = |limit: u32| layout.findings.iter().any(|one| one.weight >= limit);
    Ok(match arguments.fail_at.is_some_and(fails) {
        true => Exit::Failed,
        false => Exit::Done,
    })
}

/// Prints what would happen to a task.
pub(super) fn route(arguments: &RouteArguments) -> Result<Exit, Complaint> {
    let (folder, task) = settings::folder_and_task(&arguments.words, "task")?;
    let agent = agent(folder.as_deref(), &arguments.common)?;
    let plan = while_reading(&arguments.common, || agent.route(&task))?;
    show(&arguments.common, &plan, || plan.render(text::width()))
}

fn agent(folder: Option<&Path>, common: &CommonArguments) -> Result<Agent, Complaint> {
    let options = settings::options(folder, common, None)?;
    settings::warn_of_width(&options.project, common, false);
    Ok(Agent::new(options))
}
