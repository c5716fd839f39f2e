//! The kits: what each editor gets, and the shortest steps that are left for the person. The files lie in `editors/`.

use serde_json::json;

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

const fn file(path: &'static str, text: &'static str) -> File {
    File { path, text }
}

const VSCODE_TASKS: File = file(
    ".vscode/tasks.json",
    include_str!("../../editors/vscode/tasks.json"),
);

/// Every editor, in the order of the list.
pub(super) const KITS: &[Kit] = &[
    Kit {
        name: "vscode",
        about: "tasks: brief, ask, run, serve",
        files: &[VSCODE_TASKS],
        steps: &[
            "open the palette, choose `Tasks: Run Task`, then a `harness:` task",
            "for Copilot's agent: in .vscode/mcp.json, under `servers`: \"harness\": {mcp}",
        ],
    },
    Kit {
        name: "cursor",
        about: "the same tasks (Cursor reads them from .vscode), and a rule for its agent",
        files: &[
            VSCODE_TASKS,
            file(
                ".cursor/rules/harness.mdc",
                include_str!("../../editors/cursor/harness.mdc"),
            ),
        ],
        steps: &[
            "open the palette, choose `Tasks: Run Task`, then a `harness:` task",
            "for Cursor's agent: in .cursor/mcp.json, under `mcpServers`: \"harness\": {mcp}",
            "Cursor's own chat cannot reach a server on this machine: its requests come from Cursor's hosts",
        ],
    },
    Kit {
        name: "continue",
        about: "a chat model that is the server at its usual address",
        files: &[file(
            ".continue/models/harness.yaml",
            include_str!("../../editors/continue/harness.yaml"),
        )],
        steps: &[
            "start the server: {serve}",
            "choose the model `harness` in Continue's chat",
            "with --token, put the token into `apiKey`",
        ],
    },
    Kit {
        name: "zed",
        about: "tasks: brief, ask, run, serve",
        files: &[file(
            ".zed/tasks.json",
            include_str!("../../editors/zed/tasks.json"),
        )],
        steps: &[
            "run `task: spawn` from the palette, then a `harness:` task; a task that asks ends its question with Ctrl-D",
            "as an agent of its own: in Zed's settings, under `agent_servers`: \"harness\": {zed_acp}",
            "as tools for other agents: in Zed's settings, under `context_servers`: \"harness\": {mcp}",
            "for Zed's own chat: an OpenAI-compatible provider with the API URL http://127.0.0.1:{port}/v1/stream and the model `{model}`; start {serve}",
        ],
    },
    Kit {
        name: "cline",
        about: "a rule that tells Cline when to hand a task to harness",
        files: &[file(
            ".clinerules/harness.md",
            include_str!("../../editors/cline/harness.md"),
        )],
        steps: &[
            "Cline reads .clinerules by itself; its rules panel shows `harness.md`",
            "as tools: in Cline's MCP settings, under `mcpServers`: \"harness\": {mcp}",
            "as a provider the server cannot serve Cline, which expects calls of its own tools",
        ],
    },
    Kit {
        name: "neovim",
        about: "commands :HarnessBrief, :HarnessAsk, :HarnessRun, :HarnessServe",
        files: &[file(
            ".nvim.lua",
            include_str!("../../editors/neovim/nvim.lua"),
        )],
        steps: &[
            "once, in your own init.lua: vim.o.exrc = true",
            "open the project and answer `:trust` for .nvim.lua",
            "for chat with CodeCompanion: an adapter that extends `openai_compatible` with env.url = \"http://127.0.0.1:{port}\", opts.stream = false, schema.model.default = \"{model}\"; start {serve}",
        ],
    },
    Kit {
        name: "emacs",
        about: "commands harness-brief, harness-ask, harness-run, harness-serve",
        files: &[file(
            ".dir-locals-2.el",
            include_str!("../../editors/emacs/dir-locals-2.el"),
        )],
        steps: &[
            "open a file of the project; Emacs asks once whether the settings are safe",
            "for chat with gptel: (gptel-make-openai \"harness\" :protocol \"http\" :host \"127.0.0.1:{port}\" :stream nil :key \"harness\" :models '({lisp_model})); start {serve}",
        ],
    },
    Kit {
        name: "jetbrains",
        about: "run configurations: brief, ask, run, serve",
        files: &[
            file(
                ".run/harness-brief.run.xml",
                include_str!("../../editors/jetbrains/harness-brief.run.xml"),
            ),
            file(
                ".run/harness-ask.run.xml",
                include_str!("../../editors/jetbrains/harness-ask.run.xml"),
            ),
            file(
                ".run/harness-run.run.xml",
                include_str!("../../editors/jetbrains/harness-run.run.xml"),
            ),
            file(
                ".run/harness-serve.run.xml",
                include_str!("../../editors/jetbrains/harness-serve.run.xml"),
            ),
        ],
        steps: &[
            "choose a `harness` configuration at the top right and run it; one that asks ends its question with Ctrl-D",
            "the plugin `Shell Script` must be on, as it is by default",
            "as an agent of its own: in ~/.jetbrains/acp.json, under `agent_servers`: \"harness\": {acp}",
            "as tools for the AI Assistant: in its MCP settings, under `mcpServers`: \"harness\": {mcp}",
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
    ("harness serve\"", "harness serve --allow-writes\""),
];

impl File {
    /// Returns the whole file.
    pub(super) fn text(&self, wishes: &Wishes) -> String {
        let text = self.text.replace("{model}", &yaml_word(&wishes.model));
        match wishes.allow_writes {
            true => WITH_WRITES
                .iter()
                .fold(text, |text, (without, with)| text.replace(without, with)),
            false => text,
        }
    }

    /// Says whether ours may stand beside what others put there: items in the lists of a JSON file.
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
                json!({"command": program(), "args": ["mcp", wishes.project, "--allow-writes"]})
            }
            false => json!({"command": program(), "args": ["mcp", wishes.project]}),
        };
        let acp = json!({"command": program(), "args": ["acp"]});
        let zed_acp = json!({"type": "custom", "command": program(), "args": ["acp"]});
        let step = |step: &&str| {
            step.replace("{serve}", serve)
                .replace("{mcp}", &mcp.to_string())
                .replace("{zed_acp}", &zed_acp.to_string())
                .replace("{acp}", &acp.to_string())
                .replace("{port}", &DEFAULT_PORT.to_string())
                .replace("{lisp_model}", &wishes.model.replace(':', "\\:"))
                .replace("{model}", &wishes.model)
        };
        self.steps.iter().map(step).collect()
    }
}

/// Returns the program by its full path: an editor that was not started from a shell knows no virtualenv.
fn program() -> String {
    let own = std::env::current_exe().ok();
    // Inside Python, the running program is the interpreter.
    let own = own.filter(|path| path.file_stem().is_some_and(|name| name == "harness"));
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
