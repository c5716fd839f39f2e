"""A slice of bench/soak.py, and what it finds: a program with a planted fault is told apart from one without.

The planted programs answer like `harness` and do nothing, but for one thing that must never happen.
"""

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

if os.name == "nt":
    pytest.skip("signals are POSIX's", allow_module_level=True)

ROOT = pathlib.Path(__file__).resolve().parents[2]
# By its path: other files of that folder are called like packages and like modules of these tests.
spec = importlib.util.spec_from_file_location("soak", ROOT / "bench" / "soak.py")
soak = sys.modules["soak"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(soak)

SECONDS, SEED = 20, 1
KNOWN = [soak.Source("orders", ROOT / "demo" / "orders", "unittest")]

HARMLESS = """#!{python}
import json, os, pathlib, subprocess, sys, urllib.request

command, words = sys.argv[1], sys.argv[2:]
place, project = pathlib.Path.cwd(), pathlib.Path.cwd() / "project"
result = {{"ok": False, "stopped": "stuck", "summary": "", "writes": [], "goals": []}}
source = project / "orders" / "pricing.py"
{fault}
if command == "last":
    print(json.dumps({{"runs": []}}))
elif command == "undo":
    sys.exit("no run has changes that could be taken back")
else:
    print(json.dumps(result))
    sys.exit(0 if result["ok"] else 1)
"""
# What a program does, in the command that it does it in, and what is said of it.
PLANTED = {
    "writes beside the project": ("run", '(place / "beside" / "keep.txt").write_text("mine")', "outside the project changed: beside/keep.txt"),
    "writes to the home folder": ("run", '(place / "home" / ".profile").write_text("mine")', "outside the project changed: home/.profile"),
    "makes a neighbour": ("run", '(place / "more").mkdir()', "outside the project changed: ./more"),
    "leaves half a file": ("run", "source.write_bytes(source.read_bytes()[:-7])", "torn: orders/pricing.py"),
    "changes more than it tells": ("run", '(project / "README.md").write_text("other\\n")', "changed and not told: README.md"),
    "leaves a temporary file": ("run", '(project / ".harness-1-1.tmp").write_text("half")', "temporary files are left"),
    "spoils the tests": ("run", 'source.write_text("def line_total(line):\\n    return 0\\n")', "tests that passed fail now"),
    "says ok and is not": ("run", 'source.write_text("ok = 1\\n"); result.update(ok=True, stopped="done", writes=["orders/pricing.py"])', "ok, but"),
    "tells a secret": (
        "run",
        'urllib.request.urlopen(f"http://{os.environ[\'OLLAMA_HOST\']}/api/chat", json.dumps({"messages": [{"content": os.environ["GITHUB_TOKEN"]}]}).encode()).read()',
        "a secret was sent to the model: environment",
    ),
    "leaves a process": ("run", 'subprocess.Popen(["sleep", "7"], cwd=project, stdout=-3, stderr=-3)', "processes are left"),
    "panics": ("run", 'sys.stderr.write("thread main panicked at x"); sys.exit(101)', "it panicked"),
    "ends without a word": ("run", "sys.exit(1)", "no result"),
    "keeps the lock": ("run", 'result["stopped"] = "busy"', "found the project locked"),
    "leaves a record that nobody can read": (
        "run",
        '(project / ".harness").mkdir(exist_ok=True); (project / ".harness" / "traces.jsonl").write_text("{half\\n{}\\n")',
        "lines of traces.jsonl cannot be read: [1]",
    ),
    "cannot tell of its runs": ("last", 'sys.exit("broken")', "`last` ended with 1"),
    "cannot undo": ("undo", 'sys.exit("the disk is full")', "`undo` ended with 1"),
    "undoes too much": ("undo", "source.unlink(missing_ok=True)", "`undo` did not bring back orders/pricing.py"),
}  # fmt: skip


def soaked(tmp_path, *words):
    command = [sys.executable, str(ROOT / "bench" / "soak.py"), "--projects", "orders", "--log", str(tmp_path / "log.jsonl"), "--keep", str(tmp_path / "keep"), *words]
    return subprocess.run(command, capture_output=True, text=True)


def planted(tmp_path, command="run", fault="pass"):
    program = tmp_path / "planted"
    line = f'if command == "{command}":\n    {fault}'
    program.write_text(HARMLESS.format(python=sys.executable, fault=line), encoding="utf-8")
    program.chmod(0o755)
    return str(program)


def is_plain(number, folder):
    """Whether a round is a run that may write, that nobody kills, and after which another one follows."""
    one = soak.Round(SEED, number, KNOWN)
    one.prepare(folder)
    return one.kill is None and not one.is_read_only() and one.follow_up


@pytest.fixture(scope="module")
def plain_round(tmp_path_factory):
    return next(number for number in range(100) if is_plain(number, tmp_path_factory.mktemp("round")))


def test_a_slice_finds_nothing(tmp_path):
    done = soaked(tmp_path, "--seconds", str(SECONDS), "--seed", str(SEED))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "rounds with a fault: 0" in done.stdout


def test_a_harmless_program_is_not_accused(tmp_path, plain_round):
    assert soak.played(SEED, plain_round, KNOWN, planted(tmp_path), None)["faults"] == []


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found(tmp_path, monkeypatch, plain_round, fault):
    monkeypatch.setattr(soak, "GRACE_SECONDS", 0.3)
    command, line, told = PLANTED[fault]
    faults = soak.played(SEED, plain_round, KNOWN, planted(tmp_path, command, line), None)["faults"]
    assert any(told in one for one in faults), faults


def test_a_round_with_a_fault_says_how_to_repeat_it(tmp_path):
    program = planted(tmp_path, "run", '(place / "said.txt").write_text("here")')
    first = soaked(tmp_path, "--rounds", "2", "--seed", "7", "--program", program)
    assert first.returncode == 1, first.stdout + first.stderr
    assert "again: python bench/soak.py --seed 7 --round 1 --projects orders" in first.stdout
    again = soaked(tmp_path, "--seed", "7", "--round", "1", "--program", program)
    told = next(line for line in first.stdout.splitlines() if line.startswith("seed 7, round 1:"))
    assert told in again.stdout
