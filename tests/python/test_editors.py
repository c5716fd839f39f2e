"""`harness editors` as a person meets it; the merging itself is tested beside its code."""

import json
import os
import subprocess
import sys

import pytest

from serving import PROGRAM, tree

NAMES = ["vscode", "cursor", "continue", "zed", "cline", "neovim", "emacs", "jetbrains"]


def editors(*words):
    return subprocess.run([PROGRAM, "editors", *map(str, words)], capture_output=True, text=True, encoding="utf-8", timeout=60)


def bytes_of(folder):
    return {name: about[2] for name, about in tree(folder).items() if about[2] is not None}


def test_the_list():
    shown = editors()
    assert shown.returncode == 0 and all(name in shown.stdout for name in NAMES)
    listed = json.loads(editors("--json").stdout)["editors"]
    assert [one["name"] for one in listed] == NAMES and all(one["files"] and one["about"] for one in listed)


@pytest.mark.parametrize("name", NAMES)
def test_there_and_away(project, name):
    before = bytes_of(project)
    dry = editors(name, "--project", project, "--dry-run")
    assert dry.returncode == 0 and "would be written" in dry.stdout and "+++ b/" in dry.stdout
    assert bytes_of(project) == before
    done = editors(name, "--project", project, "--allow-writes")
    assert done.returncode == 0 and "next:" in done.stdout, done.stderr
    assert set(bytes_of(project)) > set(before) and not (project / ".harness").exists()
    again = bytes_of(project)
    assert "nothing to do" in editors(name, "--project", project, "--allow-writes").stdout and bytes_of(project) == again
    report = json.loads(editors(name, "--project", project, "--remove", "--json").stdout)
    assert {file["action"] for file in report["files"]} == {"removed"} and report["steps"] == []
    assert bytes_of(project) == before
    assert not [folder for folder in project.rglob("*") if folder.is_dir() and not any(folder.iterdir())]
    assert editors(name, "--project", project, "--remove").returncode == 0


def test_what_is_written_permits_changes_only_where_that_is_asked_for(project):
    for words, look_only in (([], True), (["--allow-writes"], False)):
        assert editors("vscode", "--project", project, *words).returncode == 0
        tasks = (project / ".vscode" / "tasks.json").read_text(encoding="utf-8")
        assert ("--dry-run" in tasks, "--allow-writes" in tasks) == (look_only, not look_only), words
        assert editors("vscode", "--project", project, "--remove").returncode == 0


@pytest.mark.parametrize("name", ["vscode", "cursor", "zed", "cline", "jetbrains"])
def test_the_entries_for_protocols_start_this_very_program(project, name):
    """What is printed is typed into settings as it stands; an editor knows no virtualenv."""
    report = json.loads(editors(name, "--project", project, "--dry-run", "--json").stdout)
    entries = [json.loads(step.split('"harness": ', 1)[1]) for step in report["steps"] if '"harness": ' in step]
    assert {entry["args"][0] for entry in entries} == ({"mcp", "acp"} if name in ("zed", "jetbrains") else {"mcp"})
    for entry in entries:
        assert os.path.isabs(entry["command"]) and "--allow-writes" not in entry["args"]
        done = subprocess.run([entry["command"], *entry["args"]], input="", capture_output=True, text=True, timeout=30)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
    steps = json.loads(editors(name, "--project", project, "--dry-run", "--json", "--allow-writes").stdout)["steps"]
    assert any("--allow-writes" in step for step in steps if '"mcp"' in step)


def test_wrong_calls(project, tmp_path):
    for words, what in ((["nano"], "no editor `nano`"), (["--remove"], "editor is missing"), (["vscode", "--project", tmp_path / "nosuch"], "nosuch")):
        shown = editors(*words)
        assert shown.returncode == 2 and what in shown.stderr and "hint: " in shown.stderr and shown.stdout == ""
    error = json.loads(editors("nano", "--json").stdout)["error"]
    assert error["param"] == "name" and "vscode" in error["hint"]


def test_a_file_that_cannot_be_read_is_left_alone(project):
    (project / ".vscode").mkdir()
    broken = project / ".vscode" / "tasks.json"
    broken.write_text("{ oh no")
    shown = editors("vscode", "--project", project)
    assert shown.returncode == 1 and "left alone" in shown.stdout and '"harness: ask"' in shown.stdout
    assert broken.read_text() == "{ oh no" and [path.name for path in broken.parent.iterdir()] == ["tasks.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege")
def test_nothing_is_written_through_a_link(project, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    os.symlink(elsewhere, project / ".zed")
    os.symlink(elsewhere / "lua", project / ".nvim.lua")
    for name in ("zed", "neovim"):
        shown = editors(name, "--project", project)
        assert shown.returncode == 1 and "left alone" in shown.stdout
    assert list(elsewhere.iterdir()) == []
