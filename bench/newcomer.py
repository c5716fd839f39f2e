#!/usr/bin/env python3
"""How long somebody new waits: from a fresh clone to a fix that tests have proven.

    python bench/newcomer.py [--wheel FILE] [--clone-of FOLDER] [--json FILE]

Clones what is committed into a folder of its own and types README's first command there, without the model: with a wheel
(`--wheel`), else by compiling everything from nothing, after which a wheel is built from that clone and tried in a second
one. The packages that cargo has fetched before are used again; how long fetching takes says more about the network. The
exit code is 0 only where every demo ended in a proven fix.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
INSTALL = ("scripts/run/install.py", "--demo", "--no-model")


def main(words):
    parser = argparse.ArgumentParser(description="Measures how long it takes from a clone to a proven fix.")
    parser.add_argument("--wheel", type=pathlib.Path, help="install this one and compile nothing")
    parser.add_argument("--clone-of", type=pathlib.Path, default=ROOT, help="the repository, this one by default")
    parser.add_argument("--json", type=pathlib.Path, help="write the seconds to this file")
    arguments = parser.parse_args(words)
    found, wheel = {}, arguments.wheel and arguments.wheel.resolve()
    with tempfile.TemporaryDirectory(prefix="harness-newcomer-") as folder:
        if not wheel:
            place = clone(arguments.clone_of, pathlib.Path(folder, "compiled"))
            found["a clone, compiled, to a proven fix"] = seconds = timed(place, *INSTALL)
            wheel = built_wheel(place) if seconds is not None else None
        if wheel:
            place = clone(arguments.clone_of, pathlib.Path(folder, "with-a-wheel"))
            found["a wheel, to a proven fix"] = timed(place, *INSTALL, "--wheel", wheel)
    print("\n| what | seconds |\n|---|---:|")
    for name, seconds in found.items():
        print(f"| {name} | {'it failed' if seconds is None else f'{seconds:.1f}'} |")
    if arguments.json:
        arguments.json.write_text(json.dumps(found), encoding="utf-8")
    return 1 if None in found.values() else 0


def clone(source, place):
    subprocess.run(["git", "clone", "--quiet", str(source), str(place)], check=True)
    return place


def timed(place, *words):
    """The seconds that a script of the clone takes, or nothing where it fails."""
    # As on a machine of its own: nothing that is active here, and no folder that was built in before.
    outer = ("VIRTUAL_ENV", "CARGO_TARGET_DIR", "PYTHONPATH", "PYTHONHOME")
    variables = {name: value for name, value in os.environ.items() if name not in outer}
    # Of a virtualenv's Python comes a virtualenv that is no newcomer's.
    python = getattr(sys, "_base_executable", sys.executable)
    began = time.monotonic()
    code = subprocess.run([python, *map(str, words)], cwd=place, env=variables, stdin=subprocess.DEVNULL).returncode
    return time.monotonic() - began if code == 0 else None


def built_wheel(place):
    """A wheel of what the clone has compiled."""
    python = place / ".venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run([str(python), "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir", str(place / "dist"), str(place)], check=True)
    return next((place / "dist").glob("*.whl"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
