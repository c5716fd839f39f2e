#!/usr/bin/env python3
"""Clients in other languages: what generators make of the OpenAPI document, and the official TypeScript client of the
Model Context Protocol. Needs node, npm and a package index; everything is installed into a folder that goes again.

    target/test-venv/bin/python bench/clients.py [PROGRAM]

Each generated client makes real calls and gets the same answers. The TypeScript client holds the conversation of thirty
turns of tests/python/test_thirty_turns.py and gets the results that the test expects."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import venv

ROOT = pathlib.Path(__file__).resolve().parents[1]
HERE = ROOT / "bench" / "clients"
# In place of this folder, whose mcp.py is not the package of that name.
sys.path[:1] = [str(ROOT / "tests" / "python"), str(ROOT / "tests" / "model_server")]
TASK = "rename discount to rebate"


def said(command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command[:4]))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def python_client(folder, document):
    """Generates and installs a client; returns the command that uses it."""
    place = folder / "python"
    venv.create(place, with_pip=True)
    programs = place / ("Scripts" if os.name == "nt" else "bin")
    python = programs / "python"
    said([python, "-m", "pip", "install", "--quiet", "openapi-python-client>=0.24,<1"])
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    said([programs / "openapi-python-client", "generate", "--path", document, "--output-path", folder / "made", "--fail-on-warning"], env=environment)
    said([python, "-m", "pip", "install", "--quiet", folder / "made"])
    return [python, HERE / "calls.py"]


def typescript_client(folder, document):
    said([folder / "node_modules" / ".bin" / "openapi-typescript", document, "-o", folder / "schema.d.ts"])
    options = ["--strict", "--noEmitOnError", "--target", "es2022", "--module", "es2022", "--moduleResolution", "bundler", "--skipLibCheck"]
    said([folder / "node_modules" / ".bin" / "tsc", *options, folder / "calls.ts"], cwd=folder)
    return ["node", folder / "calls.js"]


def generated(program, folder):
    """What every generated client gets for the same calls."""
    import conftest  # noqa: F401 (knows where the clients of the tests are installed)
    from serving import Served
    from test_thirty_turns import made

    answers = {}
    document = folder / "openapi.json"
    with Served(made(folder / "any"), program=program) as server:
        document.write_text(json.dumps(server.call("GET", "/v1/openapi.json")[2]))
    for name, make in (("Python", python_client), ("TypeScript", typescript_client)):
        command = make(folder, document)
        with Served(made(folder / name), "--allow-writes", program=program) as server:
            answers[name] = json.loads(said([*command, server.base, TASK]))
        print(f"{name:<10} {answers[name]}")
    return answers


def thirty_turns(program, folder):
    """What differs from the expected turns when the official TypeScript client holds them."""
    from test_thirty_turns import TURNS, ByTask, made

    project = made(folder / "thirty")
    with ByTask([""]) as server:
        environment = {**os.environ, "OLLAMA_HOST": server.host}
        messages = json.dumps([message for message, _, _ in TURNS])
        results = json.loads(said(["node", folder / "mcp.mjs", program, project], input=messages, env=environment))
    seen = [(message, result["stopped"], result["writes"]) for (message, _, _), result in zip(TURNS, results, strict=True)]
    return [(want, got) for want, got in zip(TURNS, seen, strict=True) if tuple(want) != got]


def main(words):
    program = shutil.which(words[0] if words else "harness")
    if not program or not shutil.which("npm"):
        sys.exit("clients.py needs harness, node and npm")
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for file in HERE.iterdir():
            shutil.copy(file, folder)
        said(["npm", "install", "--silent", "--no-audit", "--no-fund"], cwd=folder)
        answers = generated(str(pathlib.Path(program).resolve()), folder)
        different = thirty_turns(str(pathlib.Path(program).resolve()), folder)
    expected = {"version": re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M).group(1), "files": 6, "stopped": "done", "problem": "task"}
    wrong = [name for name, answer in answers.items() if {**answer, **expected} != answer or len(answer["writes"]) != 3]
    print(f"thirty turns with the TypeScript client of MCP: {30 - len(different)} of 30 as expected")
    for want, got in different:
        print(f"  expected {want}, got {got}")
    return 1 if wrong or different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
