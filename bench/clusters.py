#!/usr/bin/env python3
"""Does examples/many_repositories.py do on a Ray and on a Dask cluster what it says?

    python bench/clusters.py [--on ray] [--on dask] [--workers 2]

Needs a Python that has harness (`python3 scripts/run/install.py`). Ray and Dask are installed in an environment of their
own below target/bench. On each, a cluster of this machine gets one task in three copies of demo/orders and in a folder where
it means nothing; then results, records and patches have to be there and right, and the clones as they were. A second call
has to find all of it finished. Exit code 1 where something does not hold. Needs git. Times are no measurement: a cluster
takes most of them to start.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import inputs

ROOT = inputs.ROOT
TASK = "fix the NameError in orders/report.py"
NAMES = ("a", "b", "c")
# A cluster of this machine starts within a minute; a task takes seconds.
PATIENCE = 600


def lay_out(place):
    for name in NAMES:
        shutil.copytree(ROOT / "demo" / "orders", place / name, ignore=shutil.ignore_patterns("__pycache__", ".harness", "*.bak"))
    (place / "notes").mkdir()
    (place / "notes" / "README.md").write_text("# Notes\n", encoding="utf-8")


def tree(folder):
    """The bytes of every file, and every folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def module(place):
    """Copies the package that this Python has to a folder with nothing else in it, for PYTHONPATH."""
    found = importlib.util.find_spec("harness")
    if not found or not found.submodule_search_locations:
        sys.exit("clusters.py: this Python has no harness\nhint: python3 scripts/run/install.py, then .venv/bin/python bench/clusters.py")
    shutil.copytree(next(iter(found.submodule_search_locations)), place / "harness", ignore=shutil.ignore_patterns("__pycache__"))
    return place


def faults(clones, before, results, code, said):
    """What does not hold after a first call."""
    found = [] if code == 1 else [f"exit code {code}, not the 1 of a task that was not done everywhere: {inputs.last_line(said)}"]
    for name in (*NAMES, "notes"):
        try:
            row = json.loads((results / name / "result.json").read_text(encoding="utf-8"))
            steps = [json.loads(line) for line in (results / name / "trace.jsonl").read_text(encoding="utf-8").splitlines()]
        except (OSError, ValueError) as error:
            found.append(f"{name}: no whole result and record ({error})")
            continue
        if row["ok"] != (name in NAMES):
            found.append(f"{name}: ok is {row['ok']}: {row['summary']}")
        if name in NAMES and not steps:
            found.append(f"{name}: its record is empty")
        if (results / name / "change.patch").exists() != (name in NAMES):
            found.append(f"{name}: there is {'no' if name in NAMES else 'a'} patch")
    for name in NAMES:
        applied = subprocess.run(["git", "apply", "--check", str(results / name / "change.patch")], cwd=clones / name, capture_output=True, text=True)
        found += [f"{name}: the patch does not fit: {inputs.last_line(applied.stderr)}"] if applied.returncode else []
    return found + ([] if tree(clones) == before else ["the clones are not as they were"])


def tried(place, python, on, workers, variables):
    """What does not hold on one kind of cluster, and how long the first call took."""
    clones, results = place / on / "clones", place / on / "results"
    clones.mkdir(parents=True)
    lay_out(clones)
    before, began = tree(clones), time.monotonic()
    command = [python, ROOT / "examples" / "many_repositories.py", clones, TASK, "--results", results, "--on", on, "--workers", workers]

    def call():
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=variables, stdin=subprocess.DEVNULL, timeout=PATIENCE)
        return done.returncode, done.stdout + done.stderr

    wrong = faults(clones, before, results, *call())
    seconds = time.monotonic() - began
    code, said = call()
    if code != 1 or "4 repositories, 4 of them finished before" not in said:
        wrong.append(f"a second call does not find all finished: {inputs.last_line(said)}")
    return wrong, seconds


def main(words):
    parser = argparse.ArgumentParser(description="Does examples/many_repositories.py do on clusters what it says?")
    parser.add_argument("--on", action="append", choices=("ray", "dask"), help="this kind only; repeatable")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args(words)
    try:
        python = inputs.environment("clusters", "ray>=2", "distributed")
    except inputs.Missing as missing:
        sys.exit(f"clusters.py: {missing}")
    broken = False
    with tempfile.TemporaryDirectory(prefix="clusters-") as folder:
        place = pathlib.Path(folder).resolve()
        # Nothing listens there: the task is one that needs no model.
        variables = {**os.environ, "PYTHONPATH": str(module(place / "module")), "OLLAMA_HOST": "127.0.0.1:9", "RAY_USAGE_STATS_ENABLED": "0"}
        for on in arguments.on or ("ray", "dask"):
            package = "ray" if on == "ray" else "distributed"
            version = subprocess.run([str(python), "-c", f"from importlib.metadata import version; print(version('{package}'))"], capture_output=True, text=True).stdout.strip()
            try:
                wrong, seconds = tried(place, python, on, arguments.workers, variables)
            except subprocess.TimeoutExpired as late:
                wrong, seconds = [f"it did not end within {late.timeout:.0f} s"], late.timeout
            print(f"{on} ({package} {version}): {'holds' if not wrong else 'DOES NOT HOLD'} ({seconds:.0f} s)", *(f"    {fault}" for fault in wrong), sep="\n", flush=True)
            broken = broken or bool(wrong)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
