"""Conversations: the same words mean the same in Python and over HTTP, and what was said is remembered."""

import http.client
import json
import time

import pytest

from conftest import FIX, RIGHT, TASK, WRONG
from harness import Agent, AgentOptions, Dialogue, OptionsError
from scripted import Wait
from serving import Served, is_error


def pricing(project):
    return (project / "shop/pricing.py").read_text(encoding="utf-8")


def test_a_dialogue_remembers(project, engine):
    server = engine(FIX, "It takes the percentage off.")
    dialogue = Agent(AgentOptions(project=project)).converse()
    assert type(dialogue) is Dialogue and dialogue.said == ()
    done = dialogue.say(TASK)
    assert (done.ok, done.writes, pricing(project)) == (True, ("shop/pricing.py",), RIGHT)
    assert dialogue.say("thanks").summary == "Any time."
    undone = dialogue.say("undo that")
    assert (undone.ok, undone.writes, pricing(project)) == (True, ("shop/pricing.py",), WRONG)
    again = dialogue.say("undo that")
    assert (again.ok, pricing(project)) == (True, RIGHT)
    renamed = dialogue.say("rename it to rebate")
    assert renamed.ok and "def rebate" in pricing(project), renamed
    answer = dialogue.say("what does it return?")
    assert answer.ok and answer.writes == () and "percentage" in answer.summary
    sent = json.dumps(server.requests[-1])
    assert "what does `rebate` return?" in sent and "user: rename it to rebate" in sent
    assert [by for by, _ in dialogue.said] == ["user", "agent"] * 6
    assert "Agent(AgentOptions(" in repr(dialogue) and dialogue.options.project == project


def test_a_dialogue_asks_back_and_takes_the_answer(project, engine):
    server = engine(FIX)
    dialogue = Agent(AgentOptions(project=project)).converse()
    asked = dialogue.say("clean this up")
    assert asked.stopped == "question" and not server.requests
    assert dialogue.say("never mind").ok and not server.requests
    assert dialogue.say("clean this up").stopped == "question"
    assert dialogue.say("1").writes == ("shop/pricing.py",)


def test_a_read_only_dialogue_undoes_nothing(project):
    dialogue = Agent(AgentOptions(project=project, allow_writes=False)).converse()
    result = dialogue.say("undo that")
    assert not result.ok and "nothing was taken back" in result.summary
    assert not (project / ".harness").exists()
    with pytest.raises(OptionsError, match="message"):
        dialogue.say("  ")
    with pytest.raises(OptionsError, match="message"):
        dialogue.say(3)


def test_runs_are_listed_and_taken_back_over_http(project, engine):
    engine(FIX)
    with Served(project, "--allow-writes") as server:
        assert server.call("GET", "/v1/runs")[2] == {"runs": []}
        run = server.call("POST", "/v1/run", {"task": TASK}, timeout=120)[2]["run_id"]
        runs = server.call("GET", "/v1/runs")[2]["runs"]
        assert [(one["run"], one["files"], one["undone"]) for one in runs] == [(run, ["shop/pricing.py"], False)]
        status, _, undone = server.call("POST", "/v1/undo", {"run": run})
        assert (status, undone["ok"], undone["writes"], pricing(project)) == (200, True, ["shop/pricing.py"], WRONG)
        assert server.call("GET", "/v1/runs")[2]["runs"][1]["undone"] is True
        status, _, nothing = server.call("POST", "/v1/undo", {})
        assert (status, nothing["ok"]) == (200, False)
        for body, param in (({"run": "../x"}, "run"), ({"run": 3}, "run"), ({"what": 1}, "what")):
            status, headers, answer = server.call("POST", "/v1/undo", body)
            assert status == 400 and is_error(status, headers, answer)["param"] == param, answer
    with Served(project) as server:
        status, headers, answer = server.call("POST", "/v1/undo", {"run": run})
        assert status == 403 and is_error(status, headers, answer)["code"] == "writes_disabled"
        assert len(server.call("GET", "/v1/runs")[2]["runs"]) == 2


def test_a_long_conversation_is_read_at_once(project, engine):
    engine("I do not know.")
    with Served(project) as server:
        messages = [{"role": "user", "content": "why does that happen?"}] * 3000
        began = time.monotonic()
        status, _, answer = server.call("POST", "/v1/chat/completions", {"messages": messages}, timeout=60)
        assert status == 200, answer
        assert time.monotonic() - began < 20


def test_words_of_an_answer_come_as_they_are_written(project, engine):
    engine("It takes the percentage off the total, as `shop/pricing.py:1` says.")
    with Served(project) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        body = {"messages": [{"role": "user", "content": "what does discount return?"}], "stream": True}
        connection.request("POST", "/v1/stream/chat/completions", json.dumps(body))
        lines = connection.getresponse().read().decode().splitlines()
        connection.close()
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    words = [event["choices"][0]["delta"].get("content") or "" for event in events if event["choices"]]
    result = next(event["harness"] for event in events if "harness" in event)
    assert "".join(words) == result["summary"]
    assert len([piece for piece in words if piece]) > 2
