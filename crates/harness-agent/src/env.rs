//! Every environment variable that changes what we do, read in this one place.

use std::ffi::OsString;
use std::path::PathBuf;

use harness_hands::environment;

/// The environment as it was when the program looked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// The local engine's host, as written.
    pub local_host: Option<String>,
    /// The remote engine's base address.
    pub base_url: Option<String>,
    /// The remote engine's token.
    pub api_key: Option<String>,
    /// The outbound limit, as written.
    pub max_send: Option<String>,
    /// The server's bearer token.
    pub server_token: Option<String>,
    /// The proxy for encrypted hosts.
    pub https_proxy: Option<String>,
    /// The proxy for other hosts.
    pub http_proxy: Option<String>,
    /// The proxy where neither of those is set.
    pub all_proxy: Option<String>,
    /// The hosts that need no proxy.
    pub no_proxy: Option<String>,
    /// The active virtualenv.
    pub virtual_env: Option<PathBuf>,
    /// The active conda environment.
    pub conda: Option<PathBuf>,
    /// The program itself.
    pub program: Option<PathBuf>,
    /// The Python that called us, where one did; its packages may hold a runtime.
    pub python: Option<PathBuf>,
    /// The folders that programs are looked for in.
    pub path: Option<OsString>,
    /// Whether the terminal says that it can only print.
    pub dumb_terminal: bool,
    /// The user's editor, as a command.
    pub editor: Option<String>,
    /// What the user reads long texts with, as a command.
    pub pager: Option<String>,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The workflow of GitHub Actions that runs us, where one does.
    pub workflow: Option<Workflow>,
}

/// A workflow of GitHub Actions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workflow {
    /// The root of the checkout.
    pub workspace: Option<PathBuf>,
}

impl Environment {
    /// Reads the environment of this process.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one module that reads the environment"
    )]
    pub fn read() -> Environment {
        // A variable that is set to nothing is not set: shells make that easy to do by accident.
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let path = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        Environment {
            local_host: text("OLLAMA_HOST"),
            base_url: text("HARNESS_BASE_URL"),
            api_key: text("HARNESS_API_KEY")
                .or_else(|| text("HF_TOKEN"))
                .or_else(|| text("HUGGING_FACE_HUB_TOKEN")),
            max_send: text("HARNESS_MAX_SEND"),
            server_token: text("HARNESS_TOKEN"),
            https_proxy: text("HTTPS_PROXY").or_else(|| text("https_proxy")),
            http_proxy: text("HTTP_PROXY").or_else(|| text("http_proxy")),
            all_proxy: text("ALL_PROXY").or_else(|| text("all_proxy")),
            no_proxy: text("NO_PROXY").or_else(|| text("no_proxy")),
            virtual_env: path("VIRTUAL_ENV").map(PathBuf::from),
            conda: path("CONDA_PREFIX").map(PathBuf::from),
            program: std::env::current_exe().ok(),
            python: None,
            path: path("PATH"),
            editor: text("VISUAL").or_else(|| text("EDITOR")),
            pager: text("PAGER"),
            dumb_terminal: text("TERM").map_or(cfg!(unix), |kind| kind == "dumb"),
            home: path("HOME")
                .or_else(|| path("USERPROFILE"))
                .map(PathBuf::from),
            workflow: text("GITHUB_ACTIONS")
                .filter(|value| value == "true")
                .map(|_| Workflow {
                    workspace: path("GITHUB_WORKSPACE").map(PathBuf::from),
                }),
        }
    }

    /// Returns where a program is, by the folders of `PATH`.
    pub fn find_program(&self, name: &str) -> Option<PathBuf> {
        self.find_programs(name).into_iter().next()
    }

    /// Returns all programs of a name, in the order of `PATH`.
    pub fn find_programs(&self, name: &str) -> Vec<PathBuf> {
        let path = self.path.as_deref().unwrap_or_default();
        environment::programs_in(path, name.as_ref()).collect()
    }

    /// Returns the virtualenv that this program, or the Python that called it, is installed in.
    pub(crate) fn own_environment(&self) -> Option<PathBuf> {
        let inside = [&self.python, &self.program].into_iter().flatten();
        let mut folders = inside.filter_map(|file| file.parent()?.parent());
        let found = folders.find(|folder| folder.join("pyvenv.cfg").is_file())?;
        Some(found.to_path_buf())
    }
}
