"""Real bug-fix commits, run: those of commits.py whose own tests fail without the fix and pass with it.

    python real.py lay REPOSITORIES PAIRS.jsonl FOLDER --python PYTHON [NAME...]
    python real.py run HARNESS FOLDER OUT.jsonl --python PYTHON [--limit 60] [-- OPTIONS OF harness run]

`lay` checks each commit out below FOLDER with the one source file as it was before, and keeps those where a test fails
with it and none of the changed test files does with the fix. PYTHON is an interpreter with what the projects need.
`run` lets harness fix them, asked as in run.py ("fix the failing test ..."). A fix counts when harness says `ok` and
every test of the changed test files passes; `same` where the function is the one of the commit.
"""

import argparse
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

import lab
from run import normal


def lay(options):
    pairs = [json.loads(line) for line in open(options.pairs, encoding="utf-8")]
    options.folder.mkdir(parents=True, exist_ok=True)
    for pair in pairs:
        if options.names and pair["repository"] not in options.names:
            continue
        kept = options.folder / f"{pair['repository'].replace('/', '+')}-{pair['commit'][:10]}"
        if kept.exists():
            continue
        repository = options.repositories / pair["repository"].replace("/", "+") / "repo"
        packed = subprocess.run(["git", "-C", str(repository), "archive", pair["commit"]], capture_output=True).stdout
        before = subprocess.run(["git", "-C", str(repository), "show", f"{pair['commit']}~:{pair['path']}"], capture_output=True).stdout
        tests = [path for path in pair["tests"] if path.endswith(".py")]
        if not packed or not before or not tests:
            continue
        root = kept / "project"
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(root, filter="data")
        lab.prepare(root)
        after = (root / pair["path"]).read_bytes()
        found = {}
        for state, source in (("after", after), ("before", before)):
            (root / pair["path"]).write_bytes(source)
            found[state] = lab.run_tests(root, options.python, limit=120, tests=tests)
        good = found["after"] and not found["after"].failed and not found["after"].collect_errors and found["after"].passed
        failing = sorted(found["before"].failed & found["after"].passed) if good and found["before"] else []
        print(f"{kept.name}: {len(failing)} fail without the fix", flush=True)
        if not failing:
            shutil.rmtree(kept)
            continue
        (kept / "bug.json").write_text(json.dumps({**pair, "tests": tests, "failing": failing, "fixed": after.decode("utf-8")}))


def fix(bug, kept, options):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder, "project")
        shutil.copytree(kept / "project", root)
        variables = dict(os.environ, VIRTUAL_ENV=str(pathlib.Path(options.python).parent.parent))
        places = [str(root)] + ([str(root / "src")] if (root / "src").is_dir() else [])
        variables["PYTHONPATH"] = os.pathsep.join(places)
        command = [options.harness, "run", str(root), f"fix the failing test {bug['failing'][0]}", "--json", *options.rest]
        begun = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=variables, timeout=options.limit * 3)
            result = json.loads(done.stdout)
        except (subprocess.TimeoutExpired, ValueError) as error:
            return {"id": kept.name, "ok": False, "stopped": type(error).__name__, "seconds": time.monotonic() - begun}
        row = {"id": kept.name, "ok": result["ok"], "stopped": result["stopped"], "seconds": time.monotonic() - begun, "summary": result["summary"], "diff": result["diff"]}
        if row["ok"]:
            report = lab.run_tests(root, options.python, limit=120, tests=bug["tests"])
            row["clean"] = bool(report and report.passed and not report.collect_errors and bug["failing"][0] not in report.failed)
            row["equal"] = row["clean"] and not report.failed
            text = (root / bug["path"]).read_text(encoding="utf-8")
            row["same"] = normal(text, bug["name"]) == normal(bug["fixed"], bug["name"])
        return row


def run(options):
    known = set()
    if options.out.exists():
        known = {json.loads(line)["id"] for line in open(options.out, encoding="utf-8")}
    for file in sorted(options.folder.glob("*/bug.json")):
        if file.parent.name in known:
            continue
        row = fix(json.loads(file.read_text(encoding="utf-8")), file.parent, options)
        with open(options.out, "a", encoding="utf-8") as out:
            out.write(json.dumps(row) + "\n")
        print(f"{row['id']}: {'ok' if row['ok'] else row['stopped']} {row['seconds']:.1f} s {'same' if row.get('same') else ''} {row.get('summary', '')[:150]}", flush=True)


def main():
    arguments, rest = sys.argv[1:], []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, rest = arguments[:at], arguments[at + 1 :]
    parser = argparse.ArgumentParser()
    ways = parser.add_subparsers(dest="way", required=True)
    laying, running = ways.add_parser("lay"), ways.add_parser("run")
    laying.add_argument("repositories", type=pathlib.Path)
    laying.add_argument("pairs", type=pathlib.Path)
    laying.add_argument("folder", type=pathlib.Path)
    laying.add_argument("names", nargs="*")
    running.add_argument("harness")
    running.add_argument("folder", type=pathlib.Path)
    running.add_argument("out", type=pathlib.Path)
    running.add_argument("--limit", type=float, default=60)
    for one in (laying, running):
        one.add_argument("--python", default=sys.executable)
    options = parser.parse_args(arguments)
    options.python, options.rest = os.path.abspath(options.python), rest
    lay(options) if options.way == "lay" else run(options)


if __name__ == "__main__":
    main()
