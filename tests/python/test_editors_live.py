"""Neovim and Emacs themselves with the files that `harness editors` writes: they load, and their commands start the program."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import RIGHT
from serving import PROGRAM

NVIM, EMACS = shutil.which("nvim"), shutil.which("emacs")
# What a shell would take for its own.
QUESTION = """what does "discount" return; $(touch planted) 'really'?"""
ANSWER = "It returns the total without the percent."


@pytest.fixture
def opened(project, engine, monkeypatch, tmp_path):
    """Sets an editor up for the project, as somebody whose PATH does not have the program."""
    folders = [folder for folder in os.environ["PATH"].split(os.pathsep) if not (pathlib.Path(folder) / "harness").exists()]
    monkeypatch.setenv("PATH", os.pathsep.join(folders))
    for name in ("XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))

    def set_up(name, *words):
        subprocess.run([PROGRAM, "editors", name, "--project", str(project), *words], check=True, capture_output=True)
        return engine(ANSWER)

    return set_up


def asked(server):
    """The last message of the user to each request."""
    return [request["messages"][-1]["content"] for request in server.requests]


def start(words, project):
    return subprocess.run(words, cwd=project, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90)


def in_neovim(project, command):
    """Loads the project's file, as `exrc` does, gives a command and returns what its terminal shows at the end."""
    wait = "lua vim.fn.jobwait({vim.b.terminal_job_id}, 60000); vim.wait(300)"
    show = "lua io.stdout:write(table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n'))"
    words = [NVIM, "--clean", "--headless", "-i", "NONE", "+source .nvim.lua", f"+{command}", f"+{wait}", f"+{show}", "+qall!"]
    return start(words, project)


@pytest.mark.skipif(NVIM is None, reason="no Neovim on the path (Debian: neovim)")
def test_neovim_shows_the_brief(opened, project):
    opened("neovim")
    shown = in_neovim(project, "HarnessBrief")
    assert "shop" in shown.stdout and "Error" not in shown.stderr, (shown.stdout, shown.stderr)


@pytest.mark.skipif(NVIM is None, reason="no Neovim on the path (Debian: neovim)")
def test_what_is_typed_in_neovim_reaches_the_program_as_it_is(opened, project):
    server = opened("neovim")
    shown = in_neovim(project, f"HarnessAsk {QUESTION}")
    assert ANSWER in shown.stdout.replace("\n", " ") and any(QUESTION in words for words in asked(server)), shown.stdout
    assert not (project / "planted").exists()


# What an editor says first.
HELLO = '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1, "clientCapabilities": {}}}\n'

# The parts of CodeCompanion 19.22 that the command uses: lua/codecompanion/config.lua (`adapters.acp`, looked up by name),
# adapters/acp/init.lua (`commands.default` is started), commands/init.lua (`adapter=NAME`). It needs Neovim 0.11.
COMPANION = {
    "lua/codecompanion/config.lua": "return { adapters = { acp = {} } }\n",
    "plugin/codecompanion.lua": """vim.api.nvim_create_user_command("CodeCompanionChat", function(call)
      local adapter = require("codecompanion.config").adapters.acp[call.args:match("adapter=(%S+)")]
      assert(adapter.type == "acp" and adapter.roles.user == "user" and adapter.handlers.setup(adapter))
      assert(adapter.parameters.protocolVersion == 1 and not adapter.parameters.clientCapabilities.fs.writeTextFile)
      io.stdout:write(vim.fn.system(adapter.commands.default, vim.env.HELLO))
    end, { nargs = "*" })
""",
}


def answered(text):
    """Whether the agent's answer to the greeting is among what was printed."""
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return any(line["id"] == 1 and line["result"]["protocolVersion"] == 1 for line in lines)


@pytest.mark.skipif(NVIM is None, reason="no Neovim on the path (Debian: neovim)")
def test_neovim_starts_the_agent_of_codecompanion(opened, project, tmp_path, monkeypatch):
    opened("neovim")
    monkeypatch.setenv("HELLO", HELLO)
    words = [NVIM, "--clean", "--headless", "-i", "NONE", "+source .nvim.lua"]
    without = start([*words, "+HarnessChat", "+qall!"], project)
    assert "needs the plugin CodeCompanion" in without.stderr and "Error" not in without.stderr
    for path, text in COMPANION.items():
        (tmp_path / "companion" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "companion" / path).write_text(text)
    shown = start([*words, f"+set rtp+={tmp_path}/companion", "+runtime plugin/codecompanion.lua", "+HarnessChat", "+qall!"], project)
    assert answered(shown.stdout), (shown.stdout, shown.stderr)


# The parts of agent-shell 0.36 and acp.el 0.9 that the command uses: what `agent-shell-start`, `agent-shell-make-agent-config`
# and `acp-make-client` take. They need Emacs 29.1.
AGENT_SHELL = """(require 'cl-lib)
(cl-defun agent-shell-make-agent-config (&key mode-line-name welcome-function buffer-name shell-prompt shell-prompt-regexp client-maker)
  (cl-assert (and mode-line-name buffer-name shell-prompt shell-prompt-regexp (funcall welcome-function nil)))
  client-maker)
(cl-defun agent-shell-start (&key config) (funcall config (get-buffer-create "agent")))
(cl-defun acp-make-client (&key context-buffer command command-params)
  (switch-to-buffer context-buffer)
  (apply #'call-process-region (getenv "HELLO") nil command nil t nil command-params))
(provide 'agent-shell)
"""


@pytest.mark.skipif(EMACS is None, reason="no Emacs on the path (Debian: emacs-nox)")
def test_emacs_starts_the_agent_of_agent_shell(opened, project, tmp_path, monkeypatch):
    opened("emacs")
    monkeypatch.setenv("HELLO", HELLO)
    without = in_emacs(project, "(harness-chat)")
    assert without.returncode != 0 and "needs the package agent-shell" in without.stderr
    (tmp_path / "agent-shell.el").write_text(AGENT_SHELL)
    shown = in_emacs(project, f'(add-to-list \'load-path "{tmp_path}") (harness-chat)')
    assert answered(shown.stdout), (shown.stdout, shown.stderr)


def in_emacs(project, form):
    """Opens a file with the project's settings, calls a command and prints what its buffer shows at the end."""
    program = f"""(progn
      (setq enable-local-variables :all enable-local-eval t create-lockfiles nil)
      (find-file "shop/pricing.py")
      {form}
      (let ((process (get-buffer-process (current-buffer))) (until (+ (float-time) 60)))
        (while (and process (process-live-p process) (< (float-time) until)) (accept-process-output process 0.1))
        (accept-process-output nil 0.3))
      (princ (buffer-string)))"""
    return start([EMACS, "--batch", "--no-init-file", "--eval", program], project)


@pytest.mark.skipif(EMACS is None, reason="no Emacs on the path (Debian: emacs-nox)")
def test_emacs_shows_the_brief(opened, project):
    opened("emacs")
    shown = in_emacs(project, "(harness-brief)")
    assert shown.returncode == 0 and "shop" in shown.stdout, shown.stderr


@pytest.mark.skipif(EMACS is None, reason="no Emacs on the path (Debian: emacs-nox)")
def test_what_is_typed_in_emacs_reaches_the_program_as_it_is(opened, project):
    server = opened("emacs")
    escaped = QUESTION.replace("\\", "\\\\").replace('"', '\\"')
    shown = in_emacs(project, f'(harness-ask "{escaped}")')
    assert ANSWER in shown.stdout and any(QUESTION in words for words in asked(server)), (shown.stdout, shown.stderr)
    assert not (project / "planted").exists()


@pytest.mark.parametrize("name", ["neovim", "emacs"])
@pytest.mark.parametrize("allows", [True, False])
def test_a_task_changes_files_only_where_that_was_asked_for(opened, project, name, allows):
    if not {"neovim": NVIM, "emacs": EMACS}[name]:
        pytest.skip(f"no {name} on the path")
    (project / "shop/pricing.py").write_text(RIGHT)
    opened(name, *["--allow-writes"] * allows)
    task = "rename discount to reduced"
    shown = in_neovim(project, f"HarnessRun {task}") if name == "neovim" else in_emacs(project, f'(harness-run "{task}")')
    assert ("def reduced" in (project / "shop/pricing.py").read_text()) == allows, (shown.stdout, shown.stderr)
