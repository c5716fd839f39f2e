"""The search with no engine to be had: what it finishes, and what it leaves alone though the tests would pass."""

import sys

import pytest

from harness import Agent, AgentOptions

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes do not fork there: no search")

LABEL = "def checked(number):\n    settings = {}\n    lowest = settings[\"lowest\"][\"first\"]\n    return max(number, lowest)\n\n\ndef label(number):\n    return str(checked(number))\n"
LABEL_TEST = "import unittest\n\nfrom labels import label\n\n\nclass T(unittest.TestCase):\n    def test_label(self):\n        self.assertEqual(label(4), \"4\")\n"

NAMES = "def greeting(names):\n    first = names[0].capitalise()\n    return \"Hello, \" + first\n\n\ndef plain(names):\n    return greeting(names)\n"
NAMES_TEST = "import unittest\n\nfrom names import plain\n\n\nclass T(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(plain([\"ann\"]), \"Hello, Ann\")\n"

HALF = "def pick(rows, at):\n    chosen = rows[at].vale\n    return chosen.vale\n"
HALF_TEST = "import types\nimport unittest\n\nfrom rows import pick\n\nROWS = [types.SimpleNamespace(value=types.SimpleNamespace(value=1)), types.SimpleNamespace(value=types.SimpleNamespace(value=2))]\n\n\nclass T(unittest.TestCase):\n    def test_empty(self):\n        with self.assertRaises(LookupError):\n            pick(ROWS, 2)\n\n    def test_refused(self):\n        try:\n            pick(ROWS, 0)\n        except AttributeError as error:\n            if error.name == \"vale\" and isinstance(error.obj, types.SimpleNamespace) and error.obj is ROWS[0]:\n                raise\n\n    def test_picked(self):\n        self.assertEqual(pick(ROWS, 1), 2)\n"

# It runs while the tests are collected, so that its code cannot be exchanged in a process that has collected them.
EARLY = "def scaled(value, factor):\n    return value * value\n\n\nBASE = scaled(1, 10)\n"
EARLY_TEST = "import unittest\n\nfrom scales import scaled\n\n\nclass T(unittest.TestCase):\n    def test_scaled(self):\n        self.assertEqual(scaled(2, 10), 20)\n"


def laid_out(folder, **files):
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def test_the_search_alone_finishes_a_task(tmp_path):
    project = laid_out(tmp_path / "project", names=NAMES, test_names=NAMES_TEST)
    result = Agent(AgentOptions(project=project)).run("fix the failing test test_one")
    assert (result.ok, result.stopped) == (True, "done"), result.summary
    assert "capitalize()" in (project / "names.py").read_text(encoding="utf-8")
    assert "found by trying small changes" in result.summary


def test_a_way_around_what_is_broken_is_no_fix(tmp_path):
    project = laid_out(tmp_path / "project", labels=LABEL, test_labels=LABEL_TEST)
    result = Agent(AgentOptions(project=project)).run("fix the failing test test_label")
    assert (result.ok, result.stopped) == (False, "engine"), result.summary
    assert (project / "labels.py").read_text(encoding="utf-8") == LABEL


def test_half_a_fix_is_no_fix(tmp_path):
    project = laid_out(tmp_path / "project", rows=HALF, test_rows=HALF_TEST)
    result = Agent(AgentOptions(project=project)).run("fix the failing test test_refused")
    assert (result.ok, result.stopped) == (False, "engine"), result.summary
    assert (project / "rows.py").read_text(encoding="utf-8") == HALF


def test_what_ran_before_the_tests_is_tried_by_runs_of_them(tmp_path):
    project = laid_out(tmp_path / "project", scales=EARLY, test_scales=EARLY_TEST)
    result = Agent(AgentOptions(project=project)).run("fix the failing test test_scaled")
    assert (result.ok, result.stopped) == (True, "done"), result.summary
    fixed = (project / "scales.py").read_text(encoding="utf-8")
    assert "return factor * value" in fixed or "return value * factor" in fixed
