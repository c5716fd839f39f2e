"""A server with the local engine's API whose replies are written down. The last reply repeats.

    python scripted.py FOLDER       plays the files of FOLDER in order and prints its address

`NN.txt` is a reply, `NN.fail` an engine that fails (`status 500`, `error` in mid-stream, `cut` in mid-stream), `NN.wait`
one that says nothing until it is let go.

Standard library only; 127.0.0.1 only. Every request is kept, so that a test can see what was sent.
"""

import contextlib
import http.server
import json
import pathlib
import sys
import threading

MODEL = "qwen3:8b"


class Failure(str):
    """What an engine does instead of a reply: `status 500`, `error`, `cut`."""


class Wait(str):
    """A reply that never comes, as long as nobody lets it go."""


class Pieces(tuple):
    """A reply whose pieces are sent one by one; before the last one it waits to be let go."""


class ScriptedServer:
    """Answers `/api/chat` from a list of replies."""

    def __init__(self, replies):
        self.replies = list(replies) or ["I do not know."]
        self.requests = []
        # How many parameters the model is said to have; nothing is said where it is None.
        self.parameters = None
        # The models that are in memory; nothing is said where it is None.
        self.loaded = None
        self.waiting, self.go_on = threading.Event(), threading.Event()
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"script": self})
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.host = f"127.0.0.1:{self._server.server_port}"
        # How long `close` may have to wait; half a second, as it is by default, is longer than most runs.
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def next_reply(self, request):
        with self._lock:
            self.requests.append(request)
            return self.replies[min(len(self.requests), len(self.replies)) - 1]

    def close(self):
        self.go_on.set()
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script = None

    def do_GET(self):
        if self.path == "/api/tags":
            self._json(200, {"models": [{"name": MODEL, "model": MODEL, "digest": "0" * 64, "size": 5200000000}]})
        elif self.path == "/api/ps" and self.script.loaded is not None:
            self._json(200, {"models": [{"name": name, "model": name, "context_length": 40960} for name in self.script.loaded]})
        elif self.path == "/api/version":
            self._json(200, {"version": "0.16.0"})
        else:
            self._json(404, {"error": "not found"})

    def do_POST(self):
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        if self.path == "/api/show":
            info = {"general.architecture": "qwen3", "qwen3.context_length": 40960}
            if self.script.parameters is not None:
                info["general.parameter_count"] = self.script.parameters
            self._json(200, {"capabilities": ["completion"], "model_info": info})
        elif self.path == "/api/chat":
            self._chat(body)
        else:
            self._json(404, {"error": "not found"})

    def _chat(self, body):
        if not body.get("messages"):
            self._json(200, {"model": MODEL, "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "load"})
            return
        text = self.script.next_reply(body)
        if isinstance(text, Failure):
            self._fail(*text.split())
            return
        if isinstance(text, Pieces):
            self._pieces(text)
            return
        if isinstance(text, Wait):
            self.script.waiting.set()
            self.script.go_on.wait(60)
        words = sum(len(message["content"]) for message in body["messages"])
        # About four characters a token, as for the counts below: a longer reply is cut as a real server cuts it.
        most = 4 * (body.get("options", {}).get("num_predict") or len(text))
        reason = "length" if 0 <= most < len(text) else "stop"
        text = text[:most] if reason == "length" else text
        last = {"done": True, "done_reason": reason, "prompt_eval_count": words // 4 + 1, "eval_count": len(text) // 4 + 1}
        message = lambda content: {"model": MODEL, "message": {"role": "assistant", "content": content}}
        if not body.get("stream", True):
            self._json(200, {**message(text), **last})
            return
        half = len(text) // 2
        lines = [{**message(text[:half]), "done": False}, {**message(text[half:]), "done": False}, {**message(""), **last}]
        self._send(200, b"".join(json.dumps(line).encode() + b"\n" for line in lines), "application/x-ndjson")

    def _pieces(self, pieces):
        self.send_response(200)
        self.send_header("content-type", "application/x-ndjson")
        self.send_header("connection", "close")
        self.end_headers()
        last = {"done": True, "done_reason": "stop", "prompt_eval_count": 100, "eval_count": len(pieces)}
        with contextlib.suppress(OSError):
            for number, piece in enumerate(pieces, 1):
                if number == len(pieces):
                    self.script.waiting.set()
                    self.script.go_on.wait(60)
                line = {"model": MODEL, "message": {"role": "assistant", "content": piece}, "done": False}
                self.wfile.write(json.dumps(line).encode() + b"\n")
            self.wfile.write(json.dumps({"model": MODEL, "message": {"role": "assistant", "content": ""}, **last}).encode() + b"\n")
        self.close_connection = True

    def _fail(self, how, status="200"):
        first = {"model": MODEL, "message": {"role": "assistant", "content": "```python\n"}, "done": False}
        if how == "status":
            self._json(int(status), {"error": "llama runner process has terminated"})
        elif how == "error":
            lines = [first, {"error": "an error was encountered while running the model"}]
            self._send(200, b"".join(json.dumps(line).encode() + b"\n" for line in lines), "application/x-ndjson")
        else:
            # Half an answer, then the connection is gone.
            self.send_response(200)
            self.send_header("content-type", "application/x-ndjson")
            self.send_header("content-length", "100000")
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(json.dumps(first).encode() + b"\n")
            self.close_connection = True

    def _json(self, status, value):
        self._send(status, json.dumps(value).encode(), "application/json")

    def _send(self, status, data, kind):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        # The client may be gone: that is its own business.
        with contextlib.suppress(OSError):
            self.wfile.write(data)

    def log_message(self, *_):
        pass


def read_replies(folder):
    """The replies of a folder, in the order of their names."""
    kinds = {".txt": str, ".fail": Failure, ".wait": Wait}
    files = sorted(file for file in pathlib.Path(folder).iterdir() if file.suffix in kinds)
    return [kinds[file.suffix](file.read_text(encoding="utf-8")) for file in files]


def main():
    server = ScriptedServer(read_replies(sys.argv[1]))
    print(server.host, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
