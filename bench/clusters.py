#!/usr/bin/env python3
"""Does examples/many_repositories.py do here, on a Ray and on a Dask cluster what it says?

    python bench/clusters.py [--on here] [--on ray] [--on dask] [--workers 2] [--clones 12]

Needs a Python that has harness (`python3 scripts/run/install.py`). Ray and Dask are installed in an environment of their
own below target/bench. On each, processes or a cluster of this machine get one task in copies of demo/orders and in a folder
where it means nothing. Ctrl-C is pressed once two are finished: what is finished then has to be whole and to stay, and the
same command has to do the rest. Then results, records and patches have to be there and right, and the clones as they were.
A third call has to find all of it finished. Exit code 1 where something does not hold. Needs git. Times are no measurement:
a cluster takes most of them to start.
"""

import argparse
import contextlib
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import inputs

ROOT = inputs.ROOT
TASK = "fix the NameError in orders/report.py"
# A cluster of this machine starts within a minute; a task takes seconds, and there may be hundreds.
PATIENCE = 1800


def lay_out(place, names):
    for name in names:
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


def whole(results):
    """The repositories that are finished, with when they were."""
    found = {}
    for file in results.glob("*/result.json"):
        json.loads(file.read_text(encoding="utf-8"))
        found[file.parent.name] = file.stat().st_mtime_ns
    return found


def faults(clones, names, before, results, code, said):
    """What does not hold once all is done."""
    found = [] if code == 1 else [f"exit code {code}, not the 1 of a task that was not done everywhere: {inputs.last_line(said)}"]
    for name in (*names, "notes"):
        try:
            row = json.loads((results / name / "result.json").read_text(encoding="utf-8"))
            steps = [json.loads(line) for line in (results / name / "trace.jsonl").read_text(encoding="utf-8").splitlines()]
        except (OSError, ValueError) as error:
            found.append(f"{name}: no whole result and record ({error})")
            continue
        if row["ok"] != (name in names):
            found.append(f"{name}: ok is {row['ok']}: {row['summary']}")
        if name in names and not steps:
            found.append(f"{name}: its record is empty")
        if (results / name / "change.patch").exists() != (name in names):
            found.append(f"{name}: there is {'no' if name in names else 'a'} patch")
    for name in names:
        applied = subprocess.run(["git", "apply", "--check", str(results / name / "change.patch")], cwd=clones / name, capture_output=True, text=True)
        found += [f"{name}: the patch does not fit: {inputs.last_line(applied.stderr)}"] if applied.returncode else []
    return found + ([] if tree(clones) == before else ["the clones are not as they were"])


def tried(place, python, on, arguments, variables):
    """What does not hold on one kind of cluster, and how long it took."""
    names = [f"clone-{number:03}" for number in range(arguments.clones)]
    clones, results = place / on / "clones", place / on / "results"
    clones.mkdir(parents=True)
    lay_out(clones, names)
    before, began = tree(clones), time.monotonic()
    command = [str(word) for word in (python, ROOT / "examples" / "many_repositories.py", clones, TASK, "--results", results, "--on", on, "--workers", arguments.workers)]

    def call():
        done = subprocess.run(command, capture_output=True, text=True, env=variables, stdin=subprocess.DEVNULL, timeout=PATIENCE)
        return done.returncode, done.stdout + done.stderr

    first, wrong = interrupted(command, variables, results)
    code, said = call()
    # More may have been finished between the look and the end.
    if not first or any(whole(results).get(name) != when for name, when in first.items()):
        wrong.append("what was finished before Ctrl-C was done again, or nothing was")
    wrong += faults(clones, names, before, results, code, said)
    seconds, count = time.monotonic() - began, len(names) + 1
    code, said = call()
    if code != 1 or f"{count} repositories, {count} of them finished before" not in said:
        wrong.append(f"one more call does not find all finished: {inputs.last_line(said)}")
    return wrong, seconds


def interrupted(command, variables, results):
    """Begins, presses Ctrl-C once two repositories are finished; what is finished by then, and what does not hold."""
    # Whoever started this in the background has Ctrl-C ignored, also in what they start.
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=variables, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    end = time.monotonic() + PATIENCE
    while len(whole(results)) < 2 and child.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    first = whole(results)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGINT)
    try:
        _, said = child.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        _, said = child.communicate()
    return first, [] if child.returncode == 130 else [f"Ctrl-C ended it with {child.returncode}: {inputs.last_line(said)}"]


def main(words):
    parser = argparse.ArgumentParser(description="Does examples/many_repositories.py do on clusters what it says?")
    parser.add_argument("--on", action="append", choices=("here", "ray", "dask"), help="this kind only; repeatable")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--clones", type=int, default=12, help="how many of them; some are left when it is interrupted")
    arguments = parser.parse_args(words)
    kinds = arguments.on or ("here", "ray", "dask")
    try:
        python = sys.executable if set(kinds) == {"here"} else inputs.environment("clusters", "ray>=2", "distributed")
    except inputs.Missing as missing:
        sys.exit(f"clusters.py: {missing}")
    broken = False
    with tempfile.TemporaryDirectory(prefix="clusters-") as folder:
        place = pathlib.Path(folder).resolve()
        # Nothing listens there: the task is one that needs no model.
        variables = {**os.environ, "PYTHONPATH": str(module(place / "module")), "OLLAMA_HOST": "127.0.0.1:9", "RAY_USAGE_STATS_ENABLED": "0"}
        for on in kinds:
            try:
                wrong, seconds = tried(place, python, on, arguments, variables)
            except subprocess.TimeoutExpired as late:
                wrong, seconds = [f"it did not end within {late.timeout:.0f} s"], late.timeout
            print(f"{on}, {arguments.clones} clones: {'holds' if not wrong else 'DOES NOT HOLD'} ({seconds:.0f} s)", *(f"    {fault}" for fault in wrong), sep="\n", flush=True)
            broken = broken or bool(wrong)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
