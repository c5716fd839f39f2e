#!/usr/bin/env python3
"""Breaks each promise of SECURITY.md in the source and looks whether the test that holds it sees that.

    python3 bench/promises/run.py              every row that was not measured yet
    python3 bench/promises/run.py --only 15    the rows of one promise; repeatable
    python3 bench/promises/run.py --again      also those that were measured
    python3 bench/promises/run.py --check      only look whether the rows fit the source
    python3 bench/promises/run.py --table      write the table of README.md anew

Works in a copy of the tracked files below target/promises. For each row the named test has to pass, then, with the row's
change, to fail as a test: a change that does not compile shows nothing. What came of it is kept in measured.json.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import venv

from rows import ROWS

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PLACE = ROOT / "target" / "promises"
TREE = PLACE / "tree"
MEASURED = HERE / "measured.json"
README = HERE / "README.md"
# The slowest test takes a minute when nothing has to be built.
PATIENCE = 1200
# Where the table stands in README.md.
BEGIN, END = "<!-- measured -->\n", "<!-- end -->"


class Unfit(Exception):
    """A row that shows nothing: its text is not in the source, its test does not pass by itself, it does not compile."""


def main(words):
    arguments = read_arguments(words)
    faults = check()
    if faults or arguments.check:
        print("\n".join(faults) or f"{len(ROWS)} rows fit the source")
        return 1 if faults else 0
    if arguments.table:
        write_table()
        return 0
    chosen = [row for row in ROWS if not arguments.only or row[0] in arguments.only]
    measured = read_measured()
    commit = lay_out()
    for row in chosen:
        if arguments.again or digest(row) not in measured:
            measured[digest(row)] = measure(row, commit)
            MEASURED.write_text(json.dumps(measured, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    write_table()
    bad = [row for row in chosen if measured[digest(row)]["verdict"] != "seen"]
    print(f"{len(chosen) - len(bad)} of {len(chosen)} changes were seen")
    return 1 if bad else 0


def read_arguments(words):
    parser = argparse.ArgumentParser(description="Breaks each promise and looks whether its test sees it.")
    parser.add_argument("--only", type=int, action="append", metavar="N", help="the rows of this promise; repeatable")
    parser.add_argument("--again", action="store_true", help="also rows that were measured")
    parser.add_argument("--check", action="store_true", help="only look whether the rows fit the source")
    parser.add_argument("--table", action="store_true", help="only write the table of README.md")
    return parser.parse_args(words)


def check():
    """What is wrong with the rows: a promise without one, a text that is not there exactly once, a test that nothing names."""
    promises = [int(number) for number in re.findall(r"^\| (\d+) \|", (ROOT / "SECURITY.md").read_text(encoding="utf-8"), re.M)]
    faults = [f"promise {number} has no row" for number in promises if number not in {row[0] for row in ROWS}]
    faults += [f"there is no promise {row[0]}: {row[1]}" for row in ROWS if row[0] not in promises]
    for number, what, edits, test in ROWS:
        for file, old, new in edits:
            count = (ROOT / file).read_text(encoding="utf-8").count(old) if (ROOT / file).exists() else 0
            if count != 1 or old == new:
                faults.append(f"{number}, {what}: {old.strip()!r} stands {count} times in {file}")
        if not is_test(test):
            faults.append(f"{number}, {what}: there is no test `{test}`")
    return faults


def is_test(test):
    """Whether a function of the test's name is there; that it runs is seen when it has to pass."""
    words = test.split()
    if words[0].endswith(".py"):
        file, name = ROOT / "tests" / "python" / words[0], f"def {words[1]}("
        return file.exists() and name in file.read_text(encoding="utf-8")
    crate, target, path = words
    folder = ROOT / "crates" / crate
    files = [folder / "tests" / f"{target[7:]}.rs"] if target.startswith("--test=") else folder.glob("src/**/*.rs")
    last = path.rsplit("::", 1)[-1]
    name = "mod tests" if last == "tests" else f"fn {last}("
    return any(name in file.read_text(encoding="utf-8") for file in files if file.exists())


def digest(row):
    return hashlib.sha256(json.dumps(row).encode()).hexdigest()[:16]


def read_measured():
    """What came of the rows as they are now; a row that was changed is measured anew."""
    measured = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    return {digest(row): measured[digest(row)] for row in ROWS if digest(row) in measured}


def lay_out():
    """Copies the tracked files as they are now. Files that have not changed keep their time, so little is built anew.
    Returns the commit they belong to."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    names = {name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()}
    for name in names:
        source, target = ROOT / name, TREE / name
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    for file in TREE.glob("crates/**/*.rs"):
        if str(file.relative_to(TREE)) not in names:
            file.unlink()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    return commit.stdout.strip()


def measure(row, commit):
    number, what, edits, test = row
    print(f"{number}: {what} ... ", end="", flush=True)
    started = time.monotonic()
    try:
        if run(test) != "passes":
            raise Unfit("the test does not pass by itself")
        before = {file: (TREE / file).read_text(encoding="utf-8") for file, _, _ in edits}
        try:
            for file, old, new in edits:
                text = (TREE / file).read_text(encoding="utf-8")
                (TREE / file).write_text(text.replace(old, new), encoding="utf-8")
            verdict = {"fails": "seen", "passes": "NOT SEEN"}[run(test)]
        finally:
            for file, text in before.items():
                (TREE / file).write_text(text, encoding="utf-8")
    except Unfit as unfit:
        verdict = f"unfit: {unfit}"
    seconds = round(time.monotonic() - started)
    print(f"{verdict} ({seconds} s)", flush=True)
    return {"verdict": verdict, "seconds": seconds, "commit": commit}


def run(test):
    """Runs one test in the copy, as CI would: `passes` or `fails`."""
    words = test.split()
    if words[0].endswith(".py"):
        return run_pytest(*words)
    crate, target, name = words
    exact = [] if name.endswith("::tests") else ["--exact"]
    output = heard(["cargo", "test", "-p", crate, target, "--", *exact, name])
    result = re.search(r"^test result: (\w+)\. (\d+) passed; (\d+) failed", output, re.M)
    if not result:
        raise Unfit("it does not compile:\n" + output[-3000:])
    if result[1] == "ok" and result[2] == "0":
        raise Unfit(f"no test is called {name}")
    return "passes" if result[1] == "ok" else "fails"


def run_pytest(file, name):
    """Builds the program and runs a test of tests/python with it."""
    output = heard(["cargo", "build", "-p", "harness", "--bin", "harness", "--message-format", "json"])
    programs = re.findall(r'"executable":"([^"]+)"', output)
    if not programs:
        raise Unfit("the program does not compile")
    python = environment()
    shutil.copy(programs[-1], python.parent / "harness")
    output = heard([str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/python/{file}", "-k", name])
    if re.search(r"^\d+ passed", output, re.M) and " failed" not in output:
        return "passes"
    if re.search(r"\b\d+ failed", output):
        return "fails"
    raise Unfit("pytest says nothing:\n" + output[-3000:])


def environment():
    """A virtualenv of its own, for the program lies in it, with the packages of the one that the test command makes."""
    folder, tools = PLACE / "venv", ROOT / "target" / "test-venv"
    if not tools.exists():
        raise Unfit("target/test-venv is not there: run `python3 scripts/run/test.py --only tools`")
    if not folder.exists():
        venv.create(str(folder), with_pip=False)
    python = folder / "bin" / "python"
    for site in folder.glob("lib/python*/site-packages"):
        theirs = "\n".join(str(path) for path in tools.glob("lib/python*/site-packages"))
        (site / "tools.pth").write_text(theirs + "\n", encoding="utf-8")
    return python


def heard(command):
    """What a command says, under CI's rule: a test that has to skip something fails."""
    # Never a folder that the clone builds in: cargo tells two checkouts apart by the time of their files only, and what
    # was built with a change in it would be taken for the clone's own.
    variables = {**os.environ, "CI": "1", "CARGO_TARGET_DIR": str(PLACE / "build")}
    try:
        done = subprocess.run(
            command, cwd=TREE, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, encoding="utf-8", errors="replace"
        )
    except subprocess.TimeoutExpired:
        raise Unfit(f"no end after {PATIENCE} s") from None
    return done.stdout


def table():
    measured = read_measured()
    lines = ["| # | what the change does | the test that sees it | came of it |", "|---|---|---|---|"]
    for row in ROWS:
        found = measured.get(digest(row))
        verdict = f"{found['verdict'].splitlines()[0]} ({found['commit']})" if found else "not run"
        name = row[3].replace(".py ", ".py::").split()[-1]
        lines.append(f"| {row[0]} | {row[1]} | `{name}` | {verdict} |")
    seen = sum(1 for row in ROWS if measured.get(digest(row), {}).get("verdict") == "seen")
    return "\n".join(lines) + f"\n\n{seen} of {len(ROWS)} changes were seen.\n"


def write_table():
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    README.write_text(before + BEGIN + table() + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
