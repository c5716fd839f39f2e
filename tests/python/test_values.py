"""What a run gives back: frozen objects that show, compare, copy and pickle themselves."""

import copy
import dataclasses
import json
import pathlib
import pickle
import re
import typing

import pytest

from harness import Counts, Event, Goal, OptionTypeError, OptionValueError, Question, Refusal, Result, Step, Tests, Usage
from harness._values import _STOPPED

STEP = Step(number=1, action="edit", path="shop/pricing.py", result="done", seconds=0.5, tokens=40)
REFUSAL = Refusal("stay inside the project", rule="path.outside", step=1, path="../x.py")
EVENT = Event("wrote shop/pricing.py", kind="wrote", data={"path": "shop/pricing.py"}, seconds=1.5)
RESULT = Result(
    ok=True,
    summary="fixed",
    stopped="done",
    writes=["shop/pricing.py"],
    steps=[STEP],
    refusals=[REFUSAL],
    goals=[Goal(text="fix apply_discount", met=True, why="2 tests pass")],
    run_id="r1",
    tests=Tests(command="python -m unittest", before=Counts(passed=1, failed=1, collected=2), sandbox="landlock"),
    diff="--- a\n+++ b\n",
    usage=Usage(model_calls=1, prompt_tokens=300, reply_tokens=40, characters_sent=1200, sent_to="127.0.0.1"),
)
QUESTION = Question(text="which file?", options=["a.py", "b.py"])
ALL = [STEP, REFUSAL, EVENT, RESULT, QUESTION, RESULT.tests, RESULT.usage, RESULT.tests.before, RESULT.goals[0]]


@pytest.mark.parametrize("value", ALL, ids=lambda value: type(value).__name__)
def test_values_show_compare_copy_and_pickle_themselves(value):
    names = {kind.__name__: kind for kind in map(type, ALL)}
    for twin in (eval(repr(value), names), copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert twin == value and type(twin) is type(value)
        assert repr(twin) == repr(value) and hash(twin) == hash(value)
    assert value != object()


@pytest.mark.parametrize("value", ALL, ids=lambda value: type(value).__name__)
def test_values_cannot_be_changed(value):
    names = [name for name in dir(value) if not name.startswith("_") and not callable(getattr(value, name))]
    assert names
    for name in names:
        with pytest.raises(AttributeError):
            setattr(value, name, 1)
        with pytest.raises(AttributeError):
            delattr(value, name)
    with pytest.raises(AttributeError):
        value.something_new = 1


def test_a_result_has_tuples():
    assert (RESULT.writes, RESULT.steps, RESULT.refusals) == (("shop/pricing.py",), (STEP,), (REFUSAL,))
    assert RESULT.refusals[0].rule == "path.outside"
    empty = Result(ok=False, summary="", stopped="question")
    assert (empty.writes, empty.steps, empty.refusals, empty.tests) == ((), (), (), None)
    assert empty.usage == Usage()


def test_a_result_is_a_dictionary_that_json_takes():
    assert json.loads(json.dumps(RESULT.as_dict())) == RESULT.as_dict() == {
        "ok": True,
        "summary": "fixed",
        "writes": ["shop/pricing.py"],
        "steps": [STEP.as_dict()],
        "refusals": [REFUSAL.as_dict()],
        "stopped": "done",
        "goals": [{"text": "fix apply_discount", "met": True, "why": "2 tests pass"}],
        "run_id": "r1",
        "tests": {"command": "python -m unittest", "why": "", "before": {"passed": 1, "failed": 1, "collected": 2}, "after": None, "sandbox": "landlock", "unsteady": []},
        "diff": "--- a\n+++ b\n",
        "usage": RESULT.usage.as_dict(),
        "hint": "",
    }


def test_a_result_ends_in_a_known_way():
    with pytest.raises(OptionValueError, match="^stopped: "):
        Result(ok=False, summary="", stopped="tired")


def test_a_refusal_is_its_reason():
    assert isinstance(REFUSAL, str) and REFUSAL == "stay inside the project"
    assert type(REFUSAL.reason) is str and type(str(REFUSAL)) is str
    assert f"{REFUSAL}" == REFUSAL.reason
    assert (REFUSAL.rule, REFUSAL.step, REFUSAL.path) == ("path.outside", 1, "../x.py")


def test_an_event_is_its_sentence(capsys):
    print(EVENT)
    assert capsys.readouterr().out == "wrote shop/pricing.py\n"
    assert (EVENT.kind, EVENT.data, EVENT.seconds, EVENT.text) == ("wrote", {"path": "shop/pricing.py"}, 1.5, str(EVENT))


def test_a_question_renders_its_options():
    assert QUESTION.render() == str(QUESTION) == "which file?\n  1. a.py\n  2. b.py"
    assert QUESTION.options == ("a.py", "b.py")
    assert len(Question(text="?", options=list("abcdef")).options) == 4


def test_annotations_can_be_read():
    assert typing.get_type_hints(Result)["steps"] == tuple[Step, ...]
    assert {field.name for field in dataclasses.fields(Result)} == set(RESULT.as_dict())


def test_the_ways_to_end_are_those_of_the_reference():
    reference = (pathlib.Path(__file__).resolve().parents[2] / "docs/reference/results.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| `(\w+)` \| .+ \| \d+ \|$", reference, re.M)
    assert sorted(table) == sorted(_STOPPED)


def test_one_text_is_not_several():
    with pytest.raises(OptionTypeError, match="^writes: "):
        Result(ok=True, summary="", stopped="done", writes="a.py")
    assert Result(ok=True, summary="", stopped="done", usage=None).usage == Usage()
