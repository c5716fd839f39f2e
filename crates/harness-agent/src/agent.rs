//! The agent: settings, and the calls that every door makes.

use harness_code::locate::Noted;
use harness_code::report::brief::Brief;
use harness_code::report::layout::Layout;
use harness_code::suite::{self, SuiteEnvironment};
use harness_code::tree::{SourceTree, TreeError};

use crate::cancel::Cancel;
use crate::config::UserConfig;
use crate::env::Environment;
use crate::model::Model;
use crate::options::{AgentOptions, OptionsError};
use crate::plan::Plan;
use crate::run::event::Listener;
use crate::run::result::RunResult;
use crate::run::{self, Order, Wish};
use crate::task::Task;

/// A coding agent that works on one project folder.
#[derive(Clone, Debug)]
pub struct Agent {
    options: AgentOptions,
    environment: Environment,
    config: Result<UserConfig, OptionsError>,
}

impl Agent {
    /// Returns an agent with these settings and this process's environment. Nothing is checked yet.
    pub fn new(options: AgentOptions) -> Agent {
        let config = UserConfig::read();
        let read = Environment::read();
        let environment = match &config {
            Ok(config) => config.complete(read),
            Err(_) => read,
        };
        Agent {
            options,
            environment,
            config,
        }
    }

    /// Returns the same agent, called by this Python: its packages may hold a runtime for models on this machine.
    pub fn called_by(mut self, python: std::path::PathBuf) -> Agent {
        self.environment.python = Some(python);
        self
    }

    /// Returns the settings.
    pub fn options(&self) -> &AgentOptions {
        &self.options
    }

    /// Performs a task. An error means that a setting cannot be used; everything else is in the result.
    pub fn run(
        &self,
        task: Option<&str>,
        listener: &mut dyn Listener,
        cancel: &Cancel,
    ) -> Result<RunResult, OptionsError> {
        self.perform(Wish::Done, task, listener, cancel, None)
    }

    /// Answers a question; never changes a file.
    pub fn ask(
        &self,
        question: Option<&str>,
        listener: &mut dyn Listener,
        cancel: &Cancel,
    ) -> Result<RunResult, OptionsError> {
        self.perform(Wish::Answer, question, listener, cancel, None)
    }

    /// Performs a task with a model of the caller's own.
    pub fn run_with(
        &self,
        model: Box<dyn Model>,
        task: &str,
        listener: &mut dyn Listener,
        cancel: &Cancel,
    ) -> Result<RunResult, OptionsError> {
        self.perform(Wish::Done, Some(task), listener, cancel, Some(model))
    }

    /// Applies what a run recorded and judges it again, without a model.
    pub fn replay(
        &self,
        run: &str,
        listener: &mut dyn Listener,
        cancel: &Cancel,
    ) -> Result<RunResult, OptionsError> {
        let config = &self.config.clone()?;
        run::perform(Order {
            options: &self.options,
            environment: &self.environment,
            config,
            wish: Wish::Done,
            task: "",
            listener,
            cancel,
            model: None,
            replay: Some(run.to_owned()),
        })
    }

    /// Returns what the project is.
    pub fn brief(&self) -> Result<Brief, OptionsError> {
        let tree = self.tree()?;
        if let Some(suite) = self.config.clone()?.suite(tree.root()) {
            return Ok(Brief::of(&tree, Some(&suite)));
        }
        let find_program = |name: &str| self.environment.find_program(name);
        let virtual_env = self.environment.virtual_env.clone();
        let suite = suite::detect(
            &tree,
            &SuiteEnvironment {
                virtual_env,
                find_program: &find_program,
            },
        );
        Ok(Brief::of(&tree, suite.as_ref()))
    }

    /// Returns what makes the project hard to read.
    pub fn layout(&self) -> Result<Layout, OptionsError> {
        Ok(Layout::of(&self.tree()?))
    }

    /// Returns what would happen to a task.
    pub fn route(&self, task: &str) -> Result<Plan, OptionsError> {
        let checked = self.options.check()?;
        let hidden = self.config.clone()?.hidden().unwrap_or_default();
        let scope = checked.scope.as_ref();
        let (tree, noted) =
            Noted::read_hiding(&checked.project, scope, hidden, task).map_err(unreadable)?;
        Ok(Plan::make(
            &Task::bare(task),
            &tree,
            &noted,
            &self.options,
            &self.environment,
        ))
    }

    fn tree(&self) -> Result<SourceTree, OptionsError> {
        let checked = self.options.check()?;
        SourceTree::read(&checked.project, checked.scope.as_ref()).map_err(unreadable)
    }

    fn perform(
        &self,
        wish: Wish,
        task: Option<&str>,
        listener: &mut dyn Listener,
        cancel: &Cancel,
        model: Option<Box<dyn Model>>,
    ) -> Result<RunResult, OptionsError> {
        let task = task.unwrap_or(&self.options.task);
        let config = &self.config.clone()?;
        let (options, environment) = (&self.options, &self.environment);
        run::perform(Order {
            options,
            environment,
            config,
            wish,
            task,
            listener,
            cancel,
            model,
            replay: None,
        })
    }
}

fn unreadable(error: TreeError) -> OptionsError {
    OptionsError {
        field: "project",
        message: error.to_string(),
        hint: "check the folder and its permissions".to_owned(),
    }
}
