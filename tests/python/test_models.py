"""`harness models`: what the engine has."""

import json
import os
import subprocess

from serving import PROGRAM


def models(project, *words, **environment):
    done = subprocess.run([PROGRAM, "models", "--project", str(project), *words], capture_output=True, text=True, timeout=60, env={**os.environ, **environment})
    assert "panicked" not in done.stderr
    return done


def test_the_models_of_the_engine_are_listed(project, engine):
    server = engine("never asked")
    done = models(project, "--json")
    listed = json.loads(done.stdout)
    assert (done.returncode, listed["engine"], listed["model"]) == (0, "local", "qwen3:8b")
    assert [(one["name"], one["bytes"], one["chosen"]) for one in listed["models"]] == [("qwen3:8b", 5_200_000_000, True)]
    assert listed["models"][0]["fits"] in (True, False, None)
    shown = models(project).stdout
    assert shown.startswith("* qwen3:8b") and "5.2 GB" in shown
    assert models(project, "--model", "other:1b").stdout.startswith("  qwen3:8b")
    assert not server.requests and not (project / ".harness").exists()


def test_the_weights_on_this_machine_are_listed(project, tmp_path):
    weights = tmp_path / "data/harness/weights"
    weights.mkdir(parents=True)
    (weights / "small.gguf").write_bytes(b"GGUF" + b"\0" * 1000)
    done = models(project, "--engine", "on-device", "--json", XDG_DATA_HOME=str(tmp_path / "data"))
    listed = json.loads(done.stdout)["models"]
    assert [(one["name"], one["bytes"], one["fits"]) for one in listed] == [("small", 1004, True)]
    none = models(project, "--engine", "on-device", XDG_DATA_HOME=str(tmp_path / "nosuch"))
    assert none.returncode == 0 and "no model" in none.stdout


def test_an_engine_that_does_not_answer(project):
    done = models(project)
    assert done.returncode == 4 and "hint:" in done.stderr and done.stdout == ""
    assert models(project, "--engine", "nosuch").returncode == 2
