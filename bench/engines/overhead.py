#!/usr/bin/env python3
"""What a turn costs beyond the server's own time: python3 bench/engines/overhead.py [--build FOLDER] [--turns N]

A server on loopback answers at once and measures its own time, from the last byte of a request to the last byte of its
answer. Two figures: one reply of each engine (the program `engine`), and one whole turn of `harness ask` (prompt, check,
reply, action, guard, tool, record), taken as the slope between short and long runs so that start and end do not count.
"""

import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Instant:
    """A server with both APIs whose answers are made before anybody asks. `words` are its replies, in turn."""

    def __init__(self, words):
        self.words, self.served, self.own = words, 0, []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.socket.accept()
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        data = b""
        while True:
            while b"\r\n\r\n" not in data:
                more = client.recv(1 << 16)
                if not more:
                    return
                data += more
            head, _, data = data.partition(b"\r\n\r\n")
            length = 0
            for line in head.split(b"\r\n"):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            while len(data) < length:
                data += client.recv(1 << 16)
            began = time.perf_counter()
            data = data[length:]
            path = head.split()[1]
            is_chat = path in (b"/api/chat", b"/v1/chat/completions")
            client.sendall(self.answer(path))
            if is_chat:
                self.own.append(time.perf_counter() - began)

    def answer(self, path):
        if path == b"/api/chat":
            lines = [{"message": {"role": "assistant", "content": self.next()}, "done": False}]
            lines.append({"message": {"content": ""}, "done": True, "done_reason": "stop", "prompt_eval_count": 900, "eval_count": 9})
            return page("application/x-ndjson", "".join(json.dumps(line) + "\n" for line in lines))
        if path == b"/v1/chat/completions":
            choice = {"index": 0, "delta": {"content": self.next()}, "finish_reason": None}
            last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 900, "completion_tokens": 9}}
            text = f"data: {json.dumps({'choices': [choice]})}\n\ndata: {json.dumps(last)}\n\ndata: [DONE]\n\n"
            return page("text/event-stream", text)
        if path == b"/api/tags":
            return page("application/json", json.dumps({"models": [{"name": "instant:1b", "digest": "0"}]}))
        if path == b"/api/show":
            return page("application/json", json.dumps({"model_info": {"x.context_length": 32768}, "capabilities": []}))
        if path == b"/v1/models":
            return page("application/json", json.dumps({"data": [{"id": "instant:1b"}]}))
        return page("application/json", "{}")

    def next(self):
        word = self.words[self.served % len(self.words)]
        self.served += 1
        return word


def page(kind, text):
    body = text.encode()
    return f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


def replies(build, engine, turns):
    """Milliseconds of one reply beyond the server's own time."""
    server = Instant(["hello"])
    done = subprocess.run(
        [build / "engine", engine, "instant:1b", "Say hello.", str(turns)],
        capture_output=True,
        text=True,
        env=environment(server),
        check=True,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    # The first one connects and learns what the server is.
    return [1000 * (line["seconds"] - own) for line, own in zip(lines[1:], server.own[1:])]


def environment(server):
    return {
        **os.environ,
        "OLLAMA_HOST": f"127.0.0.1:{server.port}",
        "HARNESS_BASE_URL": f"http://127.0.0.1:{server.port}/v1",
        "HARNESS_API_KEY": "none",
    }


def whole_turn(build, turns, rounds):
    """Milliseconds of one whole turn beyond the server's own time."""
    costs = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(40):
            text = "".join(f"def part_{number}_{line}(value):\n    return value + {line}\n\n\n" for line in range(20))
            pathlib.Path(folder, f"part{number}.py").write_text(text, encoding="utf-8")
        words = [json.dumps({"tool": "read", "path": f"part{number}.py"}) for number in range(40)]
        for _ in range(rounds):
            short, long = (one_run(build, folder, words, steps) for steps in (2, 2 + turns))
            costs.append(1000 * (long[0] - short[0]) / (long[1] - short[1]))
    return costs


def one_run(build, folder, words, steps):
    server = Instant(words)
    command = [build / "harness", "ask", folder, "what do the parts do?", "--model", "instant:1b", "--json", "--steps", str(steps)]
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=environment(server), check=False)
    seconds = time.perf_counter() - began
    calls = json.loads(done.stdout)["usage"]["model_calls"]
    return seconds - sum(server.own), calls


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "target" / "release")
    parser.add_argument("--turns", type=int, default=15)
    arguments = parser.parse_args(words)
    print("| what | median ms | best ms | 90 % under |\n|---|---|---|---|")
    for engine in ("local", "remote"):
        row(f"one reply, engine {engine}", replies(arguments.build, engine, 200))
    row("one whole turn of `ask`, engine local", whole_turn(arguments.build, arguments.turns, 15))
    return 0


def row(what, costs):
    costs = sorted(costs)
    print(f"| {what} | {statistics.median(costs):.2f} | {costs[0]:.2f} | {costs[int(len(costs) * 0.9)]:.2f} |")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
