"""Does one task in many repositories, side by side, and ends with one table.

    python examples/many_repositories.py CLONES "rename a to b" --results FOLDER              a process for each core
    python examples/many_repositories.py CLONES TASK --results FOLDER --on dask               a Dask cluster on this machine
    python examples/many_repositories.py CLONES TASK --results FOLDER --on dask --address tcp://head:8786
    python examples/many_repositories.py CLONES TASK --results FOLDER --on ray --address auto

CLONES is a folder of clones, or a file with the path of one on each line. The clones stay as they are: each is worked on
in a copy, and FOLDER/NAME gets the result (`result.json`), the record of the run (`trace.jsonl`) and, where the task is
done and proven, the change (`change.patch`, for `git apply`). A repository is finished when its result is there, whole;
so this can be stopped at any moment, and the same command goes on where it stopped; so it does where a worker was killed.
`--again` also does those anew that did not end well. On a cluster CLONES and FOLDER lie on storage that every machine sees, and harness is installed there.
"""

import argparse
import concurrent.futures
import concurrent.futures.process
import itertools
import json
import multiprocessing
import os
import pathlib
import shutil
import sys
import tempfile
import time

from harness import Agent, AgentOptions


def work(clone: str, task: str, place: str, settings: dict) -> dict:
    """Does the task in a copy of one clone, and leaves result, record and patch in `place`. Runs on any machine."""
    began, folder = time.monotonic(), pathlib.Path(place)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="many-") as temporary:
        copy = pathlib.Path(temporary, pathlib.Path(clone).name)
        try:
            # Records of other runs, and the history, are no part of the work.
            shutil.copytree(clone, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", ".harness"))
            options = AgentOptions(project=str(copy), record=str(folder / "trace.jsonl"), **settings)
            result = Agent(options).run(task).as_dict()
        except Exception as error:  # One repository that cannot be read must not end the others.
            result = {"ok": False, "stopped": "error", "summary": f"{type(error).__name__}: {error}", "writes": [], "diff": "", "tests": None}
    row = {"name": folder.name, "clone": clone, "seconds": round(time.monotonic() - began, 1), **result}
    if row["ok"] and row["diff"]:
        write(folder / "change.patch", row["diff"])
    # Last: where it is there, the rest is too.
    write(folder / "result.json", json.dumps(row, indent=1) + "\n")
    return row


def write(file: pathlib.Path, text: str) -> None:
    """Writes a file whole or not at all."""
    unfinished = file.with_name(f".{file.name}")
    unfinished.write_text(text, encoding="utf-8", newline="\n")
    os.replace(unfinished, file)


# Where it runs: each takes the calls that are left and yields rows as they end.


def here(calls, workers, _address):
    """A pool of processes on this machine."""
    with concurrent.futures.ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        left, running = iter(calls), set()
        while True:
            # No more than can run: what waits in the pool would still be begun after Ctrl-C.
            running |= {pool.submit(work, *call) for call in itertools.islice(left, workers - len(running))}
            if not running:
                return
            ended, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            yield from (future.result() for future in ended)


def dask(calls, workers, address):
    """A Dask cluster: the one at `address`, or one of its own on this machine."""
    from distributed import Client, LocalCluster, as_completed

    cluster = None if address else LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    try:
        with Client(address or cluster) as client:
            # Not pure: the same call once more is to be done once more.
            futures = [client.submit(work, *call, pure=False) for call in calls]
            try:
                for future in as_completed(futures):
                    yield future.result()
            except BaseException:
                client.cancel(futures)
                raise
    finally:
        if cluster is not None:
            cluster.close()


def ray(calls, workers, address):
    """A Ray cluster: the one at `address`, or one of its own on this machine."""
    import ray as cluster

    cluster.init(address=address, num_cpus=None if address else workers, include_dashboard=None if address else False, log_to_driver=False)
    try:
        remote = cluster.remote(num_cpus=1)(work)
        left = [remote.remote(*call) for call in calls]
        try:
            while left:
                ended, left = cluster.wait(left)
                yield from cluster.get(ended)
        except BaseException:
            for reference in left:
                cluster.cancel(reference)
            raise
    finally:
        cluster.shutdown()


PLACES = {"here": here, "dask": dask, "ray": ray}


def clones(source: pathlib.Path) -> list:
    """The repositories, by name. Two of one name get a number."""
    if source.is_dir():
        paths = sorted(path for path in source.iterdir() if path.is_dir() and not path.name.startswith("."))
    else:
        paths = [pathlib.Path(line.strip()) for line in source.read_text(encoding="utf-8").splitlines() if line.strip()]
    named = {}
    for path in paths:
        name, number = path.name, 2
        while name in named:
            name, number = f"{path.name}-{number}", number + 1
        named[name] = str(path.resolve())
    return list(named.items())


def finished(folder: pathlib.Path, again: bool):
    """The row of a repository that needs no more work, or None."""
    try:
        row = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return row if row["ok"] or not again else None


def show(row: dict, width: int) -> str:
    """One line of the table."""
    tests = row["tests"] or {}
    counts = [f"{tests[when]['passed']}/{tests[when]['failed']}" if tests.get(when) else "-" for when in ("before", "after")]
    outcome = "done" if row["ok"] else row["stopped"]
    return f"{row['name']:<{width}}  {outcome:<11} {counts[0]:>9} {counts[1]:>9} {len(row['writes']):>5} {row['seconds']:>8.1f}  {row['summary'].splitlines()[0][:60]}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Does one task in many repositories and ends with one table.")
    parser.add_argument("clones", type=pathlib.Path, help="a folder of clones, or a file with a path on each line")
    parser.add_argument("task")
    parser.add_argument("--results", type=pathlib.Path, required=True, metavar="FOLDER", help="where results, records and patches go")
    parser.add_argument("--on", choices=PLACES, default="here", help="what the work is given to")
    parser.add_argument("--address", help="the cluster's; without it one is started on this machine")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N", help="how many at once on this machine")
    parser.add_argument("--again", action="store_true", help="also do those anew that did not end well")
    parser.add_argument("--engine", default="local")
    parser.add_argument("--model", default="qwen3:8b")
    arguments = parser.parse_args()

    arguments.results.mkdir(parents=True, exist_ok=True)
    kept = arguments.results / "task.txt"
    if kept.exists() and kept.read_text(encoding="utf-8") != arguments.task:
        print(f"`{arguments.results}` holds the results of another task: {kept.read_text(encoding='utf-8')}\nhint: name another folder", file=sys.stderr)
        return 2
    write(kept, arguments.task)

    listed = clones(arguments.clones)
    rows = {name: finished(arguments.results / name, arguments.again) for name, _ in listed}
    settings = {"engine": arguments.engine, "model": arguments.model}
    calls = [(clone, arguments.task, str((arguments.results / name).resolve()), settings) for name, clone in listed if rows[name] is None]
    print(f"{len(listed)} repositories, {len(listed) - len(calls)} of them finished before", file=sys.stderr)
    try:
        for row in PLACES[arguments.on](calls, arguments.workers, arguments.address) if calls else ():
            rows[row["name"]] = row
            print(f"{sum(map(bool, rows.values()))} of {len(rows)}: {row['name']}: {'done' if row['ok'] else row['stopped']}", file=sys.stderr)
    except concurrent.futures.process.BrokenProcessPool:
        # What else was at work then is lost with the pool; what was finished is not.
        left = [name for name, _ in listed if rows[name] is None]
        print(f"a worker was killed or crashed; there is no result of {', '.join(left)}. The same command goes on from here.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"stopped; {sum(map(bool, rows.values()))} of {len(rows)} are finished. The same command goes on from here.", file=sys.stderr)
        return 130

    width = max([len("repository"), *map(len, rows)])
    lines = [f"{'repository':<{width}}  {'outcome':<11} {'before':>9} {'after':>9} {'files':>5} {'seconds':>8}  summary"]
    lines += [show(row, width) for row in rows.values()]
    done = sum(row["ok"] for row in rows.values())
    lines += ["", f"{done} of {len(rows)} done; before and after are tests passed/failed; patches are in {arguments.results}/*/change.patch"]
    write(arguments.results / "table.txt", "\n".join(lines) + "\n")
    print("\n".join(lines))
    return 0 if done == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
