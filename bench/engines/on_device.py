#!/usr/bin/env python3
"""The on-device engine beside llama.cpp's own server: python3 bench/engines/on_device.py WEIGHTS PYTHON [--build FOLDER]

PYTHON has the extra's runtime (`xllamacpp`). In one run: the cold start of the engine to its first token; then, turn by
turn, the same prompt to the engine (kept warm) and to llama.cpp's own server by a bare socket: time to the first token
and tokens a second. Both sides have the same weights, threads and window.
"""

import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNNER = ROOT / "crates" / "harness-agent" / "src" / "model" / "on_device" / "runner.py"
PROMPT = "Write a short story about a clockmaker who repairs a very old clock."
TOKENS = 64


def engine(arguments, repeat):
    """Starts the program that asks the on-device engine; it prints one JSON line a reply."""
    command = [arguments.build / "engine", "on-device", arguments.weights, PROMPT, str(repeat), str(TOKENS)]
    environment = {**os.environ, "VIRTUAL_ENV": str(arguments.python.parent.parent)}
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if not lines or "error" in lines[0]:
        raise SystemExit(done.stdout + done.stderr)
    return lines, time.perf_counter() - began


class Own:
    """llama.cpp's own server, asked by a bare socket."""

    def __init__(self, arguments, threads):
        settings = {"model": str(arguments.weights), "name": "own", "key": "k", "window": 4096, "threads": threads}
        self.process = subprocess.Popen(
            [arguments.python, "-c", RUNNER.read_text(encoding="utf-8")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "HARNESS_ON_DEVICE": json.dumps(settings)},
        )
        line = self.process.stdout.readline()
        self.port = int(line.rsplit(":", 1)[1].strip("/ \n"))
        while True:
            try:
                if self.ask(1):
                    return
            except (OSError, ValueError):
                time.sleep(0.05)

    def ask(self, tokens):
        """Returns the seconds to the first token and the tokens a second after it."""
        body = {"model": "own", "messages": [{"role": "user", "content": PROMPT}], "max_tokens": tokens, "temperature": 0, "stream": True, "seed": 1}
        text = json.dumps(body).encode()
        head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer k\r\ncontent-type: application/json\r\ncontent-length: {len(text)}\r\nconnection: close\r\n\r\n"
        began = time.perf_counter()
        with socket.create_connection(("127.0.0.1", self.port)) as stream:
            stream.sendall(head.encode() + text)
            first, count, rest = None, 0, b""
            while True:
                data = stream.recv(1 << 16)
                if not data:
                    break
                rest += data
                *lines, rest = rest.split(b"\n")
                for line in lines:
                    if line.startswith(b"data: {") and b'"content":"' in line:
                        count += 1
                        first = first or time.perf_counter()
        ended = time.perf_counter()
        if first is None:
            raise ValueError("no token")
        return first - began, (count - 1) / (ended - first) if count > 1 else 0.0

    def end(self):
        self.process.stdin.close()
        self.process.wait(10)


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weights", type=pathlib.Path)
    parser.add_argument("python", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "target" / "release")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args(words)
    threads = max(1, (os.cpu_count() or 2) - 1)
    cold, ours_first, ours_speed, own_first, own_speed = [], [], [], [], []
    for _ in range(arguments.rounds):
        # One after the other: two servers at once would share the cores.
        lines, _ = engine(arguments, 4)
        cold.append(lines[0]["first"])
        for line in lines[1:]:
            ours_first.append(line["first"])
            ours_speed.append((line["reply_tokens"] - 1) / (line["seconds"] - line["first"]))
        own = Own(arguments, threads)
        own.ask(TOKENS)
        for _ in range(3):
            first, speed = own.ask(TOKENS)
            own_first.append(first)
            own_speed.append(speed)
        own.end()
    middle = statistics.median
    print("| what | ours | llama.cpp's own server |\n|---|---|---|")
    print(f"| cold start to first token, s | {middle(cold):.2f} ({min(cold):.2f} to {max(cold):.2f}) | - |")
    print(f"| warm first token, ms | {1000 * middle(ours_first):.1f} | {1000 * middle(own_first):.1f} |")
    print(f"| reply, tokens a second | {middle(ours_speed):.1f} ({min(ours_speed):.1f} to {max(ours_speed):.1f}) | {middle(own_speed):.1f} ({min(own_speed):.1f} to {max(own_speed):.1f}) |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
