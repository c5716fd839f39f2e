"""Measures `harness serve` against a named peer, `py-harness serve` (py-harness-cli on PyPI), with one client in one run.

    cargo build --release -p harness -p harness-bench --bin harness --bin load
    python3 bench/server/run.py [--peer path/to/py-harness|none] [--seconds 5] [--load target/release/load] [--json FILE]

The peer is installed into a temporary virtualenv when none is given; `none` measures without it. Standard library only; loopback only; Linux.
"""

import argparse
import functools
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
RELEASE = ROOT / "target" / "release"


def load(program, port, path, connections, seconds, body=None):
    command = [program, str(port), path, str(connections), str(seconds), *([body] if body else [])]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self, command, project, port):
        self.port = port
        self.process = subprocess.Popen([*command, "serve", "--project", str(project), "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 30
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2).read()
                return
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def memory(self):
        """Resident memory in MB."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return 0.0

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--program", default=str(RELEASE / "harness"), help="the program to measure")
    parser.add_argument("--load", default=str(RELEASE / "load"), help="the program that asks")
    parser.add_argument("--json", type=pathlib.Path, help="also write the figures to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        peer = options.peer
        if not peer:
            subprocess.run([sys.executable, "-m", "venv", f"{folder}/venv"], check=True)
            subprocess.run([f"{folder}/venv/bin/pip", "install", "--quiet", "py-harness-cli"], check=True)
            peer = f"{folder}/venv/bin/py-harness"
        project = pathlib.Path(folder) / "orders"
        shutil.copytree(ROOT / "demo" / "orders", project)
        programs = {"harness": options.program} if peer == "none" else {"harness": options.program, "py-harness": peer}
        servers = {name: Server([program], project, free_port()) for name, program in programs.items()}
        try:
            figures = measure(servers, options.seconds, functools.partial(load, options.load))
            if options.json:
                options.json.write_text(json.dumps(figures), encoding="utf-8")
        finally:
            for server in servers.values():
                server.stop()


def measure(servers, seconds, ask):
    """Prints the figures and returns them."""
    ours, theirs, figures = servers["harness"], servers.get("py-harness"), {}
    for name, path, body in (("/health", "/health", None), ("/v1/layout", "/v1/layout", "{}")):
        rates = {}
        # Turn by turn, so that whatever else the machine does falls on both.
        for turn in range(2):
            for who, server in servers.items():
                found = ask(server.port, path, 8, seconds / 2, body)
                rates.setdefault(who, []).append(found["per_second"])
                print(f"{name} {who} turn {turn + 1}: {found}", flush=True)
        figures[name] = rates
        mean = {who: sum(values) / len(values) for who, values in rates.items()}
        if theirs:
            print(f"{name}: {mean['harness']:.0f} against {mean['py-harness']:.0f} requests a second = {mean['harness'] / max(mean['py-harness'], 0.1):.1f} x", flush=True)
    crowd = ask(ours.port, "/health", 200, seconds)
    print(f"/health at 200 connections: {crowd}", flush=True)
    if theirs:
        print(f"the peer at 200 connections: {ask(theirs.port, '/health', 200, seconds)}", flush=True)
    calm = ask(ours.port, "/health", 8, seconds)
    print(f"/health at 8 connections: p99 {calm['p99_ms']} ms", flush=True)
    done = crowd["requests"] + calm["requests"]
    while done < 100_000:
        done += ask(ours.port, "/health", 32, seconds)["requests"]
    print(f"memory after {done} and more requests: {ours.memory():.1f} MB", flush=True)
    idle = [socket.create_connection(("127.0.0.1", ours.port)) for _ in range(1000)]
    began = time.monotonic()
    urllib.request.urlopen(f"http://127.0.0.1:{ours.port}/health", timeout=5).read()
    print(f"a new request beside 1,000 idle connections: {1000 * (time.monotonic() - began):.1f} ms", flush=True)
    for client in idle:
        client.close()
    return {**figures, "crowd": crowd, "calm": calm, "memory": ours.memory()}


if __name__ == "__main__":
    main()
