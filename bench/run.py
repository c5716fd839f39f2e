#!/usr/bin/env python3
"""Measures everything that can be measured here, and writes rows: python bench/run.py [part...] [--quick]

    python bench/run.py                       every part, in full; hours, and peers are installed for comparison
    python bench/run.py --quick               every part with few cases and without peers; within 20 minutes on two cores
    python bench/run.py startup latency       these parts
    python bench/run.py model                 what the engine and the model that you have configured can do
    python bench/run.py --list                what there is, and what each part needs

A part calls the scripts that lie beside this one. A part that cannot run here says why and hinders no other. Rows are added
to bench/rows, one file a part (rows.py says what a row is); `python bench/report.py` makes tables and plots from them and
says what got worse. Standard library only; what is fetched or installed lies below target/bench and nowhere else.
"""

import argparse
import collections
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import inputs
import parts
import rows

HERE = pathlib.Path(__file__).resolve().parent
# Quick runs end within 20 minutes: what is not done by then is ended, and the parts after it are skipped.
QUICK_SECONDS = 20 * 60


def read_arguments(words):
    beside = shutil.which("harness", path=str(pathlib.Path(sys.executable).parent))
    built = [str(HERE.parent / "target" / kind / "harness") for kind in ("release", "debug")]
    known = next((program for program in built if os.access(program, os.X_OK)), None)
    parser = argparse.ArgumentParser(description="Measures what can be measured here, and writes rows.")
    parser.add_argument("parts", nargs="*", metavar="part", help="all by default")
    parser.add_argument("--quick", action="store_true", help="few cases and no peers; the rows are marked")
    parser.add_argument("--program", default=beside or known or shutil.which("harness"), help="the harness to measure")
    parser.add_argument("--rows", type=pathlib.Path, default=rows.COMMITTED, help="the folder for the rows")
    parser.add_argument("--no-peers", action="store_true", help="install and measure no other program")
    parser.add_argument("--repositories", type=pathlib.Path, help="bare repositories as owner+name/repo, instead of cloning")
    parser.add_argument("--cases", type=pathlib.Path, help="the cases of other people (locate, edits)")
    parser.add_argument("--list", action="store_true", help="say which parts there are")
    arguments = parser.parse_args(words)
    names = [part.name for part in parts.PARTS]
    if unknown := [name for name in arguments.parts if name not in names]:
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(names)}")
    return arguments


def perform(part, bench):
    """The measures of one part, or why there are none."""
    if lacking := part.lacking():
        return [], f"needs {', '.join(lacking)}"
    try:
        return part.measure(bench), ""
    except inputs.Missing as missing:
        return [], str(missing)
    except subprocess.TimeoutExpired as late:
        return [], f"it did not end within {late.timeout:.0f} s"
    except Exception as error:  # One part that breaks must not take the others with it.
        return [], f"it broke: {type(error).__name__}: {str(error)[:300]}"


def main(words):
    arguments = read_arguments(words)
    if arguments.list:
        print("\n".join(f"{part.name:<14} {part.about}{' (needs ' + ', '.join(part.needs) + ')' if part.needs else ''}" for part in parts.PARTS))
        return 0
    if not arguments.program or not os.access(arguments.program, os.X_OK):
        sys.exit("run.py: there is no harness to measure\nhint: build it, or name it with --program")
    bench = parts.Bench(arguments)
    if arguments.quick and not arguments.parts:
        inputs.DEADLINE = time.monotonic() + QUICK_SECONDS
    versions = rows.versions(bench.program)
    print(f"harness {versions['harness']}, Python {versions['python']}, {versions['os']}, {rows.machine()}", flush=True)
    committed, began, outcomes = rows.read(rows.COMMITTED), time.monotonic(), collections.Counter()
    pairs = []
    for part in parts.PARTS:
        # What the user must have set up is only asked for by name.
        if part.name not in arguments.parts if arguments.parts else part.only_by_name:
            continue
        print(f"\n{part.name}: {part.about}", flush=True)
        started = time.monotonic()
        measures, why = perform(part, bench)
        if why:
            print(f"    skipped: {why}", flush=True)
        new = [rows.row(part.name, measure, arguments.quick, versions) for measure in measures]
        if new:
            rows.append(arguments.rows, part.name, new)
        known = rows.latest(committed.get(part.name, []), is_quick=False)
        for one in new:
            earlier = [(one, known[one["name"]])] if one["name"] in known and not arguments.quick else []
            note, pairs = rows.comparison(earlier)[0], pairs + earlier
            shown = f"{one['value']:g} {one['unit']}" if one["value"] is not None else f"not measured: {one.get('why')}"
            print(f"    {one['name']}: {shown}{' (spread %g)' % one['spread'] if one['spread'] is not None else ''}{'  WORSE' if note else ''}")
        outcomes["broke" if why.startswith("it broke") else "skipped" if why else "measured"] += 1
        print(f"    {time.monotonic() - started:.0f} s", flush=True)
    print(f"\n{outcomes['measured']} parts measured, {outcomes['skipped']} skipped, {outcomes['broke']} broke, {time.monotonic() - began:.0f} s")
    worse, count = rows.comparison(pairs)
    print("\n".join(["worse than the last committed full row:", *worse]) if worse else rows.verdict(count))
    return 1 if outcomes["broke"] else 0


if __name__ == "__main__":
    # Who ends this ends what it started too: the scripts have sessions of their own.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(sys.argv[1:]))
