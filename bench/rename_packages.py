"""Renames random definitions of real packages: their own tests must still pass, and renaming back gives the same bytes.

    cargo build -p harness-bench --bin fixes
    python bench/rename_packages.py [--program PATH] [--each 6] [--seed 1] [--cache FOLDER] [PACKAGE==VERSION ...]

Packages are taken with pip into the cache folder; each rename happens in a private copy. The interpreter that runs
this script runs the tests, so it needs pytest and what the packages' tests import. A rename that is asked about is
tried with the answer "leave the rest", which counts on its own: it is the user's choice.
"""

import argparse
import ast
import builtins
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from fixes import HERE, Engine, installed, unpacked

# Packages whose own tests run from their source distribution, and where those are. None on which pytest itself runs: a
# rename that is right in pluggy leaves the installed pytest without its methods.
PACKAGES = {
    "boltons==26.2.0": "tests",
    "toolz==1.2.0": "toolz",
    "voluptuous==0.16.0": "voluptuous/tests",
    "itsdangerous==2.2.0": "tests",
    "tabulate==0.10.0": "test",
    "more-itertools==10.8.0": "tests",
    "cachetools==6.2.2": "tests",
    "parse==1.20.2": "tests",
    "jinja2==3.1.6": "tests",
    "marshmallow==4.4.0": "tests",
    "tomlkit==0.15.2": "tests",
    "bottle==0.13.4": "test",
    "schema==0.7.8": "test_schema.py",
    "funcy==2.1": "tests",
}


def definitions(folder):
    """Every function, class, method and module-level variable of the package: path, line, column, name, kind."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        relative = path.relative_to(folder).as_posix()
        if any(part in ("docs", "examples", "build", ".git") for part in path.parts) or relative == "setup.py" or "test" in relative:
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        lines = path.read_text(encoding="utf-8").splitlines()

        def add(node, name, kind):
            text = lines[node.lineno - 1]
            start = node.value.end_col_offset if isinstance(node, ast.Attribute) else node.col_offset
            column = text.find(name, start)
            # The way back to the name of a builtin is refused, as it would be for a new name.
            if column >= 0 and not (name.startswith("__") and name.endswith("__")) and name != "_" and not hasattr(builtins, name):
                found.append((relative, node.lineno, len(text[:column]) + 1, name, kind))

        def walk(body, inside):
            for node in body:
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    add(node, node.name, "method" if inside else "function")
                    for store in ast.walk(node) if inside else ():
                        held = isinstance(store, ast.Attribute) and isinstance(store.ctx, ast.Store)
                        if held and isinstance(store.value, ast.Name) and store.value.id == "self":
                            add(store, store.attr, "attribute of self")
                    for argument in node.args.args[:3]:
                        if argument.arg not in ("self", "cls") and argument.lineno == node.lineno:
                            add(argument, argument.arg, "parameter")
                elif isinstance(node, ast.ClassDef):
                    add(node, node.name, "class")
                    walk(node.body, True)
                elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    add(node, node.targets[0].id, "attribute" if inside else "variable")

        walk(tree.body, False)
    return found


def tests_pass(folder, where, limit):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(folder / "src")]), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--doctest-modules" if where == "toolz" else "-q", where]
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return False, "took too long"
    return done.returncode == 0, (done.stdout + done.stderr)[-1500:]


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def applied(folder, answer):
    for name, text in answer["files"].items():
        (folder / name).write_bytes(text.encode())
    for before, after in answer["moves"]:
        (folder / after).parent.mkdir(parents=True, exist_ok=True)
        (folder / before).rename(folder / after)


def restored(folder, before):
    for name in contents(folder).keys() - before.keys():
        (folder / name).unlink()
    for name, data in before.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("packages", nargs="*", default=list(PACKAGES))
    parser.add_argument("--program", default=str(HERE / "target" / "debug" / "fixes"))
    parser.add_argument("--each", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "harness-fixes")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    engine = Engine(options.program)
    totals = {"renamed": 0, "refused": 0, "broke the tests": 0, "not the same back": 0, "asked": 0, "asked and left, tests green": 0, "asked and left, tests broken": 0}
    for package in options.packages:
        name, _, version = package.partition("==")
        released = unpacked(options.cache, {"package": name, "version": version, "sdist": f"{name.replace('-', '_')}-{version}.tar.gz"})
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / "package"
            shutil.copytree(released, folder)
            good, output = tests_pass(folder, PACKAGES.get(package, "tests"), options.limit)
            if not good:
                print(f"{package}: its tests do not pass here, left out: {output[-300:]}")
                continue
            before = contents(folder)
            chosen = random.Random(options.seed).sample(definitions(folder), options.each)
            for path, line, column, old, kind in chosen:
                new = f"{old}_other"
                answer = engine.ask(do="rename", root=str(folder), old=old, new=new, file=path, line=line, column=column, installed=installed())
                if answer["answer"] == "ask":
                    totals["asked"] += 1
                    print(f"{package} {path}:{line} {kind} {old}: asked: {answer['text']}")
                    left = engine.ask(do="rename", root=str(folder), old=old, new=new, file=path, line=line, column=column, installed=installed(), doubts="leave")
                    if left["answer"] == "certain":
                        applied(folder, left)
                        good, output = tests_pass(folder, PACKAGES.get(package, "tests"), options.limit)
                        totals["asked and left, tests green" if good else "asked and left, tests broken"] += 1
                        print("    left:", "green" if good else output[-300:])
                        restored(folder, before)
                    continue
                if answer["answer"] != "certain":
                    totals["refused"] += 1
                    print(f"{package} {path}:{line} {kind} {old}: {answer['answer']}: {answer.get('reason') or answer.get('text')} {answer.get('places', '')[:3]}")
                    continue
                applied(folder, answer)
                good, output = tests_pass(folder, PACKAGES.get(package, "tests"), options.limit)
                there = path
                back = engine.ask(do="rename", root=str(folder), old=new, new=old, file=there, line=line, column=column, installed=installed())
                if back["answer"] == "certain":
                    applied(folder, back)
                same = contents(folder) == before
                result = "broke the tests" if not good else "renamed" if same else "not the same back"
                totals[result] += 1
                print(f"{package} {path}:{line} {kind} {old}: {result} ({answer['summary']})")
                if not good:
                    print(output)
                if result == "not the same back":
                    print("   ", back["answer"], back.get("reason"), back.get("places"))
                restored(folder, before)
    print(totals)


if __name__ == "__main__":
    main()
