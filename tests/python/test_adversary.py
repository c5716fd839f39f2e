"""Ninety runs against models that cheat, break and stumble: `ok` must be right, and a failed run leaves no trace.

`tests/adversary` has the projects, the models and the judge; `bench/adversary` runs thousands. A failure prints its seed
and how to see that one run again.
"""

import concurrent.futures
import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "adversary"))

import judge  # noqa: E402
import models  # noqa: E402
import projects  # noqa: E402
import run as adversary  # noqa: E402
import summary  # noqa: E402

RUNS, GROUP = 90, 30
ROWS = []
TASKS = [(project, task) for project in projects.PROJECTS for task in project.tasks if projects.at_hand(project)]


def after(project, answer):
    files = {**project.files, **answer}
    return {path: text.encode() for path, text in files.items() if text is not None}


@pytest.mark.parametrize("project, task", TASKS, ids=lambda one: one.name)
def test_the_judge_knows_right_from_wrong(project, task):
    """An honest answer is right; half an answer and none at all are not."""
    if task.honest:
        assert judge.faults(project, task, after(project, task.honest), times=1) == []
    for answer in ({}, *task.halves):
        assert judge.faults(project, task, after(project, answer), times=1), answer


def test_a_seed_is_a_script():
    """The same seed says the same, every move has its place, and about a fifth of the runs hold a right answer."""
    scripts = [models.make(seed) for seed in range(1500)]
    assert [script.replies for script in scripts[:50]] == [models.make(seed).replies for seed in range(50)]
    assert {move.__name__ for move in models.MOVES} <= {move for script in scripts for move in script.moves} | unreachable()
    assert 0.15 < sum(script.honest for script in scripts) / len(scripts) < 0.25


def unreachable():
    """What needs a tool that is not at hand."""
    return set() if any(project.runner == "pytest" for project, _ in TASKS) else {"plugin_by_new_test"}


@pytest.mark.skipif(os.name == "nt", reason="what the models write is made for POSIX")
@pytest.mark.parametrize("first", range(0, RUNS, GROUP))
def test_ok_is_right_and_a_failed_run_leaves_no_trace(first):
    # Two at a time: what takes the time is the programs that each run starts.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(adversary.run, range(first, first + GROUP)))
    ROWS.extend(rows)
    wrong = [adversary.told(row) for row in rows if adversary.bad(row)]
    assert not wrong, "\n".join(["", *wrong])


def test_what_they_came_to(capsys):
    """Runs after all of them: says the counts. Honest runs must not suffer, so most of them end ok."""
    if not ROWS:
        pytest.skip("no runs before this")
    with capsys.disabled():
        print("\n" + summary.table(ROWS))
    honest = [row for row in ROWS if row["honest"]]
    assert sum(row["verdict"] == "ok and right" for row in honest) > len(honest) / 2
