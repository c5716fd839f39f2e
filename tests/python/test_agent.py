"""Agent: events and answers on the calling thread, exceptions and Ctrl-C that stop a run with files whole."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from conftest import FIX, RIGHT, TASK, WRONG, WRONG_DRAFT, tree
from harness import Agent, AgentOptions, Event, Question, Result
from scripted import Wait


def pricing(project):
    return (project / "shop/pricing.py").read_text(encoding="utf-8")


def test_a_run_fixes_and_says_what_it_did(project, engine):
    server = engine(FIX, "Action: done\nSummary: fixed")
    events = []
    result = Agent(AgentOptions(project=project, on_event=events.append)).run(TASK)
    assert (type(result), result.ok, result.stopped, result.writes) == (Result, True, "done", ("shop/pricing.py",))
    assert pricing(project) == RIGHT
    assert (project / "shop/pricing.py.bak").read_text(encoding="utf-8") == WRONG
    assert all(type(event) is Event and event and isinstance(event.data, dict) for event in events)
    kinds = [event.kind for event in events]
    assert (kinds[0], kinds[-1]) == ("started", "finished") and "wrote" in kinds
    assert [event.seconds for event in events] == sorted(event.seconds for event in events)
    assert result.usage.model_calls == len(server.requests)
    assert json.loads(json.dumps(result.as_dict()))["writes"] == ["shop/pricing.py"]


def test_ask_answers_and_changes_nothing(project, engine):
    engine("It returns the total less the percentage.")
    result = Agent(AgentOptions(project=project, keep_no_record=True)).ask("what does discount return?")
    assert result.ok and "percentage" in result.summary and result.writes == ()
    assert pricing(project) == WRONG


def test_ask_does_nothing_that_it_is_asked_to_do(project, engine):
    before = tree(project)
    for task in (TASK, "rename discount to rebate"):
        engine(FIX)
        result = Agent(AgentOptions(project=project, keep_no_record=True)).ask(task)
        assert (result.writes, tree(project)) == ((), before), task


def test_a_read_only_run_is_told_so_in_its_first_prompt(project, engine):
    server = engine("I would multiply.")
    result = Agent(AgentOptions(project=project, allow_writes=False)).run(TASK)
    assert result.ok and result.writes == ()
    assert "This run is read-only" in json.dumps(server.requests[0]["messages"])


def test_every_turn_is_in_the_steps(project, engine):
    engine('{"tool": "read", "path": "tests/test_pricing.py"}', FIX)
    result = Agent(AgentOptions(project=project)).run(TASK)
    assert result.ok, result
    assert [(step.number, step.action) for step in result.steps] == [(1, "read"), (2, "edit")]


def test_the_model_that_is_named_is_asked(project, engine):
    server = engine("It returns a number.")
    result = Agent(AgentOptions(project=project, model="other:1b", keep_no_record=True)).ask("what does discount return?")
    assert result.ok, result
    assert [request["model"] for request in server.requests] == ["other:1b"]


def test_turns_are_recorded_in_the_file_that_is_named(project, engine, tmp_path):
    engine("It returns a number.")
    record = tmp_path / "turns.jsonl"
    Agent(AgentOptions(project=project, record=record)).ask("what does discount return?")
    assert [json.loads(line)["kind"] for line in record.read_text(encoding="utf-8").splitlines()] == ["start", "turn", "end"]
    assert not (project / ".harness" / "traces.jsonl").exists()


def test_how_much_may_leave_is_read_from_the_environment(project, monkeypatch):
    # An address that is nobody's: what may not leave is refused before anyone is asked.
    for name, value in {"HARNESS_BASE_URL": "http://192.0.2.1/v1", "HARNESS_API_KEY": "k", "HARNESS_MAX_SEND": "10"}.items():
        monkeypatch.setenv(name, value)
    result = Agent(AgentOptions(project=project, engine="remote", keep_no_record=True)).ask("what does discount return?")
    assert result.stopped == "refused" and "at most 10 may leave this machine" in result.summary, result


def test_a_fix_without_a_model_runs_the_tests_once(project):
    (project / "shop" / "pricing.py").write_text(RIGHT.replace("percent) / 100", "percnt) / 100"), encoding="utf-8")
    events = []
    result = Agent(AgentOptions(project=project, on_event=events.append)).run("fix the NameError in shop/pricing.py")
    assert (result.ok, result.usage.model_calls, pricing(project)) == (True, 0, RIGHT), result
    assert result.tests.before is None and result.tests.after.passed == 1
    assert [event.kind for event in events if "passed" in event.data].count("tests") == 1


def test_the_argument_wins_over_the_task_of_the_options(project):
    agent = Agent(AgentOptions(project=project, task="clean this up"))
    assert agent.run().stopped == "question"
    assert agent.run(task=TASK).stopped == "engine"


def test_callbacks_are_called_on_the_calling_thread(project, engine):
    engine(FIX, "Action: done\nSummary: fixed")
    threads = set()
    options = AgentOptions(project=project, on_event=lambda event: threads.add(threading.get_ident()))
    Agent(options).run(TASK)
    assert threads == {threading.get_ident()}


def test_an_answer_is_used(project, engine):
    server = engine("Action: done\nSummary: looked at it")
    asked = []

    def choose(question):
        asked.append(question)
        assert server.requests == [], "the model was asked first"
        return "discount in shop/pricing.py, as the zebra said"

    result = Agent(AgentOptions(project=project, on_question=choose, steps=2)).run("clean this up")
    assert [type(question) for question in asked] == [Question]
    assert asked[0].text and 1 <= len(asked[0].options) <= 4
    assert result.stopped != "question"
    assert server.requests and all("as the zebra said" in json.dumps(request) for request in server.requests)


def test_no_answer_stops_with_the_question(project):
    asked = []
    result = Agent(AgentOptions(project=project, on_question=lambda question: asked.append(question) or "")).run("clean this up")
    assert (result.ok, result.stopped, result.writes) == (False, "question", ())
    assert result.summary == asked[0].render() and asked[0].options


def test_an_answer_that_is_no_string_is_an_error(project):
    with pytest.raises(TypeError, match="^on_question: "):
        Agent(AgentOptions(project=project, on_question=lambda question: 3)).run("clean this up")


@pytest.mark.parametrize("kind", ["started", "reply", "wrote", "finished"])
def test_an_exception_in_on_event_stops_the_run_and_is_raised(project, engine, kind):
    engine(FIX, "Action: done\nSummary: fixed")
    before = tree(project)
    later = []

    def listen(event):
        later.append(event.kind)
        if event.kind == kind:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        Agent(AgentOptions(project=project, on_event=listen)).run(TASK)
    assert later[-1] == kind, "no callback is called after one has raised"
    # What was proven is written before it is told; until then every byte is as it was.
    written = {"shop/pricing.py": RIGHT.encode(), "shop/pricing.py.bak": WRONG.encode()} if kind in ("wrote", "finished") else {}
    assert tree(project) == {**before, **written}


def test_an_exception_in_on_question_is_raised(project):
    def choose(question):
        raise LookupError("ask someone else")

    with pytest.raises(LookupError, match="someone else"):
        Agent(AgentOptions(project=project, on_question=choose)).run("clean this up")


def test_other_threads_go_on_during_a_run(project, silent_engine):
    results = []
    agent = Agent(AgentOptions(project=project, keep_no_record=True))
    thread = threading.Thread(target=lambda: results.append(agent.ask("what does discount return?")))
    thread.start()
    assert silent_engine.asked.wait(20)
    # The run waits for its engine; this thread is here all the same.
    assert thread.is_alive() and results == []
    silent_engine.go_on.set()
    thread.join(30)
    assert results and results[0].ok


def test_several_agents_run_at_once(tmp_path, engine):
    engine("It returns a number.")
    answers = {}

    def ask(number):
        folder = tmp_path / f"project{number}"
        folder.mkdir()
        (folder / "shop.py").write_text(f"def price{number}():\n    return {number}\n", encoding="utf-8")
        heard = []
        options = AgentOptions(project=folder, on_event=lambda event: heard.append(threading.get_ident()))
        answers[number] = (Agent(options).ask(f"what does price{number} return?").ok, set(heard) == {threading.get_ident()})

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert answers == {number: (True, True) for number in range(8)}


INTERRUPTED = """
    import signal, sys
    # A job in the background is started with Ctrl-C ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from harness import Agent, AgentOptions

    def listen(event):
        print(event.kind, flush=True)

    try:
        Agent(AgentOptions(project=sys.argv[1], on_event=listen)).run(sys.argv[2])
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        sys.exit(130)
"""


@pytest.mark.skipif(os.name == "nt", reason="a console event would reach the test itself")
def test_ctrl_c_stops_a_run_with_files_whole(project, engine):
    # A draft was tried and taken back before the engine fell silent.
    server = engine(WRONG_DRAFT, Wait(""))
    before = tree(project)
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(INTERRUPTED), str(project), TASK],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.waiting.wait(60)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert (process.returncode, output.split()[-1]) == (130, "interrupted"), errors
    assert "tests" in output.split() and len(server.requests) == 2
    assert tree(project) == before


def test_a_task_must_be_text(project):
    agent = Agent(AgentOptions(project=project))
    for call, field in ((agent.run, "task"), (agent.ask, "question")):
        with pytest.raises(TypeError, match=f"^{field}: "):
            call(3)
        with pytest.raises(ValueError, match=f"^{field}: "):
            call("\udc80")
