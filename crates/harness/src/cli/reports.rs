//! `brief`, `layout`, `route`: what is known without a model. They write nothing.

use harness_agent::Agent;

use crate::cli::args::{ReportArguments, RouteArguments};
use crate::cli::{settings, show};
use crate::exit::Exit;
use crate::show::text::{self, Complaint};

/// Prints the brief.
pub(super) fn brief(arguments: &ReportArguments) -> Result<Exit, Complaint> {
    let brief = agent(arguments)?.brief()?;
    show(&arguments.common, &brief, || {
        brief.render_for_person(text::width())
    });
    Ok(Exit::Done)
}

/// Prints the layout.
pub(super) fn layout(arguments: &ReportArguments) -> Result<Exit, Complaint> {
    let layout = agent(arguments)?.layout()?;
    show(&arguments.common, &layout, || {
        layout.render_for_person(text::width())
    });
    Ok(Exit::Done)
}

/// Prints what would happen to a task.
pub(super) fn route(arguments: &RouteArguments) -> Result<Exit, Complaint> {
    let (folder, task) = settings::folder_and_task(&arguments.words, "task")?;
    let project = settings::project(folder.as_deref(), &arguments.common)?;
    settings::warn_of_width(&project, &arguments.common, false);
    let plan = Agent::new(settings::options(project, &arguments.common, None)?).route(&task)?;
    show(&arguments.common, &plan, || plan.render(text::width()));
    Ok(Exit::Done)
}

fn agent(arguments: &ReportArguments) -> Result<Agent, Complaint> {
    let project = settings::project(arguments.folder.as_deref(), &arguments.common)?;
    settings::warn_of_width(&project, &arguments.common, false);
    Ok(Agent::new(settings::options(
        project,
        &arguments.common,
        None,
    )?))
}
