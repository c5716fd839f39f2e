#!/usr/bin/env python3
"""Type-checks code and tests for systems that this machine is not: python3 scripts/build/check_platforms.py [TARGET ...]

Nothing is linked, so no foreign C compiler is needed: its objects are stood in for by empty files. The standard library of
a target is the one that rustup installed, else it is made from its sources: `rustup component add rust-src`, or --library
with the folder `library` of Rust's repository at the compiler's own commit. What only shows when the tests run there is
left to the hosted runners (.github/workflows/test.yml).
"""

import argparse
import os
import pathlib
import stat
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGETS = ("x86_64-pc-windows-msvc", "aarch64-apple-darwin", "aarch64-unknown-linux-gnu", "x86_64-unknown-linux-musl")
# Answers for a C compiler and an archiver: makes each file that it is told to make, empty.
STAND_IN = """#!{python}
import pathlib, sys

words = sys.argv[1:]
made = [word[len(flag):] for word in words for flag in ("-Fo", "/Fo", "-out:", "-OUT:", "/OUT:") if word.startswith(flag)]
made += [after for word, after in zip(words, words[1:]) if word == "-o"]
made += [word for word in words if word[0] not in "-/" and word.endswith((".a", ".lib"))]
made += [word for word in words if word.startswith("/") and word.endswith(".a")]
for name in made:
    pathlib.Path(name).touch()
"""


def main():
    parser = argparse.ArgumentParser(description="Type-checks code and tests for systems that this machine is not.")
    parser.add_argument("targets", nargs="*", default=TARGETS, metavar="TARGET", help=f"such as {TARGETS[0]}")
    parser.add_argument("--library", type=pathlib.Path, help="sources of the compiler's own standard library")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        stand_in = pathlib.Path(place) / "cc"
        stand_in.write_text(STAND_IN.format(python=sys.executable), encoding="utf-8")
        stand_in.chmod(stand_in.stat().st_mode | stat.S_IXUSR)
        verdicts = {target: check(target, stand_in, arguments.library) for target in arguments.targets}
    for target, verdict in verdicts.items():
        print(f"{target}: {verdict}")
    return any(verdict != "checks" for verdict in verdicts.values())


def check(target, stand_in, library):
    sysroot = pathlib.Path(said("rustc", "--print", "sysroot"))
    sources = library or sysroot / "lib" / "rustlib" / "src" / "rust" / "library"
    command = ["cargo", "check", "--locked", "--workspace", "--all-targets", "--target", target]
    name = target.replace("-", "_")
    variables = {**os.environ, f"CC_{name}": str(stand_in), f"CXX_{name}": str(stand_in), f"AR_{name}": str(stand_in)}
    variables |= {"PYO3_NO_PYTHON": "1", "CARGO_TARGET_DIR": str(ROOT / "target" / "platforms")}
    if not (sysroot / "lib" / "rustlib" / target / "lib").exists():
        if not sources.exists():
            return "no standard library: `rustup target add`, `rustup component add rust-src` or --library"
        command += ["-Zbuild-std=std,panic_unwind,panic_abort,proc_macro,test"]
        variables |= {"RUSTC_BOOTSTRAP": "1", "__CARGO_TESTS_ONLY_SRC_ROOT": str(sources.resolve())}
    done = subprocess.run(command, cwd=ROOT, env=variables, check=False)
    return "checks" if done.returncode == 0 else "does not check"


def said(*words):
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
