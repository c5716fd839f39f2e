"""A client that goes away takes its run along: what the engine says afterwards changes nothing."""

import json
import time

from conftest import FIX, TASK
from serving import Served, tree


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.05)


def test_an_answer_that_comes_too_late_changes_nothing(project, silent_engine):
    before = {name: about[2] for name, about in tree(project).items()}
    body = json.dumps({"task": TASK}).encode()
    with Served(project, "--allow-writes") as server:
        with server.connect() as client:
            client.sendall(b"POST /v1/run HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
            assert silent_engine.asked.wait(30)
        wait_for(lambda: server.call("GET", "/health")[2]["runs"]["running"] == 0)
        # The engine comes back with the right answer; nobody is there to take it.
        silent_engine.replies = [FIX]
        silent_engine.go_on.set()
        wait_for(lambda: list(project.glob(".harness/runs/*/end.json")))
    endings = [json.loads(file.read_text(encoding="utf-8")) for file in project.glob(".harness/runs/*/end.json")]
    assert [ending["outcome"] for ending in endings] == ["interrupted"]
    assert {name: about[2] for name, about in tree(project).items() if ".harness" not in name} == before
