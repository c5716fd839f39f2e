"""The sample project: what its README and the installer's demo promise of it holds."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from serving import PROGRAM

DEMO = pathlib.Path(__file__).resolve().parents[2] / "demo" / "orders"
TASK = "fix the NameError in orders/report.py"


@pytest.fixture
def orders(tmp_path):
    folder = tmp_path / "orders"
    shutil.copytree(DEMO, folder, ignore=shutil.ignore_patterns("__pycache__", ".harness", "*.bak"))
    return folder


def harness(folder, *words):
    return subprocess.run([PROGRAM, *words], cwd=folder, capture_output=True, text=True, encoding="utf-8", timeout=120)


def outcome(folder):
    """How many of its tests run, and which fail."""
    done = subprocess.run([sys.executable, "-B", "-m", "unittest", "-v"], cwd=folder, capture_output=True, text=True, timeout=120)
    ran = int(re.search(r"^Ran (\d+) tests", done.stderr, re.M).group(1))
    return ran, sorted(re.findall(r"^(?:FAIL|ERROR): (\w+)", done.stderr, re.M))


def test_the_misspelled_name_is_fixed_without_a_model(orders):
    ran, before = outcome(orders)
    assert (ran, len(before)) == (18, 2), before
    done = harness(orders, "run", TASK, "--json")
    result = json.loads(done.stdout)
    assert (done.returncode, result["ok"], result["stopped"], result["writes"]) == (0, True, "done", ["orders/report.py"]), done.stderr
    assert result["usage"]["model_calls"] == 0
    ran, after = outcome(orders)
    assert ran == 18 and len(after) == 1 and set(after) < set(before)
    assert harness(orders, "undo").returncode == 0
    assert (orders / "orders/report.py").read_bytes() == (DEMO / "orders/report.py").read_bytes()


def test_a_dry_run_shows_the_same_and_changes_nothing(orders):
    done = harness(orders, "run", TASK, "--dry-run", "--json")
    result = json.loads(done.stdout)
    assert (done.returncode, result["ok"], result["writes"]) == (0, True, []) and "orders/report.py" in result["diff"]
    assert (orders / "orders/report.py").read_bytes() == (DEMO / "orders/report.py").read_bytes()


def test_its_brief_tells_what_it_is(orders):
    done = harness(orders, "brief", "--json")
    brief = json.loads(done.stdout)
    assert (done.returncode, brief["name"], brief["tests"]["runner"]) == (0, "orders", "unittest")
