"""Lets harness fix the bugs that make.py made, and judges what it did.

    python run.py HARNESS BUGS.jsonl SDISTS OUT.jsonl [--python PYTHON] [--limit 60] [--form test|named] [-- OPTIONS OF harness run]
    python run.py --table OUT.jsonl...

Each bug is laid out in a folder of its own with half of the tests held back. A fix counts when harness says `ok`, the
failing test that it was asked about passes in a clean copy of what it wrote, no other test that it could see fails anew,
and it took no longer than the limit. It is equal when the program is the original's, or when every test passes, those
held back included.
"""

import argparse
import ast
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import lab
import make


def normal(source, name):
    """The functions of this name, without their documentation, as one text."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            found.append(ast.dump(node))
    return found


def lay_out(bug, sdists, folder):
    root = make.unpack(sdists / bug["sdist"], folder)
    lab.prepare(root)
    original = (root / bug["path"]).read_text(encoding="utf-8")
    (root / bug["path"]).write_text(bug["source"], encoding="utf-8")
    return root, original


def words(bug, form, test):
    if form == "named":
        return f"fix {bug['name']} in {bug['path']}: {test} fails"
    return f"fix the failing test {test}"


def judge(bug, asked, sdists, python, path, text, original):
    """Runs every test, held back or not, on a clean copy with the fixed file."""
    with tempfile.TemporaryDirectory() as folder:
        root, _ = lay_out(bug, sdists, folder)
        (root / path).write_text(text, encoding="utf-8")
        report = lab.run_tests(root, python, limit=max(60, bug["suite_seconds"] * 10))
    if report is None:
        return {"clean": False, "equal": False}
    held = {test for test in report.failed if test.split("[")[0] in bug["held"]}
    # What the run was asked for passes, and no test that it could see and that passed before fails.
    clean = asked not in report.failed and report.failed - held <= set(bug["failing"]) and not report.collect_errors
    same = path == bug["path"] and normal(text, bug["name"]) == normal(original, bug["name"])
    return {"clean": clean, "equal": same or not report.failed, "same": same}


def fix(bug, options):
    with tempfile.TemporaryDirectory() as folder:
        root, original = lay_out(bug, options.sdists, folder)
        lab.hide(root, bug["held"])
        # A test may be inherited from one that is held back: then it is held back too.
        files = sorted({test.split("::")[0] for test in bug["failing"]})
        seen = lab.run_tests(root, options.python, limit=max(60, bug["suite_seconds"] * 10), tests=files)
        asked = next((test for test in bug["failing"] if seen and test in seen.failed), None)
        if asked is None:
            return None
        variables = dict(os.environ, VIRTUAL_ENV=str(pathlib.Path(options.python).parent.parent))
        variables.pop("PYTHONPATH", None)
        if (root / "src").is_dir():
            variables["PYTHONPATH"] = str(root / "src")
        begun = time.monotonic()
        command = [options.harness, "run", str(root), words(bug, options.form, asked), "--json", *options.rest]
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=variables, timeout=options.limit + 10)
            result = json.loads(done.stdout)
        except (subprocess.TimeoutExpired, ValueError) as error:
            return {"id": bug["id"], "ok": False, "stopped": type(error).__name__, "seconds": time.monotonic() - begun}
        row = {
            "id": bug["id"],
            "ok": result.get("ok", False),
            "stopped": result.get("stopped"),
            "seconds": time.monotonic() - begun,
            "by": result["steps"][-1]["action"] if result.get("steps") else "fix",
            "steps": len(result.get("steps", [])),
            "summary": result.get("summary", ""),
            "diff": result.get("diff", ""),
        }
        if row["ok"]:
            written = [path for path in result["writes"] if path.endswith(".py")]
            row["place"] = written == [bug["path"]]
            text = (root / written[0]).read_text(encoding="utf-8")
            row.update(judge(bug, asked, options.sdists, options.python, written[0], text, original))
        return row


def table(files, limit):
    print("| run | bugs | fixed and proven | within the limit | equal | same program | median s | ok but not clean |")
    print("|---|---|---|---|---|---|---|---|")
    for name in files:
        rows = [json.loads(line) for line in open(name, encoding="utf-8")]
        fixed = [row for row in rows if row["ok"] and row.get("clean")]
        quick = [row for row in fixed if row["seconds"] <= limit]
        equal = [row for row in fixed if row.get("equal")]
        same = [row for row in fixed if row.get("same")]
        times = sorted(row["seconds"] for row in fixed) or [0]
        wrong = [row for row in rows if row["ok"] and not row.get("clean")]
        share = lambda part, whole: f"{len(part)} ({100 * len(part) / max(1, len(whole)):.0f} %)"
        print(f"| {pathlib.Path(name).stem} | {len(rows)} | {share(fixed, rows)} | {share(quick, rows)} | {share(equal, fixed)} | {share(same, fixed)} | {times[len(times) // 2]:.1f} | {len(wrong)} |")
        by = {}
        for row in fixed:
            by[row["by"]] = by.get(row["by"], 0) + 1
        print("  finished by: " + ", ".join(f"{name} {count}" for name, count in sorted(by.items())))


def main():
    arguments = sys.argv[1:]
    rest = []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, rest = arguments[:at], arguments[at + 1 :]
    if arguments[:1] == ["--table"]:
        return table(arguments[1:], 60)
    parser = argparse.ArgumentParser()
    parser.add_argument("harness")
    parser.add_argument("bugs", type=pathlib.Path)
    parser.add_argument("sdists", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--form", choices=("test", "named"), default="test")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args(arguments)
    options.rest = rest
    options.python = os.path.abspath(options.python)
    bugs = [json.loads(line) for line in open(options.bugs, encoding="utf-8")][:: options.every]
    known = set()
    if options.out.exists():
        known = {json.loads(line)["id"] for line in open(options.out, encoding="utf-8")}
    for bug in bugs:
        if bug["id"] in known:
            continue
        row = fix(bug, options)
        if row is None:
            print(f"{bug['id']}: no test shows it once those held back are gone", flush=True)
            continue
        with open(options.out, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{row['id']}: {'ok' if row['ok'] else row['stopped']} {row['seconds']:.1f} s {'equal' if row.get('equal') else ''} {row.get('summary', '')[:150]}", flush=True)
    table([options.out], options.limit)


if __name__ == "__main__":
    main()
