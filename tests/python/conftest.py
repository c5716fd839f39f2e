"""What the tests of the Python face share: a small project, and an engine whose replies are written down."""

import os
import pathlib
import shutil
import sys
import threading

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "model_server"))
# The clients that the servers are tested with (scripts/run/test.py says why they are apart).
CHECKERS = ROOT / "target" / "test-tools"
sys.path.extend(str(folder) for layout in ("lib/python*/site-packages", "Lib/site-packages") for folder in CHECKERS.glob(layout))

import finish  # noqa: E402
from scripted import ScriptedServer  # noqa: E402
from skips import pytest_make_collect_report, pytest_runtest_makereport  # noqa: E402, F401

WRONG = "def discount(total, percent):\n    return total - percent\n"
RIGHT = "def discount(total, percent):\n    return total * (100 - percent) / 100\n"
TESTS = (
    "import unittest\n\nfrom shop.pricing import discount\n\n\n"
    "class PricingTest(unittest.TestCase):\n"
    "    def test_discount(self):\n        self.assertEqual(discount(200, 10), 180)\n"
)
FIX = f"```python\n{RIGHT}```\n"
# Parses, and makes nothing better.
WRONG_DRAFT = "```python\ndef discount(total, percent):\n    return total + percent\n```\n"
TASK = "fix discount in shop/pricing.py"


def tree(folder):
    """The bytes of every file of a project, and its folders; what the harness itself keeps is left out."""
    inside = (path for path in folder.rglob("*") if not {".harness", "__pycache__"} & set(path.relative_to(folder).parts))
    return {path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in inside}


@pytest.fixture
def project(tmp_path):
    """A project with one wrong function and the test that shows it."""
    folder = tmp_path / "project"
    for name, text in {"shop/__init__.py": "", "shop/pricing.py": WRONG, "tests/__init__.py": "", "tests/test_pricing.py": TESTS}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch, tmp_path):
    """Nothing of the user's own settings, keys or servers reaches a test."""
    for name in list(os.environ):
        if name.startswith(("HARNESS", "OLLAMA", "HF_", "HUGGING", "XDG_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    # Rust's tools live below the home folder.
    for name, folder in (("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")):
        monkeypatch.setenv(name, os.environ.get(name) or str(pathlib.Path.home() / folder))
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "USERPROFILE", "APPDATA"):
        monkeypatch.setenv(name, str(home))
    # Where nothing listens: a test that needs an engine starts one.
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")


@pytest.fixture(autouse=True)
def finished_on_evidence(request, tmp_path):
    """Whatever run a test left behind as done is judged again from a clean copy."""
    yield
    program = shutil.which("harness", path=str(pathlib.Path(sys.executable).parent))
    if program is None or request.node.module.__name__ == "test_scenarios":
        return  # The scenarios are judged through every door where they run.
    for runs in tmp_path.glob("**/.harness/runs"):
        faults = finish.check_journalled(request.node.name, runs.parent.parent, program)
        assert not faults, faults


@pytest.fixture
def engine(monkeypatch):
    """Starts an engine with these replies; the last one repeats."""
    started = []

    def start(*replies):
        server = ScriptedServer(replies)
        started.append(server)
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        return server

    yield start
    for server in started:
        server.close()


class SilentServer(ScriptedServer):
    """An engine that takes a prompt and then says nothing until it is let go."""

    def __init__(self):
        super().__init__(["It returns a number."])
        self.asked, self.go_on = threading.Event(), threading.Event()

    def next_reply(self, request):
        self.asked.set()
        self.go_on.wait(60)
        return super().next_reply(request)


@pytest.fixture
def silent_engine(monkeypatch):
    server = SilentServer()
    monkeypatch.setenv("OLLAMA_HOST", server.host)
    yield server
    server.go_on.set()
    server.close()
