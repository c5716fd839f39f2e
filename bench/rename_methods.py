"""Asks for renames of random methods of real packages: how many are renamed, asked about, or refused, and why.

    cargo build -p harness-bench --bin fixes
    python bench/rename_methods.py [--program PATH] [--count 60] [--seed 1] [--cache FOLDER] [--show] [PACKAGE==VERSION ...]

Nothing is changed and no test runs: `rename_packages.py` is for that. The packages given are one pool; the methods are
those of the packages' own code, without their tests, documentation and examples.
"""

import argparse
import collections
import random
import re
import tempfile
from pathlib import Path

from fixes import HERE, Engine, installed, unpacked
from rename_packages import definitions

PACKAGES = ["click==8.3.1", "attrs==25.4.0", "boltons==26.2.0"]


def grouped(answer):
    """The reason without the names and counts that differ from one method to the next."""
    words = answer.get("reason") or answer.get("text") or ""
    words = re.sub(r"`[^`]*`", "`x`", words)
    return re.sub(r"\d+", "N", words)[:110]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("packages", nargs="*", default=PACKAGES)
    parser.add_argument("--program", default=str(HERE / "target" / "debug" / "fixes"))
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "harness-fixes")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    engine = Engine(options.program)
    pool = []
    for package in options.packages:
        name, _, version = package.partition("==")
        folder = unpacked(options.cache, {"package": name, "version": version, "sdist": f"{name.replace('-', '_').lower()}-{version}.tar.gz"})
        pool += [(folder, *found) for found in definitions(folder) if found[-1] == "method"]
    chosen = random.Random(options.seed).sample(pool, options.count)
    totals = collections.Counter()
    reasons = collections.defaultdict(collections.Counter)
    for folder, path, line, column, old, _ in chosen:
        answer = engine.ask(do="rename", root=str(folder), old=old, new=f"{old}_other", file=path, line=line, column=column, installed=installed())
        result = {"certain": "renamed", "ask": "asked", "refuse": "refused"}.get(answer["answer"], answer["answer"])
        totals[result] += 1
        if result != "renamed":
            reasons[result][grouped(answer)] += 1
        if options.show:
            why = answer.get("reason") or answer.get("text") or answer.get("summary")
            print(f"{folder.name}/{path}:{line} {old}: {result}: {why} {answer.get('places', '')[:4]}")
    for result, counted in reasons.items():
        for reason, count in counted.most_common():
            print(f"{count:4} {result}: {reason}")
    print(f"of {options.count} methods of {len(pool)}: {dict(totals)}")


if __name__ == "__main__":
    main()
