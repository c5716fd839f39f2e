#!/usr/bin/env python3
"""How soon a person sees what a model wrote, and how soon a key is answered while a run works.

    target/test-venv/bin/python bench/latency.py [PROGRAM] [--rounds 20]

A scripted engine sends an answer word by word, each at a moment that it writes down. Measured is what lies between that
moment and the moment at which the word is read: from the server's stream, and from the terminal of `ask`. The keys are
those that matter while a run works: Ctrl-C while the model is silent, and `s` while small changes are tried. Everything
is on this machine, so that the network adds nothing. The limits are 50 ms for a word and 50 ms for a key; a key that
stops a run is answered by the next line that is printed. Not on Windows."""

import argparse
import http.client
import json
import os
import pathlib
import re
import shutil
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:1] = [str(ROOT / "tests" / "python"), str(ROOT / "tests" / "model_server")]
LIMIT = 0.05
WORDS = ["It", " takes", " the", " percentage", " off", " the", " total", "."]
# Longer than anything that is measured: what comes later did not wait for the next word.
BETWEEN = 0.2


def timed(replies):
    """An engine whose answers come word by word, and when the words of the last one were sent."""
    import scripted

    class Handler(scripted._Handler):
        def _chat(self, body):
            if not body.get("messages"):
                return super()._chat(body)
            self.script.next_reply(body)
            self.send_response(200)
            self.send_header("content-type", "application/x-ndjson")
            self.send_header("connection", "close")
            self.end_headers()
            self.script.sent.clear()
            for word in WORDS:
                self.script.sent.append(time.monotonic())
                self.wfile.write(json.dumps({"message": {"role": "assistant", "content": word}, "done": False}).encode() + b"\n")
                time.sleep(BETWEEN)
            last = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 9}
            self.wfile.write(json.dumps(last).encode() + b"\n")
            self.close_connection = True

    server = scripted.ScriptedServer(replies)
    server.sent = []
    server._server.RequestHandlerClass = type("Timed", (Handler,), {"script": server})
    return server


def made(folder):
    """A project with one wrong function."""
    for name, text in {
        "shop/__init__.py": "",
        "shop/pricing.py": "def discount(total, percent):\n    return (total - percent) * 3 + total % 7 - percent // 2\n",
        "tests/__init__.py": "",
        "tests/test_pricing.py": "import time\nimport unittest\n\nfrom shop.pricing import discount\n\n\nclass PricingTest(unittest.TestCase):\n    def test_discount(self):\n        time.sleep(0.3)\n        self.assertEqual(discount(200, 10), 123456)\n",
    }.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def from_the_server(program, project, engine, rounds):
    from serving import Served

    found = []
    with Served(project, program=program) as server:
        for _ in range(rounds):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            body = {"messages": [{"role": "user", "content": "what does discount return?"}], "stream": True}
            connection.request("POST", "/v1/stream/chat/completions", json.dumps(body), {"content-type": "application/json"})
            answer = connection.getresponse()
            while True:
                line = answer.readline().decode()
                if line.startswith("data: {") and json.loads(line[6:])["choices"][0]["delta"].get("content", "").startswith("It"):
                    found.append(time.monotonic() - engine.sent[0])
                    break
            answer.read()
            connection.close()
    return found


def seen(terminal, pattern, seconds=60):
    """When a pattern is on the terminal."""
    end = time.monotonic() + seconds
    while not re.search(pattern, terminal.plain()):
        if not terminal.read(0.5) and time.monotonic() > end:
            sys.exit(f"{pattern!r} did not come: {terminal.seen[-500:]!r}")
    now = time.monotonic()
    terminal.expect(pattern)
    return now


def on_the_terminal(program, project, engine, rounds):
    from terminal import Terminal

    found = []
    for _ in range(rounds):
        with Terminal(80, "ask", "what does discount return?", "--project", str(project), program=program) as terminal:
            found.append(seen(terminal, r"\bIt\b") - engine.sent[0])
            terminal.ended()
    return found


def stopped(program, project, rounds, silent):
    """Ctrl-C while a model says nothing."""
    from terminal import Terminal

    found = []
    for _ in range(rounds):
        silent.waiting.clear()
        with Terminal(80, "run", "fix discount in shop/pricing.py", "--project", str(project), program=program) as terminal:
            silent.waiting.wait(60)
            pressed = time.monotonic()
            terminal.type("\x03")
            found.append(seen(terminal, "stopping|interrupted") - pressed)
            terminal.ended()
    return found


def skipped(program, place, rounds):
    """`s` while small changes are tried."""
    from terminal import Terminal

    found = []
    for number in range(rounds):
        project = made(place / f"project{number}")
        with Terminal(80, "run", "fix the failing test test_discount", "--project", str(project), program=program) as terminal:
            seen(terminal, "press s to skip")
            time.sleep(0.5)
            pressed = time.monotonic()
            terminal.type("s")
            found.append(seen(terminal, "skipped") - pressed)
            terminal.ended(120)
    return found


def main():
    parser = argparse.ArgumentParser(description="How soon words and keys arrive.")
    parser.add_argument("program", nargs="?", default="harness")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", type=pathlib.Path, help="also write the seconds of every round to this file")
    arguments = parser.parse_args()
    program = shutil.which(arguments.program)
    if not program or os.name == "nt":
        sys.exit("latency.py needs harness, and a system with pseudo-terminals")
    from scripted import ScriptedServer, Wait

    with tempfile.TemporaryDirectory() as place:
        project = made(pathlib.Path(place) / "project")
        os.environ["HOME"] = place
        measured = {}
        with timed([""]) as engine:
            os.environ["OLLAMA_HOST"] = engine.host
            measured["first word, from the server's stream"] = from_the_server(program, project, engine, arguments.rounds)
            measured["first word, on the terminal of `ask`"] = on_the_terminal(program, project, engine, arguments.rounds)
        with ScriptedServer([Wait("")]) as silent:
            os.environ["OLLAMA_HOST"] = silent.host
            measured["Ctrl-C while the model is silent"] = stopped(program, project, arguments.rounds, silent)
        os.environ["OLLAMA_HOST"] = "127.0.0.1:9"
        measured["`s` while small changes are tried"] = skipped(program, pathlib.Path(place), max(1, arguments.rounds // 4))
    if arguments.json:
        arguments.json.write_text(json.dumps(measured), encoding="utf-8")
    late = 0
    print("| what | median ms | slowest ms | limit ms |\n|---|---|---|---|")
    for name, times in measured.items():
        print(f"| {name} | {1000 * statistics.median(times):.1f} | {1000 * max(times):.1f} | {1000 * LIMIT:.0f} |")
        late += statistics.median(times) > LIMIT
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
