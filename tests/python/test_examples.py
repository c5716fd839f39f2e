"""The examples of the library, in Python and in Rust: each is run as its first lines say, on the sample project."""

import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest
from conftest import CHECKERS, ROOT, tree

FIX = "fix the NameError in orders/report.py"
RENAME = "rename best_percent to discount_percent"


@pytest.fixture
def orders(tmp_path):
    folder = tmp_path / "orders"
    shutil.copytree(ROOT / "demo" / "orders", folder, ignore=shutil.ignore_patterns("__pycache__", ".harness", "*.bak"))
    return folder


def run(words, said=""):
    done = subprocess.run([str(word) for word in words], input=said, capture_output=True, text=True, encoding="utf-8", timeout=120)
    return done.returncode, done.stdout, done.stderr


def python(name, *words, said=""):
    return run([sys.executable, ROOT / "examples" / name, *words], said)


def rust(name, *words):
    suffix = ".exe" if os.name == "nt" else ""
    return run([ROOT / "target" / "debug" / "examples" / f"{name}{suffix}", *words])


def test_every_example_is_run_here():
    here = pathlib.Path(__file__).read_text(encoding="utf-8")
    found = [*ROOT.glob("examples/*.py"), *ROOT.glob("crates/*/examples/*.rs")]
    assert len(found) == 6
    for path in found:
        call = f'python("{path.name}"' if path.suffix == ".py" else f'rust("{path.stem}"'
        assert call in here, path


def test_fix_in_python(orders):
    code, out, error = python("fix.py", orders, FIX)
    assert code == 0, error
    assert "-" + "    " in out and "percent" in out and "tests:" in out and "17 passed, 1 failed" in out
    assert "precent" not in (orders / "orders/report.py").read_text()


def test_review_in_python_changes_only_after_a_yes(orders):
    before = (orders / "orders/discounts.py").read_bytes()
    code, out, error = python("review.py", orders, RENAME, said="n\n")
    assert code == 0 and "nothing was changed" in out, error
    assert (orders / "orders/discounts.py").read_bytes() == before
    code, out, error = python("review.py", orders, RENAME, said="y\n")
    assert code == 0, error
    assert b"def discount_percent" in (orders / "orders/discounts.py").read_bytes()


def test_many_in_python_stops_at_the_first_that_is_not_proven(orders, tmp_path):
    tasks = tmp_path / "tasks.txt"
    tasks.write_text(f"{FIX}\nrename no_such_name to other\n{RENAME}\n")
    code, out, error = python("many.py", orders, tasks)
    assert code == 1, error
    assert [line.split(" - ")[0] for line in out.splitlines() if " - " in line and line[0] != " "][0] == "done"
    assert RENAME not in out


# One task in many clones


@pytest.fixture
def clones(orders, tmp_path):
    """Three clones in which the task can be done, and one in which it means nothing."""
    folder = tmp_path / "clones"
    for name in ("a", "b", "c"):
        shutil.copytree(orders, folder / name)
    (folder / "notes").mkdir()
    (folder / "notes" / "README.md").write_text("# Notes\n", encoding="utf-8")
    return folder


def outcomes(results):
    return {file.parent.name: json.loads(file.read_text(encoding="utf-8"))["ok"] for file in results.glob("*/result.json")}


def check_results(clones, results, before):
    """Each has its result, its record and its patch; the clones are as they were."""
    assert outcomes(results) == {"a": True, "b": True, "c": True, "notes": False}
    for name in ("a", "b", "c"):
        assert (results / name / "trace.jsonl").stat().st_size > 0
        subprocess.run(["git", "apply", "--check", str(results / name / "change.patch")], cwd=clones / name, check=True, timeout=60)
    assert not (results / "notes" / "change.patch").exists() and tree(clones) == before


def test_many_repositories_here(clones, tmp_path):
    results, before = tmp_path / "out", tree(clones)
    code, out, error = python("many_repositories.py", clones, FIX, "--results", results, "--workers", "2")
    assert code == 1, error
    assert [line.split()[:2] for line in out.splitlines()[1:5]] == [["a", "done"], ["b", "done"], ["c", "done"], ["notes", "question"]]
    assert "3 of 4 done" in out and "16/2      17/1" in out
    check_results(clones, results, before)
    assert (results / "table.txt").read_text(encoding="utf-8") == out
    # Another task has other results.
    code, out, error = python("many_repositories.py", clones, RENAME, "--results", results)
    assert code == 2 and "hint: name another folder" in error


def test_many_repositories_with_a_list_and_again(clones, tmp_path):
    listed, results = tmp_path / "clones.txt", tmp_path / "out"
    (tmp_path / "more").mkdir()
    shutil.copytree(clones / "a", tmp_path / "more" / "a")
    listed.write_text(f"{clones / 'a'}\n{tmp_path / 'more' / 'a'}\n{clones / 'notes'}\n", encoding="utf-8")
    assert python("many_repositories.py", listed, FIX, "--results", results, "--workers", "2")[0] == 1
    assert outcomes(results) == {"a": True, "a-2": True, "notes": False}
    stamps = {name: (results / name / "result.json").stat().st_mtime_ns for name in ("a", "a-2", "notes")}
    shutil.copytree(clones / "b", clones / "notes", dirs_exist_ok=True)
    code, out, error = python("many_repositories.py", listed, FIX, "--results", results, "--again")
    assert code == 0 and "3 repositories, 2 of them finished before" in error, error
    again = {name: (results / name / "result.json").stat().st_mtime_ns for name in stamps}
    assert (again["a"], again["a-2"]) == (stamps["a"], stamps["a-2"]) and again["notes"] != stamps["notes"]


@pytest.mark.skipif(os.name == "nt", reason="stopped by signals")
@pytest.mark.parametrize("how", [signal.SIGINT, getattr(signal, "SIGKILL", None)])
def test_many_repositories_are_taken_up_where_they_were_stopped(clones, tmp_path, how):
    results, before = tmp_path / "out", tree(clones)
    command = [sys.executable, ROOT / "examples" / "many_repositories.py", clones, FIX, "--results", results, "--workers", "1"]
    # Whoever started these tests in the background has Ctrl-C ignored, also in what they start.
    heed = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    started = subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=heed
    )
    deadline = time.monotonic() + 100
    while not outcomes(results) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(started.pid, how)
    _, error = started.communicate(timeout=60)
    if how == signal.SIGINT:
        assert started.returncode == 130 and "The same command goes on from here." in error, error
    first = outcomes(results)
    # What was at work is not finished, and nothing is begun after the stop.
    assert list(first.values()) in ([True], [True, True]) and tree(clones) == before
    stamp = (results / "a" / "result.json").stat().st_mtime_ns
    code, out, error = python("many_repositories.py", clones, FIX, "--results", results, "--workers", "1")
    assert code == 1 and f"{len(first)} of them finished before" in error, error
    assert (results / "a" / "result.json").stat().st_mtime_ns == stamp
    check_results(clones, results, before)


@pytest.mark.skipif(os.name == "nt", reason="killed by a signal")
def test_many_repositories_where_a_worker_is_killed(clones, tmp_path):
    """A process is killed at its work, as it is where memory runs out."""
    results, before = tmp_path / "out", tree(clones)
    command = [sys.executable, ROOT / "examples" / "many_repositories.py", clones, FIX, "--results", results, "--workers", "1"]
    started = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 100
    while not (results / "b").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(worker_of(started.pid), signal.SIGKILL)
    out, error = started.communicate(timeout=60)
    assert started.returncode == 1 and not out, error
    assert "a worker was killed or crashed; there is no result of b, c, notes. The same command goes on from here." in error and "Traceback" not in error, error
    assert outcomes(results) == {"a": True} and tree(clones) == before
    code, out, error = python("many_repositories.py", clones, FIX, "--results", results, "--workers", "1")
    assert code == 1 and "4 repositories, 1 of them finished before" in error, error
    check_results(clones, results, before)


def worker_of(pid):
    """The process that a pool of one started for its work, and not the one that keeps its semaphores."""
    listed = subprocess.run(["ps", "-A", "-ww", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    [found] = [int(own) for own, parent, args in rows if int(parent) == pid and "spawn_main" in args]
    return found


@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="no Dask here: scripts/run/test.py --only tools installs it")
def test_many_repositories_with_dask(clones, tmp_path, monkeypatch):
    """A real cluster on this machine: a scheduler and two workers, each a process."""
    sites = [str(site) for layout in ("lib/python*/site-packages", "Lib/site-packages") for site in CHECKERS.glob(layout)]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "python"), *sites]))
    results, before = tmp_path / "out", tree(clones)
    code, out, error = python("many_repositories.py", clones, FIX, "--results", results, "--on", "dask", "--workers", "2")
    assert code == 1 and "3 of 4 done" in out, error
    check_results(clones, results, before)


def test_fix_in_rust(orders):
    code, out, error = rust("fix", orders, FIX)
    assert code == 0, error
    assert "percent" in out and "precent" not in (orders / "orders/report.py").read_text()


def test_understand_in_rust(orders):
    code, out, error = rust("understand", orders, RENAME)
    assert code == 0, error
    assert "unittest" in out and "discount_percent" in out
    assert not (orders / ".harness").exists()
