//! The on-device engine: weights on this machine, a runtime that we start ourselves and that ends with us.

pub(crate) mod gguf;
pub(crate) mod runtime;
pub mod warmth;
pub(crate) mod weights;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use harness_hands::companion::Companion;

use crate::cancel::Cancel;
use crate::env::Environment;
use crate::model::on_device::runtime::{Listening, Runtime, Service};
use crate::model::on_device::weights::Weights;
use crate::model::remote::Remote;
use crate::model::trouble::sleep;
use crate::model::{Abilities, Card, Heard, Host, Model, ModelError, Reply, Request, TINY_BYTES};
use crate::options::shown;
use crate::secret;

/// The window that is assumed where the weights do not say.
const UNKNOWN_WINDOW: u32 = 4096;
/// What a runtime needs besides weights and conversation: buffers and its own code.
const RUNTIME_BYTES: u64 = 300 << 20;
/// How often a starting runtime is asked whether it is ready.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// How often the user hears that it is still loading.
const TELL_AGAIN: Duration = Duration::from_secs(2);
/// A model that is not loaded by then never will be: 40 GB from a slow disk take less.
const LONGEST_START: Duration = Duration::from_secs(15 * 60);

/// A model that runs on this machine in a runtime of ours.
pub struct OnDevice {
    weights: Weights,
    runtime: Runtime,
    facts: gguf::WeightsFacts,
    logs: PathBuf,
    running: Option<Arc<Running>>,
    talk: Option<Remote>,
}

/// A runtime that serves.
#[derive(Debug)]
struct Running {
    companion: Mutex<Companion>,
    weights: PathBuf,
    window: u32,
    address: String,
    key: String,
}

impl OnDevice {
    /// Finds weights and runtime; starts nothing yet.
    pub fn new(model: &str, environment: &Environment) -> Result<OnDevice, ModelError> {
        let folder = harness_hands::user::weights_folder();
        let cache = harness_hands::user::cache_folder();
        let logs = cache
            .unwrap_or_else(|| std::env::temp_dir().join("harness"))
            .join("logs");
        OnDevice::in_folders(model, environment, folder.as_deref(), logs)
    }

    pub(crate) fn in_folders(
        model: &str,
        environment: &Environment,
        folder: Option<&Path>,
        logs: PathBuf,
    ) -> Result<OnDevice, ModelError> {
        let weights = weights::choose(model, folder)?;
        let facts = match &weights {
            Weights::Gguf(path) => gguf::read(path).map_err(|why| {
                ModelError::unusable(
                    format!(
                        "the weights `{}` cannot be used: {why}",
                        shown(&path.to_string_lossy())
                    ),
                    "get them again, or name another GGUF file with --model",
                )
            })?,
            Weights::Mlx(_) => gguf::WeightsFacts::default(),
        };
        let runtime = Runtime::find(&weights, environment)?;
        Ok(OnDevice {
            weights,
            runtime,
            facts,
            logs,
            running: None,
            talk: None,
        })
    }

    /// Returns what a person wants to know of it: the runtime, its program, the weights.
    pub(crate) fn described(&self) -> (String, String) {
        let runtime = format!(
            "{} ({})",
            self.runtime.name(),
            self.runtime.program().display()
        );
        (runtime, self.weights.path().display().to_string())
    }

    /// Returns what loading takes and what is free, or why it cannot be loaded.
    pub(crate) fn memory(&self) -> Result<String, ModelError> {
        let available = harness_hands::memory::available();
        self.check_memory(self.known_window().min(4096), available)?;
        let gigabytes = |bytes: u64| bytes as f64 / f64::from(1 << 30);
        let free = available.map_or_else(
            || "not known".to_owned(),
            |bytes| format!("{:.1} GB", gigabytes(bytes)),
        );
        let needed = gigabytes(self.needed(self.known_window().min(4096)));
        Ok(format!(
            "about {needed:.1} GB needed, {free} free; {} threads",
            runtime::threads()
        ))
    }

    fn needed(&self, window: u32) -> u64 {
        let conversation = self
            .facts
            .bytes_per_token
            .unwrap_or(0)
            .saturating_mul(u64::from(window));
        self.facts
            .bytes
            .saturating_add(conversation)
            .saturating_add(RUNTIME_BYTES)
    }

    fn known_window(&self) -> u32 {
        self.facts.window.unwrap_or(UNKNOWN_WINDOW)
    }

    /// Returns a conversation with a running runtime; starts one where none runs.
    fn talk(
        &mut self,
        window: u32,
        tell: &mut dyn FnMut(&str),
        cancel: &Cancel,
    ) -> Result<&mut Remote, ModelError> {
        let window = window.min(self.known_window()).max(512);
        let alive = self
            .running
            .as_ref()
            .is_some_and(|running| running.window >= window && running.ended().is_none());
        if !alive {
            self.talk = None;
            self.running = None;
        }
        let running = match &self.running {
            Some(running) => Arc::clone(running),
            None => {
                let running = match warmth::shared(self.weights.path(), window) {
                    Some(running) => running,
                    None => self.start(window, tell, cancel)?,
                };
                self.running = Some(Arc::clone(&running));
                running
            }
        };
        if self.talk.is_none() {
            let here = Environment {
                base_url: Some(running.address.clone()),
                api_key: (!running.key.is_empty()).then(|| running.key.clone()),
                ..Environment::default()
            };
            self.talk = Some(Remote::new(&self.weights.name(), &here)?);
        }
        match &mut self.talk {
            Some(talk) => Ok(talk),
            None => Err(ModelError::unusable(
                "the runtime cannot be talked to",
                "try again",
            )),
        }
    }

    fn start(
        &mut self,
        window: u32,
        tell: &mut dyn FnMut(&str),
        cancel: &Cancel,
    ) -> Result<Arc<Running>, ModelError> {
        self.check_memory(window, harness_hands::memory::available())?;
        let key = match self.runtime {
            Runtime::LlamaServer(_) | Runtime::Wheel(_) => random_key()?,
            Runtime::Mlx(_) => String::new(),
        };
        let service = Service {
            weights: &self.weights,
            window,
            key: &key,
            logs: &self.logs,
        };
        let (order, listening) = self.runtime.order(&service)?;
        let mut companion = Companion::start(&order).map_err(|error| {
            ModelError::unusable(
                format!(
                    "`{}` cannot be started: {error}",
                    shown(&self.runtime.program().to_string_lossy())
                ),
                "check that it is installed whole",
            )
            .because(error)
        })?;
        let address = self.wait_until_ready(&mut companion, listening, tell, cancel)?;
        let weights = self.weights.path().to_owned();
        let running = Arc::new(Running {
            companion: Mutex::new(companion),
            weights,
            window,
            address,
            key,
        });
        warmth::remember(&running);
        Ok(running)
    }

    fn check_memory(&self, window: u32, available: Option<u64>) -> Result<(), ModelError> {
        let Some(available) = available else {
            return Ok(());
        };
        let needed = self.needed(window);
        if needed <= available {
            return Ok(());
        }
        let gigabytes = |bytes: u64| bytes as f64 / f64::from(1 << 30);
        Err(ModelError::unusable(
            format!(
                "`{}` needs about {:.1} GB of memory, and {:.1} GB are free",
                shown(&self.weights.name()),
                gigabytes(needed),
                gigabytes(available)
            ),
            "close other programs, or choose smaller weights with --model",
        ))
    }

    /// Waits until the runtime serves, and returns its address.
    fn wait_until_ready(
        &self,
        companion: &mut Companion,
        listening: Listening,
        tell: &mut dyn FnMut(&str),
        cancel: &Cancel,
    ) -> Result<String, ModelError> {
        let begun = Instant::now();
        let mut told = begun;
        tell(&format!("loading {}", shown(&self.weights.name())));
        let mut address = match listening {
            Listening::On(port) => Some(format!("http://127.0.0.1:{port}")),
            Listening::WhereItSays => None,
        };
        loop {
            if address.is_none() {
                let printed = companion.printed(0);
                address = printed
                    .lines()
                    .find_map(|line| line.strip_prefix("harness: listening on "))
                    .map(str::to_owned);
            }
            if let Some(address) = &address
                && is_ready(address)
            {
                return Ok(format!("{address}/v1"));
            }
            if let Some(status) = companion.ended() {
                return Err(self.failed(companion, &status));
            }
            if begun.elapsed() > LONGEST_START {
                return Err(self.failed(companion, "it never became ready"));
            }
            if told.elapsed() > TELL_AGAIN {
                told = Instant::now();
                tell(&format!(
                    "loading {} ({} s)",
                    shown(&self.weights.name()),
                    begun.elapsed().as_secs()
                ));
            }
            sleep(LOOK_AGAIN, cancel)?;
        }
    }

    /// Returns the error of a runtime that ended, with its own last words.
    fn failed(&self, companion: &Companion, status: &str) -> ModelError {
        let printed = companion.printed(0);
        let mut last: Vec<&str> = printed
            .lines()
            .rev()
            .filter(|line| !line.trim().is_empty())
            .take(3)
            .collect();
        last.reverse();
        let last: Vec<String> = last.iter().map(|line| shown(line.trim())).collect();
        let words = if last.is_empty() {
            String::new()
        } else {
            format!(": {}", last.join(" / "))
        };
        ModelError::unusable(
            format!(
                "the runtime {} ended ({status}){words}",
                self.runtime.name()
            ),
            format!("its whole log is {}", companion.log().display()),
        )
    }
}

impl Running {
    fn ended(&self) -> Option<String> {
        self.companion
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .ended()
    }
}

impl Model for OnDevice {
    fn card(&mut self, _cancel: &Cancel) -> Result<Card, ModelError> {
        let host = Host {
            name: "this machine".to_owned(),
            this_machine: true,
        };
        let schema = !matches!(self.runtime, Runtime::Mlx(_));
        let abilities = Abilities {
            thinking: self.facts.thinking,
            tools: self.facts.tools,
            schema,
            tiny: self.facts.bytes < TINY_BYTES,
        };
        Ok(Card {
            model: self.weights.name(),
            host,
            window: self.known_window(),
            abilities,
        })
    }

    fn reply(
        &mut self,
        request: &Request,
        heard: &mut Heard<'_>,
        cancel: &Cancel,
    ) -> Result<Reply, ModelError> {
        let result = self
            .talk(request.window, &mut |_| {}, cancel)?
            .reply(request, heard, cancel);
        // A runtime that died is the better explanation of a broken connection.
        if let (Err(ModelError::Unusable { .. }), Some(running)) = (&result, &self.running) {
            std::thread::sleep(LOOK_AGAIN);
            if let Some(status) = running.ended() {
                let companion = running
                    .companion
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                return Err(self.failed(&companion, &status));
            }
        }
        result
    }

    fn prepare(
        &mut self,
        window: u32,
        tell: &mut dyn FnMut(&str),
        cancel: &Cancel,
    ) -> Result<(), ModelError> {
        self.talk(window, tell, cancel).map(|_| ())
    }
}

/// Asks whether the server has loaded its model. It listens before it has.
fn is_ready(address: &str) -> bool {
    use std::io::{Read, Write};
    let Some(host) = address.strip_prefix("http://") else {
        return false;
    };
    let Ok(target) = host.parse() else {
        return false;
    };
    let ask = || -> std::io::Result<bool> {
        let mut stream = std::net::TcpStream::connect_timeout(&target, Duration::from_millis(500))?;
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        stream.write_all(
            format!("GET /health HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").as_bytes(),
        )?;
        let mut head = [0; 12];
        stream.read_exact(&mut head)?;
        Ok(head.ends_with(b" 200"))
    };
    ask().unwrap_or(false)
}

fn random_key() -> Result<String, ModelError> {
    secret::unguessable()
        .ok_or_else(|| ModelError::unusable("this machine gives no random numbers", "try again"))
}

/// Returns the weights on this machine with their bytes; a folder of weights has none.
pub(crate) fn sizes() -> Vec<(String, Option<u64>)> {
    let folder = harness_hands::user::weights_folder();
    let size = |weights: &Weights| {
        let found = std::fs::metadata(weights.path()).ok()?;
        found.is_file().then_some(found.len())
    };
    folder
        .map(|folder| weights::list(&folder))
        .unwrap_or_default()
        .iter()
        .map(|weights| (weights.name(), size(weights)))
        .collect()
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
    use crate::model::Hearing;
    use crate::model::{Message, Role};

    /// Returns an engine whose runtime is a script.
    fn engine(folder: &Path, script: &str) -> OnDevice {
        std::fs::write(folder.join("tiny.gguf"), gguf::tests::sample()).unwrap();
        let program = folder.join("llama-server");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let environment = Environment {
            path: Some(folder.into()),
            ..Environment::default()
        };
        OnDevice::in_folders("tiny", &environment, Some(folder), folder.join("logs")).unwrap()
    }

    fn request() -> Request {
        let message = Message {
            role: Role::User,
            content: "hi".to_owned(),
        };
        Request {
            messages: vec![message],
            max_tokens: 8,
            window: 1024,
            temperature: 0.0,
            seed: 1,
            shape: Default::default(),
        }
    }

    #[test]
    fn the_card_needs_no_runtime() {
        let folder = tempfile::tempdir().unwrap();
        let mut engine = engine(folder.path(), "exit 1");
        let card = engine.card(&Cancel::default()).unwrap();
        assert_eq!(
            (card.model.as_str(), card.window, card.host.this_machine),
            ("tiny", 8192, true)
        );
    }

    #[test]
    fn a_runtime_that_cannot_load_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let mut engine = engine(
            folder.path(),
            "echo starting; echo 'error: unknown model architecture' >&2; exit 1",
        );
        let mut told = Vec::new();
        let error = engine
            .prepare(
                1024,
                &mut |words| told.push(words.to_owned()),
                &Cancel::default(),
            )
            .unwrap_err();
        let ModelError::Unusable { message, hint, .. } = error else {
            panic!("{error:?}")
        };
        assert_eq!(
            message,
            "the runtime llama-server ended (exit status: 1): starting / error: unknown model architecture"
        );
        assert!(hint.contains("on-device-"));
        assert_eq!(told, ["loading tiny"]);
        let again = engine.reply(&request(), &mut |_| Hearing::On, &Cancel::default());
        assert!(
            matches!(again, Err(ModelError::Unusable { .. })),
            "{again:?}"
        );
    }

    #[test]
    fn the_user_can_stop_the_loading() {
        let folder = tempfile::tempdir().unwrap();
        let mut engine = engine(folder.path(), "exec sleep 60");
        let cancel = Cancel::default();
        let stopper = cancel.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            stopper.stop();
        });
        let begun = Instant::now();
        assert_eq!(
            engine.reply(&request(), &mut |_| Hearing::On, &cancel),
            Err(ModelError::Interrupted)
        );
        assert!(begun.elapsed() < Duration::from_secs(2));
    }

    #[test]
    fn memory_is_checked_before_loading() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path(), "exit 1");
        assert_eq!(engine.check_memory(1024, Some(8 << 30)), Ok(()));
        assert_eq!(engine.check_memory(1024, None), Ok(()));
        let error = engine.check_memory(1024, Some(100 << 20)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`tiny` needs about 0.3 GB of memory, and 0.1 GB are free"
        );
    }
}
