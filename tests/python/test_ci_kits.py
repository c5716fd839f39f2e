"""The GitHub Action and the pre-commit hook: their scripts and definitions run here as they run there."""

import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import zipfile

import pytest
import yaml
from conftest import CHECKERS, FIX, ROOT, TASK
from serving import PROGRAM
from test_ci import ON_UNIX, large  # noqa: F401

# The GitHub Action

ACTION = yaml.safe_load((ROOT / "editors" / "github-action" / "action.yml").read_text(encoding="utf-8"))


def wheel(folder):
    """A wheel whose program is the one under test."""
    file = folder / "local_harness-0.1.0-py3-none-any.whl"
    parts = {
        "local_harness-0.1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: local-harness\nVersion: 0.1.0\n",
        "local_harness-0.1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "local_harness-0.1.0.data/scripts/harness": f'#!/bin/sh\nexec "{PROGRAM}" "$@"\n',
    }
    record = "local_harness-0.1.0.dist-info/RECORD"
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in parts.items():
            about = zipfile.ZipInfo(name)
            about.external_attr = (stat.S_IFREG | 0o755) << 16
            archive.writestr(about, text)
        archive.writestr(record, "".join(f"{name},,\n" for name in [*parts, record]))
    return file


def act(tmp_path, inputs):
    """Runs the action's steps as a runner does. Returns the exit code of the last, and the outputs."""
    values = {name: about.get("default", "") for name, about in ACTION["inputs"].items()} | inputs
    output = tmp_path / "output"
    output.write_text("")
    code = 0
    for step in ACTION["runs"]["steps"]:
        assert step["shell"] == "bash" and "${{" not in step["run"], "inputs reach a script through its environment only"
        named = {name: re.fullmatch(r"\$\{\{ inputs\.([\w-]+) }}", text).group(1) for name, text in step["env"].items()}
        environment = {**os.environ, **{name: values[key] for name, key in named.items()}}
        environment |= {"RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(output), "GITHUB_ACTIONS": "true"}
        environment |= {"PIP_NO_INDEX": "1"}
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", step["run"]], env=environment, cwd=values["project"], capture_output=True, text=True, timeout=300)
        code = done.returncode
        if code:
            break
    return code, dict(line.split("=", 1) for line in output.read_text().splitlines()), done


@ON_UNIX
def test_the_action_installs_a_wheel_and_does_the_task(project, engine, tmp_path):
    engine(FIX)
    code, outputs, done = act(tmp_path, {"task": TASK, "project": str(project), "package": str(wheel(tmp_path)), "python": sys.executable})
    assert (code, outputs["ok"], outputs["stopped"]) == (0, "true", "done"), done.stderr
    assert json.loads(pathlib.Path(outputs["result"]).read_text())["writes"] == ["shop/pricing.py"]
    assert set(outputs) == set(ACTION["outputs"]) and "100 - percent" in (project / "shop" / "pricing.py").read_text()
    assert not any("uses" in step for step in ACTION["runs"]["steps"])


@ON_UNIX
def test_what_a_caller_writes_is_never_run(project, engine, tmp_path):
    engine(FIX)
    hostile = '"; touch "$RUNNER_TEMP/owned"; $(touch "$RUNNER_TEMP/owned") `touch "$RUNNER_TEMP/owned"` --allow\nok=true'
    inputs = {"task": hostile, "project": str(project), "package": str(wheel(tmp_path)), "python": sys.executable}
    # Python looks for modules in the folder it starts in, which is the checkout: somebody's pull request.
    for name in ("venv", "pip", "json", "pathlib", "ensurepip", "subprocess", "shutil", "sitecustomize", "usercustomize", "local_harness"):
        (project / f"{name}.py").write_text('import os\nopen(os.path.join(os.environ["RUNNER_TEMP"], "owned"), "w").close()\n')
    code, outputs, _ = act(tmp_path, {**inputs, "model": hostile, "dry-run": "true"})
    assert code != 0 and outputs["ok"] == "false" and not (tmp_path / "owned").exists()
    code, outputs, _ = act(tmp_path, {**inputs, "engine": "nosuch"})
    assert (code, outputs["ok"], outputs["stopped"]) == (2, "false", "error")


# The pre-commit hook


@ON_UNIX
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_hook_runs_under_pre_commit(large, tmp_path):
    hooks, environment = tmp_path / "hooks", {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "cache")}
    environment["PATH"] = f"{pathlib.Path(PROGRAM).parent}{os.pathsep}{environment['PATH']}"
    environment |= {f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    hooks.mkdir()
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", hooks)

    def git(folder, *words):
        return subprocess.run(["git", *words], cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout.strip()

    for folder in (hooks, large):
        git(folder, "init", "-q")
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", "first")
    config = {"repos": [{"repo": str(hooks), "rev": git(hooks, "rev-parse", "HEAD"), "hooks": [{"id": "harness-layout"}]}]}
    (large / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    git(large, "add", "-A")

    def hook():
        words = [str(CHECKERS / "bin" / "python"), "-m", "pre_commit", "run", "--all-files"]
        return subprocess.run(words, cwd=large, env=environment, capture_output=True, text=True, timeout=120)

    red = hook()
    assert red.returncode == 1 and "import circle" in red.stdout, red.stdout + red.stderr
    for name in ("a.py", "b.py", "very & long, 100%.py"):
        (large / "shop" / name).unlink()
    git(large, "add", "-A")
    green = hook()
    assert green.returncode == 0 and "Passed" in green.stdout, green.stdout
