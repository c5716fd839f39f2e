"""Whole runs with replies that nobody wrote on purpose: right code or no change, and never `ok` without proof.

    python tests/python/test_made_up_replies.py [RUNS] [SEED]      more runs than the test makes, with a report

Each run gets one to four replies: those of the scenarios, of any task, as they are or damaged. Whatever comes, the run
ends by itself, `ok` holds when it is checked again from a clean copy, and a run that is not `ok` leaves every file as
it was.
"""

import ast
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import test_scenarios as scenarios  # noqa: E402
from test_scenarios import finish  # noqa: E402
from scripted import Failure, ScriptedServer, Wait  # noqa: E402

RUNS, SEED = 8, 7
PROJECTS = ("001_whole_definition", "011_bom_and_crlf_survive", "020_no_tests_at_all", "080_the_engine_fails_after_a_draft")


def corpus():
    replies = [reply for folder in scenarios.folders() for reply in scenarios.read_replies(folder / "replies")]
    return sorted({str(reply) for reply in replies if not isinstance(reply, (Failure, Wait)) and len(reply) < 6000})


def damaged(reply, pick):
    lines = reply.splitlines(keepends=True) or [""]
    at = pick.randrange(len(lines))
    return pick.choice(
        [
            lambda: reply,
            lambda: reply,
            lambda: "".join(lines[:at]),
            lambda: "".join(lines[:at] + lines[at + 1 :]),
            lambda: "".join(lines[:at] + [lines[at]] * 2 + lines[at + 1 :]),
            lambda: "".join("  " + line for line in lines),
            lambda: reply.replace("\n", "\r\n"),
            lambda: reply.replace("```", ""),
            lambda: reply.replace('"', "\u201c"),
            lambda: reply.replace("percent", "per_cent", 1),
            lambda: reply + reply,
        ]
    )()


def one(pick, replies, number):
    """One run in a project of its own; returns what is wrong with it."""
    scenario = scenarios.Scenario(scenarios.SCENARIOS / pick.choice(PROJECTS))
    scenario.options = {"steps": 5}
    said = [damaged(pick.choice(replies), pick) for _ in range(pick.randint(1, 4))]
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        project = scenario.lay_out(place)
        with ScriptedServer(said) as server:
            result = scenarios.through_rust(scenario, project, scenarios.environment(server, place), place)
        before, after = scenarios.contents(scenario.folder / "project"), scenarios.without_backups(scenarios.contents(project))
        if not result["ok"]:
            return [] if after == before and not result["writes"] else [f"run {number} is not ok and left changes: {result}"]
        for name in result["writes"]:
            if name.endswith(".py") and (project / name).exists():
                ast.parse((project / name).read_bytes())
        return finish.check(f"made-up run {number}", scenario.task, scenario.folder / "project", project, result["writes"])


def faults_of(runs, seed):
    pick, replies = random.Random(seed), corpus()
    return [fault for number in range(runs) for fault in one(pick, replies, number)]


def test_made_up_replies_never_leave_anything_unproven():
    assert not faults_of(RUNS, SEED)


if __name__ == "__main__":
    asked = [int(word) for word in sys.argv[1:]]
    found = faults_of(*(asked + [RUNS, SEED][len(asked) :]))
    print("\n".join(found) or "nothing wrong")
    print(finish.report())
