"""What fixes cost on django: unresolved names beside parsing, a rename of a common method beside rope.

    cargo build --release -p harness-bench --bin fix_speed
    python bench/fix_speed.py [--program PATH] [--rope PYTHON] [--cache FOLDER]

django's source distribution is taken with pip into the cache folder. `--rope` names an interpreter that has rope; rope
runs in the same run. Both are timed from the path of a folder that nothing was read of to the finished list of changes:
opening the project, finding its files, reading and parsing what is needed. Neither the start of Python nor rope's imports
are counted. All figures are seconds of the processor, of all threads together, which a busy machine changes little.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from fixes import HERE, unpacked

# Methods that are renamed and not refused: where they are defined, their class, their name.
METHODS = [
    ("django/db/models/sql/compiler.py", "SQLCompiler", "quote_name_unless_alias"),
    ("django/db/models/sql/query.py", "Query", "build_filter"),
]

ROPE = """
import sys, time
from rope.base.project import Project
from rope.refactor.rename import Rename
began = time.process_time()
project = Project(sys.argv[1], ropefolder=None)
module = project.get_file(sys.argv[3])
source = module.read()
offset = source.index("def " + sys.argv[2]) + 4
changes = Rename(project, module, offset).get_changes(sys.argv[2] + "_x")
print(time.process_time() - began, len(changes.changes))
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=str(HERE / "target" / "release" / "fix_speed"))
    parser.add_argument("--rope", default=sys.executable)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "harness-fixes")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    released = unpacked(options.cache, {"package": "django", "version": "5.2.8", "sdist": "django-5.2.8.tar.gz"})
    with tempfile.TemporaryDirectory() as temporary:
        # The package alone, as it is installed: its tests are a program of their own.
        folder = Path(temporary) / "project"
        shutil.copytree(released / "django", folder / "django")
        for file, owner, method in METHODS:
            done = subprocess.run([options.program, str(folder), f"{owner}.{method}", f"{method}_x"], capture_output=True, text=True, check=True)
            ours = json.loads(done.stdout)
            if method == METHODS[0][2]:
                parsing, unresolved = ours["parsing"]["cpu"], ours["unresolved"]["cpu"]
                print(f"django: {ours['files']} files, {ours['bytes']} bytes")
                print(f"parsing {parsing:.3f} s, parsing and finding unresolved names {unresolved:.3f} s: {unresolved / parsing:.2f} times parsing")
                print(f"all kinds of misspellings in the whole package: {ours['misspelled']['cpu']:.3f} s")
            print(f"renaming {owner}.{method}: {ours['rename_from_nothing']['cpu']:.3f} s from the folder, {ours['rename']['cpu']:.3f} s of it after the files are listed ({ours['renamed']})", flush=True)
            rope = subprocess.run([options.rope, "-c", ROPE, str(folder), method, file], capture_output=True, text=True)
            if rope.returncode:
                print("rope does not run here:", rope.stderr.strip().splitlines()[-1:])
                return
            seconds, files = rope.stdout.split()
            print(f"    rope: {float(seconds):.3f} s, {files} files changed: {float(seconds) / ours['rename_from_nothing']['cpu']:.0f} times ours", flush=True)


if __name__ == "__main__":
    main()
