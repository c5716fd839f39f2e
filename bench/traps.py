"""Runs traps (`--cases FOLDER`) one by one through the real program: released code in which nothing may change.

    cargo build --release
    python bench/traps.py [--program target/release/harness] --cases FOLDER [--cache FOLDER] [--mirror FOLDER] [-v]

Each trap's package is copied into a folder of its own. Then `harness run` gets two tasks: one says that the file has a
misspelled name, one quotes Python's message about the first name that a quick look calls undefined. No engine answers,
so all that can change files is a fix without a model. Every byte of the folder is compared before and after.
"""

import argparse
import json
import os
import shutil
import site
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

from fixes import HERE, cases

# The distribution of a package where it is named differently.
DISTRIBUTIONS = {"rpds": "rpds-py", "yaml": "pyyaml", "pkg_resources": "setuptools==65.5.0", "distutils": "setuptools==65.5.0", "numpy": "numpy==1.26.4"}


def found_in(case):
    """The folder that holds the trap's file: the interpreter's own packages or library."""
    if case.get("package") in (None, "numpy", "pkg_resources", "setuptools"):
        return None
    roots = [sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["purelib"], *site.getsitepackages()]
    return next((Path(root) for root in roots if (Path(root) / case["file"]).is_file()), None)


def downloaded(cache, package):
    folder = cache / "traps" / package
    if not folder.exists():
        with tempfile.TemporaryDirectory() as download:
            wanted = DISTRIBUTIONS.get(package, "setuptools==65.5.0" if package == "setuptools" else package)
            done = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", download, wanted], capture_output=True, text=True)
            wheels = list(Path(download).glob("*.whl"))
            if done.returncode or not wheels:
                return None
            with zipfile.ZipFile(wheels[0]) as content:
                content.extractall(folder)
    return folder


def laid_out(case, options, folder):
    """Puts the trap's file and its package into a folder; says why not where that cannot be."""
    if "repo" in case:
        copy = options.mirror / case["repo"].replace("/", "+") / "repo"
        shown = subprocess.run(["git", "-C", str(copy), "show", case["blob"]], capture_output=True)
        if shown.returncode:
            return "no copy of the repository"
        path = folder / case["file"]
        path.parent.mkdir(parents=True)
        path.write_bytes(shown.stdout)
        return None
    root = found_in(case) or downloaded(options.cache, case["package"])
    if root is None or not (root / case["file"]).is_file():
        return "the package cannot be had"
    top = case["file"].split("/")[0]
    if (root / top).is_file():
        shutil.copy(root / top, folder / top)
    else:
        shutil.copytree(root / top, folder / top, ignore=shutil.ignore_patterns("__pycache__", "*.so", "tests"))
    return None


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and ".harness" not in path.parts}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=str(HERE / "target" / "release" / "harness"))
    parser.add_argument("--cases", type=Path, required=True, help="the folder of the cases")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "harness-fixes")
    parser.add_argument("--mirror", type=Path, default=Path(), help="a folder of bare repositories, `owner+name/repo`, for the traps that come from one")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    # Nothing listens there, so a run that wants a model ends.
    environment = {**os.environ, "OLLAMA_HOST": "127.0.0.1:9", "NO_COLOR": "1"}
    counts = {"untouched": 0, "changed": 0, "left out": 0}
    claimed = 0
    for case in cases(options.cases / "repair", "traps.jsonl"):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / "project"
            folder.mkdir()
            problem = laid_out(case, options, folder)
            if problem:
                counts["left out"] += 1
                print(f"{case['id']} {case['file']}: left out, {problem}", flush=True)
                continue
            before = contents(folder)
            name, line, _ = case["names"][0]
            tasks = [
                f"There is a misspelled name in {case['file']}, fix it",
                f"File \"{case['file']}\", line {line}\nNameError: name '{name}' is not defined",
            ]
            said = []
            for task in tasks:
                done = subprocess.run([options.program, "run", str(folder), task, "--json", "--no-record"], capture_output=True, text=True, env=environment, timeout=600)
                try:
                    answer = json.loads(done.stdout)
                    claimed += bool(answer.get("ok") and answer.get("writes"))
                    said.append(f"{done.returncode} {answer.get('stopped')}: {str(answer.get('summary'))[:80]}")
                except json.JSONDecodeError:
                    said.append(f"{done.returncode} {done.stderr.strip()[:80]}")
            same = contents(folder) == before
            counts["untouched" if same else "changed"] += 1
            print(f"{case['id']} {case['file']} ({case['why']}): {'untouched' if same else 'CHANGED'} | {' | '.join(said)}", flush=True)
    print(counts)
    print(f"runs that ended ok with a change, though nothing was wrong: {claimed}")


if __name__ == "__main__":
    main()
