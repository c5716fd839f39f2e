//! The kits: what each editor gets, and the shortest steps that are left for the person. The files lie in `editors/`.

use harness_agent::env::Environment;
use serde_json::json;

use crate::editors::handshake::Protocol;
use crate::editors::jsonc::{self, Ours};
use crate::editors::notation::{Notation, PLACEHOLDERS};
use crate::server::DEFAULT_PORT;

/// What the written configuration may do.
#[derive(Clone, Debug)]
pub(super) struct Wishes {
    /// Whether it may change files.
    pub(super) allow_writes: bool,
    /// The model that chat providers name.
    pub(super) model: String,
    /// The project, as a server is started for it.
    pub(super) project: String,
    /// The program, as an editor starts it.
    pub(super) program: String,
}

/// One editor.
pub(super) struct Kit {
    /// The word users write.
    pub(super) name: &'static str,
    /// What it gets, for the list.
    pub(super) about: &'static str,
    /// Its files.
    pub(super) files: &'static [File],
    /// What is left to do, outside the project.
    steps: &'static [&'static str],
}

/// One file of a kit, as it is written when it may not change files.
pub(super) struct File {
    pub(super) path: &'static str,
    text: &'static str,
}

/// A file of a kit: where it goes, and where below `editors/` it is kept.
macro_rules! file {
    ($path:literal, $kept:literal) => {
        File {
            path: $path,
            text: include_str!(concat!("../../editors/", $kept)),
        }
    };
}

const VSCODE_TASKS: File = file!(".vscode/tasks.json", "vscode/tasks.json");

/// Every editor, in the order of the list.
pub(super) const KITS: &[Kit] = &[
    Kit {
        name: "vscode",
        about: "tools for Copilot's agent (MCP), and tasks: brief, ask, run, serve",
        files: &[VSCODE_TASKS, file!(".vscode/mcp.json", "vscode/mcp.json")],
        steps: &[
            "open .vscode/mcp.json and choose `Start` above `harness`; Copilot's agent mode has its tools then",
            "open the palette, choose `Tasks: Run Task`, then a `harness:` task",
            "as a model for Copilot's chat (VS Code 1.122 or newer): `Chat: Open Language Models (JSON)` in the palette, in its list: {vscode_chat}; start {serve}",
        ],
    },
    Kit {
        name: "cursor",
        about: "tools and a rule for its agent (MCP), and the tasks of VS Code, which Cursor reads too",
        files: &[
            VSCODE_TASKS,
            file!(".cursor/mcp.json", "cursor/mcp.json"),
            file!(".cursor/rules/harness.mdc", "cursor/harness.mdc"),
        ],
        steps: &[
            "turn `harness` on in Cursor's settings, under MCP",
            "open the palette, choose `Tasks: Run Task`, then a `harness:` task",
            "Cursor's own chat cannot reach a server on this machine: its requests come from Cursor's hosts",
        ],
    },
    Kit {
        name: "continue",
        about: "a chat model that is the server at its usual address, and tools for its agent (MCP)",
        files: &[
            file!(".continue/models/harness.yaml", "continue/harness.yaml"),
            file!(".continue/mcpServers/harness.yaml", "continue/mcp.yaml"),
        ],
        steps: &[
            "for the tools: Continue starts them by itself in agent mode",
            "for the model: start the server with {serve}, then choose `harness` in Continue's chat",
            "with --token, put the token into `apiKey`",
        ],
    },
    Kit {
        name: "zed",
        about: "tools for its agents (MCP), and tasks: brief, ask, run, serve",
        files: &[
            file!(".zed/tasks.json", "zed/tasks.json"),
            file!(".zed/settings.json", "zed/settings.json"),
        ],
        steps: &[
            "run `task: spawn` from the palette, then a `harness:` task; a task that asks ends its question with Ctrl-D",
            "as an agent of its own: in your own settings, which alone are asked for agents, under `agent_servers`: \"harness\": {zed_acp}",
            "for Zed's own chat: an OpenAI-compatible provider with the API URL http://127.0.0.1:{port}/v1/stream and the model `{model}`; start {serve}",
        ],
    },
    Kit {
        name: "cline",
        about: "a rule that tells Cline when to hand a task to harness",
        files: &[file!(".clinerules/harness.md", "cline/harness.md")],
        steps: &[
            "Cline reads .clinerules by itself; its rules panel shows `harness.md`",
            "as tools: in ~/.cline/data/settings/cline_mcp_settings.json (Cline's MCP panel opens it), under `mcpServers`: \"harness\": {mcp}",
            "as a provider the server cannot serve Cline, which expects calls of its own tools",
        ],
    },
    Kit {
        name: "windsurf",
        about: "a rule that tells its agent when to hand a task to harness",
        files: &[file!(".windsurf/rules/harness.md", "windsurf/harness.md")],
        steps: &[
            "as tools: in ~/.codeium/windsurf/mcp_config.json, under `mcpServers`: \"harness\": {mcp}",
        ],
    },
    Kit {
        name: "neovim",
        about: "commands :HarnessBrief, :HarnessAsk, :HarnessRun, :HarnessServe, and :HarnessChat, an agent in CodeCompanion (ACP)",
        files: &[file!(".nvim.lua", "neovim/nvim.lua")],
        steps: &[
            "once, in your own init.lua: vim.o.exrc = true",
            "open the project and answer `:trust` for .nvim.lua",
            "for :HarnessChat: the plugin CodeCompanion (Neovim 0.11 or newer)",
            "for its chat without an agent: an adapter that extends `openai_compatible` with env.url = \"http://127.0.0.1:{port}\", env.chat_url = \"/v1/stream/chat/completions\", schema.model.default = \"{model}\"; start {serve}",
        ],
    },
    Kit {
        name: "emacs",
        about: "commands harness-brief, harness-ask, harness-run, harness-serve, and harness-chat, an agent in agent-shell (ACP)",
        files: &[file!(".dir-locals-2.el", "emacs/dir-locals-2.el")],
        steps: &[
            "open a file of the project; Emacs asks once whether the settings are safe",
            "for harness-chat: the package agent-shell (Emacs 29.1 or newer)",
            "for chat with gptel: (gptel-make-openai \"harness\" :protocol \"http\" :host \"127.0.0.1:{port}\" :endpoint \"/v1/stream/chat/completions\" :stream t :key \"harness\" :models '({lisp_model})); start {serve}",
        ],
    },
    Kit {
        name: "jetbrains",
        about: "tools for Junie (MCP), and run configurations: brief, ask, run, serve",
        files: &[
            file!(
                ".run/harness-brief.run.xml",
                "jetbrains/harness-brief.run.xml"
            ),
            file!(".run/harness-ask.run.xml", "jetbrains/harness-ask.run.xml"),
            file!(".run/harness-run.run.xml", "jetbrains/harness-run.run.xml"),
            file!(
                ".run/harness-serve.run.xml",
                "jetbrains/harness-serve.run.xml"
            ),
            file!(".junie/mcp/mcp.json", "jetbrains/mcp.json"),
        ],
        steps: &[
            "choose a `harness` configuration at the top right and run it; one that asks ends its question with Ctrl-D",
            "the plugin `Shell Script` must be on, as it is by default",
            "as an agent of its own: in ~/.jetbrains/acp.json, under `agent_servers`: \"harness\": {acp}",
            "as tools for the AI Assistant: in its MCP settings, under `mcpServers`: \"harness\": {mcp}",
            "as a model for its chat: `Use API Key or Local Models`, an OpenAI-compatible provider with the URL http://127.0.0.1:{port}/v1/stream, any key and the model `{model}`; start {serve}",
        ],
    },
    Kit {
        name: "helix",
        about: "keys: space H, then b (brief), l (layout), t (test), p (latest runs)",
        files: &[file!(".helix/config.toml", "helix/config.toml")],
        steps: &[
            "`:config-reload` reads the keys; Helix speaks neither MCP nor ACP, so that tasks are typed into a shell",
        ],
    },
];

/// What is written instead where files may be changed, in every notation that occurs.
const WITH_WRITES: &[(&str, &str)] = &[
    (
        "- `harness run --dry-run \"TASK\"` shows what it would change. Do not run it without `--dry-run`.\n",
        "- `harness run \"TASK\"` does a task, runs the project's tests, and takes back what makes them worse. Name a file or a function in the task.\n- `harness undo` takes the latest run back, byte for byte.\n",
    ),
    ("run (look only)", "run"),
    ("run --dry-run", "run"),
    ("\"--dry-run\", ", ""),
    ("\"--dry-run\" ", ""),
    ("[\"serve\"]", "[\"serve\", \"--allow-writes\"]"),
    ("\"serve\" }", "\"serve\", \"--allow-writes\" }"),
    ("\"serve\")", "\"serve\" \"--allow-writes\")"),
    ("\"{project}\"]", "\"{project}\", \"--allow-writes\"]"),
    (
        "- \"{project}\"\n",
        "- \"{project}\"\n      - --allow-writes\n",
    ),
    ("} serve\"", "} serve --allow-writes\""),
];

/// What stands for the project in a file, quotes included.
const PROJECT: &str = "\"{project}\"";

/// What stands for the model.
const MODEL: &str = "{model}";

impl File {
    /// Returns the whole file.
    pub(super) fn text(&self, wishes: &Wishes) -> String {
        let programs = PLACEHOLDERS.iter();
        let programs = programs.map(|(name, notation)| (*name, notation.write(&wishes.program)));
        let others = [
            (PROJECT, Notation::Text.write(&wishes.project)),
            (MODEL, yaml_word(&wishes.model)),
        ];
        let values: Vec<(&str, String)> = programs.chain(others).collect();
        filled(&self.template(wishes.allow_writes), &values)
    }

    /// Returns the file in every version, with what stands for the program, the project and the model.
    pub(super) fn templates(&self) -> [String; 2] {
        [false, true].map(|allow_writes| self.template(allow_writes))
    }

    /// Returns the file with what stands for the program, the project and the model.
    fn template(&self, allow_writes: bool) -> String {
        let text = self.text.to_owned();
        match allow_writes {
            true => WITH_WRITES
                .iter()
                .fold(text, |text, (without, with)| text.replace(without, with)),
            false => text,
        }
    }

    /// Says whether the file starts the program by its path.
    pub(super) fn starts_program(&self) -> bool {
        let mut placeholders = PLACEHOLDERS.iter();
        placeholders.any(|(placeholder, _)| self.text.contains(placeholder))
    }

    /// Says whether the file has an editor speak a protocol with the program.
    pub(super) fn speaks(&self, protocol: Protocol) -> bool {
        let command = protocol.command();
        let words = [format!("\"{command}\""), format!("- {command}\n")];
        words.iter().any(|word| self.text.contains(word))
    }

    /// Says whether the file sends an editor to the server.
    pub(super) fn names_server(&self) -> bool {
        self.text.contains("127.0.0.1")
    }

    /// Returns the program and the project that a written file names, whatever they were then: our program is known by
    /// its name, or by where it is now. A file that names no project is for the one in which it lies.
    pub(super) fn named_in(&self, text: &str, program: &str) -> Option<(String, Option<String>)> {
        if self.is_shared() {
            let templates = &self.templates();
            return jsonc::command_in(text, &Ours { templates, program });
        }
        let mut programs = PLACEHOLDERS.iter();
        let program = programs.find_map(|(name, notation)| {
            self.written_for(name, text, |written| notation.read(written))
        });
        let project = self.written_for(PROJECT, text, |written| Notation::Text.read(written));
        Some((program?, project))
    }

    /// Returns the model that a written file names, whatever it was then.
    pub(super) fn model_in(&self, text: &str) -> Option<String> {
        self.written_for(MODEL, text, |written| match written.starts_with('"') {
            true => serde_json::from_str(written).ok(),
            false => Some(written.to_owned()),
        })
    }

    /// Returns what stands in a written file where this one has a placeholder.
    fn written_for(
        &self,
        placeholder: &str,
        text: &str,
        read: impl Fn(&str) -> Option<String>,
    ) -> Option<String> {
        self.templates().into_iter().find_map(|template| {
            let line = template.lines().find(|line| line.contains(placeholder))?;
            let (before, after) = line.split_once(placeholder)?;
            text.lines().find_map(|line| {
                let written = line.strip_prefix(before)?.strip_suffix(after)?;
                read(written)
            })
        })
    }

    /// Says whether ours may stand beside what others put there: items in the lists and objects of a JSON file.
    pub(super) fn is_shared(&self) -> bool {
        self.path.ends_with(".json")
    }
}

impl Kit {
    /// Returns what is left for the person.
    pub(super) fn steps(&self, wishes: &Wishes) -> Vec<String> {
        let serve = match wishes.allow_writes {
            true => "harness serve --allow-writes",
            false => "harness serve",
        };
        let mcp = match wishes.allow_writes {
            true => {
                json!({"command": wishes.program, "args": ["mcp", wishes.project, "--allow-writes"]})
            }
            false => json!({"command": wishes.program, "args": ["mcp", wishes.project]}),
        };
        let acp = json!({"command": wishes.program, "args": ["acp"]});
        let zed_acp = json!({"type": "custom", "command": wishes.program, "args": ["acp"]});
        let chat = format!("http://127.0.0.1:{DEFAULT_PORT}/v1/stream/chat/completions");
        // The window and the reply that a model of the default size has; our prompts are measured by ourselves.
        let chat = json!({"name": "harness", "vendor": "customendpoint", "apiKey": "harness", "apiType": "chat-completions", "models": [
            {"id": wishes.model, "name": "harness", "url": chat, "toolCalling": false, "vision": false, "maxInputTokens": 32768, "maxOutputTokens": 4096},
        ]});
        let values = [
            ("{serve}", serve.to_owned()),
            ("{vscode_chat}", chat.to_string()),
            ("{mcp}", mcp.to_string()),
            ("{zed_acp}", zed_acp.to_string()),
            ("{acp}", acp.to_string()),
            ("{port}", DEFAULT_PORT.to_string()),
            ("{lisp_model}", wishes.model.replace(':', "\\:")),
            (MODEL, wishes.model.clone()),
        ];
        let steps = self.steps.iter();
        steps.map(|step| filled(step, &values)).collect()
    }
}

/// Returns a template with values in place of their names. What a value holds is not looked at again.
fn filled(template: &str, values: &[(&str, String)]) -> String {
    let mut text = String::new();
    let mut rest = template;
    loop {
        let found = values
            .iter()
            .filter_map(|(name, value)| Some((rest.find(name)?, *name, value)));
        let Some((at, name, value)) = found.min_by_key(|(at, ..)| *at) else {
            return text + rest;
        };
        text.push_str(&rest[..at]);
        text.push_str(value);
        rest = &rest[at + name.len()..];
    }
}

/// Returns the program by its full path: an editor that was not started from a shell knows no virtualenv.
pub(super) fn program() -> String {
    let own = std::env::current_exe().ok();
    // Inside Python, the running program is the interpreter.
    let own = own.filter(|path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = name.to_lowercase();
        !name.starts_with("python") && !name.starts_with("pypy")
    });
    let own = own.or_else(|| Environment::read().find_program("harness"));
    own.map_or_else(|| "harness".to_owned(), |path| path.display().to_string())
}

/// Returns a text as YAML reads it back: plain where that is safe, quoted otherwise.
fn yaml_word(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && !text.ends_with(':')
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-/:".contains(c));
    if plain {
        return text.to_owned();
    }
    // Every JSON string is a YAML string.
    serde_json::Value::from(text).to_string()
}
