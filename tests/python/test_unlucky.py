"""Machines and folders that are not what a program hopes for."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from hostile import small_project

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "model_server"))

from scripted import ScriptedServer  # noqa: E402

HARNESS = pathlib.Path(sys.executable).with_name("harness")
def run(project, *words, **variables):
    surroundings = {**os.environ, "OLLAMA_HOST": "127.0.0.1:9", "NO_COLOR": "1", **variables}
    done = subprocess.run([HARNESS, "run", *words], cwd=project, env=surroundings, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.skipif(os.name == "nt", reason="the search, which fixes this without a model, is not there on Windows")
@pytest.mark.parametrize("place", ["/no/such/folder", "relative", "inside"])
def test_an_odd_temporary_folder_keeps_no_tests_from_running(tmp_path, place):
    project = small_project(tmp_path / "project")
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
        code, said = run(small_project(project), "fix total in shop/cart.py")
        assert code == 0, said
    finally:
        shutil.rmtree(project, ignore_errors=True)


@pytest.mark.skipif(os.name == "nt", reason="the search, which fixes this without a model, is not there on Windows")
def test_a_read_only_file_and_a_long_task_are_told(tmp_path):
    project = small_project(tmp_path / "project")
    (project / "shop/cart.py").chmod(0o444)
    code, said = run(project, "fix total in shop/cart.py " + "and so on " * 1000)
    assert code == 0, said
    assert "`shop/cart.py` was read-only, and still is" in said
    assert "a model is shown 6000 of them" in said


@pytest.mark.skipif(os.name == "nt", reason="the search, which fixes this without a model, is not there on Windows")
def test_what_tests_leave_behind_is_not_in_the_project(tmp_path):
    project = small_project(tmp_path / "project")
    leaving = "import os, pathlib\n\npathlib.Path('left').write_bytes(b'x')\nos.chmod('left', 0o4755)\nos.mkdir('shop/made')\n"
    # By its whole path too: a copy that is tried on lies elsewhere, and the project itself may only be read.
    leaving += f"try:\n    pathlib.Path({str(project / 'taken')!r}).write_bytes(b'x')\nexcept OSError:\n    pass\n"
    (project / "tests/__init__.py").write_text(leaving, encoding="utf-8")
    code, said = run(project, "fix total in shop/cart.py")
    assert code == 0, said
    known = {"__init__.py", "cart.py", "cart.py.bak"}
    assert {path.name for path in project.iterdir()} == {"shop", "tests", ".harness"}
    assert {path.name for path in (project / "shop").iterdir()} == known


@pytest.mark.parametrize("command", [["brief"], ["layout"], ["route", "fix total in shop/cart.py"], ["run", "rename total to sum_of", "--dry-run"]])
def test_a_home_folder_is_read_with_a_warning(tmp_path, command):
    home = small_project(tmp_path / "home")
    surroundings = {**os.environ, "HOME": str(home), "USERPROFILE": str(home)}
    for words, is_told in ((command, True), ([*command, "-q"], False)):
        done = subprocess.run([HARNESS, *words], cwd=home, env=surroundings, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert ("`.` is a home folder, not a project: all of it is read" in done.stderr) == is_told


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
    project = small_project(tmp_path / "project")
    code = project / "shop/cart.py"
    saved = "def total(prices):\n    prices = list(prices)  # mine\n    return sum(prices) - 1\n"
    reply = "```python\ndef total(prices):\n    return sum(prices)\n```\n"
    with Meddling([reply], lambda: code.write_text(saved, encoding="utf-8")) as server:
        exit_code, result = run_beside(project, server, "Fix `total` in shop/cart.py")
    assert exit_code != 0
    assert "write.changed_meanwhile" in [refusal["rule"] for refusal in result["refusals"]], result
    assert code.read_text(encoding="utf-8") == saved


def test_what_the_user_saves_while_a_second_place_is_written_stays(tmp_path):
    project = small_project(tmp_path / "project")
    (project / "shop/cart.py").write_text("def total(prices):\n    return sum(prices)\n", encoding="utf-8")
    bill = project / "shop/bill.py"
    bill.write_text("from shop.cart import total\n\n\ndef bill(prices):\n    return total(prices)\n", encoding="utf-8")
    (project / "tests/test_cart.py").write_text(
        "import unittest\n\nfrom shop.bill import bill\n\n\nclass BillTest(unittest.TestCase):\n"
        "    def test_bill(self):\n        self.assertEqual(bill([1, 2]), 3)\n", encoding="utf-8")
    saved = bill.read_text(encoding="utf-8").replace("    return", "    prices = list(prices)  # mine\n    return")
    replies = ["```python\ndef total(prices, extra):\n    return sum(prices) + extra\n```\n",
               "```python\ndef bill(prices):\n    return total(prices, 0)\n```\n"]
    asked = []

    def meddle():
        asked.append(1)
        if len(asked) == 2:
            bill.write_text(saved, encoding="utf-8")

    with Meddling(replies, meddle) as server:
        _, result = run_beside(project, server, "add a required parameter extra to total in shop/cart.py")
    assert len(asked) >= 2 and "write.changed_meanwhile" in [refusal["rule"] for refusal in result["refusals"]], result
    assert "# mine" in bill.read_text(encoding="utf-8")


def test_what_the_user_saves_in_a_file_that_is_to_go_stays(tmp_path):
    project = small_project(tmp_path / "project")
    old = project / "shop/old.py"
    old.write_text("def less(total):\n    return total\n", encoding="utf-8")
    saved = "def less(total):\n    return total  # mine\n"
    asked = []

    def meddle():
        asked.append(1)
        if len(asked) == 2:
            old.write_text(saved, encoding="utf-8")

    with Meddling(["Action: read\nPath: shop/old.py", "*** Begin Patch\n*** Delete File: shop/old.py\n*** End Patch\n"], meddle) as server:
        _, result = run_beside(project, server, "delete shop/old.py, for nothing of shop/cart.py needs it")
    assert len(asked) >= 2 and "write.changed_meanwhile" in [refusal["rule"] for refusal in result["refusals"]], result
    assert old.read_text(encoding="utf-8") == saved


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names on this system")
def test_a_pipe_is_not_read_by_the_model(tmp_path):
    project = small_project(tmp_path / "project")
    os.mkfifo(project / "shop" / "pipe.txt")
    with ScriptedServer(["Action: read\nPath: shop/pipe.txt"]) as server:
        _, result = run_beside(project, server, "something in shop/cart.py is wrong")
    (project / "shop" / "pipe.txt").unlink()
    assert "path.special" in [refusal["rule"] for refusal in result["refusals"]], result
