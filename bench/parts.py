"""The parts of bench/run.py: for each a name, what it measures, what it needs, and the function that calls the scripts
and makes measures of what they say. The scripts do the measuring; nothing is measured here."""

import ast
import contextlib
import dataclasses
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable

import inputs
from inputs import COMMITS, PLACE, ROOT, SENTENCES, Missing
from rows import Measure, not_measured

HERE = ROOT / "bench"
# An address where nothing listens: what is measured without a model must not find one.
NO_ENGINE = {"OLLAMA_HOST": "127.0.0.1:9"}
# How the scripts of bench/overhead are told where a peer is.
PEER_OPTIONS = {"--py-harness": "py-harness", "--codex": "codex", "--aider": "aider", "--mini": "mini-swe-agent", "--opencode": "opencode"}
NO_CASES = "needs the cases of other people (--cases FOLDER); they are not ours to publish"


class Bench:
    """What the parts share: the program, how much to do, and how scripts are called."""

    def __init__(self, arguments):
        self.program = str(pathlib.Path(arguments.program).absolute())
        self.quick = arguments.quick
        self.peers = not arguments.quick and not arguments.no_peers
        self.repositories, self.cases = arguments.repositories, arguments.cases
        PLACE.mkdir(parents=True, exist_ok=True)

    def some(self, quick, full):
        return quick if self.quick else full

    def python(self):
        """A Python with pytest and what the packages' tests import: this one, where it has pytest and that is enough."""
        if self.quick and importlib.util.find_spec("pytest"):
            return sys.executable
        return str(inputs.environment("tests", *inputs.FOR_THE_TESTS))

    def helper(self, name):
        return inputs.helper(name, may_build=not self.quick)

    def peer(self, name):
        """The program of a peer, or nothing where it cannot be had or is not wanted."""
        if not self.peers:
            return "", ""
        try:
            return inputs.peer(name)
        except Missing as missing:
            print(f"    without {name}: {missing}", flush=True)
            return "", ""

    def call(self, script, *words, seconds, python=None, variables=None):
        """What a script prints. One that takes too long is ended with all that it started."""
        command = [str(python or sys.executable), str(HERE / script), *map(str, words)]
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **(variables or {})}, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
            try:
                child.wait(inputs.time_left(seconds))
            finally:
                with contextlib.suppress(OSError, AttributeError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()
            out.seek(0), err.seek(0)
            said, errors = out.read().decode("utf-8", "replace"), err.read().decode("utf-8", "replace")
        # Many scripts end with 1 where a promise does not hold; that is a figure too.
        if child.returncode not in (0, 1) or "Traceback (most recent call last)" in errors:
            raise RuntimeError(f"{script} ended with {child.returncode}: {inputs.last_line(errors or said)}")
        return said

    def samples(self, script, *words, option=("--json",), **how):
        """What a script writes to a file of JSON."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "samples.json")
            said = self.call(script, *words, *option, file, **how)
            if not file.exists():
                raise RuntimeError(f"{script} wrote nothing: {inputs.last_line(said)}")
            return json.loads(file.read_text(encoding="utf-8"))


def json_lines(file):
    return [json.loads(line) for line in pathlib.Path(file).read_text(encoding="utf-8").splitlines()] if pathlib.Path(file).exists() else []


def table(said):
    """The Markdown table in what a script printed: a list of rows, each a dictionary by the head."""
    lines = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in said.splitlines() if line.startswith("|")]
    if len(lines) < 3:
        raise RuntimeError("it printed no table")
    return [dict(zip(lines[0], cells)) for cells in lines[2:]]


def number(text):
    found = re.search(r"-?\d[\d,]*\.?\d*", text)
    return float(found[0].replace(",", "")) if found else None


def percent(part, whole):
    return 100 * part / whole if whole else None


def share(name, part, whole):
    """So many of so many, as a percentage; not measured where there was nothing."""
    return Measure(name, percent(part, whole), "%", "higher", None if whole else "there were no cases", cases=whole)


# Pieces whose row that says why there is nothing is called unlike what they measure, and what that is called: once such a
# row is there, the other has nothing to say any more.
PIECES = {
    "sandboxed run / bare run: CPU": r".+: sandboxed run / bare .+: CPU",
    "renames in packages": r"renames in packages: .+",
    "on-device speed": r"on-device, .+: ours",
    "made-up bugs: fixed and proven": r"made-up bugs, seed 1: .+",
}


def attempt(name, measure):
    """The measures of one piece of a part, or a row that says why there are none."""
    try:
        return measure()
    except Missing as missing:
        return [not_measured(name, str(missing))]


# What starting, reading and running cost


def startup(bench):
    peer, version = bench.peer("py-harness")
    found = bench.samples("startup.py", "--runs", bench.some(10, 40), "--program", bench.program, "--peer", peer or "none", seconds=600)
    measures, bare = [], found["python -c pass"]["milliseconds"]
    for name, cost in found.items():
        better, versions = (None if "peer" in name or "pass" in name else "lower"), {"py-harness": version} if "peer" in name else None
        measures.append(Measure(f"{name}: CPU", cost["milliseconds"], "ms", better, peer=versions))
        measures += [Measure(f"{name}: memory", cost["memory"], "MB", better, peer=versions)] if cost["memory"] else []
    for name in ("harness", "python -m harness --version"):
        if name in found:
            measures.append(Measure(f"{name}: times bare Python", statistics.median(found[name]["milliseconds"]) / statistics.median(bare), "times", "lower"))
    return measures


def newcomer(bench):
    wheels = sorted((ROOT / "dist").glob("*.whl"), key=os.path.getmtime)
    if bench.quick and not wheels:
        raise Missing("needs a wheel in dist/; in full one is built")
    found = bench.samples("newcomer.py", *(["--wheel", wheels[-1]] if bench.quick else []), seconds=bench.some(120, 3600))
    return [Measure(name, seconds, "s", "lower", None if seconds is not None else "it failed") for name, seconds in found.items()]


def understanding(bench):
    words = ["--program", bench.program, "--runs", bench.some(2, 5)]
    versions = {}
    if bench.quick:
        folder = PLACE / "django"
        if not folder.exists():
            inputs.said([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--target", folder, "django"], "django")
        words += ["--tree", f"django={folder}"]
    for name, arrange in (("py-harness", lambda path: ["--peer", f"py-harness layout={path} layout {{}}", "--once", "py-harness layout"]), ("aider", lambda path: ["--aider", pathlib.Path(path).with_name("python"), "--once", "aider's repository map"])):
        path, version = bench.peer(name)
        words += arrange(path) if path else []
        versions.update({name: version} if path else {})
    measures = []
    for tree, commands in bench.samples("understand.py", *words, seconds=bench.some(400, 3600)).items():
        ctags = statistics.median(sample[0] for sample in commands["universal-ctags"]) if commands.get("universal-ctags") else None
        for name, samples in commands.items():
            ours = name.startswith("harness ")
            measures.append(Measure(f"{tree}, {name}: CPU", [sample[0] for sample in samples], "s", "lower" if ours else None, peer=None if ours else versions))
            measures.append(Measure(f"{tree}, {name}: memory", [sample[1] for sample in samples], "MB", "lower" if ours else None))
            if ours and ctags:
                measures.append(Measure(f"{tree}, {name}: times ctags", [sample[0] / ctags for sample in samples], "times", "lower"))
    return measures


def overhead(bench):
    rounds = bench.samples("overhead/run.py", bench.program, "--rounds", bench.some(3, 7), seconds=600)
    measures = [
        Measure("one fix: own CPU", [one[1] for one in rounds], "s", "lower"),
        Measure("one fix: memory", [one[2] for one in rounds], "MB", "lower"),
        Measure("one fix: first request", [one[3] for one in rounds], "tokens", "lower"),
        Measure("one fix: proven", percent(sum(one[0] for one in rounds), len(rounds)), "%", "higher"),
    ]
    words, versions = ["--harness", bench.program], {}
    for option, name in PEER_OPTIONS.items():
        path, version = bench.peer(name)
        words += [option, path] if path else []
        versions.update({name: version} if path else {})
    costs = bench.samples("overhead/peers.py", *words, "--rounds", bench.some(2, 3), seconds=2400)
    for name, found in costs.items():
        ours, more = name.startswith("harness"), {key: value for key, value in versions.items() if name.startswith(key)}
        if "trouble" in found:
            measures.append(not_measured(f"{name}: CPU", found["trouble"]))
            continue
        rounds = found["rounds"]
        measures.append(Measure(f"{name}: CPU", [one[0] for one in rounds], "s", "lower" if ours else None, peer=more))
        measures.append(Measure(f"{name}: memory", [one[1] for one in rounds], "MB", "lower" if ours else None, peer=more))
        measures.append(Measure(f"{name}: first request", [one[2] for one in rounds], "tokens", "lower" if ours else None, peer=more))
        measures.append(Measure(f"{name}: fixed it", percent(sum(one[3] for one in rounds), len(rounds)), "%", "higher" if ours else None, peer=more))
        measures += [] if ours else times_harness(name, rounds, costs, more)
    return measures


def times_harness(name, rounds, costs, versions):
    """How much a peer takes of what harness takes in the same call of the script: CPU, and the first request."""
    own = next((found["rounds"] for who, found in costs.items() if who.startswith("harness") and "rounds" in found), [])
    whole = {what: statistics.median(one[at] for one in own) for what, at in (("CPU", 0), ("first request", 2)) if own}
    return [Measure(f"{name}: times harness, {what}", statistics.median(one[at] for one in rounds) / whole[what], "times", "higher", peer=versions) for what, at in (("CPU", 0), ("first request", 2)) if whole.get(what)]


def scaling(bench):
    found = bench.samples("scaling.py", "--program", bench.program, "--runs", bench.some(1, 3), *bench.some(["--quick"], []), seconds=bench.some(600, 7200))
    measures = []
    for name, by_size in found["found"].items():
        for size, costs in by_size.items():
            measures.append(Measure(f"{name}, {int(size):,} files: CPU", [cost[0] for cost in costs], "s", "lower"))
            measures.append(Measure(f"{name}, {int(size):,} files: memory", [cost[1] for cost in costs], "MB", "lower"))
        measures.append(Measure(f"{name}: exponent", found["exponents"][name], "exponent", "lower"))
    return measures


def latency(bench):
    found = bench.samples("latency.py", bench.program, "--rounds", bench.some(4, 20), seconds=900)
    return [Measure(name, [1000 * seconds for seconds in times], "ms", "lower") for name, times in found.items()]


def protocols(bench):
    found = bench.samples("mcp.py", bench.program, ROOT / "demo" / "orders", option=(), seconds=300)
    measures = []
    for name, rounds in found.items():
        measures.append(Measure(f"{name}, start to the first answer: CPU", [one[0] for one in rounds], "ms", "lower"))
        measures.append(Measure(f"{name}, while it waits: memory", [one[2] for one in rounds], "MB", "lower"))
    return measures


def server(bench):
    peer, version = bench.peer("py-harness")
    words = ["--program", bench.program, "--peer", peer or "none", "--load", bench.helper("load"), "--seconds", bench.some(1, 5)]
    found = bench.samples("server/run.py", *words, seconds=900)
    measures, versions = [], {"py-harness": version}
    for path in ("/health", "/v1/layout"):
        for who, rates in found[path].items():
            measures.append(Measure(f"{path}, {who}", rates, "a second", "higher" if who == "harness" else None, peer=versions if who != "harness" else None))
        if len(found[path]) == 2:
            measures.append(Measure(f"{path}: times py-harness", statistics.fmean(found[path]["harness"]) / statistics.fmean(found[path]["py-harness"]), "times", "higher", peer=versions))
    measures.append(Measure("/health at 200 connections: slowest of 99 in 100", found["crowd"]["p99_ms"], "ms", "lower"))
    measures.append(Measure("/health at 200 connections: errors", found["crowd"].get("errors", 0), "errors", "lower"))
    measures.append(Measure("memory after 100,000 requests", found["memory"], "MB", "lower"))
    return measures


def sandbox(bench):
    measures = []
    for mode in ("unittest", "pytest"):
        said = bench.call("hands/tries.py", mode, bench.some(60, 200), bench.python(), seconds=300)
        for name, cost in re.findall(r"^(.*): ([\d.]+) ms CPU a try", said, re.M):
            measures.append(Measure(f"one try in a reused process, {name}: CPU", float(cost), "ms", "lower"))

    def walls():
        said = bench.call("hands/run.py", bench.some(5, 20), sys.executable, bench.helper("hands_cost"), seconds=900)
        return [Measure(f"{one['what']}: CPU", number(one["CPU ratio"]), "times", "lower") for one in table(said) if number(one["CPU ratio"])]

    return measures + attempt("sandboxed run / bare run: CPU", walls)


# What it gets right


def locating(bench):
    if not bench.cases:
        raise Missing(NO_CASES)
    cases = bench.cases / "locate" / "dev.jsonl"
    helper, python = bench.helper("locate_signals"), inputs.environment("locate", "numpy")
    names = sorted({case["repo"] for case in json_lines(cases)})
    trees, signals = PLACE / "locate", PLACE / "signals.txt"
    bench.call("locate/lay_out.py", cases, inputs.repositories(names, bench.repositories), trees, seconds=3600)
    signals.write_bytes(subprocess.run([helper, str(cases), str(trees)], stdout=subprocess.PIPE, check=True, timeout=inputs.time_left(3600)).stdout)
    said = bench.call("locate/fit.py", cases, signals, seconds=3600, python=python)
    measures = []
    for what, count, figures in re.findall(r"^(files|definitions) \((\d+)\) +([\d. ]+)$", said, re.M):
        for depth, figure in zip((1, 3, 5, 10, 20), figures.split()):
            measures.append(Measure(f"{what}: recall at {depth}", float(figure), "%", "higher", cases=int(count)))
    return measures


def fixes(bench):
    measures = []
    for seed in bench.some((1,), (1, 2, 3)):
        said = bench.call("rename_sentences.py", bench.program, "--seed", seed, "--count", bench.some(120, 720), seconds=1200, variables=NO_ENGINE)
        row = json.loads(said.strip().splitlines()[-1])
        measures += [share(f"renames asked for in sentences, seed {seed}: as meant", row["right"], row["sentences"]), Measure(f"renames asked for in sentences, seed {seed}: wrong", row["wrong"], "cases", "lower")]

    def misspellings():
        packages = bench.some(["more-itertools==10.8.0", "cachetools==6.2.2", "parse==1.20.2"], [])
        said = bench.call("misspell_packages.py", "--program", bench.helper("fixes"), "--each", bench.some(15, 40), "--cache", PLACE / "packages", *packages, seconds=3600)
        counts = ast.literal_eval(re.findall(r"^all: (.*)$", said, re.M)[-1])
        total = sum(counts.values())
        return [share("misspellings in packages: exact", counts.get("exact", 0), total), Measure("misspellings in packages: wrong", counts.get("wrong", 0), "cases", "lower")]

    def renames():
        said = bench.call("rename_packages.py", "--program", bench.helper("fixes"), "--each", 3, "--cache", PLACE / "packages", python=bench.python(), seconds=7200)
        counts = ast.literal_eval(re.findall(r"\{.*\}", said)[-1])
        return [Measure(f"renames in packages: {name}", count, "cases") for name, count in counts.items()]

    measures += attempt("misspellings in packages: exact", misspellings)
    return measures + (attempt("renames in packages", renames) if not bench.quick else [])


def edits(bench):
    bench.helper("edits")
    said = bench.call("edits/comments.py", PLACE / "comments", seconds=1200)
    count, refused = map(int, re.findall(r"^all: \d+ files, (\d+) edits, (\d+) refused", said, re.M)[-1])
    measures = [Measure("a comment in every file of packages: refused", refused, "edits", "lower", cases=count)]
    if not bench.cases:
        return [*measures, not_measured("edits that models wrote", NO_CASES)]
    said = bench.call("edits/run.py", "--cases", bench.cases / "edits", "--mirror", bench.repositories or PLACE / "repositories", seconds=1200)
    for right, asked, wrong in re.findall(r"placed right (\d+), asked where that is right too (\d+), refused \d+, WRONG (\d+)", said)[:1]:
        measures += [Measure("edits that models wrote: right", int(right) + int(asked), "edits", "higher"), Measure("edits that models wrote: wrong", int(wrong), "edits", "lower")]
    return measures


def commits_folder(bench):
    """The commits, laid out once, and the Python that runs their tests."""
    names = COMMITS[7:10] if bench.quick else COMMITS
    place, python = PLACE / bench.some("commits-quick", "commits"), str(inputs.environment("tests", *inputs.FOR_THE_TESTS))
    found = inputs.repositories(names, bench.repositories)
    bench.call("oracle/commits.py", found, place, "--python", python, "--most", bench.some(120, 400), "--each", bench.some(2, 8), *(name.replace("/", "+") for name in names), seconds=bench.some(400, 14400))
    return place, python


def commit_measures(rows, what):
    done = [row for row in rows if row["ok"] and row.get("green")]
    return [
        share(f"{what}: done", len(done), len(rows)),
        Measure(f"{what}: ok, but the tests fail", sum(row["ok"] and not row.get("green") for row in rows), "commits", "lower"),
        Measure(f"{what}: calls of the model", [row.get("calls", 0) for row in done] or None, "calls", "lower", None if done else "none was done"),
    ]


def oracle(bench):
    place, python = commits_folder(bench)
    out = fresh(PLACE / "oracle.jsonl")
    bench.call("oracle/run.py", bench.program, place, out, "--python", python, seconds=bench.some(400, 36000))
    return commit_measures(json_lines(out), "commits with a perfect model")


def sentence_rows(bench, out, *words, seconds):
    names = ["humanize", "sqlparse", "tabulate"] if bench.quick else []
    wanted = [name for name in SENTENCES if not names or name.endswith(tuple(names))]
    bench.call("sentences/run.py", bench.program, inputs.repositories(wanted, bench.repositories), "--rows", fresh(out), *words, *names, seconds=seconds)
    if not (found := json_lines(out)):
        raise Missing("none of the repositories is there")
    return found


def sentences(bench):
    found = sentence_rows(bench, PLACE / "sentences.jsonl", seconds=bench.some(300, 7200))
    placed = [row["found"] for row in found if row["found"] is not None]
    return [share("kind read right", sum(row["right_kind"] for row in found), len(found)), share("the right definition among five", sum(placed), len(placed))]


def fresh(file):
    """A file for rows that is not there yet: the scripts go on where one stopped."""
    file.unlink(missing_ok=True)
    return file


def bug_measures(rows, what):
    fixed = [row for row in rows if row["ok"] and row.get("clean")]
    return [
        share(f"{what}: fixed and proven", len(fixed), len(rows)),
        share(f"{what}: of those equal", sum(bool(row.get("equal")) for row in fixed), len(fixed)),
        Measure(f"{what}: ok, but not clean", sum(row["ok"] and not row.get("clean") for row in rows), "bugs", "lower"),
        Measure(f"{what}: time of a fix", statistics.median(row["seconds"] for row in fixed) if fixed else None, "s", "lower", None if fixed else "none was fixed"),
    ]


def made_bugs(bench, seed, each, variables, out):
    """The rows of the bugs of one seed."""
    lines = (HERE / "bugs" / "packages.txt").read_text(encoding="utf-8").split()
    lines = [line for line in lines if line.split("==")[0] in ("inflection", "xmltodict", "schema")] if bench.quick else lines
    sdists, python, place = inputs.sdists(lines), bench.python(), PLACE / f"bugs-{seed}-{each}-{len(lines)}"
    if not (place / "bugs.jsonl").exists():
        bench.call("bugs/make.py", sdists, place, "--seed", seed, "--each", each, "--python", python, seconds=bench.some(240, 7200))
    bench.call("bugs/run.py", bench.program, place / "bugs.jsonl", sdists, fresh(out), "--python", python, seconds=bench.some(400, 21600), variables=variables)
    return json_lines(out)


def bugs(bench):
    measures = []
    for seed, each in bench.some(((1, 2),), ((1, 8), (6, 3), (7, 3))):
        measures += bug_measures(made_bugs(bench, seed, each, NO_ENGINE, PLACE / f"bugs-{seed}.jsonl"), f"made-up bugs, seed {seed}, no model")

    def real():
        names = ("marshmallow-code/marshmallow",)
        place, python = PLACE / "real", str(inputs.environment("tests", *inputs.FOR_THE_TESTS))
        found, pairs, out = inputs.repositories(names, bench.repositories), PLACE / "pairs.jsonl", fresh(PLACE / "real.jsonl")
        bench.call("bugs/commits.py", found, pairs, seconds=3600)
        bench.call("bugs/real.py", "lay", found, pairs, place, "--python", python, names[0], seconds=7200)
        bench.call("bugs/real.py", "run", bench.program, place, out, "--python", python, seconds=7200, variables=NO_ENGINE)
        return bug_measures(json_lines(out), "real bug-fix commits, no model")

    return measures + (attempt("real bug-fix commits, no model: fixed and proven", real) if not bench.quick else [])


def adversary(bench):
    count, search = bench.some((40, 4), (5000, 500))
    state = PLACE / "adversary.jsonl"
    said = bench.call("adversary/run.py", "--count", count, "--search", search, "--state", state, "--jobs", 2, python=bench.python(), variables={"HARNESS": bench.program}, seconds=bench.some(400, 36000))
    row = table(said)[0]
    honest = int(number(row["honest runs"]))
    return [
        *(Measure(name, int(row[name]), "runs", "lower", cases=int(row["runs"])) for name in ("ok but wrong", "left changed", "no result")),
        share("honest models: ok and right", number(row["honest, ok and right"]) or 0, honest),
    ]


def faults(bench):
    words, versions = ["--harness", bench.program], {}
    for option, name in PEER_OPTIONS.items():
        path, version = bench.peer(name)
        words += [option, path] if path else []
        versions.update({name: version} if path else {})
    measures = []
    for who, verdicts in bench.samples("overhead/faults.py", *words, seconds=1800).items():
        more = {key: value for key, value in versions.items() if key == who}
        for fault, holds in verdicts.items():
            measures.append(Measure(f"{who}: {fault}", None if holds is None else int(holds), "holds", "higher" if who == "harness" else None, "it has no form for this" if holds is None else None, more))
    return measures


def hostile(bench):
    measures = []
    for row in table(bench.call("hostile.py", bench.program, seconds=900)):
        measures += [Measure(f"{row['command']} among hostile files: time", float(row["seconds"]), "s", "lower"), Measure(f"{row['command']} among hostile files: memory", float(row["MB"]), "MB", "lower")]
    return measures


def suites(bench):
    names = bench.some(["six", "toolz", "tabulate"], [])
    out = fresh(PLACE / "suites.jsonl")
    states = [word for state in bench.some(("ready", "bare"), ("ready", "bare", "own")) for word in ("--state", state)]
    # Outside of this clone: pytest looks for settings in the folders above a project too.
    place = pathlib.Path(tempfile.gettempdir()) / "harness-bench-suites"
    bench.call("suites/run.py", bench.program, place, out, *states, "--jobs", 2, *names, seconds=bench.some(500, 36000))
    found = json_lines(out)
    ready = [row for row in found if row["state"] == "ready" and "theirs" in row]
    rest = [row for row in found if row["state"] != "ready" and "first" in row and not row.get("runs")]
    if not ready and not rest:
        raise Missing(f"no package could be set up ({(found or [{}])[0].get('trouble', 'no row')[:120]})")
    return [share("set up: the same counts as its own command", sum(row["same"] for row in ready), len(ready)), share("not set up: a true reason", sum(row["true"] for row in rest), len(rest))]


def soak(bench):
    out = fresh(PLACE / "soak-rows.jsonl")
    bench.call("soak.py", "--seconds", bench.some(60, 3600), "--seed", 24, "--program", bench.program, "--log", out, python=bench.python(), seconds=bench.some(200, 4500))
    found = json_lines(out)
    return [Measure("rounds", len(found), "rounds"), Measure("rounds that were signalled", sum(row["hit"] for row in found), "rounds"), Measure("rounds with a fault", sum(bool(row["faults"]) for row in found), "rounds", "lower")]


# With a model


def on_device(bench):
    python = inputs.environment("model", "--no-deps", "--requirement", str(ROOT / "tests" / "requirements-model.txt"))
    said = bench.call("small_model/run.py", bench.program, python, "--engines", "on-device", "--only", bench.some("greedy", "greedy,drafts,both"), seconds=bench.some(300, 3600))
    measures = []
    for row in table(said):
        fixed, count = map(int, re.findall(r"\d+", row["fixed and proven"]))
        measures += [share(f"ten one-line bugs, a model of 135 million parameters, {row['way']}: fixed and proven", fixed, count), Measure(f"the same, {row['way']}: ok, but not clean", int(row["ok but not clean"]), "bugs", "lower")]

    def speed():
        weights = next(python.parent.parent.rglob("*.gguf"), None)
        said = bench.call("engines/on_device.py", weights, python, "--build", pathlib.Path(bench.helper("engine")).parent, "--rounds", 3, seconds=1800)
        return [Measure(f"on-device, {row['what']}: ours", number(row["ours"]), "s" if row["what"].endswith(", s") else "ms" if "ms" in row["what"] else "a second", "higher" if "second" in row["what"] else "lower") for row in table(said)]

    return measures + (attempt("on-device speed", speed) if not bench.quick else [])


def configured_model(bench):
    """The engine and the model that the user has set up, or why there is none."""
    command = [bench.program, "ask", str(ROOT / "demo" / "orders"), "what does subtotal return?", "--json", "--no-record", "--steps", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, stdin=subprocess.DEVNULL)
    if done.returncode in (2, 4, 5):
        raise Missing(f"no model can be asked: {inputs.last_line(done.stderr.split('hint:')[0])}")
    settings = json.loads(subprocess.run([bench.program, "config", "--json"], capture_output=True, text=True).stdout)["settings"]
    known = {one["name"]: one["value"] for one in settings}
    return {"engine": known.get("engine", ""), "model": known.get("model", "")}


def model(bench):
    chosen = configured_model(bench)
    python = bench.python()
    said = bench.call("small_model/run.py", bench.program, python, "--engines", "configured", "--only", "drafts", seconds=7200)
    row = table(said)[0]
    fixed, count = map(int, re.findall(r"\d+", row["fixed and proven"]))
    measures = [share("ten one-line bugs: fixed and proven", fixed, count), Measure("ten one-line bugs: ok, but not clean", int(row["ok but not clean"]), "bugs", "lower")]

    def of_commits():
        place, tests = commits_folder(bench)
        out = fresh(PLACE / "model-commits.jsonl")
        bench.call("oracle/run.py", bench.program, place, out, "--python", tests, "--configured", "--limit", 1200, seconds=200000)
        return commit_measures(json_lines(out), "commits")

    def of_sentences():
        only = bench.some(["--only", "own"], [])
        found = [row for row in sentence_rows(bench, PLACE / "model-sentences.jsonl", "--configured", *only, seconds=200000) if row["calls"] != 0]
        return [share("sentences: the proposed change is in a right definition", sum(row["placed"] for row in found), len(found))]

    def of_bugs():
        return bug_measures(made_bugs(bench, 1, bench.some(2, 8), {}, PLACE / "model-bugs.jsonl"), "made-up bugs, seed 1")

    measures += [*attempt("commits: done", of_commits), *attempt("sentences: the proposed change is in a right definition", of_sentences), *attempt("made-up bugs: fixed and proven", of_bugs)]
    for measure in measures:
        measure.peer = chosen
    return measures


# The table


NEEDS = {
    "POSIX": lambda: os.name != "nt",
    "Linux": lambda: sys.platform.startswith("linux"),
    "Python 3.11": lambda: sys.version_info >= (3, 11),
    "git": lambda: shutil.which("git"),
}


@dataclasses.dataclass(frozen=True)
class Part:
    """A part: its name, what it measures, the function, what it needs, and the page on how to read its figures."""

    name: str
    about: str
    measure: Callable
    needs: tuple = ()
    only_by_name: bool = False
    page: str = ""

    def lacking(self):
        return [need for need in self.needs if not NEEDS[need]()]


PARTS = [
    Part("startup", "what a start costs", startup, ("Linux",)),
    Part("newcomer", "how long it takes from nothing to a proven fix", newcomer, ("git",)),
    Part("understanding", "what reading a project costs", understanding, ("POSIX",)),
    Part("scaling", "how the cost grows from 100 to 100,000 files", scaling, ("POSIX",)),
    Part("overhead", "what a run costs beside the model, and its prompts", overhead, ("Linux",), page="overhead/README.md"),
    Part("faults", "what is left when a model misbehaves", faults, ("Linux",), page="overhead/README.md"),
    Part("latency", "how soon words and keys arrive", latency, ("POSIX",)),
    Part("protocols", "what the protocol servers for editors cost", protocols, ("Linux",)),
    Part("server", "requests a second of the HTTP server", server, ("Linux",), page="server/README.md"),
    Part("sandbox", "what safety costs", sandbox, ("Linux",), page="hands/README.md"),
    Part("hostile", "time and memory among hostile files", hostile, ("POSIX",)),
    Part("fixes", "fixes that need no model", fixes, ()),
    Part("edits", "where imperfect edits are placed", edits, (), page="edits/README.md"),
    Part("locating", "from an issue to files and definitions", locating, ("git",), page="locate/README.md"),
    Part("sentences", "how sentences are read", sentences, ("git",), page="sentences/README.md"),
    Part("oracle", "real commits with a perfect model", oracle, ("git",), page="oracle/README.md"),
    Part("bugs", "bugs in real packages, without a model", bugs, ("POSIX",), page="bugs/README.md"),
    Part("suites", "whether strangers' tests run", suites, ("POSIX", "Python 3.11"), page="suites/README.md"),
    Part("adversary", "models that cheat", adversary, ("POSIX",), page="adversary/README.md"),
    Part("soak", "random tasks, hostile models and kills", soak, ("POSIX",)),
    Part("on-device", "a very small model on this machine", on_device, ("POSIX",), page="small_model/README.md"),
    Part("model", "the engine and the model that you have configured", model, ("POSIX",), only_by_name=True),
]
