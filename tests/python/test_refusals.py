"""Refusals that need a project of their own; scenarios hold the others."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "model_server"))

from scripted import ScriptedServer  # noqa: E402

HARNESS = pathlib.Path(sys.executable).with_name("harness")
TESTS = "import unittest\n\nfrom shop.cart import total\n\n\nclass CartTest(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n"
TWICE = "import sys\n\nif sys.version_info > (3,):\n    def total(prices):\n        return sum(prices) - 1\nelse:\n    def total(prices):\n        return sum(prices) - 1\n"
# What the code is, what is asked, what the model says, and the rule that refuses it.
STORIES = {
    "a definition that stands there twice": (TWICE, "Fix `total` in shop/cart.py", "```python\ndef total(prices):\n    return sum(prices)\n```\n", "draft.misplaced"),
    "a folder in place of a file": (TWICE, "Fix `total` in shop/cart.py", 'Action: patch\nPath: shop\nFind:\na\nReplace:\nb\n', "path.unreadable"),
}


def run(folder, code, task, replies, *more, tests=TESTS):
    files = {"shop/__init__.py": "", "shop/cart.py": code, "tests/__init__.py": "", "tests/test_cart.py": tests}
    for path, text in files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    with ScriptedServer(replies) as server:
        surroundings = {**os.environ, "OLLAMA_HOST": server.host}
        words = [HARNESS, "run", task, "--json", "--steps", "2", *more]
        done = subprocess.run(words, cwd=folder, env=surroundings, capture_output=True, text=True, timeout=120)
        asked = server.requests
    result = json.loads(done.stdout)
    return result, [refusal["rule"] for refusal in result["refusals"]], asked


@pytest.mark.parametrize("name", STORIES)
def test_what_cannot_be_done_is_refused_by_its_rule(tmp_path, name):
    code, task, reply, rule = STORIES[name]
    result, rules, _ = run(tmp_path, code, task, [reply] * 3)
    assert rule in rules, result


def test_a_fix_that_is_not_enough_is_taken_back_and_the_model_goes_on(tmp_path):
    code = "def total(prices):\n    return sum(price) - 1\n"
    task = "NameError: name 'price' is not defined in total, see test_total"
    reply = "```python\ndef total(prices):\n    return sum(prices)\n```\n"
    result, rules, asked = run(tmp_path, code, task, [reply])
    assert "fix.not_enough" in rules, result
    assert "was tried and taken back" in json.dumps(asked[-1])
    assert result["ok"] and result["writes"] == ["shop/cart.py"], result
    assert (tmp_path / "shop/cart.py.bak").read_text(encoding="utf-8") == code


@pytest.mark.parametrize("harm", ["os.path.exists('notes.txt') and os.remove('notes.txt')", "open('notes.txt', 'w').close()"], ids=["removes", "empties"])
def test_a_right_answer_that_takes_a_file_away_when_it_runs_is_not_done(tmp_path, harm):
    (tmp_path / "notes.txt").write_text("mine\n", encoding="utf-8")
    reply = f"```python\ndef total(prices):\n    import os\n    {harm}\n    return sum(prices)\n```\n"
    code = "def total(prices):\n    return 'no' + prices\n"
    result, _, _ = run(tmp_path, code, "Fix `total` in shop/cart.py", [reply])
    assert not result["ok"] and result["writes"] == [], result
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "mine\n"


def test_code_that_is_only_added_beside_is_no_change(tmp_path):
    code = "def total(prices):\n    return sum(prices)\n\n\ndef unused():\n    return 1\n"
    reply = f"```python\n{code}\n\nimport pathlib\nprint(pathlib.Path('.'))\n```\n"
    result, _, _ = run(tmp_path, code, "clean up the code in shop/cart.py", [reply])
    assert not result["ok"] and result["writes"] == [], result


def test_what_comes_beside_may_be_what_is_asked_for(tmp_path):
    code = "def total(prices):\n    return sum(prices)\n"
    reply = "--- a/shop/cart.py\n+++ b/shop/cart.py\n@@ -1,2 +1,6 @@\n def total(prices):\n     return sum(prices)\n+\n+\n+if __name__ == '__main__':\n+    print(total([1, 2]))\n"
    result, _, _ = run(tmp_path, code, "make shop/cart.py runnable as a script", [reply])
    assert result["ok"], result


# Tests that clear away what an earlier run left.
CLEARING = TESTS + "\n    def tearDown(self):\n        import os\n        if os.path.exists('last.log'):\n            os.remove('last.log')\n"


def test_what_the_tests_clear_away_themselves_speaks_against_nobody(tmp_path):
    (tmp_path / "last.log").write_text("old\n", encoding="utf-8")
    code = "LIMIT = int('x3')\n\n\ndef total(prices):\n    return sum(prices[:LIMIT])\n"
    reply = "Action: patch\nPath: shop/cart.py\nFind:\nint('x3')\nReplace:\nint('3')\n"
    result, _, _ = run(tmp_path, code, "fix LIMIT in shop/cart.py", [reply], tests=CLEARING)
    assert result["ok"], result
    red = CLEARING + "\n    def test_red(self):\n        self.fail()\n"
    (tmp_path / "notes.txt").write_text("mine\n", encoding="utf-8")
    tests = red.replace("last.log", "notes.txt").replace("total", "sum_of").replace("import sum_of", "import total as sum_of")
    code = "def total(prices):\n    return sum(prices)\n"
    result, _, _ = run(tmp_path, code, "rename total in shop/cart.py to whole", ["I do not know."], tests=tests)
    assert result["ok"], result


def test_a_fix_that_makes_things_worse_is_not_kept(tmp_path):
    code = "def total(prices):\n    return sum(price)\n"
    worse = TESTS.replace("self.assertEqual(total([1, 2]), 3)", "self.assertRaises(NameError, total, [1])")
    task = "NameError: name 'price' is not defined in total"
    result, _, _ = run(tmp_path, code, task, ["I do not know."], "--keep", tests=worse)
    assert not result["ok"] and result["writes"] == [], result
    assert (tmp_path / "shop/cart.py").read_text(encoding="utf-8") == code


def test_a_run_without_its_engine_tells_what_came_of_the_fix_before(tmp_path):
    code = "def total(prices):\n    return sum(prices) - 1\n"
    task = "rename total in shop/cart.py to whole so that test_total passes"
    result, rules, _ = run(tmp_path, code, task, [""], "--engine", "remote")
    assert result["stopped"] == "engine" and "fix.not_enough" in rules, result
    assert result["tests"]["before"] and "HARNESS_BASE_URL" in result["hint"] and "attempt.patch" in result["hint"], result
