"""Which token goes to a chat server: the engine's own variable first, then those of the hub."""

import http.server
import json
import threading

import pytest

from harness import Agent, AgentOptions


class Handler(http.server.BaseHTTPRequestHandler):
    """A chat server on this machine that answers and keeps what it was told to be."""

    bearers = None

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.bearers.append(self.headers.get("authorization"))
        piece = {"choices": [{"index": 0, "delta": {"content": "It returns a number."}, "finish_reason": "stop"}]}
        body = f"data: {json.dumps(piece)}\n\ndata: [DONE]\n\n".encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.send_error(404)

    def log_message(self, *_):
        pass


@pytest.fixture
def bearers(monkeypatch):
    heard = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Here", (Handler,), {"bearers": heard}))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    monkeypatch.setenv("HARNESS_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
    yield heard
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("variables, bearer", [
    ({}, None),
    ({"HARNESS_API_KEY": "own", "HF_TOKEN": "hub", "HUGGING_FACE_HUB_TOKEN": "old"}, "Bearer own"),
    ({"HF_TOKEN": "hub", "HUGGING_FACE_HUB_TOKEN": "old"}, "Bearer hub"),
    ({"HUGGING_FACE_HUB_TOKEN": "old"}, "Bearer old"),
    ({"HARNESS_API_KEY": "", "HF_TOKEN": "hub"}, "Bearer hub"),
], ids=["none", "own", "hub", "older name", "empty"])
def test_the_token_is_the_first_that_is_set(project, bearers, monkeypatch, variables, bearer):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    result = Agent(AgentOptions(project=project, engine="remote", model="small", keep_no_record=True)).ask("what does discount return?")
    assert result.ok, result
    assert bearers and set(bearers) == {bearer}
