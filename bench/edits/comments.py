#!/usr/bin/env python3
"""One comment into every Python file of ten released packages: no guard may refuse it.

    cargo build -p harness-bench --bin edits
    python3 bench/edits/comments.py [FOLDER]      the packages are fetched into FOLDER when they are not there
"""

import pathlib
import subprocess
import sys
import tarfile

from run import PROGRAM, Applier

PACKAGES = "requests flask click attrs jinja2 pluggy tomlkit marshmallow sqlparse werkzeug".split()


def main():
    place = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "target/bench/packages").resolve()
    place.mkdir(parents=True, exist_ok=True)
    if not PROGRAM.exists():
        sys.exit("build it first: cargo build -p harness-bench --bin edits")
    files = edits = refused = 0
    applier = Applier()
    for package in PACKAGES:
        folder = place / package
        if not folder.exists():
            fetched = place / "sdists" / package
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", str(fetched), package]
            subprocess.run(command, capture_output=True)
            archives = sorted(fetched.glob("*.tar.gz"))
            if not archives:
                print(f"{package}: could not be fetched, not measured")
                continue
            with tarfile.open(archives[0]) as archive:
                archive.extractall(folder, filter="data")
        answer = applier.ask(do="comments", folder=str(folder))
        files, edits, refused = files + answer["files"], edits + answer["edits"], refused + len(answer["refusals"])
        print(f"{package}: {answer['files']} files, {answer['edits']} edits, {len(answer['refusals'])} refused")
        for path, rule, reason in answer["refusals"]:
            print(f"    {path}: {rule}: {reason}")
    print(f"all: {files} files, {edits} edits, {refused} refused")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
