#!/usr/bin/env python3
"""What `harness mcp` and `harness acp` cost: CPU from the start to the first answer, and memory while they wait.

    python3 bench/mcp.py [PROGRAM] [PROJECT] [JSON]

The first answer of MCP is that of the tool `brief`, the first of ACP the end of a turn that needs no model. Limits: 30 ms
of CPU, 30 MB. The rounds also go into the file JSON. Linux only (/proc)."""

import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROUNDS = 10
CPU_LIMIT, MEMORY_LIMIT = 30, 30
CLIENT = {"name": "bench", "version": "1"}


def mcp(project, _):
    """The requests of an MCP client, each with what was answered before."""
    yield "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}
    yield "tools/call", {"name": "brief", "arguments": {}}


def acp(project, answers):
    """The requests of an editor, each with what was answered before."""
    yield "initialize", {"protocolVersion": 1, "clientCapabilities": {}}
    yield "session/new", {"cwd": project, "mcpServers": []}
    yield "session/prompt", {"sessionId": answers[-1]["sessionId"], "prompt": [{"type": "text", "text": "hello"}]}


PROTOCOLS = {"mcp": mcp, "acp": acp}


def measured(program, project, protocol):
    """Milliseconds of CPU and of waiting until the first answer, and megabytes afterwards."""
    began = time.monotonic()
    server = subprocess.Popen([program, protocol, project], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    answers = []
    for number, (method, params) in enumerate(PROTOCOLS[protocol](project, answers)):
        line = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        server.stdin.write((json.dumps(line) + "\n").encode())
        server.stdin.flush()
        while True:
            message = json.loads(server.stdout.readline())
            if message.get("id") == number:
                break
        answers.append(message["result"])
    waited = (time.monotonic() - began) * 1000
    # To the nanosecond; the clock ticks of `stat` are too coarse for this.
    cpu = sum(int((task / "schedstat").read_text().split()[0]) for task in pathlib.Path(f"/proc/{server.pid}/task").iterdir()) / 1e6
    time.sleep(0.5)
    status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
    memory = int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024
    server.stdin.close()
    server.wait(10)
    server.stdout.close()
    return cpu, waited, memory


def main(words):
    program = words[0] if words else "harness"
    source = words[1] if len(words) > 1 else str(ROOT / "demo" / "orders")
    is_within, samples = True, {}
    with tempfile.TemporaryDirectory() as folder:
        # A session is kept below `.harness`: in a copy.
        project = str(shutil.copytree(source, pathlib.Path(folder) / "project"))
        for protocol in PROTOCOLS:
            measured(program, project, protocol)
            rounds = [measured(program, project, protocol) for _ in range(ROUNDS)]
            cpu, waited, memory = (statistics.median(values) for values in zip(*rounds))
            print(f"{protocol}: start to the first answer: {cpu:.1f} ms of CPU (limit {CPU_LIMIT}), {waited:.1f} ms of waiting")
            print(f"{protocol}: memory while it waits: {memory:.1f} MB (limit {MEMORY_LIMIT})")
            samples[protocol] = rounds
            is_within &= cpu < CPU_LIMIT and memory < MEMORY_LIMIT
    if len(words) > 2:
        pathlib.Path(words[2]).write_text(json.dumps(samples), encoding="utf-8")
    return 0 if is_within else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
