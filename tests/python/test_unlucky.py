"""Machines and folders that are not what a program hopes for."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "model_server"))

from scripted import ScriptedServer  # noqa: E402

HARNESS = pathlib.Path(sys.executable).with_name("harness")
CODE = "def total(prices):\n    return sum(prices) - 1\n"
TESTS = """import unittest

from shop.cart import total


class CartTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2]), 3)

    def test_one(self):
        self.assertEqual(total([4]), 4)
"""


def lay_out(folder):
    for name, text in {"shop/__init__.py": "", "shop/cart.py": CODE, "tests/__init__.py": "", "tests/test_cart.py": TESTS}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def run(project, *words, **variables):
    surroundings = {**os.environ, "OLLAMA_HOST": "127.0.0.1:9", "NO_COLOR": "1", **variables}
    done = subprocess.run([HARNESS, "run", *words], cwd=project, env=surroundings, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.skipif(os.name == "nt", reason="the search, which fixes this without a model, is not there on Windows")
@pytest.mark.parametrize("place", ["/no/such/folder", "relative", "inside"])
def test_an_odd_temporary_folder_keeps_no_tests_from_running(tmp_path, place):
    project = lay_out(tmp_path / "project")
    if place == "inside":
        place = str(project / "temporary")
        (project / "temporary").mkdir()
    code, said = run(project, "fix total in shop/cart.py", TMPDIR=place)
    assert code == 0, said
    assert "2 tests pass" in said
    assert not (project / "relative").exists()


@pytest.mark.skipif(not pathlib.Path("/dev/shm").is_dir(), reason="there is no /dev/shm on this system")
def test_a_project_in_shared_memory_is_not_covered():
    project = pathlib.Path("/dev/shm") / f"harness-test-{os.getpid()}"
    try:
        code, said = run(lay_out(project), "fix total in shop/cart.py")
        assert code == 0, said
    finally:
        shutil.rmtree(project, ignore_errors=True)


@pytest.mark.skipif(os.name == "nt", reason="the search, which fixes this without a model, is not there on Windows")
def test_a_read_only_file_and_a_long_task_are_told(tmp_path):
    project = lay_out(tmp_path / "project")
    (project / "shop/cart.py").chmod(0o444)
    code, said = run(project, "fix total in shop/cart.py " + "and so on " * 1000)
    assert code == 0, said
    assert "`shop/cart.py` was read-only, and still is" in said
    assert "a model is shown 6000 of them" in said


def test_a_folder_of_hostile_things_ends_no_command(tmp_path):
    project = lay_out(tmp_path / "project")
    if hasattr(os, "mkfifo"):
        for name in (".gitignore", "README.md", "shop/pipe.py", "AGENTS.md", "pyproject.toml"):
            os.mkfifo(project / name)
        for name, target in {"zero.py": "/dev/zero", "loop.py": "loop.py", "shop/up": "..", ".ignore": "/dev/random", "tty.py": "/dev/tty"}.items():
            os.symlink(target, project / name)
    with open(project / "huge.py", "wb") as huge:
        huge.truncate(3 << 30)
    (project / "long.py").write_text("x = " + "(" * 100_000 + "\n", encoding="utf-8")
    (project / "bytes.py").write_bytes(bytes(range(256)) * 4000)
    (project / "a b\u00e9 \u202e.py").write_text("x = 1\n", encoding="utf-8")
    deep = project
    for _ in range(60):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "a.py").write_text("x = 1\n", encoding="utf-8")
    for command in (["brief"], ["layout"], ["route", "fix total in shop/cart.py"]):
        done = subprocess.run([HARNESS, *command], cwd=project, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stderr
        assert "cart" in done.stdout or command == ["layout"]
    code, said = run(project, "fix total in shop/cart.py")
    assert code in (0, 1, 4), said
    assert "panicked" not in said


class Meddling(ScriptedServer):
    """A model while which somebody else works in the folder."""

    def __init__(self, replies, meddle):
        super().__init__(replies)
        self.meddle = meddle

    def next_reply(self, request):
        self.meddle()
        return super().next_reply(request)


def run_beside(project, server, task):
    words = [HARNESS, "run", task, "--json", "--steps", "3"]
    surroundings = {**os.environ, "OLLAMA_HOST": server.host}
    done = subprocess.run(words, cwd=project, env=surroundings, capture_output=True, text=True, timeout=120)
    return done.returncode, json.loads(done.stdout)


def test_what_the_user_saves_meanwhile_is_not_overwritten(tmp_path):
    project = lay_out(tmp_path / "project")
    code = project / "shop/cart.py"
    saved = "def total(prices):\n    prices = list(prices)  # mine\n    return sum(prices) - 1\n"
    reply = "```python\ndef total(prices):\n    return sum(prices)\n```\n"
    with Meddling([reply], lambda: code.write_text(saved, encoding="utf-8")) as server:
        exit_code, result = run_beside(project, server, "Fix `total` in shop/cart.py")
    assert exit_code != 0
    assert "write.changed_meanwhile" in [refusal["rule"] for refusal in result["refusals"]], result
    assert code.read_text(encoding="utf-8") == saved


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names on this system")
def test_a_pipe_is_not_read_by_the_model(tmp_path):
    project = lay_out(tmp_path / "project")
    os.mkfifo(project / "shop" / "pipe.txt")
    with ScriptedServer(["Action: read\nPath: shop/pipe.txt"]) as server:
        _, result = run_beside(project, server, "something in shop/cart.py is wrong")
    (project / "shop" / "pipe.txt").unlink()
    assert "path.special" in [refusal["rule"] for refusal in result["refusals"]], result
