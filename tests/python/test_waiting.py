"""What a person who waits is told: for whom, for what, and how long it took the last time."""

import json
import os
import pathlib
import re
import subprocess
import sys
import threading

import pytest

from conftest import FIX, TASK, WRONG_DRAFT
from scripted import MODEL, Wait
from serving import PROGRAM


def run(project, *words):
    return subprocess.run([PROGRAM, *words, "--project", str(project)], capture_output=True, text=True, timeout=120)


def slow(project):
    """Tests that take so long that they are announced."""
    test = project / "tests/test_pricing.py"
    test.write_text("import time\n\ntime.sleep(3.2)\n" + test.read_text(encoding="utf-8"), encoding="utf-8")


def test_tests_say_how_long_they_took_the_last_time(project, engine):
    slow(project)
    engine(FIX)
    assert "last time" not in run(project, "test").stderr
    # All of them count, not a choice.
    assert "last time" not in run(project, "test", "test_discount").stderr
    again = run(project, "test").stderr
    assert re.search(r" -m unittest discover \([3-9] s last time\)\n", again), again
    done = run(project, "run", TASK)
    assert done.returncode == 0 and len(re.findall(r"running the tests \([3-9] s last time\)\n", done.stderr)) == 2, done.stderr


def test_a_slow_model_says_how_long_it_took_the_last_time(project, engine):
    server = engine(Wait("It takes the percentage off."), "It does.", "It does.")
    threading.Timer(3.3, server.go_on.set).start()
    asked = [run(project, "ask", "what does discount return?").stderr for _ in range(3)]
    told = [re.findall(r"asking \S+(?: \((\d+) s last time\))?\n", text) for text in asked]
    # The second one was quick: that is what the third is told, and it is no word worth.
    assert told[0] == [""] and told[1][0] in ("3", "4", "5", "6") and told[2] == [""], asked


def slow_beside(project, more=0):
    """Tests that take long and have nothing to do with what is changed."""
    quick = "".join(f"\n    def test_{number}(self):\n        pass\n" for number in range(more))
    slow = "import time\nimport unittest\n\n\nclass SlowTest(unittest.TestCase):\n    def test_slow(self):\n        time.sleep(5.2)\n"
    (project / "tests/test_slow.py").write_text(slow + quick, encoding="utf-8")
    config = pathlib.Path(os.environ["HOME"]) / ".config/harness/config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("search = false\n", encoding="utf-8")


def test_red_tests_come_first_where_all_take_long(project, engine):
    slow_beside(project)
    engine(WRONG_DRAFT, FIX)
    done = run(project, "run", "--json", TASK)
    # The wrong draft leaves the red test red, and the slow one has no say in that; what is kept has seen both.
    assert done.returncode == 0 and json.loads(done.stdout)["tests"]["after"] == {"passed": 2, "failed": 0, "collected": 2}
    assert len(re.findall(r"running the red test first \(all 2 take about [5-9] s\)\n", done.stderr)) == 2, done.stderr
    assert done.stderr.count("still red: 1 of 1\n") == 1 and done.stderr.count("tests after the change") == 1, done.stderr


def test_tests_of_what_is_changed_come_first_where_all_take_long(project, engine):
    slow_beside(project, more=3)
    more = "import unittest\n\nfrom shop.pricing import discount\n\n\nclass MoreTest(unittest.TestCase):\n    def test_nothing(self):\n        self.assertEqual(discount(0, 10), 0)\n"
    (project / "tests/test_more.py").write_text(more, encoding="utf-8")
    (project / "shop/pricing.py").write_text("def discount(total, percent):\n    return total - percent if total else 0\n", encoding="utf-8")
    breaks = "```python\ndef discount(total, percent):\n    return 180\n```\n"
    engine(breaks, FIX)
    done = run(project, "run", "--json", TASK)
    result = json.loads(done.stdout)
    assert done.returncode == 0 and result["tests"]["after"] == {"passed": 6, "failed": 0, "collected": 6}, done.stderr
    first = r"running the red test and the test that touches pricing first \(all 6 take about [5-9] s\)\n"
    assert len(re.findall(first, done.stderr)) == 2, done.stderr
    assert done.stderr.count("a test broke: the others need not run\n") == 1 and done.stderr.count("tests after the change") == 1, done.stderr


def test_quick_tests_are_not_announced(project, engine):
    engine(FIX)
    for _ in range(2):
        assert "running the tests" not in run(project, "run", "--ask", TASK).stderr


@pytest.mark.parametrize(("loaded", "told"), [([], True), ([MODEL], False), (None, False)])
def test_a_model_that_the_server_has_to_load_is_told(project, engine, loaded, told):
    engine("It takes the percentage off.").loaded = loaded
    done = run(project, "ask", "what does discount return?")
    assert done.returncode == 0 and (f"the server loads {MODEL} before it answers" in done.stderr) == told


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are Unix's")
@pytest.mark.parametrize("command", ["run", "chat"])
def test_a_run_that_waits_for_another_says_so_while_it_waits(project, engine, command):
    from terminal import Terminal

    server = engine(Wait(FIX))
    (project / "shop/tax.py").write_text("def vat(total):\n    return total\n", encoding="utf-8")
    with subprocess.Popen([PROGRAM, "run", "--project", str(project), TASK], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
        assert server.waiting.wait(60)
        words = ["run", "rename vat to tax"] if command == "run" else ["chat"]
        with Terminal(80, *words, "--project", str(project)) as terminal:
            if command == "chat":
                terminal.expect("> ")
                terminal.type("rename vat to tax\r")
            terminal.expect(f"waiting for run .*process {first.pid}")
            # The seconds go on.
            terminal.expect(r"… [1-9]\d* s")
            server.go_on.set()
            terminal.expect("take it back with")
            if command == "chat":
                terminal.expect("> ")
                terminal.type("\x04")
            assert terminal.ended() == 0
        assert first.wait(60) == 0
    assert "def tax(total)" in (project / "shop/tax.py").read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are Unix's")
@pytest.mark.parametrize(("command", "surroundings"), [("brief", {}), ("layout", {"NO_COLOR": "1"}), ("route", {})])
def test_reading_a_large_project_is_told(project, command, surroundings):
    from terminal import Terminal, rendered

    code = "".join(f"def f{number}(x):\n    return g{number}(x) + {number}\n\n\n" for number in range(3000))
    for number in range(30):
        (project / f"shop/large{number}.py").write_text(code, encoding="utf-8")
    words = [command, "--project", str(project)] + (["fix discount"] if command == "route" else [])
    with Terminal(80, *words, **surroundings) as terminal:
        terminal.expect(r"reading the project … \d+ s")
        assert terminal.ended() == 0
        # The line is gone when the report comes.
        assert "reading the project" not in "".join(rendered(terminal.everything, 80))
