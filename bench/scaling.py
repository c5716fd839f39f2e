#!/usr/bin/env python3
"""How the cost grows with the project: trees of 100 to 100,000 files, and the exponent that fits.

    python bench/scaling.py [--program HARNESS] [--quick] [--runs 3] [--json FILE]

`brief`, `layout` and `route` (a task that names no file), a rename (`run --dry-run`, which finds every use and writes
nothing), and the start of a run, up to the first request to the model. CPU seconds of the program and all that it started,
the median of the runs, and the largest memory of its own process; for the start both are those at the moment of the
request, without what the program started. The trees are generated: nine of ten files are Python, each with imports,
functions and a class; one in a hundred uses the function that is renamed.

The exponent is the slope of a straight line through the logarithms of files and CPU seconds, by least squares, from 1,000
files on: below that the start of the program is most of it. 1 means that twice the files cost twice the time. Quick stops
at 10,000 files. The trees lie in the temporary folder while they are needed. Linux for the memory and the start of a run.
"""

import argparse
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "model_server"))

from scripted import ScriptedServer  # noqa: E402

SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
QUICK_MOST = 10_000
FITTED_FROM = 1_000
# Files in one folder; a folder has as many folders of files beside it as there are.
IN_A_FOLDER = 50
TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
START = "run, up to the first request"


def module(number, size):
    """The text of one generated module: about forty lines."""
    one, two = (number * 7 + 1) % size, (number * 13 + 5) % size
    uses_common = number % 100 == 3 and number != 0
    lines = [f'"""Part {number} of the generated project."""', "", "import json", "import os"]
    lines += [f"from {package(one)}.part_{one} import step_{one}"] if one % 10 != 9 and one != number else []
    lines += ["from common import common_total"] if uses_common else []
    lines += ["", "", f"def step_{number}(values, limit={number % 17}):", f'    """Return the values of part {number} below the limit."""']
    lines += ["    found = [value for value in values if value < limit]", "    if not found:", f"        raise ValueError('nothing below the limit of part {number}')"]
    lines += [f"    return {'common_total(found)' if uses_common else 'sum(found)'}", "", "", f"def describe_{number}(name):", f'    """Return the line that a report has for part {number}."""']
    lines += [f'    text = f"{{name}}: {number % 31}"', "    if os.environ.get('LOUD'):", "        text = text.upper()", "    return json.dumps({'text': text})", "", ""]
    lines += [f"class Part{number}:", f'    """What part {number} keeps, and part {two} asks for."""', "", "    def __init__(self, values):", "        self.values = list(values)", "        self.calls = 0", ""]
    lines += ["    def total(self):", "        self.calls += 1", f"        return step_{number}(self.values)", "", "    def reset(self):", "        self.values.clear()", "        self.calls = 0"]
    return "\n".join(lines) + "\n"


def package(number):
    folder = number // IN_A_FOLDER
    return f"group_{folder // IN_A_FOLDER}.package_{folder}"


def make_tree(folder, size):
    """Writes a project with this many files."""
    fixed = {
        "common.py": "def common_total(values):\n    return sum(values)\n",
        "tests/test_common.py": "import unittest\n\nfrom common import common_total\n\n\nclass CommonTest(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(common_total([1, 2]), 3)\n",
        "README.md": "# Generated\n\nA project for measuring.\n",
    }
    for name, text in fixed.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for number in range(size - len(fixed)):
        place = folder.joinpath(*package(number).split("."))
        if number % IN_A_FOLDER == 0:
            place.mkdir(parents=True, exist_ok=True)
        if number % 10 == 9:
            (place / f"part_{number}.md").write_text(f"# Part {number}\n\nWhat part {number} is for.\n", encoding="utf-8")
        else:
            (place / f"part_{number}.py").write_text(module(number, size - len(fixed)), encoding="utf-8")


def commands(program):
    """The commands that end by themselves, each for a project folder."""
    return {
        "brief": [program, "brief", "{}", "--json"],
        "layout": [program, "layout", "{}", "--json"],
        "route": [program, "route", "{}", "the report shows nothing when all values lie above the limit", "--json"],
        "rename": [program, "run", "{}", "rename common_total to common_sum", "--dry-run", "--no-record", "--json"],
    }


def ended(command, environment):
    """CPU seconds with all that it started, and megabytes, of a command that ends by itself."""
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    memory = 0.0
    while True:
        memory = max(memory, peak(process.pid))
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        time.sleep(0.002)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command[1:4])} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, memory or usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1024)


def peak(pid):
    """The greatest memory of a process so far in megabytes; what `wait4` tells counts its parent's too."""
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
        return int(text.split("VmHWM:")[1].split()[0]) / 1024
    except (OSError, IndexError):
        return 0.0


class AtFirstRequest(ScriptedServer):
    """Looks at the program when its first request comes, before it is answered."""

    process, seen = None, None

    def __init__(self, replies):
        super().__init__(replies)
        # The program is ended in the middle of its request; that is no trouble.
        self._server.handle_error = lambda *_: None

    def next_reply(self, request):
        if self.seen is None:
            fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            self.seen = (int(fields[11]) + int(fields[12])) / TICK, peak(self.process.pid)
            self.process.kill()
        return super().next_reply(request)


def begun(program, folder, environment):
    """CPU seconds and megabytes of a run at its first request."""
    with AtFirstRequest(["Done."]) as server:
        words = [program, "run", str(folder), "change step_7 so that an empty list gives 0", "--no-record", "--json"]
        server.process = subprocess.Popen(words, env={**environment, "OLLAMA_HOST": server.host}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        server.process.wait(600)
    if server.seen is None:
        raise SystemExit("the run asked no model")
    return server.seen


def exponent(points):
    """The slope of the straight line through the logarithms, by least squares; nothing for fewer than two sizes."""
    logs = [(math.log(size), math.log(cost)) for size, cost in points if cost > 0]
    if len({x for x, _ in logs}) < 2:
        return None
    mean_x, mean_y = (statistics.fmean(one[at] for one in logs) for at in (0, 1))
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def measured(program, sizes, runs, say=print):
    """Every figure: name of the command -> size -> CPU seconds of each run and megabytes of each."""
    found = {}
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="scaling-") as place:
            folder = pathlib.Path(place) / "project"
            make_tree(folder, size)
            home = pathlib.Path(place) / "home"
            home.mkdir()
            environment = {"PATH": os.environ["PATH"], "HOME": str(home), "OLLAMA_HOST": "127.0.0.1:9", "NO_COLOR": "1"}
            # The first round only warms the disk; the large trees are read often enough.
            for turn in range(runs + (size <= QUICK_MOST)):
                costs = {name: ended([word.replace("{}", str(folder)) for word in command], environment) for name, command in commands(program).items()}
                if sys.platform.startswith("linux"):
                    costs[START] = begun(program, folder, environment)
                if turn or size > QUICK_MOST:
                    for name, cost in costs.items():
                        found.setdefault(name, {}).setdefault(size, []).append(cost)
        say("; ".join(f"{name} {statistics.median(cost[0] for cost in by_size[size]):.2f} s {max(cost[1] for cost in by_size[size]):.0f} MB" for name, by_size in found.items()) + f" at {size:,} files", flush=True)
    return found


def fitted(by_size):
    """The exponent of the medians, from the size on where the files are most of the cost."""
    points = [(size, statistics.median(cost[0] for cost in costs)) for size, costs in by_size.items() if size >= FITTED_FROM]
    return exponent(points)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=shutil.which("harness", path=str(pathlib.Path(sys.executable).parent)) or shutil.which("harness"))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--most", type=int, help="the largest tree")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path, help="also write the figures to this file")
    options = parser.parse_args()
    if os.name == "nt" or not options.program:
        sys.exit("scaling.py needs harness (--program), and wait4, which Windows does not have")
    most = options.most or (QUICK_MOST if options.quick else SIZES[-1])
    found = measured(str(pathlib.Path(options.program).absolute()), [size for size in SIZES if size <= most], options.runs)
    sizes = sorted(next(iter(found.values())))
    print("\n| command | " + " | ".join(f"{size:,} files" for size in sizes) + " | exponent |\n|---|" + "---|" * (len(sizes) + 1))
    for name, by_size in found.items():
        cells = [f"{statistics.median(cost[0] for cost in by_size[size]):.2f} s, {max(cost[1] for cost in by_size[size]):.0f} MB" for size in sizes]
        slope = fitted(by_size)
        print(f"| {name} | {' | '.join(cells)} | {'-' if slope is None else f'{slope:.2f}'} |")
    if options.json:
        options.json.write_text(json.dumps({"sizes": sizes, "found": found, "exponents": {name: fitted(by_size) for name, by_size in found.items()}}), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
