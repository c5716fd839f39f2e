"""`python -m harness.train`: what a dataset is made of, and what never gets into it."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from conftest import FIX, RIGHT, TASK, TESTS, WRONG, WRONG_DRAFT
from serving import PROGRAM

SECRET = "ghp_" + "a1B2" * 9


def train(*words, **more):
    return subprocess.run([sys.executable, "-m", "harness.train", *map(str, words)], capture_output=True, text=True, encoding="utf-8", timeout=60, **more)


def run(project, *words):
    return subprocess.run([PROGRAM, *words, "--project", str(project), "--json"], capture_output=True, text=True, timeout=120)


def dataset(folder):
    """The examples of both files."""
    return [[json.loads(line)["messages"] for line in (folder / name).read_text(encoding="utf-8").splitlines()] for name in ("train.jsonl", "valid.jsonl")]


def written_trace(folder, *runs):
    """A project's trace as it would be after runs that changed `a.py`: the task, the reply, and what else there is to say of the end."""
    lines = []
    for number, (task, reply, end) in enumerate(runs):
        name = f"{folder.name}-{number}"
        lines += [
            {"v": 1, "run": name, "n": 0, "kind": "start", "task": task},
            {"v": 1, "run": name, "n": 1, "kind": "turn", "kept": 0, "messages": [{"role": "user", "content": task}], "reply": reply, "stands": ["a.py"]},
            {"v": 1, "run": name, "n": 2, "kind": "end", "ok": True, "writes": ["a.py"], **end},
        ]
    trace = folder / ".harness" / "traces.jsonl"
    trace.parent.mkdir(parents=True)
    trace.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


def test_what_a_run_learnt_does_the_same_work_again(project, engine, tmp_path):
    again = tmp_path / "again"
    shutil.copytree(project, again)
    engine(WRONG_DRAFT, FIX)
    assert run(project, "run", TASK).returncode == 0
    done = train("dataset", project, "--output", tmp_path / "data")
    assert done.returncode == 0, done.stderr
    (example,), valid = dataset(tmp_path / "data")
    assert valid == [] and "train.jsonl: 1 examples of 1 runs" in done.stdout
    # The draft that was taken back is not what is to be learnt.
    assert [message["role"] for message in example] == ["system", "user", "assistant", "user", "assistant"]
    assert WRONG_DRAFT not in str(example) and example[-1]["content"] == FIX
    server = engine(example[-1]["content"])
    assert run(again, "run", TASK).returncode == 0
    assert (again / "shop/pricing.py").read_bytes() == (project / "shop/pricing.py").read_bytes() == RIGHT.encode()
    # The prompt that it learns from is the prompt that it will meet.
    assert server.requests[0]["messages"] == example[:-1]


def test_each_of_two_conversations_is_told_from_its_beginning(project, engine, tmp_path):
    (project / "shop/rounding.py").write_text("def half(number):\n    return number / 3\n")
    (project / "tests/test_rounding.py").write_text(TESTS.replace("pricing", "rounding").replace("discount(200, 10), 180", "half(4), 2").replace("discount", "half"))
    half = "```python\ndef half(number):\n    return number / 2\n```\n"
    server = engine(FIX, half)
    assert run(project, "run", "fix the failing tests").returncode == 0
    assert train("dataset", project, "--output", tmp_path / "data").returncode == 0
    (one, other), _ = dataset(tmp_path / "data")
    assert [example[:-1] for example in (one, other)] == [request["messages"] for request in server.requests]


def test_what_was_not_kept_is_no_example(project, engine, tmp_path):
    engine(WRONG_DRAFT)
    assert run(project, "run", TASK, "--steps", "2").returncode == 1
    assert run(project, "run", TASK, "--dry-run").returncode == 0
    nothing = train("dataset", project, "--output", tmp_path / "data")
    assert nothing.returncode == 1 and "hint: " in nothing.stderr and not (tmp_path / "data").exists()
    engine(FIX)
    assert run(project, "run", TASK).returncode == 0 and run(project, "undo").returncode == 0
    undone = train("dataset", project, "--output", tmp_path / "data")
    assert undone.returncode == 1 and "1 undone" in undone.stderr
    # A file of the project is as good as its folder.
    trace, recorded = project / ".harness" / "traces.jsonl", project / "recorded.jsonl"
    shutil.copy(trace, recorded)
    sources = [trace, recorded]
    if sys.platform != "win32":
        (tmp_path / "linked").symlink_to(project, target_is_directory=True)
        sources.append(tmp_path / "linked" / ".harness" / "traces.jsonl")
    for source in sources:
        undone = train("dataset", source, "--output", tmp_path / "data")
        assert undone.returncode == 1 and "1 undone" in undone.stderr, source
    undone = train("dataset", "traces.jsonl", "--output", tmp_path / "data", cwd=trace.parent)
    assert undone.returncode == 1 and "1 undone" in undone.stderr
    assert (project / "shop/pricing.py").read_text() == WRONG


def test_a_folder_and_its_trace_are_one_project(tmp_path):
    project = written_trace(tmp_path / "one", ("good", "x = 3", {}), ("better", "x = 4", {}))
    done = train("dataset", project, project / ".harness" / "traces.jsonl", "--output", tmp_path / "data")
    assert done.returncode == 0 and "2 there already" in done.stderr and "all of it is of one project" in done.stderr
    assert [len(part) for part in dataset(tmp_path / "data")] == [1, 1]


def test_projects_are_not_split_and_nothing_comes_twice(tmp_path):
    projects = [written_trace(tmp_path / name, (f"task of {name}", "x = 1", {}), (f"second of {name}", "x = 1", {}), ("the same everywhere", "x = 2", {})) for name in "abc"]
    done = train("dataset", *projects, "--output", tmp_path / "data")
    assert done.returncode == 0 and "2 there already" in done.stderr
    sides = [{example[0]["content"][-1] for example in side if "same" not in example[0]["content"]} for side in dataset(tmp_path / "data")]
    assert len(sides[0]) == 2 and len(sides[1]) == 1 and not sides[0] & sides[1]
    assert sum(map(len, dataset(tmp_path / "data"))) == 7
    # The same every time, in whatever order they are named.
    train("dataset", *reversed(projects), "--output", tmp_path / "again")
    assert [len(side) for side in dataset(tmp_path / "again")] == [len(side) for side in dataset(tmp_path / "data")]


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        ((f"use {SECRET}", "x = 1", {}), "1 with a secret"),
        (("task", f"key = '{SECRET}'", {}), "1 with a secret"),
        (("task", "key = '[redacted:github-token]'", {}), "1 with a secret"),
        (("task", "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 8 + "\n-----END PRIVATE KEY-----", {}), "1 with a secret"),
        (("t" * 20_000, "x = 1", {}), "1 too long for the trace"),
        (("task", "x = 1", {"ok": False}), ""),
        (("task", "x = 1", {"writes": ["b.py"]}), ""),
        (("task", "x = 1", {"writes": None}), ""),
    ],
)
def test_what_is_left_out(tmp_path, run, reason):
    projects = [written_trace(tmp_path / "one", run), written_trace(tmp_path / "two", ("good", "x = 3", {}))]
    done = train("dataset", *projects, "--output", tmp_path / "data")
    assert done.returncode == 0 and reason in done.stderr
    assert dataset(tmp_path / "data")[0] == [[{"role": "user", "content": "good"}, {"role": "assistant", "content": "x = 3"}]]
    assert SECRET not in done.stdout + done.stderr + (tmp_path / "data/train.jsonl").read_text()


def test_a_damaged_trace_gives_what_is_whole(tmp_path):
    project = written_trace(tmp_path / "one", ("good", "x = 3", {}))
    trace = project / ".harness/traces.jsonl"
    nonsense = b'\xff\xfe\x00\n[]\nnull\n7\n{"v": 1}\n{"v": 2, "run": "x"}\n{"v": 1, "run": "y", "kind": "turn", "messages": 7, "reply": []}\n'
    odd = [{"kind": "turn", "kept": 9, "messages": [], "reply": "x"}, {"kind": "end", "ok": True, "writes": ["a.py"]}]
    more = [{"kind": "turn", "kept": 0, "messages": [7, {"role": 1}], "reply": "x", "stands": ["a.py"]}, odd[1]]
    lines = [json.dumps({"v": 1, "run": name, **line}) for name, lines in (("z", odd), ("w", more)) for line in lines]
    trace.write_bytes(nonsense + "\n".join(lines).encode() + b"\n" + trace.read_bytes() + b'{"v": 1, "run": "torn')
    done = train("dataset", trace, "--output", tmp_path / "data")
    assert done.returncode == 0, done.stderr
    assert len(dataset(tmp_path / "data")[0]) == 1


def test_wrong_calls(tmp_path):
    project = written_trace(tmp_path / "one", ("good", "x = 3", {}))
    (tmp_path / "data").mkdir()
    (tmp_path / "data/valid.jsonl").write_text("mine\n")
    (tmp_path / "file").write_text("")
    for words in (
        [], ["nosuch"], ["dataset"], ["dataset", tmp_path / "nosuch", "--output", tmp_path / "x"], ["dataset", tmp_path, "--output", tmp_path / "x"],
        ["dataset", project, "--output", tmp_path / "data"], ["dataset", project, "--output", tmp_path / "file"], ["lora", tmp_path / "nosuch", "--model", "m"],
        ["lora", tmp_path / "data", "--model", "m"], ["lora", tmp_path / "data", "--model", "m", "--iters", "many"],
    ):
        wrong = train(*words)
        assert wrong.returncode == 2 and "hint: " in wrong.stderr and "Traceback" not in wrong.stderr, (words, wrong.stderr)
    assert os.listdir(tmp_path / "data") == ["valid.jsonl"] and not (tmp_path / "x").exists()


def test_a_module_of_the_project_is_not_run(tmp_path):
    project = written_trace(tmp_path / "one", ("good", "x = 3", {}))
    for name in ("json.py", "argparse.py", "hashlib.py"):
        (project / name).write_text("raise SystemExit('the module of the project was run')\n")
    assert train("dataset", ".", "--output", tmp_path / "data", cwd=project).returncode == 0


@pytest.fixture
def two_runs(tmp_path):
    project = written_trace(tmp_path / "one", ("good", "x = 3", {}), ("better", "x = 4", {}))
    assert train("dataset", project, "--output", tmp_path / "data").returncode == 0
    return tmp_path / "data"


@pytest.mark.skipif(sys.platform == "darwin", reason="fine-tuning would begin")
def test_elsewhere_it_says_where_it_can_run(two_runs):
    said = train("lora", two_runs, "--model", "some/model")
    assert said.returncode == 4 and "Apple silicon" in said.stderr and "hint: " in said.stderr
    assert said.stdout.startswith(f"python -m mlx_lm lora --train --model some/model --data {two_runs}")


def test_on_apple_silicon_mlx_is_called(two_runs, tmp_path):
    """A stand-in for MLX that reads its words as the real one does, on a machine that says it is such a Mac."""
    package = tmp_path / "mlx" / "mlx_lm"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text("import json, sys\njson.dump(sys.argv[1:], open('called.json', 'w'))\nsys.exit('no memory' if 'broken' in sys.argv else 0)\n")
    program = "import sys, platform\nsys.platform = 'darwin'\nplatform.machine = lambda: 'arm64'\nfrom harness import train, _command\nsys.exit(_command.run_command(train.parser(), sys.argv[1:]))\n"

    def start(model, path):
        words = [sys.executable, "-c", program, "lora", str(two_runs), "--model", model, "--iters", "3", "--adapter", "learnt"]
        return subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, timeout=60)

    # A project may have a module of that name.
    planted = tmp_path / "mlx_lm.py"
    planted.write_text("open('planted', 'w').close()\n")
    (tmp_path / "runpy.py").write_text("open('planted', 'w').close()\n")
    planted.rename(tmp_path / "aside.py")
    missing = start("some/model", "")
    (tmp_path / "aside.py").rename(planted)
    assert missing.returncode == 4 and "local-harness[train]" in missing.stderr
    done = start("some/model", str(tmp_path / "mlx"))
    assert done.returncode == 0 and "learnt: the adapter" in done.stdout and "mlx_lm fuse" in done.stderr, done.stderr
    words = json.loads((tmp_path / "called.json").read_text())
    assert words[:6] == ["lora", "--train", "--model", "some/model", "--data", str(two_runs)] and words[words.index("--iters") + 1] == "3"
    assert start("broken", str(tmp_path / "mlx")).returncode == 1
    assert not (tmp_path / "planted").exists()
