"""How `run` is told what to do, and what it tells at its end."""

import json
import os
import subprocess
import sys
import time

import pytest

from conftest import FIX, RIGHT, TASK, WRONG, WRONG_DRAFT
from scripted import Wait
from serving import PROGRAM


def harness(*words, cwd, **more):
    done = subprocess.run([PROGRAM, *words], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, **more)
    assert "panicked" not in done.stderr
    return done


def pricing(project):
    return (project / "shop/pricing.py").read_text(encoding="utf-8")


def kind(*words, cwd):
    done = harness("route", *words, "--json", cwd=cwd)
    return json.loads(done.stdout)["kind"] if done.returncode == 0 else done.returncode


def test_a_task_may_stand_without_quotes(project):
    outside = project.parent
    assert kind("rename", "discount", "to", "rebate", cwd=project) == "rename"
    assert kind("rename discount to rebate", cwd=project) == "rename"
    assert kind(".", "rename", "discount", "to", "rebate", cwd=project) == "rename"
    assert kind("project", "rename discount to rebate", cwd=outside) == "rename"
    assert kind("./project", "rename", "discount", "to", "rebate", cwd=outside) == "rename"
    # A word that is a folder too could be either; a folder that is not there is no part of a quoted task.
    assert kind("tests", "should", "pass", cwd=project) == 2
    assert kind("nosuch", "rename discount to rebate", cwd=project) == 2
    assert kind(".", cwd=project) == 2 and kind("tests", cwd=project) == 2
    told = harness("run", "tests", "should", "pass", cwd=project)
    assert "in quotes" in told.stderr and told.stderr.count("harness:") == 1
    usage = harness("run", "--help", cwd=project).stdout
    assert "harness run [OPTIONS] [DIR] TASK" in usage


def test_the_change_comes_first_and_everything_once(project, engine):
    engine(FIX)
    done = harness("run", TASK, cwd=project)
    lines = done.stdout.splitlines()
    assert lines[0] == "--- a/shop/pricing.py" and lines[-1].startswith("take it back with: harness undo ")
    assert "1 test passes" in done.stdout and done.stdout.count("changed") == 1
    # Said at the first run that leaves a copy, and not again.
    assert done.stderr.count("harness clean") == 1
    assert harness("run", "rename discount to rebate", cwd=project).stderr.count("harness clean") == 0


def test_a_failure_is_told_once(project, engine):
    engine(WRONG_DRAFT)
    done = harness("run", TASK, "--steps", "2", cwd=project)
    assert done.returncode == 1 and pricing(project) == WRONG
    summary = done.stdout.splitlines()[0]
    assert summary and (done.stdout + done.stderr).count(summary) == 1
    missing = harness("run", TASK, cwd=project, env={**os.environ, "OLLAMA_HOST": "127.0.0.1:9"})
    assert missing.returncode in (0, 4)


def test_a_run_has_so_many_seconds(project, engine):
    engine(Wait(""))
    began = time.monotonic()
    done = harness("run", TASK, "--seconds", "2", "--json", cwd=project)
    result = json.loads(done.stdout)
    assert (done.returncode, result["stopped"], result["ok"], result["writes"]) == (1, "steps", False, []), result
    assert "the limit of 2 seconds is over" in result["summary"] and "--seconds" in result["hint"]
    assert time.monotonic() - began < 30 and pricing(project) == WRONG
    for wrong in ("0", "-1", "soon", ""):
        assert harness("run", TASK, "--seconds", wrong, cwd=project).returncode == 2
    engine(FIX)
    assert harness("run", TASK, "--seconds", "100", cwd=project).returncode == 0 and pricing(project) == RIGHT


def test_a_commit_message(project, engine):
    engine(FIX)
    assert harness("last", "--commit-message", cwd=project).returncode == 1
    run = json.loads(harness("run", TASK, "--json", cwd=project).stdout)["run_id"]
    done = harness("last", "--commit-message", cwd=project)
    assert done.stdout.splitlines()[:2] == ["Fix discount in shop/pricing.py", ""] and "1 test passes" in done.stdout
    assert all(len(line) <= 100 for line in done.stdout.splitlines())
    assert json.loads(harness("last", run, "--commit-message", "--json", cwd=project).stdout)["run"] == run
    assert harness("last", "nosuch", "--commit-message", cwd=project).returncode == 2
    assert harness("undo", cwd=project).returncode == 0
    assert harness("last", "--commit-message", cwd=project).returncode == 1


def test_a_rename_says_which_documents_still_have_the_name(project):
    (project / "shop/pricing.py").write_text(RIGHT, encoding="utf-8")
    (project / "README.md").write_text("Call `discount` for the price.\n", encoding="utf-8")
    (project / "docs").mkdir()
    (project / "docs/api.rst").write_text(".. autofunction:: shop.pricing.discount\n", encoding="utf-8")
    (project / "docs/words.txt").write_text("We give a discount on Mondays.\n", encoding="utf-8")
    before = (project / "README.md").read_bytes()
    for words in (["--dry-run"], []):
        done = harness("run", *words, "rename discount to rebate", cwd=project)
        assert "(README.md, docs/api.rst still say `discount`)" in done.stdout, done.stdout
    assert (project / "README.md").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["serve", "--port", "99999"], "it is a whole number from 0 to 65535\nhint: `harness serve --help` shows how\n"),
        (["run", "--steps", "0", "x"], "it is a whole number from 1\nhint: `harness run --help` shows how\n"),
        (["run", "--seconds", "soon", "x"], "it is a whole number\nhint: `harness run --help` shows how\n"),
    ],
)
def test_a_number_that_is_none_is_told_what_it_should_be(project, words, told):
    done = harness(*words, cwd=project)
    assert done.returncode == 2 and done.stderr.endswith(told), done.stderr


@pytest.mark.parametrize("runner", [["pytest", "-p", "no:cacheprovider"], ["pytest", "-q", "--tb=short", "-p", "no:cacheprovider"], ["unittest"]])
def test_the_output_of_a_test_runner_is_a_task(project, engine, runner):
    engine(FIX)
    report = subprocess.run([sys.executable, "-m", *runner], cwd=project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    assert report.returncode
    done = subprocess.run([PROGRAM, "run", "-"], cwd=project, input=report.stdout, capture_output=True, timeout=120)
    told = done.stdout.decode()
    assert done.returncode == 0 and "harness undo" in told and "test_discount" in told, done.stderr
    assert pricing(project) == RIGHT
