"""`harness test`: the project's tests in the sandbox, as a run would start them."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import pytest
from conftest import RIGHT, tree

PROGRAM = str(pathlib.Path(sys.executable).parent / "harness")


def test(project, *words):
    command = [PROGRAM, "test", "--project", str(project), *words]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=60)


test.__test__ = False


def test_red_tests_are_named_with_their_place(project):
    before = tree(project)
    done = test(project)
    assert done.returncode == 1
    assert done.stdout.startswith("0 passed, 1 failed (")
    assert "failed: tests.test_pricing.PricingTest.test_discount (tests/test_pricing.py:8)" in done.stdout
    assert tree(project) == before and not (project / ".harness").exists()


def test_green_tests_end_well_and_json_counts_them(project):
    (project / "shop/pricing.py").write_text(RIGHT)
    done = test(project, "--json")
    result = json.loads(done.stdout)
    assert (done.returncode, result["ok"], result["stopped"]) == (0, True, "done")
    assert result["tests"] == {"passed": 1, "failed": 0, "collected": 1}
    assert result["failures"] == [] and "unittest" in result["command"] and result["sandbox"]
    assert "uses unittest" in result["why"] and "PATH" in result["why"]


def test_options_of_a_plugin_that_is_missing_are_left_out(project):
    """Coverage is a report: without it every test runs. What tests need is another matter."""
    (project / "shop/pricing.py").write_text(RIGHT)
    (project / "pytest.ini").write_text("[pytest]\naddopts = --cov=shop --cov-report term -q --strict-config\n")
    done = test(project, "--json", "--python", sys.executable)
    result = json.loads(done.stdout)
    assert (done.returncode, result["tests"]["passed"]) == (0, 1)
    assert "without the options of pytest-cov, not installed" in result["why"]
    (project / "pytest.ini").write_text("[pytest]\naddopts = --cov=shop --asyncio-mode=auto\n")
    result = json.loads(test(project, "--json", "--python", sys.executable).stdout)
    assert result["stopped"] == "stuck" and "--asyncio-mode" in result["summary"] and "harness prepare" in result["hint"]


@pytest.mark.skipif(sys.platform == "win32", reason="a script with a first line that names its program")
def test_a_tool_below_the_home_folder_is_started(tmp_path, monkeypatch):
    """The home folder is hidden from tests; where the tool itself lies is not."""
    (tmp_path / "crate/src").mkdir(parents=True)
    (tmp_path / "crate/Cargo.toml").write_text('[package]\nname = "a"\n')
    (tmp_path / "crate/src/lib.rs").write_text("fn a() {}\n")
    programs = pathlib.Path(os.environ["HOME"]) / "tools"
    programs.mkdir()
    told = "running 1 test\ntest tests::a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
    (programs / "cargo").write_text(f"#!/bin/sh\nprintf '{told}'\n")
    (programs / "cargo").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    result = json.loads(test(tmp_path / "crate", "--json").stdout)
    assert (result["ok"], result["tests"]["passed"]) == (True, 1), result


def test_some_tests_can_be_picked(project):
    (project / "tests/test_more.py").write_text("import unittest\n\nclass More(unittest.TestCase):\n    def test_it(self):\n        pass\n")
    assert test(project).returncode == 1
    done = test(project, "tests/test_more.py")
    assert (done.returncode, done.stdout.split(" (")[0]) == (0, "1 passed, 0 failed"), done.stderr


def test_settings_above_the_project_that_nobody_may_read_are_none():
    # Not in the folder for temporary files, which is open to tests.
    with tempfile.TemporaryDirectory(dir=pathlib.Path(__file__).parents[2] / "target") as above:
        project = pathlib.Path(above, "part")
        project.mkdir()
        pathlib.Path(above, "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '--no-such-option'\n")
        (project / "test_part.py").write_text("import pytest\n\n\ndef test_it():\n    assert 1\n")
        done = test(project, "--python", sys.executable)
    assert done.stdout.startswith("1 passed, 0 failed"), done.stderr


@pytest.mark.parametrize("words", [["."], ["./"], [".", "tests"], ["tests"], ["{project}"], ["{project}", "tests"]])
def test_the_project_folder_may_come_first(project, words):
    words = [word.format(project=project) for word in words]
    done = subprocess.run([PROGRAM, "test", *words, "--json"], cwd=project, capture_output=True, text=True)
    assert json.loads(done.stdout)["tests"]["collected"] > 0, done.stderr


@pytest.mark.parametrize("words", [["--", "-x"], [""], ["a\nb"]])
def test_what_is_no_test_is_bad_input(project, words):
    done = test(project, *words)
    assert done.returncode == 2 and "hint: give a test id" in done.stderr


def test_without_tests_nothing_is_proven(tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    done = test(folder)
    assert done.returncode == 1 and done.stdout == ""
    assert "no way to run the project's tests" in done.stderr and "hint: " in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C cannot be sent to one process")
def test_ctrl_c_stops_them(project):
    (project / "tests/test_slow.py").write_text("import time, unittest\n\nclass Slow(unittest.TestCase):\n    def test_it(self):\n        time.sleep(60)\n")
    running = subprocess.Popen([PROGRAM, "test", "--project", str(project)], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert "running" in running.stderr.readline()
    time.sleep(1)
    began = time.monotonic()
    running.send_signal(signal.SIGINT)
    assert running.wait(10) == 130
    assert time.monotonic() - began < 5
    running.stdout.close(), running.stderr.close()
