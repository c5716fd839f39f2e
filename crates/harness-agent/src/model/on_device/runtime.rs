//! Which program runs the weights, and how it is started.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use harness_code::suite::packages_of;
use harness_hands::companion::CompanionOrder;
use harness_hands::environment::is_program;
use serde_json::json;

use crate::env::Environment;
use crate::model::ModelError;
use crate::model::on_device::weights::Weights;

/// The command that gets a runtime for a machine that has none.
const GET_ONE: &str = "pip install \"local-harness[on-device]\"";
/// Serves a GGUF file from the wheel behind the extra.
const RUNNER: &str = include_str!("runner.py");

/// A program that can serve weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Runtime {
    /// llama.cpp's server, installed by the user.
    LlamaServer(PathBuf),
    /// llama.cpp's server inside a wheel, with the Python that has it.
    Wheel(PathBuf),
    /// MLX's server.
    Mlx(PathBuf),
}

/// What a runtime is to do.
#[derive(Clone, Debug)]
pub(crate) struct Service<'a> {
    pub(crate) weights: &'a Weights,
    pub(crate) window: u32,
    pub(crate) key: &'a str,
    pub(crate) logs: &'a Path,
}

/// Where a started runtime will listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listening {
    /// On the port it was given.
    On(u16),
    /// Where it says in its log.
    WhereItSays,
}

impl Runtime {
    /// Finds a runtime for the weights.
    pub(crate) fn find(
        weights: &Weights,
        environment: &Environment,
    ) -> Result<Runtime, ModelError> {
        let found = match weights {
            Weights::Mlx(_) => mlx(environment),
            Weights::Gguf(_) => environment
                .find_program("llama-server")
                .map(Runtime::LlamaServer)
                .or_else(|| python_with("xllamacpp", environment).map(Runtime::Wheel)),
        };
        found.ok_or_else(|| {
            let hint = match weights {
                Weights::Gguf(_) => format!(
                    "get one with `{GET_ONE}`, or put llama.cpp's `llama-server` on the PATH"
                ),
                Weights::Mlx(_) => "get one with `pip install mlx-lm` (Apple silicon)".to_owned(),
            };
            ModelError::unusable("there is no runtime for models on this machine", hint)
        })
    }

    /// Returns its name for people.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Runtime::LlamaServer(_) => "llama-server",
            Runtime::Wheel(_) => "llama.cpp (xllamacpp)",
            Runtime::Mlx(_) => "mlx_lm.server",
        }
    }

    /// Returns the program that is started.
    pub(crate) fn program(&self) -> &Path {
        match self {
            Runtime::LlamaServer(path) | Runtime::Wheel(path) | Runtime::Mlx(path) => path,
        }
    }

    /// Returns how to start it, and where it will listen.
    pub(crate) fn order(
        &self,
        service: &Service<'_>,
    ) -> Result<(CompanionOrder, Listening), ModelError> {
        let threads = threads();
        let text = |text: &str| OsString::from(text);
        let at_port = |port: u16| {
            let model = service.weights.path().as_os_str().to_owned();
            let port = text(&port.to_string());
            let host = ["--host", "127.0.0.1", "--port"].map(text);
            [vec![text("--model"), model], host.to_vec(), vec![port]].concat()
        };
        let (arguments, variables, listening) = match self {
            Runtime::LlamaServer(_) => {
                let port = free_port()?;
                let mut arguments = at_port(port);
                for (name, value) in [
                    ("--ctx-size", service.window.to_string()),
                    ("--threads", threads.to_string()),
                    ("--parallel", "1".to_owned()),
                    ("--alias", service.weights.name()),
                ] {
                    arguments.extend([name.into(), value.into()]);
                }
                arguments.push(text("--jinja"));
                // Not an argument: every user of the machine can read those.
                let key = (text("LLAMA_API_KEY"), text(service.key));
                (arguments, vec![key], Listening::On(port))
            }
            Runtime::Wheel(_) => {
                let settings = json!({
                    "model": service.weights.path().to_string_lossy(),
                    "name": service.weights.name(),
                    "key": service.key,
                    "window": service.window,
                    "threads": threads,
                });
                let settings = (text("HARNESS_ON_DEVICE"), text(&settings.to_string()));
                let arguments = vec![text("-c"), text(RUNNER)];
                (arguments, vec![settings], Listening::WhereItSays)
            }
            // It knows no key of its own; the loopback address is its only wall.
            Runtime::Mlx(_) => {
                let port = free_port()?;
                (at_port(port), Vec::new(), Listening::On(port))
            }
        };
        let order = CompanionOrder {
            program: self.program().to_owned(),
            arguments,
            variables,
            logs: service.logs.to_owned(),
            name: "on-device".to_owned(),
        };
        Ok((order, listening))
    }
}

/// One core stays free: with all of them taken llama.cpp collapses as soon as anything else runs.
pub(crate) fn threads() -> usize {
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    cores.saturating_sub(1).max(1)
}

/// Returns a port that nobody listens on right now.
fn free_port() -> Result<u16, ModelError> {
    std::net::TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| {
            ModelError::unusable(
                format!("no free port on this machine: {error}"),
                "close some programs, then try again",
            )
            .because(error)
        })
}

fn mlx(environment: &Environment) -> Option<Runtime> {
    if !cfg!(all(target_os = "macos", target_arch = "aarch64")) {
        return None;
    }
    let beside = pythons(environment)
        .into_iter()
        .filter_map(|python| python.parent().map(|bin| bin.join("mlx_lm.server")));
    environment
        .find_program("mlx_lm.server")
        .or_else(|| beside.into_iter().find(|path| path.is_file()))
        .map(Runtime::Mlx)
}

/// Returns a Python that has a package, without starting any.
fn python_with(package: &str, environment: &Environment) -> Option<PathBuf> {
    let file = Path::new(package).join("__init__.py");
    let has_it = |python: &PathBuf| {
        let folders = packages_of(python, environment.home.as_deref());
        folders.iter().any(|folder| folder.join(&file).is_file())
    };
    pythons(environment).into_iter().find(has_it)
}

/// Returns the Pythons that may have our extra: the one that called us, the one beside our program, the active
/// virtualenv's, those on the PATH.
fn pythons(environment: &Environment) -> Vec<PathBuf> {
    let names: &[&str] = if cfg!(windows) {
        &["python.exe"]
    } else {
        &["python3", "python"]
    };
    let in_folder = |folder: &Path| {
        names
            .iter()
            .map(|name| folder.join(name))
            .find(|path| is_program(path))
    };
    let bin = if cfg!(windows) { "Scripts" } else { "bin" };
    let mut found: Vec<PathBuf> = environment.python.iter().cloned().collect();
    found.extend(
        std::env::current_exe()
            .ok()
            .and_then(|own| in_folder(own.parent()?)),
    );
    found.extend(
        environment
            .virtual_env
            .as_deref()
            .and_then(|folder| in_folder(&folder.join(bin))),
    );
    for name in ["python3", "python"] {
        found.extend(environment.find_program(name));
    }
    found
}

#[cfg(all(test, unix))]
#[expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay files out"
)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn program(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn gguf() -> Weights {
        Weights::Gguf(PathBuf::from("/weights/tiny.gguf"))
    }

    #[test]
    fn the_users_own_server_comes_before_the_wheel() {
        let folder = tempfile::tempdir().unwrap();
        let venv = folder.path().join("venv");
        program(&venv.join("bin/python3"));
        let package = venv.join("lib/python3.12/site-packages/xllamacpp");
        std::fs::create_dir_all(&package).unwrap();
        std::fs::write(package.join("__init__.py"), "").unwrap();
        let mut environment = Environment {
            virtual_env: Some(venv.clone()),
            path: Some(folder.path().into()),
            ..Environment::default()
        };
        assert_eq!(
            Runtime::find(&gguf(), &environment),
            Ok(Runtime::Wheel(venv.join("bin/python3")))
        );
        let own = folder.path().join("llama-server");
        program(&own);
        assert_eq!(
            Runtime::find(&gguf(), &environment),
            Ok(Runtime::LlamaServer(own))
        );
        environment.path = Some("relative:.".into());
        environment.virtual_env = None;
        let ModelError::Unusable { hint, .. } = Runtime::find(&gguf(), &environment).unwrap_err()
        else {
            panic!()
        };
        assert!(hint.contains("local-harness[on-device]"), "{hint}");
    }

    #[test]
    fn the_key_is_never_an_argument() {
        let service = Service {
            weights: &gguf(),
            window: 4096,
            key: "the-key",
            logs: Path::new("/logs"),
        };
        for runtime in [
            Runtime::LlamaServer("/bin/x".into()),
            Runtime::Wheel("/bin/x".into()),
        ] {
            let (order, _) = runtime.order(&service).unwrap();
            assert!(
                !order
                    .arguments
                    .iter()
                    .any(|argument| argument.to_string_lossy().contains("the-key"))
            );
            assert!(
                order
                    .variables
                    .iter()
                    .any(|(_, value)| value.to_string_lossy().contains("the-key"))
            );
        }
    }
}
