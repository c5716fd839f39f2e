"""`python -m harness.train`: a dataset from the traces of runs whose change was kept, and a model fine-tuned with it.

    python -m harness.train dataset PROJECT... --output FOLDER
    python -m harness.train lora FOLDER --model NAME

A dataset can be made anywhere and needs nothing but this package. Fine-tuning needs Apple silicon and the extra
`local-harness[train]`.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    # `python -m` looks for modules in the current folder first, which may be a project with a `json.py` of its own.
    sys.path[:] = [folder for folder in sys.path if folder not in ("", os.getcwd())]

import argparse
import hashlib
import importlib.util
import json
import pathlib
import platform
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, TypeGuard, cast

from harness import _harness
from harness._command import Parser, Problem, run_command

# The longest text that a trace keeps of one message; one that long may have been cut.
LONGEST_MESSAGE = 20_000
# One part in ten is for measuring, as is usual.
MEASURED_SHARE = 10


class Message(TypedDict):
    """One message of a conversation with a model."""

    role: str
    content: str


@dataclass(frozen=True)
class Example:
    """A conversation with a model whose last reply became part of a change that was kept."""

    project: str
    run: str
    messages: tuple[Message, ...]

    def line(self) -> str:
        """Returns it as a line of a chat dataset."""
        return json.dumps({"messages": self.messages}, ensure_ascii=False, sort_keys=True)


@dataclass
class Dataset:
    """Examples to learn from, examples to measure with, and how many were left out for what reason."""

    train: list[Example] = field(default_factory=list[Example])
    valid: list[Example] = field(default_factory=list[Example])
    left_out: dict[str, int] = field(default_factory=dict[str, int])

    def leave_out(self, reason: str) -> None:
        """Counts an example that is not taken."""
        self.left_out[reason] = self.left_out.get(reason, 0) + 1


def read_trace(path: pathlib.Path) -> dict[str, list[dict[str, Any]]]:
    """Returns the lines of a trace by run. A torn line, or one of another version, is no line."""
    runs: dict[str, list[dict[str, Any]]] = {}
    with open(path, encoding="utf-8", errors="replace") as lines:
        for text in lines:
            try:
                line = fields_of(json.loads(text))
            except (ValueError, RecursionError):
                continue
            if line.get("v") == 1 and isinstance(line.get("run"), str):
                runs.setdefault(line["run"], []).append(line)
    return runs


def examples(project: str, run: str, lines: Sequence[dict[str, Any]]) -> Iterator[Example]:
    """Returns the conversations of one run up to each reply that became part of its change."""
    end = lines[-1] if lines and lines[-1].get("kind") == "end" else {}
    if end.get("ok") is not True:
        return
    writes = items_of(end.get("writes"))
    conversation: list[Message] = []
    for turn in lines:
        reply, kept = turn.get("reply"), turn.get("kept")
        if turn.get("kind") != "turn" or not isinstance(reply, str):
            continue
        new = [message_of(message) for message in items_of(turn.get("messages"))]
        if not isinstance(kept, int) or not 0 <= kept <= len(conversation) or None in new:
            return
        conversation = [*conversation[:kept], *filter(None, new), {"role": "assistant", "content": reply}]
        if any(path in writes for path in items_of(turn.get("stands"))):
            yield Example(project, run, tuple(conversation))


def fields_of(value: Any) -> dict[str, Any]:
    """Returns an object that was read; nothing else has fields."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items_of(value: Any) -> list[Any]:
    """Returns a list that was read; nothing else has items."""
    return value if is_list(value) else []


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """Says whether a value is a list, to the checkers too."""
    return isinstance(value, list)


def message_of(value: Any) -> Message | None:
    """Returns a message that was read, where it is one."""
    role, content = (fields_of(value).get(name) for name in ("role", "content"))
    return Message(role=role, content=content) if isinstance(role, str) and isinstance(content, str) else None


def build(traces: Sequence[tuple[str, pathlib.Path]], undone: Sequence[str] = ()) -> Dataset:
    """Makes a dataset of traces, each with the name of its project. No project is on both sides of the split."""
    dataset, seen = Dataset(), set[str]()
    taken: list[Example] = []
    for project, path in sorted(traces):
        for run, lines in read_trace(path).items():
            for example in examples(project, run, lines):
                line = example.line()
                texts = [message["content"] for message in example.messages]
                if run in undone:
                    dataset.leave_out("undone")
                elif "[redacted:" in line or any(_harness.secrets_in(text) for text in (line, *texts)):
                    dataset.leave_out("with a secret")
                elif any(len(text) >= LONGEST_MESSAGE for text in texts):
                    dataset.leave_out("too long for the trace")
                elif line in seen:
                    dataset.leave_out("there already")
                else:
                    seen.add(line)
                    taken.append(example)
    measured = for_measuring(taken)
    for example in taken:
        (dataset.valid if group(example, taken) in measured else dataset.train).append(example)
    return dataset


def group(example: Example, all_examples: Sequence[Example]) -> str:
    """Returns what is never split: a project, or a run where there is only one project."""
    one_project = all(other.project == all_examples[0].project for other in all_examples)
    return example.run if one_project else example.project


def for_measuring(all_examples: Sequence[Example]) -> set[str]:
    """Picks the groups to measure with, the same ones every time."""
    groups = sorted({group(example, all_examples) for example in all_examples}, key=lambda name: hashlib.sha256(name.encode()).digest())
    count = max(1, len(groups) // MEASURED_SHARE) if len(groups) > 1 else 0
    return set(groups[:count])


def project_of(source: pathlib.Path) -> pathlib.Path | None:
    """Returns the project that a folder is, or that a trace file lies in, where there is one."""
    if source.is_dir():
        return source.resolve()
    return next((folder for folder in source.resolve().parents if (folder / ".harness").is_dir()), None)


def trace_of(source: pathlib.Path) -> tuple[str, pathlib.Path]:
    """Returns the name of a project and its trace, from a project's folder or a trace file."""
    trace = source / ".harness" / "traces.jsonl" if source.is_dir() else source
    if not trace.is_file():
        raise Problem(f"there is no trace in `{source}`", "name a project in which `harness run` has worked, or a file that `--record` wrote")
    return str(project_of(source) or source.resolve()), trace


def make_dataset(arguments: argparse.Namespace) -> int:
    """Writes the dataset and says what is in it."""
    sources: list[pathlib.Path] = arguments.source
    traces = [trace_of(source) for source in sources]
    projects = {project_of(source) for source in sources} - {None}
    undone = [run for project in projects for run in _harness.undone_runs(str(project))]
    dataset = build(traces, undone)
    for reason, count in sorted(dataset.left_out.items()):
        print(f"left out: {count} {reason}", file=sys.stderr)
    if not dataset.train:
        raise Problem("no run in these traces ended ok with a change that a model made", "let `harness run` do some tasks first", 1)
    output: pathlib.Path = arguments.output
    output.mkdir(parents=True, exist_ok=True)
    files = {output / "train.jsonl": dataset.train, output / "valid.jsonl": dataset.valid}
    for path in files:
        if path.exists():
            raise Problem(f"`{path}` is there already", "name another folder with --output")
    for path, taken in files.items():
        path.write_text("".join(example.line() + "\n" for example in taken), encoding="utf-8")
        print(f"{path}: {len(taken)} examples of {len({example.run for example in taken})} runs")
    if len({project for project, _ in traces}) == 1 and dataset.valid:
        print("all of it is of one project: what is measured is how well it learnt this one", file=sys.stderr)
    return 0


# `python -m mlx_lm`, without an `mlx_lm.py` of the current folder: `-P` says that from Python 3.11 on only.
START_MLX = "import os, sys; sys.path[:] = [folder for folder in sys.path if folder not in ('', os.getcwd())]; import runpy; runpy.run_module('mlx_lm', run_name='__main__', alter_sys=True)"


def lora_words(arguments: argparse.Namespace) -> list[str]:
    """Returns the words with which MLX fine-tunes a model."""
    words = ["--train", "--model", arguments.model, "--data", str(arguments.dataset), "--adapter-path", str(arguments.adapter)]
    words += ["--iters", str(arguments.iters), "--batch-size", "1", "--mask-prompt", "--grad-checkpoint"]
    return ["lora", *words]


def fine_tune(arguments: argparse.Namespace) -> int:
    """Fine-tunes a LoRA with MLX, where that can be."""
    for name in ("train.jsonl", "valid.jsonl"):
        path = arguments.dataset / name
        if not path.is_file() or not path.stat().st_size:
            raise Problem(f"`{path}` is missing or empty", "make a dataset of two runs or more with `python -m harness.train dataset`")
    words = lora_words(arguments)
    if (sys.platform, platform.machine()) != ("darwin", "arm64"):
        print(shlex.join(["python", "-m", "mlx_lm", *words]))
        raise Problem("fine-tuning runs on Apple silicon only, through MLX", "copy the dataset to such a Mac and start the command above there", 4)
    if importlib.util.find_spec("mlx_lm") is None:
        raise Problem("MLX is not installed here", 'install it with: pip install "local-harness[train]"', 4)
    # What MLX starts itself is kept from the current folder too, where Python can.
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    if subprocess.run([sys.executable, "-c", START_MLX, *words], env=environment, check=False).returncode:
        raise Problem("MLX could not fine-tune the model", "what it said above tells why; a smaller model needs less memory", 1)
    fuse = ["python", "-m", "mlx_lm", "fuse", "--model", arguments.model, "--adapter-path", str(arguments.adapter), "--save-path", "FOLDER"]
    print(f"{arguments.adapter}: the adapter")
    print(f"to have it as one model: {shlex.join(fuse)}", file=sys.stderr)
    return 0


def parser() -> Parser:
    """Returns the reader of the command line."""
    top = Parser(prog="python -m harness.train", description="A dataset from runs that worked, and a model fine-tuned with it.")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    dataset = commands.add_parser("dataset", help="make a chat dataset from traces", description="Makes a chat dataset from the traces of runs that ended ok.")
    dataset.add_argument("source", nargs="+", type=pathlib.Path, metavar="PROJECT", help="a project folder, or a trace file")
    dataset.add_argument("--output", type=pathlib.Path, required=True, metavar="FOLDER", help="where train.jsonl and valid.jsonl go")
    dataset.set_defaults(work=make_dataset)
    lora = commands.add_parser("lora", help="fine-tune a model (Apple silicon)", description="Fine-tunes a LoRA with MLX; Apple silicon only.")
    lora.add_argument("dataset", type=pathlib.Path, metavar="FOLDER", help="a folder that `dataset` made")
    lora.add_argument("--model", required=True, metavar="NAME", help="a model folder, or the name of an MLX model on the hub")
    lora.add_argument("--adapter", type=pathlib.Path, default=pathlib.Path("adapter"), metavar="FOLDER", help="where the adapter goes (default: adapter)")
    lora.add_argument("--iters", type=int, default=600, metavar="N", help="how many steps to train (default: 600)")
    lora.set_defaults(work=fine_tune)
    return top


if __name__ == "__main__":
    sys.exit(run_command(parser(), sys.argv[1:]))
