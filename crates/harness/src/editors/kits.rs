//! The kits: what each editor gets, and the shortest steps that are left for the person. One function each.

use serde_json::{Value, json};

use crate::editors::block::{Block, Place};
use crate::editors::jsonc::Items;
use crate::editors::yaml::Item;
use crate::server::DEFAULT_PORT;

/// What the written configuration may do.
#[derive(Clone, Debug)]
pub(super) struct Wishes {
    /// Whether it may change files.
    pub(super) allow_writes: bool,
    /// The model that chat providers name.
    pub(super) model: String,
}

impl Wishes {
    fn serve(&self) -> &'static str {
        if self.allow_writes {
            "harness serve --allow-writes"
        } else {
            "harness serve"
        }
    }
}

/// One editor.
pub(super) struct Kit {
    /// The word users write.
    pub(super) name: &'static str,
    /// What it gets, for the list.
    pub(super) about: &'static str,
    /// Its files.
    pub(super) files: fn(&Wishes) -> Vec<Drop>,
    /// What is left to do, outside the project.
    pub(super) steps: fn(&Wishes) -> Vec<String>,
}

/// One file of a kit.
pub(super) struct Drop {
    pub(super) path: &'static str,
    pub(super) content: Content,
}

/// What goes into a file, and how it lives beside what others put there.
pub(super) enum Content {
    /// Items in lists of a JSON file with comments; a new file is the given one.
    Jsonc { items: Vec<Items>, alone: Value },
    /// One item of a YAML list; a new file begins with the given lines.
    Yaml { item: Item, head: &'static str },
    /// Lines between markers.
    Block(Block),
    /// A file of our own, under a name of our own.
    Whole(String),
}

/// Every editor, in the order of the list.
pub(super) const KITS: &[Kit] = &[
    Kit {
        name: "vscode",
        about: "tasks: brief, ask, run, serve",
        files: |wishes| vec![vscode_tasks(wishes)],
        steps: |_| {
            vec!["open the palette, choose `Tasks: Run Task`, then a `harness:` task".to_owned()]
        },
    },
    Kit {
        name: "cursor",
        about: "the same tasks (Cursor reads them from .vscode), and a rule for its agent",
        files: |wishes| vec![vscode_tasks(wishes), cursor_rule(wishes)],
        steps: |_| {
            vec![
                "open the palette, choose `Tasks: Run Task`, then a `harness:` task".to_owned(),
                "Cursor's own chat cannot reach a server on this machine: its requests come from Cursor's hosts".to_owned(),
            ]
        },
    },
    Kit {
        name: "continue",
        about: "a chat model that is the server at its usual address",
        files: |wishes| vec![continue_model(wishes)],
        steps: |wishes| {
            vec![
                format!("start the server: {}", wishes.serve()),
                "choose the model `harness` in Continue's chat".to_owned(),
                "with --token, put the token into `apiKey`".to_owned(),
            ]
        },
    },
    Kit {
        name: "zed",
        about: "tasks: brief, ask, run, serve",
        files: |wishes| vec![zed_tasks(wishes)],
        steps: |_| {
            vec![
                "run `task: spawn` from the palette, then a `harness:` task; a task that asks ends its question with Ctrl-D".to_owned(),
                "Zed's own chat asks for streamed replies, which the server refuses: use the tasks".to_owned(),
            ]
        },
    },
    Kit {
        name: "cline",
        about: "a rule that tells Cline when to hand a task to harness",
        files: |wishes| vec![cline_rule(wishes)],
        steps: |_| {
            vec![
                "Cline reads .clinerules by itself; its rules panel shows `harness.md`".to_owned(),
                "as a provider the server cannot serve Cline, which asks for streamed replies"
                    .to_owned(),
            ]
        },
    },
    Kit {
        name: "neovim",
        about: "commands :HarnessBrief, :HarnessAsk, :HarnessRun, :HarnessServe",
        files: |wishes| vec![neovim(wishes)],
        steps: |wishes| {
            vec![
                "once, in your own init.lua: vim.o.exrc = true".to_owned(),
                "open the project and answer `:trust` for .nvim.lua".to_owned(),
                format!(
                    "for chat with CodeCompanion: an adapter that extends `openai_compatible` with env.url = \"http://127.0.0.1:{DEFAULT_PORT}\", opts.stream = false, schema.model.default = \"{}\"; start {}",
                    wishes.model,
                    wishes.serve()
                ),
            ]
        },
    },
    Kit {
        name: "emacs",
        about: "commands harness-brief, harness-ask, harness-run, harness-serve",
        files: |wishes| vec![emacs(wishes)],
        steps: |wishes| {
            vec![
                "open a file of the project; Emacs asks once whether the settings are safe"
                    .to_owned(),
                format!(
                    "for chat with gptel: (gptel-make-openai \"harness\" :protocol \"http\" :host \"127.0.0.1:{DEFAULT_PORT}\" :stream nil :key \"harness\" :models '({})); start {}",
                    wishes.model.replace(':', "\\:"),
                    wishes.serve()
                ),
            ]
        },
    },
    Kit {
        name: "jetbrains",
        about: "run configurations: brief, ask, run, serve",
        files: jetbrains,
        steps: |_| {
            vec![
                "choose a `harness` configuration at the top right and run it; one that asks ends its question with Ctrl-D".to_owned(),
                "the plugin `Shell Script` must be on, as it is by default".to_owned(),
            ]
        },
    },
];

/// The words of `run`: only a configuration that allows writes may change files.
fn run_words(wishes: &Wishes) -> Vec<&'static str> {
    if wishes.allow_writes {
        vec!["run"]
    } else {
        vec!["run", "--dry-run"]
    }
}

fn run_name(wishes: &Wishes) -> &'static str {
    if wishes.allow_writes {
        "harness: run"
    } else {
        "harness: run (look only)"
    }
}

fn serve_words(wishes: &Wishes) -> Vec<&'static str> {
    if wishes.allow_writes {
        vec!["serve", "--allow-writes"]
    } else {
        vec!["serve"]
    }
}

fn vscode_tasks(wishes: &Wishes) -> Drop {
    // A process, not a shell: whatever is typed reaches harness as one word.
    let task = |label: &str, words: Vec<&str>, input: Option<&str>| {
        let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        if let Some(input) = input {
            words.push("--".to_owned());
            words.push(format!("${{input:{input}}}"));
        }
        json!({
            "label": label,
            "type": "process",
            "command": "harness",
            "args": words,
            "options": {"cwd": "${workspaceFolder}"},
            "presentation": {"panel": "dedicated", "clear": true},
            "problemMatcher": [],
        })
    };
    let mut serve = task("harness: serve", serve_words(wishes), None);
    if let Some(fields) = serve.as_object_mut() {
        fields.insert("isBackground".to_owned(), Value::Bool(true));
    }
    let tasks = vec![
        task("harness: brief", vec!["brief"], None),
        task("harness: ask", vec!["ask"], Some("harness-question")),
        task(run_name(wishes), run_words(wishes), Some("harness-task")),
        serve,
    ];
    let inputs = vec![
        json!({"id": "harness-question", "type": "promptString", "description": "What do you want to know?"}),
        json!({"id": "harness-task", "type": "promptString", "description": "What is to be done?"}),
    ];
    let alone = json!({"version": "2.0.0", "tasks": tasks, "inputs": inputs});
    let items = vec![
        Items {
            list: Some("tasks"),
            name: "label",
            prefix: "harness: ",
            items: tasks,
        },
        Items {
            list: Some("inputs"),
            name: "id",
            prefix: "harness-",
            items: inputs,
        },
    ];
    Drop {
        path: ".vscode/tasks.json",
        content: Content::Jsonc { items, alone },
    }
}

fn zed_tasks(wishes: &Wishes) -> Drop {
    let task = |label: &str, words: Vec<&str>, asks: bool| {
        let mut words = words;
        if asks {
            words.push("-");
        }
        json!({
            "label": label,
            "command": "harness",
            "args": words,
            "cwd": "$ZED_WORKTREE_ROOT",
            "use_new_terminal": true,
            "allow_concurrent_runs": false,
            "reveal": "always",
        })
    };
    let tasks = vec![
        task("harness: brief", vec!["brief"], false),
        task("harness: ask", vec!["ask"], true),
        task(run_name(wishes), run_words(wishes), true),
        task("harness: serve", serve_words(wishes), false),
    ];
    let alone = Value::from(tasks.clone());
    let items = vec![Items {
        list: None,
        name: "label",
        prefix: "harness: ",
        items: tasks,
    }];
    Drop {
        path: ".zed/tasks.json",
        content: Content::Jsonc { items, alone },
    }
}

/// What another agent should know; the same words for every agent that reads rules.
fn rule_words(wishes: &Wishes) -> String {
    let mut text = "`harness` is a coding agent on this machine that works on this folder.\n\n\
        - `harness brief` says what the project is; `harness route \"TASK\"` says what would happen to a task.\n\
        - `harness ask \"QUESTION\"` answers from the code and never changes files.\n"
        .to_owned();
    if wishes.allow_writes {
        text.push_str(
            "- `harness run \"TASK\"` does a task, runs the project's tests, and takes back what makes them worse. Name a file or a function in the task.\n\
             - `harness undo` takes the latest run back, byte for byte.\n",
        );
    } else {
        text.push_str(
            "- `harness run --dry-run \"TASK\"` shows what it would change. Do not run it without `--dry-run`.\n",
        );
    }
    text.push_str("- `--json` prints one JSON document.\n");
    text
}

fn cursor_rule(wishes: &Wishes) -> Drop {
    let head = "---\ndescription: Handing a task in this project to harness, the local coding agent\nalwaysApply: false\n---\n\n";
    Drop {
        path: ".cursor/rules/harness.mdc",
        content: Content::Whole(format!("{head}{}", rule_words(wishes))),
    }
}

fn cline_rule(wishes: &Wishes) -> Drop {
    Drop {
        path: ".clinerules/harness.md",
        content: Content::Whole(format!("# harness\n\n{}", rule_words(wishes))),
    }
}

fn continue_model(wishes: &Wishes) -> Drop {
    let lines = format!(
        "- name: harness\n  provider: openai\n  model: {}\n  apiBase: http://127.0.0.1:{DEFAULT_PORT}/v1\n  apiKey: harness\n  roles:\n    - chat\n  defaultCompletionOptions:\n    stream: false\n",
        yaml_word(&wishes.model)
    );
    Drop {
        path: ".continue/models/harness.yaml",
        content: Content::Yaml {
            item: Item {
                list: "models",
                name: "harness",
                lines,
            },
            head: "name: harness\nversion: 0.0.1\nschema: v1\n",
        },
    }
}

/// Returns a text as YAML reads it back: plain where that is safe, quoted otherwise.
fn yaml_word(text: &str) -> String {
    let plain = !text.is_empty()
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | ':'))
        && !text.ends_with(':');
    if plain {
        return text.to_owned();
    }
    // Every JSON string is a YAML string.
    Value::from(text).to_string()
}

fn neovim(wishes: &Wishes) -> Drop {
    let words = |words: Vec<&str>| {
        let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        quoted.join(", ")
    };
    let lines = format!(
        r#"do
  local root = vim.fn.getcwd()
  -- A list of words, not a line for a shell: what is typed reaches harness as it is.
  local function harness(words)
    vim.cmd("botright new")
    if vim.fn.has("nvim-0.11") == 1 then
      vim.fn.jobstart(words, {{ term = true, cwd = root }})
    else
      vim.fn.termopen(words, {{ cwd = root }})
    end
    vim.cmd("startinsert")
  end
  local command = vim.api.nvim_create_user_command
  command("HarnessBrief", function() harness({{ "harness", "brief" }}) end, {{}})
  command("HarnessAsk", function(call) harness({{ "harness", "ask", "--", call.args }}) end, {{ nargs = "+" }})
  command("HarnessRun", function(call) harness({{ "harness", {run}, "--", call.args }}) end, {{ nargs = "+" }})
  command("HarnessServe", function() harness({{ "harness", {serve} }}) end, {{}})
end
"#,
        run = words(run_words(wishes)),
        serve = words(serve_words(wishes)),
    );
    Drop {
        path: ".nvim.lua",
        content: Content::Block(Block {
            comment: "--",
            place: Place::Top,
            lines,
        }),
    }
}

fn emacs(wishes: &Wishes) -> Drop {
    let words = |words: Vec<&str>| {
        let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        quoted.join(" ")
    };
    let lines = format!(
        r#" (nil . ((eval . (progn
   ;; Words, not a line for a shell: what is typed reaches harness as it is.
   (defun harness--start (&rest words)
     (let ((default-directory (or (locate-dominating-file default-directory ".dir-locals-2.el") default-directory)))
       (pop-to-buffer (apply #'make-comint "harness" "harness" nil words))))
   (defun harness-brief () "Show what the project is." (interactive)
     (harness--start "brief"))
   (defun harness-ask (question) "Answer QUESTION from the code." (interactive "sQuestion: ")
     (harness--start "ask" "--" question))
   (defun harness-run (task) "Hand TASK to harness." (interactive "sTask: ")
     (harness--start {run} "--" task))
   (defun harness-serve () "Start the server of the project." (interactive)
     (harness--start {serve}))))))
"#,
        run = words(run_words(wishes)),
        serve = words(serve_words(wishes)),
    );
    Drop {
        path: ".dir-locals-2.el",
        content: Content::Block(Block {
            comment: ";;",
            place: Place::InsideList,
            lines,
        }),
    }
}

fn jetbrains(wishes: &Wishes) -> Vec<Drop> {
    let configuration = |path, name: &str, words: &[&str]| Drop {
        path,
        content: Content::Whole(format!(
            r#"<component name="ProjectRunConfigurationManager">
  <configuration default="false" name="{name}" type="ShConfigurationType">
    <option name="SCRIPT_TEXT" value="harness {words}" />
    <option name="INDEPENDENT_SCRIPT_PATH" value="true" />
    <option name="SCRIPT_PATH" value="" />
    <option name="SCRIPT_OPTIONS" value="" />
    <option name="INDEPENDENT_SCRIPT_WORKING_DIRECTORY" value="true" />
    <option name="SCRIPT_WORKING_DIRECTORY" value="$PROJECT_DIR$" />
    <option name="INDEPENDENT_INTERPRETER_PATH" value="true" />
    <option name="INTERPRETER_PATH" value="" />
    <option name="INTERPRETER_OPTIONS" value="" />
    <option name="EXECUTE_IN_TERMINAL" value="true" />
    <option name="EXECUTE_SCRIPT_FILE" value="false" />
    <envs />
    <method v="2" />
  </configuration>
</component>
"#,
            words = words.join(" ")
        )),
    };
    let mut run = run_words(wishes);
    run.push("-");
    vec![
        configuration(".run/harness-brief.run.xml", "harness: brief", &["brief"]),
        configuration(".run/harness-ask.run.xml", "harness: ask", &["ask", "-"]),
        configuration(".run/harness-run.run.xml", run_name(wishes), &run),
        configuration(
            ".run/harness-serve.run.xml",
            "harness: serve",
            &serve_words(wishes),
        ),
    ]
}
