"""Measures the fixes that need no model on cases of other people (`--cases FOLDER`): misspellings, undefined names, renames.

    cargo build --release -p harness-bench --bin fixes
    python bench/fixes.py [misspellings] [ambiguous] [undefined] [renames] --cases FOLDER [--cache FOLDER] [--tests N] [-v]

Packages are taken with pip into the cache folder (default: a folder in the system's temporary one). Nothing is
written into the project. `--tests N` runs the package's own tests for N misspellings of each package: with the
misspelling, where they must fail when they cover the line, and with the fix, where they must pass. The interpreter
that runs this script runs them, so it needs pytest and what the packages' tests import.
"""

import argparse
import json
import os
import shutil
import site
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent


class Engine:
    """The program, asked one question at a time."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def ask(self, **question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the program died on {str(question)[:300]}")
        return json.loads(line)


def cases(folder, name):
    path = folder / name
    if not path.exists():
        raise SystemExit(f"no cases at {path}: give their folder with --cases")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def unpacked(cache, case):
    """The released package, unpacked once."""
    archive = cache / case["sdist"]
    folder = cache / case["sdist"].removesuffix(".tar.gz")
    if not archive.exists():
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-binary", ":all:", "--no-deps", "-d", str(cache), f"{case['package']}=={case['version']}"], check=True)
    if not folder.exists():
        with tarfile.open(archive) as content:
            content.extractall(cache, filter="data")
    return folder


def installed():
    roots = [sysconfig.get_paths()["purelib"], *site.getsitepackages()]
    return list(dict.fromkeys(roots))


def put_in(folder, case):
    """Puts the misspelling into the file and returns its path with both texts."""
    path = folder / case["file"]
    relative = path.relative_to(folder).as_posix()
    before = path.read_bytes().decode("utf-8")
    lines = before.splitlines(keepends=True)
    line = lines[case["line"] - 1]
    at = case["col"]
    assert line[at : at + len(case["before"])] == case["before"], (case["id"], line)
    lines[case["line"] - 1] = line[:at] + case["after"] + line[at + len(case["before"]) :]
    return path, relative, before, "".join(lines)


def suite_passes(folder, case):
    """Whether the package's own tests pass."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(folder / "src")]), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *case["tests"]]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.returncode == 0


def judged(folder, path, case, right, wrong, fixed, suites):
    """Runs the suite on the misspelled and on the corrected package, in a copy."""
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "package"
        shutil.copytree(folder, copy)
        target = copy / path.relative_to(folder)
        target.write_bytes(wrong.encode())
        red = not suite_passes(copy, case)
        target.write_bytes(fixed.encode())
        green = suite_passes(copy, case)
    suites["red before" if red else "green before"] += 1
    suites["green after" if green else "red after"] += 1


def misspellings(engine, options, name="typos.jsonl", expect="fixed"):
    counts = {"fixed": 0, "wrong": 0, "asked": 0, "nothing": 0, "refused": 0}
    suites = {"red before": 0, "green before": 0, "green after": 0, "red after": 0}
    tried = {}
    for case in cases(options.cases / "repair", name):
        folder = unpacked(options.cache, case)
        path, relative, right, wrong = put_in(folder, case)
        path.write_bytes(wrong.encode())
        try:
            given = {"names": [case["after"]]} if options.named else {}
            files = [] if options.whole else [relative]
            answer = engine.ask(do="misspelled", root=str(folder), files=files, installed=installed(), **given)
        finally:
            path.write_bytes(right.encode())
        match answer["answer"]:
            case "certain":
                good = answer["files"] == {relative: right}
                result = "fixed" if good else "wrong"
                if tried.get(case["package"], 0) < options.tests and relative in answer["files"]:
                    tried[case["package"]] = tried.get(case["package"], 0) + 1
                    judged(folder, path, case, right, wrong, answer["files"][relative], suites)
            case "ask":
                result = "asked"
            case "refuse":
                result = "refused"
            case _:
                result = "nothing"
        counts[result] += 1
        if options.verbose and result != expect or result == "wrong":
            print(result, case["id"], case["package"], case["category"], case["kind"], case["before"], "->", case["after"], "|", case["original_line"].strip()[:90], "|", answer.get("summary") or answer.get("options") or answer.get("reason"))
    print(name, counts)
    if options.tests:
        print("the packages' own tests", suites)
    return counts


def undefined(engine, options):
    right, all_cases = 0, cases(options.cases / "repair", "pyflakes.jsonl")
    # Nobody asks about examples in docstrings.
    all_cases = [case for case in all_cases if "doctest" not in case["test"] and ">>>" not in case["code"]]
    for case in all_cases:
        answer = engine.ask(do="unresolved", code=case["code"])
        got = sorted((name, line) for name, line, *_ in answer["names"])
        want = sorted((name, line) for name, line, *_ in case["undefined"])
        right += got == want
        if got != want:
            print("differs", case["id"], case["test"], "got", got, "want", want)
    print(f"undefined names: {right} of {len(all_cases)} as the linter's own suite says")


def renames(engine, options):
    counts = {"exact": 0, "refused, as expected": 0, "refused": 0, "asked": 0, "nothing": 0, "different": 0}
    for case in cases(options.cases / "rename", "rename.jsonl"):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in case["files"].items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text.encode())
            comments = case["opts"].get("docs") == "True"
            old = case["old_name"] or "?"
            answer = engine.ask(do="rename", root=folder, old=old, new=case["new_name"], file=case["path"], line=case["line"], column=case["col"] + 1, in_comments=comments)
        kind = answer["answer"]
        if kind == "certain":
            after = {**case["files"], **answer["files"]}
            for before, moved in answer["moves"]:
                after[moved] = after.pop(before)
            result = "exact" if not case["expect_error"] and after == {**case["files"], **case["expected"]} or after == case["expected"] else "different"
        else:
            result = {"refuse": "refused", "ask": "asked", "nothing": "nothing"}[kind]
            if case["expect_error"]:
                result = "refused, as expected"
        counts[result] += 1
        if options.verbose and "e" not in result[:1]:
            print(result, case["id"], case["source"].split()[-1], old, "->", case["new_name"], case["opts"], answer.get("reason") or answer.get("text") or "", answer.get("places") or "")
            if result == "different":
                for name, text in after.items():
                    if text != case["expected"].get(name, case["files"].get(name)):
                        print("   ", name, repr(text)[:600])
                        print("   expected", repr(case["expected"].get(name))[:600])
    print("rename.jsonl", counts)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="*", default=["misspellings", "ambiguous", "undefined"])
    parser.add_argument("--cases", type=Path, required=True, help="the folder of the cases")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "harness-fixes")
    parser.add_argument("--program", default=str(HERE / "target" / "release" / "fixes"))
    parser.add_argument("--named", action="store_true", help="hand the wrong name over, as an error message would")
    parser.add_argument("--whole", action="store_true", help="name no file: search the whole package")
    parser.add_argument("--tests", type=int, default=0, help="how many fixes of each package its tests judge")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    engine = Engine(options.program)
    for what in options.what:
        match what:
            case "misspellings":
                misspellings(engine, options)
            case "ambiguous":
                misspellings(engine, options, "ambiguous.jsonl", "asked")
            case "undefined":
                undefined(engine, options)
            case "renames":
                renames(engine, options)
            case _:
                raise SystemExit(f"unknown: {what}")


if __name__ == "__main__":
    main()
