#!/usr/bin/env python3
"""Runs what the pages show and pastes what came of it: python3 scripts/docs/paste.py [--check] [PAGE ...]

Every page starts with a fresh copy of demo/orders in a home folder of its own, without an engine. Its transcripts and its
Python run there from top to bottom; where something else came of them than the page shows, all of the page is pasted
anew, so that ids of runs fit together. `--check` pastes nothing and ends with 1 where a page is stale.

Runs with a Python that has harness installed: target/test-venv/bin/python scripts/docs/paste.py
Not on Windows: the commands are those of a Unix shell.
"""

import argparse
import contextlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from pages import ROOT, blocks, pages

sys.path[:0] = [str(ROOT / "tests" / "model_server"), str(ROOT / "scripts" / "run")]

import install
from scripted import ScriptedServer

REPLIES = ROOT / "tests" / "docs"
# Where the pages say that the server listens.
SHOWN_SERVER = "127.0.0.1:8090"
# Where an engine listens by default.
SHOWN_ENGINE = "127.0.0.1:11434"
PATIENCE = 180
# What is another one each time: ids of runs, times (in a table they stand before the last words), and numbers of processes
# and ports.
VARIES = re.compile(r"\b\d{8}-\d{6}-[0-9a-f]{8}\b|\b\d+(\.\d+)? (s|ms)\b|\b[0-9a-f]{16}\b|\"(seconds|ms|duration_ms)\": ?[\d.]+| +\d+\.\d(?=  \S)")
# A machine's own Python is not the reader's.
PYTHON = re.compile(r"\S*python[\d.]*(?= -m (unittest|pytest|venv|pip))")


class Stale(Exception):
    """A page that does not run as it says."""


class Workspace:
    """A copy of the sample project in a home folder of its own, and what runs beside it."""

    def __init__(self, stack):
        self.stack = stack
        place = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="harness-docs-"))).resolve()
        self.home, temporary = place / "you", place / "tmp"
        temporary.mkdir()
        self.folder = self.home / "orders"
        rubbish = shutil.ignore_patterns("__pycache__", ".harness", "*.bak")
        shutil.copytree(str(ROOT / "demo" / "orders"), str(self.folder), ignore=rubbish)
        # Where the pages say that the clone is.
        (self.home / "harness").symlink_to(ROOT)
        program = pathlib.Path(sys.executable).parent
        kept = {name: value for name, value in os.environ.items() if name in ("LANG", "LC_ALL", "SYSTEMROOT", "CARGO_HOME", "RUSTUP_HOME")}
        path = os.pathsep.join([str(program), os.environ.get("PATH", "")])
        # Where nothing listens, until a block asks for a model.
        self.variables = {**kept, "PATH": path, "HOME": str(self.home), "TMPDIR": str(temporary), "OLLAMA_HOST": "127.0.0.1:9"}
        self.variables |= {"PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "80"}
        self.address, self.last_run, self.printed = None, "", ""

    def run(self, words, merged, said=None):
        """Runs a command of the shell; its exit code and what it printed, as the page may show it."""
        command = words.replace("RUN", self.last_run) if re.search(r"\bRUN\b", words) else words
        if self.address:
            command = command.replace(SHOWN_SERVER, self.address)
        error = subprocess.STDOUT if merged else subprocess.PIPE
        shell = ["sh", "-c", command] if said is None else [sys.executable, "-c", said]
        done = subprocess.run(shell, cwd=self.folder, env=self.variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=error, timeout=PATIENCE)
        text = done.stdout.decode("utf-8")
        hidden = "" if merged else done.stderr.decode("utf-8", "replace")
        # A hint on stderr may name a run too; what stands on stdout counts for more.
        ids = re.findall(r"\b\d{8}-\d{6}-[0-9a-f]{8}\b", hidden + text)
        self.last_run = ids[-1] if ids else self.last_run
        return done.returncode, self.shown(text), hidden

    def shown(self, text):
        """What was printed, without the paths of this machine."""
        text = text.replace(str(pathlib.Path(sys.executable).parent), "/home/you/.venv/bin")
        text = text.replace(str(self.home), "/home/you").replace(str(ROOT), "/home/you/harness")
        if self.address:
            text = text.replace(self.address, SHOWN_SERVER)
        text = text.replace(self.variables["OLLAMA_HOST"], SHOWN_ENGINE)
        return PYTHON.sub("python3", text)

    def give_model(self, names):
        """Starts an engine with these replies; it stays until another takes its place."""
        replies = [(REPLIES / name).read_text(encoding="utf-8") for name in names.split(",")]
        server = self.stack.enter_context(ScriptedServer(replies))
        self.variables["OLLAMA_HOST"] = server.host

    def serve(self, words):
        """Starts the server of this project, on a free port."""
        command = ["harness", "serve", "--port", "0", *words]
        process = subprocess.Popen(command, cwd=self.folder, env=self.variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.stack.callback(process.wait, 20)
        self.stack.callback(process.terminate)
        first = process.stdout.readline()
        if not first.startswith("listening on http://"):
            raise Stale(f"the server did not start: {first}")
        self.address = first.strip().rpartition("/")[2]

    def configure(self, text):
        file = self.home / ".config" / "harness" / "config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def made(text):
    """The page as it should be: every block that is run with what came of it."""
    text = with_models(text)
    lines, out = text.splitlines(), []
    with contextlib.ExitStack() as stack:
        place, at = Workspace(stack), 0
        for block in blocks(text):
            out += lines[at : block.first]
            out += performed(place, block)
            at = block.first + len(block.lines)
    return "\n".join([*out, *lines[at:]]) + "\n"


def with_models(text):
    """The page with the table of models that install.py suggests."""
    rows = [f"| {memory} | `{model}`{' (the default)' if model == install.DEFAULT_MODEL else ''} | {size} | `ollama pull {model}` |\n" for memory, model, size in install.MODELS]
    table = "| memory | model | download | get it |\n|---|---|---|---|\n" + "".join(rows)
    return re.sub(r"(?<=<!-- models -->\n).*?(?=<!-- end -->)", lambda _: table, text, flags=re.S)


def performed(place, block):
    """The lines of a block after it was run."""
    if block.kind == "config":
        place.configure(block.text)
    if block.kind == "output":
        return cut(place.printed, block)
    if not block.is_run:
        return block.lines
    if block.option("model"):
        place.give_model(block.option("model"))
    if block.option("serve") is not None:
        words = block.option("serve")
        place.serve([] if words is True else shlex.split(words))
    if block.language == "python":
        code, place.printed, error = place.run("", False, block.text.replace(f"http://{SHOWN_SERVER}", f"http://{place.address}"))
        wanted_code(block, "the Python block", code, error)
        return block.lines
    lines = block.lines[: next((i for i, line in enumerate(block.lines) if line.startswith("$ ")), 0)]
    commands = block.commands()
    for number, (command, _) in enumerate(commands):
        code, printed, error = place.run(command, bool(block.option("stderr")))
        if number == len(commands) - 1:
            wanted_code(block, command, code, error or printed)
        elif code != 0:
            raise Stale(f"`{command}` ended with {code}: {error or printed}")
        lines += [f"$ {command}", *cut(printed, block)]
        if number < len(commands) - 1 and printed:
            lines.append("")
    return lines


def wanted_code(block, what, code, error):
    if code != int(block.option("code", "0")):
        raise Stale(f"line {block.first}: `{what}` ended with {code}: {error}")


def cut(printed, block):
    """What was printed, as far as the comment of the block lets it be shown."""
    lines, most = [line.rstrip() for line in printed.rstrip().splitlines()], int(block.option("lines", "0"))
    return [*lines[:most], "…"] if 0 < most < len(lines) else lines


def same(one, other):
    """Whether two texts of a page are one but for what is another one each time."""
    return VARIES.sub("*", one) == VARIES.sub("*", other)


def stale_lines(page):
    """What is pasted anew, and the page as it would be; nothing where the page is as it should be."""
    text = page.read_text(encoding="utf-8")
    try:
        wanted = made(text)
    except Stale as stale:
        raise Stale(f"{page.relative_to(ROOT)}: {stale}") from None
    return None if same(text, wanted) else wanted


def main(words):
    parser = argparse.ArgumentParser(description="Runs what the pages show and pastes what came of it.")
    parser.add_argument("pages", nargs="*", type=pathlib.Path, metavar="PAGE", help="of these pages; all of them otherwise")
    parser.add_argument("--check", action="store_true", help="paste nothing; end with 1 where a page is stale")
    arguments = parser.parse_args(words)
    bad = 0
    for page in [path.resolve() for path in arguments.pages] or pages():
        try:
            wanted = stale_lines(page)
        except Stale as stale:
            print(stale)
            bad += 1
            continue
        if wanted is not None and not arguments.check:
            page.write_text(wanted, encoding="utf-8", newline="\n")
        bad += wanted is not None and arguments.check
        print(f"{page.relative_to(ROOT)}: {'as it should be' if wanted is None else 'stale' if arguments.check else 'pasted'}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
