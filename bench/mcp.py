#!/usr/bin/env python3
"""What `harness mcp` costs: CPU from the start to the first tool's answer, and memory while it waits.

    python3 bench/mcp.py [PROGRAM] [PROJECT]

Limits: 30 ms of CPU, 30 MB. Linux only (/proc)."""

import json
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROUNDS = 10
CPU_LIMIT, MEMORY_LIMIT = 30, 30


def measured(program, project):
    """Milliseconds of CPU and of waiting until the first answer, and megabytes afterwards."""
    began = time.monotonic()
    server = subprocess.Popen([program, "mcp", project], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    for number, (method, params) in enumerate([("initialize", hello), ("tools/call", {"name": "brief", "arguments": {}})]):
        line = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        server.stdin.write((json.dumps(line) + "\n").encode())
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == number
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
    project = words[1] if len(words) > 1 else str(ROOT / "demo" / "orders")
    measured(program, project)
    rounds = [measured(program, project) for _ in range(ROUNDS)]
    cpu, waited, memory = (statistics.median(values) for values in zip(*rounds))
    print(f"start to the first answer: {cpu:.1f} ms of CPU (limit {CPU_LIMIT}), {waited:.1f} ms of waiting")
    print(f"memory while it waits: {memory:.1f} MB (limit {MEMORY_LIMIT})")
    return 0 if cpu < CPU_LIMIT and memory < MEMORY_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
