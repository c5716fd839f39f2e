"""`run --commit`: exactly what the run wrote, and nothing that the repository configures is started."""

import json
import os
import subprocess

import pytest

from conftest import FIX, RIGHT, TASK, WRONG
from serving import PROGRAM


@pytest.fixture
def git(tmp_path, monkeypatch):
    """Runs git as somebody with a name and no other settings."""
    home = tmp_path / "git-home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n")
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "EMAIL", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.delenv(name, raising=False)

    def run(folder, *words):
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


@pytest.fixture
def repository(project, git):
    git(project, "init", "-q")
    (project / "notes.txt").write_text("one\n")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "begin")
    return project


def harness(project, *words):
    return subprocess.run([PROGRAM, *words, "--project", str(project)], capture_output=True, text=True, timeout=120)


def pricing(project):
    return (project / "shop/pricing.py").read_text(encoding="utf-8")


def plant_programs(project, git, mark):
    """Makes the repository configure every program that a commit could start."""
    script = project / ".git/mark.sh"
    script.write_text(f"#!/bin/sh\necho \"$0\" >> '{mark}'\ncat\n")
    script.chmod(0o755)
    for hook in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change", "post-rewrite"):
        (project / ".git/hooks" / hook).write_bytes(script.read_bytes())
        (project / ".git/hooks" / hook).chmod(0o755)
    for key, value in {
        "core.fsmonitor": str(script),
        "core.hooksPath": str(project / ".git/hooks"),
        "commit.gpgsign": "true",
        "gpg.program": str(script),
        "core.editor": str(script),
        "core.pager": str(script),
        "diff.external": str(script),
        "alias.commit-tree": f"!{script}",
    }.items():
        git(project, "config", key, value)


def test_exactly_what_the_run_wrote_is_committed(repository, git, engine, tmp_path):
    engine(FIX)
    (repository / "notes.txt").write_text("staged\n")
    git(repository, "add", "notes.txt")
    (repository / "notes.txt").write_text("staged and more\n")
    mark = tmp_path / "started"
    plant_programs(repository, git, mark)
    done = harness(repository, "run", "--commit", TASK)
    assert done.returncode == 0 and pricing(repository) == RIGHT, done.stderr
    assert "committed " in done.stderr and not mark.exists()
    git(repository, "config", "core.fsmonitor", "false")
    for key in ("diff.external", "core.pager"):
        git(repository, "config", "--unset", key)
    assert git(repository, "show", "--name-only", "--format=", "HEAD") == "shop/pricing.py"
    assert git(repository, "show", "HEAD:shop/pricing.py") + "\n" == RIGHT
    message = harness(repository, "last", "--commit-message").stdout
    assert git(repository, "log", "-1", "--format=%B").strip() == message.strip()
    assert git(repository, "log", "-1", "--format=%an %ae %G?") == "Ada ada@example.org N"
    # What the user had staged is still staged, and no more of it.
    assert git(repository, "diff", "--cached", "--name-only") == "notes.txt"
    assert git(repository, "show", ":notes.txt") == "staged"
    status = git(repository, "status", "--porcelain")
    assert "shop/pricing.py.bak" in status and " shop/pricing.py\n" not in status + "\n"
    git(repository, "fsck", "--strict")


def test_a_detached_head_and_a_folder_inside(project, git, engine):
    engine(FIX)
    top = project.parent
    git(top, "init", "-q")
    git(top, "add", project.name)
    git(top, "commit", "-q", "-m", "begin")
    git(top, "checkout", "-q", "--detach")
    done = harness(project, "run", "--commit", TASK)
    assert done.returncode == 0, done.stderr
    assert git(top, "show", "--name-only", "--format=", "HEAD") == f"{project.name}/shop/pricing.py"
    assert git(top, "rev-parse", "HEAD^") == git(top, "rev-parse", "main")


def test_what_stands_in_the_way_is_told_before_anything_is_done(project, git, engine, monkeypatch):
    server = engine(FIX)

    def refused(words):
        done = harness(project, "run", "--commit", TASK)
        assert done.returncode == 2 and words in done.stderr and "hint:" in done.stderr, done.stderr
        assert pricing(project) == WRONG and not server.requests

    refused("in no git repository")
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "begin")
    (project / ".git/MERGE_HEAD").write_text(git(project, "rev-parse", "HEAD") + "\n")
    refused("a merge is under way")
    (project / ".git/MERGE_HEAD").unlink()
    monkeypatch.setenv("HOME", str(project.parent / "nobody"))
    refused("does not know who you are")
    monkeypatch.setenv("PATH", os.devnull)
    refused("there is no program `git`")
    assert harness(project, "run", "--commit", "--dry-run", TASK).returncode == 2


def test_changes_of_the_user_are_not_taken_along(repository, git, engine):
    engine(FIX)
    before = git(repository, "rev-parse", "HEAD")
    (repository / "shop/pricing.py").write_text("# mine\n" + WRONG, encoding="utf-8")
    done = harness(repository, "run", "--commit", TASK)
    # The user is told before the file changes, and nothing is committed.
    assert done.returncode == 1 and pricing(repository) == "# mine\n" + RIGHT, done.stderr
    told = done.stderr.index("has changes of yours that are not committed")
    assert told < done.stderr.index("wrote shop/pricing.py") < done.stderr.index("not committed: `shop/pricing.py` had changes before the run")
    assert "hint:" in done.stderr and git(repository, "rev-parse", "HEAD") == before
    assert git(repository, "diff", "--cached", "--name-only") == ""


def test_a_file_with_a_filter_is_left_to_the_user(repository, git, engine, tmp_path):
    engine(FIX)
    mark = tmp_path / "started"
    (repository / ".git/info/attributes").write_text("*.py filter=mark\n")
    git(repository, "config", "filter.mark.clean", f"touch '{mark}'; cat")
    before = git(repository, "rev-parse", "HEAD")
    done = harness(repository, "run", "--commit", TASK)
    assert done.returncode == 1 and "with a filter" in done.stderr and pricing(repository) == RIGHT, done.stderr
    assert git(repository, "rev-parse", "HEAD") == before and not mark.exists()


def test_every_file_of_a_rename_is_committed(repository, git):
    (repository / "shop/pricing.py").write_text(RIGHT, encoding="utf-8")
    git(repository, "commit", "-q", "-a", "-m", "mend")
    done = harness(repository, "run", "--commit", "rename discount to rebate in shop/pricing.py")
    assert done.returncode == 0, done.stdout + done.stderr
    files = git(repository, "show", "--name-only", "--format=", "HEAD").splitlines()
    assert "shop/pricing.py" in files and not any(file.endswith(".bak") for file in files)
    assert git(repository, "diff", "HEAD", "--name-only", "--", *files) == ""


def test_a_program_is_told_which_commit_it_is(repository, git, engine):
    engine(FIX)
    done = harness(repository, "run", "--commit", "--json", TASK)
    result = json.loads(done.stdout)
    assert done.returncode == 0 and result["commit"] == git(repository, "rev-parse", "HEAD")
    # Without a commit there is no such field.
    done = harness(repository, "run", "--json", "rename discount to rebate")
    assert done.returncode == 0 and "commit" not in json.loads(done.stdout)
