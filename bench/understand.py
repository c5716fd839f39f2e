"""What reading a project costs: `brief`, `layout` and `route` beside ripgrep, universal-ctags, CPython and two peers.

    python bench/understand.py --program target/release/harness [--tree NAME=DIR ...] [--runs 5]
        [--aider PYTHON] [--peer NAME=COMMAND ...] [--once NAME ...] [--json FILE]

CPU seconds (user and system, of the child and its children) and the greatest memory of one process, the median of runs
that take turns, so that a busy machine slows all of them alike. Every command gets the same folder. Without `--tree` two
are made under target/bench: the django package from PyPI, and ten times as much: CPython's own library with a large
site-packages. `--aider` names a Python that has aider-chat and adds its repository map (a thousand tokens, no cache);
`--peer` adds other commands to compare with, such as `"py-harness layout=py-harness layout {}"`; `{}` stands for the
folder. What `--once` names is run once only, because it is slow. ripgrep and ctags are taken from the search path and
left out, with a word, where they are not installed. `route` is measured with four tasks, because what it does depends
on the kind: a question, an addition, a fix told by its symptom, and a fix that quotes an error message.

Promises: each of ours costs at most twice the CPU of ctags on every tree, grows no faster than the source (the cost of
a megabyte on the largest tree at most 1.5 times that on the smallest), and takes at most the size of the source plus
60 MB of memory.
"""

import argparse
import json
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys
import sysconfig
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLACE = ROOT / "target" / "bench"
# The packages that, with CPython's library, make about ten times django.
LARGE = "numpy networkx sqlalchemy django"
# What every round of every command cost, by tree: CPU seconds, megabytes, seconds.
SAMPLES = {}
MOST_TIMES_CTAGS = 2.0
MOST_GROWTH = 1.5
MOST_EXTRA_MEGABYTES = 60
TASKS = {
    "question": "how does the paginator count its pages?",
    "addition": "add a method clear_all to the session store that empties it",
    "fix": "the settings are not read when the name has a dot",
    "fix with a message": 'Paginator.get_page raises EmptyPage: "That page contains no results" when the list is empty',
}
# Its map is made in a scratch folder, so that no earlier map is found and the tree stays as it is.
AIDER_MAP = """
import pathlib, sys, tempfile
from aider.io import InputOutput
from aider.repomap import RepoMap
class Model:
    def token_count(self, text):
        return len(text) // 4
files = [str(path) for path in pathlib.Path(sys.argv[1]).rglob("*.py")]
with tempfile.TemporaryDirectory() as scratch:
    chart = RepoMap(map_tokens=1024, root=scratch, main_model=Model(), io=InputOutput(yes=True, pretty=False))
    print(len(chart.get_repo_map([], files) or ""))
"""
PARSE_ALL = "import ast,sys,pathlib\nfor p in pathlib.Path(sys.argv[1]).rglob('*.py'):\n    try: ast.parse(p.read_bytes())\n    except (SyntaxError, ValueError, RecursionError): pass"


def main():
    arguments = read_arguments()
    trees = dict(pair.split("=", 1) for pair in arguments.tree) or make_trees()
    peers = dict(pair.split("=", 1) for pair in arguments.peer)
    broken, cost = [], {}
    for name, folder in trees.items():
        size = describe(name, folder)
        rows = measure(commands(arguments, peers), folder, arguments.runs, arguments.once, SAMPLES.setdefault(name, {}))
        print_table(rows)
        broken += promises(name, rows, size)
        cost[name] = (size, rows)
    broken += growth(cost)
    if arguments.json:
        arguments.json.write_text(json.dumps(SAMPLES), encoding="utf-8")
    print("\n" + "\n".join(broken or ["every promise holds"]))
    return 1 if broken else 0


def read_arguments():
    parser = argparse.ArgumentParser(description="What reading a project costs, beside the peers.")
    parser.add_argument("--program", default=str(ROOT / "target" / "release" / "harness"))
    parser.add_argument("--tree", action="append", default=[], metavar="NAME=DIR")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--aider", metavar="PYTHON")
    parser.add_argument("--once", action="append", default=[], metavar="NAME")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path, help="also write the samples to this file")
    parser.add_argument("--commands", default="brief layout route", help="which of ours to run")
    return parser.parse_args()


def make_trees():
    """The two trees, made once."""
    small, large = PLACE / "django", PLACE / "large"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--target"]
    if not small.exists():
        subprocess.run([*install, str(small), "django"], check=True)
    if not large.exists():
        subprocess.run([*install, str(large / "site"), *LARGE.split()], check=True)
        library = sysconfig.get_paths()["stdlib"]
        shutil.copytree(library, large / "Lib", ignore=shutil.ignore_patterns("site-packages", "__pycache__"), symlinks=True)
    return {"django": str(small), "large": str(large)}


def describe(name, folder):
    """Says what is in a tree; returns the megabytes of Python in it."""
    files = [path for path in pathlib.Path(folder).rglob("*.py") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    lines = sum(path.read_bytes().count(b"\n") for path in files)
    print(f"\n{name}: {len(files)} Python files, {lines:,} lines, {size:.1f} MB\n")
    return size


def commands(arguments, peers):
    """Every command as a list with `{}` for the folder."""
    ours = {}
    for what in arguments.commands.split():
        if what == "route":
            ours.update({f"harness route, {kind}": [arguments.program, what, "{}", task] for kind, task in TASKS.items()})
        else:
            ours[f"harness {what}"] = [arguments.program, what, "{}"]
    others = {"python ast.parse": [sys.executable, "-c", PARSE_ALL, "{}"]}
    if shutil.which("rg"):
        others["ripgrep -c 'def '"] = ["rg", "--no-messages", "-c", "-tpy", "def ", "{}"]
    else:
        print("ripgrep is not installed: left out")
    if shutil.which("ctags"):
        others["universal-ctags"] = ["ctags", "--languages=Python", "-R", "-f", os.devnull, "{}"]
    else:
        print("universal-ctags is not installed: left out, and nothing can be promised")
    if arguments.aider:
        others["aider's repository map"] = [arguments.aider, "-c", AIDER_MAP, "{}"]
    others.update({name: shlex.split(command) for name, command in peers.items()})
    return {**ours, **others}


def measure(table, folder, runs, once, samples):
    """Median CPU seconds and greatest megabytes of each command, in turns; the first round only warms the disk.

    What is in `once` has only that first round. Every round goes into `samples`.
    """
    seen = {name: [] for name in table}
    for round_number in range(runs + 1):
        for name, command in table.items():
            if name in once and round_number:
                continue
            seconds, megabytes, wall = run([part.replace("{}", folder) for part in command])
            if round_number or runs == 0 or name in once:
                seen[name].append((seconds, megabytes, wall))
    samples.update(seen)
    return {name: tuple(statistics.median(column) for column in zip(*values)) for name, values in seen.items()}


def run(command):
    """CPU seconds, megabytes and seconds of one run."""
    started = time.monotonic()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(child.pid, 0)
    scale = 1e6 if sys.platform == "darwin" else 1e3
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / scale, time.monotonic() - started


def print_table(rows):
    base = rows.get("universal-ctags", (0, 0, 0))[0]
    print("| command | CPU s | times ctags | MB |\n|---|---|---|---|")
    for name, (seconds, megabytes, _) in rows.items():
        times = f"{seconds / base:.2f}" if base else "-"
        print(f"| {name} | {seconds:.2f} | {times} | {megabytes:.0f} |")


def promises(tree, rows, size):
    """Sentences for what does not hold."""
    broken = []
    base = rows.get("universal-ctags", (0, 0, 0))[0]
    for name, (seconds, megabytes, _) in rows.items():
        if not name.startswith("harness "):
            continue
        if base and seconds > MOST_TIMES_CTAGS * base:
            broken.append(f"{tree}: {name} takes {seconds:.2f} CPU s, more than {MOST_TIMES_CTAGS} times ctags ({base:.2f})")
        if megabytes > size + MOST_EXTRA_MEGABYTES:
            broken.append(f"{tree}: {name} takes {megabytes:.0f} MB for {size:.0f} MB of source")
    return broken


def growth(cost):
    """Sentences where the cost of a megabyte grows with the tree."""
    broken = []
    if len(cost) < 2:
        return broken
    ordered = sorted(cost.values(), key=lambda pair: pair[0])
    (small, few), (large, many) = ordered[0], ordered[-1]
    for name in few:
        if name.startswith("harness "):
            times = (many[name][0] / large) / (few[name][0] / small)
            print(f"{name}: a megabyte of the largest tree costs {times:.2f} times one of the smallest")
            if times > MOST_GROWTH:
                broken.append(f"{name} grows faster than the source: {times:.2f} times a megabyte")
    return broken


if __name__ == "__main__":
    sys.exit(main())
