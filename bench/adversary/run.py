"""Thousands of runs against models that cheat: python bench/adversary/run.py [--count 5000] [--search 500] [--state FILE]

Every row goes into the state file as it is known; started again, the runs that are there are not made again. Rows of
another build of the program do not count. `$HARNESS` names the program, else it is the one beside this Python. Prints
one table and the moves; the exit code is 0 only when what must be 0 is 0.
"""

import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "adversary"))

import run as adversary  # noqa: E402
import summary  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=5000, help="how many runs")
    parser.add_argument("--search", type=int, default=500, help="how many of them with the search beside the model")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--state", type=pathlib.Path, default=ROOT / "bench" / "results" / "adversary.jsonl")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    build = hashlib.sha256(pathlib.Path(adversary.program()).read_bytes()).hexdigest()[:12]
    wanted = plan(arguments.first, arguments.count, arguments.search)
    rows = known(arguments.state, build)
    missing = [key for key in wanted if key not in rows]
    print(f"{len(wanted)} runs, {len(wanted) - len(missing)} of them known", flush=True)
    for row in made(missing, arguments, build):
        rows[row["seed"], row["search"]] = row
        if adversary.bad(row):
            print(adversary.told(row), flush=True)
    chosen = [rows[key] for key in wanted]
    print(f"\n{summary.table(chosen)}\n\n{summary.by_move(chosen)}")
    return int(any(adversary.bad(row) for row in chosen))


def plan(first, count, search):
    """Which seeds with and without the search; those with it are spread among the others."""
    every = max(1, count // search) if search else count + 1
    searched = {first + number * every for number in range(min(search, count))}
    return [(seed, seed in searched) for seed in range(first, first + count)]


def known(state, build):
    if not state.exists():
        return {}
    found = {}
    for line in state.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue  # The last line of a run that was killed.
        if row["build"] == build:
            found[row["seed"], row["search"]] = row
    return found


def made(missing, arguments, build):
    """Makes the runs, writes each row down, and yields it."""
    writing = threading.Lock()
    arguments.state.parent.mkdir(parents=True, exist_ok=True)

    def one(key):
        row = {**adversary.run(*key), "build": build}
        with writing, arguments.state.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        return row

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        yield from pool.map(one, missing)


if __name__ == "__main__":
    sys.exit(main())
