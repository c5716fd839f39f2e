"""`apply` writes what was only proposed, through the same guards and tests; `clean` takes away what runs left."""

import json
import os
import signal
import stat
import subprocess
import time

from conftest import FIX, RIGHT, TASK, WRONG, WRONG_DRAFT, tree
from scripted import Wait
from serving import PROGRAM, Served, is_error


def harness(project, *words, **environment):
    done = subprocess.run([PROGRAM, *words, "--project", str(project)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, env={**os.environ, **environment})
    assert "panicked" not in done.stderr
    return done


def pricing(project):
    return (project / "shop/pricing.py").read_text(encoding="utf-8")


def proposed(project, *words, **environment):
    done = harness(project, "run", *words, "--dry-run", "--json", **environment)
    result = json.loads(done.stdout)
    assert done.returncode == 0 and result["writes"] == [] and result["diff"], done.stdout
    return result["run_id"]


def test_a_dry_run_is_applied(project, engine, tmp_path):
    state = tmp_path / "state"
    engine(FIX)
    before = tree(project)
    run = proposed(project, TASK, XDG_STATE_HOME=str(state))
    # Nothing of it is in the project, and nobody else can read it.
    assert tree(project) == before and not (project / ".harness").exists()
    kept = state / "harness/proposals" / f"{run}.json"
    listed = json.loads(harness(project, "last", "--json", XDG_STATE_HOME=str(state)).stdout)
    assert listed["runs"] == [] and [(one["run"], one["task"], one["files"]) for one in listed["proposed"]] == [(run, TASK, ["shop/pricing.py"])]
    assert f"apply  harness apply {run}" in harness(project, "last", XDG_STATE_HOME=str(state)).stdout
    assert "no run is remembered" in harness(tmp_path, "last", XDG_STATE_HOME=str(state)).stdout
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600 and stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    done = harness(project, "apply", run, "--json", XDG_STATE_HOME=str(state))
    result = json.loads(done.stdout)
    assert (done.returncode, result["ok"], result["writes"], pricing(project)) == (0, True, ["shop/pricing.py"], RIGHT), done
    assert result["usage"]["model_calls"] == 0 and result["tests"]["after"]["passed"] == 1
    assert json.loads(harness(project, "last", "--json", XDG_STATE_HOME=str(state)).stdout)["proposed"] == []
    # It is a run like others: it is not applied twice, and can be taken back.
    again = harness(project, "apply", run, XDG_STATE_HOME=str(state))
    assert again.returncode == 1 and "already" in again.stdout and "harness undo" in again.stderr
    assert harness(project, "undo").returncode == 0 and pricing(project) == WRONG


def test_what_was_saved_after_a_proposal_is_not_overwritten(project, engine, tmp_path):
    edit = json.dumps({"tool": "edit", "path": "shop/pricing.py", "content": RIGHT})
    server = engine(edit, Wait("That is all."))
    state = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    command = [PROGRAM, "run", TASK, "--dry-run", "--json", "--project", str(project)]
    dry = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=state)
    assert server.waiting.wait(60)
    saved = WRONG.replace("percent", "per_cent")
    (project / "shop/pricing.py").write_text(saved, encoding="utf-8")
    server.go_on.set()
    result = json.loads(dry.communicate(timeout=60)[0])
    assert result["ok"] and result["diff"], result
    done = harness(project, "apply", result["run_id"], XDG_STATE_HOME=state["XDG_STATE_HOME"])
    assert done.returncode != 0 and pricing(project) == saved, done.stdout + done.stderr


def test_what_is_saved_while_a_removal_is_tried_stays(project, engine, tmp_path):
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    old = project / "shop/old.py"
    old.write_text("def less(total):\n    return total\n", encoding="utf-8")
    slow = "import time\nimport unittest\n\n\nclass SlowTest(unittest.TestCase):\n    def test_slow(self):\n        time.sleep(3)\n"
    (project / "tests/test_slow.py").write_text(slow, encoding="utf-8")
    engine("*** Begin Patch\n*** Update File: shop/pricing.py\n@@\n-    return total - percent\n+    return total * (100 - percent) / 100\n*** Delete File: shop/old.py\n*** End Patch\n", "That is all.")
    run = proposed(project, f"{TASK} and delete shop/old.py", **state)
    command = [PROGRAM, "apply", run, "--project", str(project)]
    applied = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **state})
    # The files were looked at by then, and nothing of the change is tried yet.
    said = next(line for line in applied.stderr if "running" in line)
    old.write_text("def less(total):\n    return total  # mine\n", encoding="utf-8")
    out, error = applied.communicate(timeout=60)
    assert "# mine" in old.read_text(encoding="utf-8"), said + out + error
    assert applied.returncode == 1 and "by someone else" in out + error, out + error


def test_a_dry_rename_is_applied(project, tmp_path):
    state = str(tmp_path / "state")
    (project / "shop/pricing.py").write_text(RIGHT, encoding="utf-8")
    run = proposed(project, "rename discount to rebate", XDG_STATE_HOME=state)
    (project / "shop/pricing.py").write_text(WRONG, encoding="utf-8")
    changed = harness(project, "apply", run, XDG_STATE_HOME=state)
    assert changed.returncode == 1 and "not what it was" in changed.stdout and pricing(project) == WRONG
    (project / "shop/pricing.py").write_text(RIGHT, encoding="utf-8")
    assert harness(project, "apply", run, XDG_STATE_HOME=state).returncode == 0
    assert "def rebate" in pricing(project) and "rebate(200, 10)" in (project / "tests/test_pricing.py").read_text(encoding="utf-8")


def test_what_cannot_be_read_is_not_taken_for_absent(project, engine, tmp_path):
    state = str(tmp_path / "state")
    engine("*** Begin Patch\n*** Add File: shop/tax.py\n+def tax(total):\n+    return total / 5\n*** End Patch\n")
    run = proposed(project, "add a function tax in a new file shop/tax.py", XDG_STATE_HOME=state)
    listed = lambda: [one["run"] for one in json.loads(harness(project, "last", "--json", XDG_STATE_HOME=state).stdout)["proposed"]]
    assert listed() == [run]
    (project / "shop/tax.py").mkdir()
    assert listed() == []


def test_what_does_not_stand_the_tests_is_not_applied(project, engine, tmp_path):
    state = str(tmp_path / "state")
    engine(WRONG_DRAFT)
    run = proposed(project, TASK, XDG_STATE_HOME=state)
    done = harness(project, "apply", run, XDG_STATE_HOME=state)
    assert done.returncode == 1 and pricing(project) == WRONG
    assert not list(project.rglob("*.bak"))
    kept = harness(project, "apply", run, "--keep", XDG_STATE_HOME=state)
    assert "kept, unproven" in kept.stdout and "total + percent" in pricing(project)


def test_an_attempt_that_was_taken_back_is_applied_later(project, engine):
    engine(FIX)
    asked = harness(project, "run", TASK, "--ask", "--json")
    result = json.loads(asked.stdout)
    assert (asked.returncode, result["stopped"], result["writes"], pricing(project)) == (3, "question", [], WRONG)
    assert harness(project, "apply", result["run_id"]).returncode == 0 and pricing(project) == RIGHT


def test_a_run_that_proposed_nothing_is_refused(project, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text("def one():\n    return 1\n", encoding="utf-8")
    state = str(tmp_path / "state")
    run = proposed(project, "rename discount to rebate", XDG_STATE_HOME=state)
    for folder, name in ((project, "nosuch"), (project, "../../etc/passwd"), (project, "20260101-000000-00000000"), (other, run)):
        done = harness(folder, "apply", name, XDG_STATE_HOME=state)
        assert done.returncode == 2 and "hint:" in done.stderr, (name, done.stderr)
    # Nothing is kept where no record is wanted.
    quiet = proposed(project, "rename discount to rebate", "--no-record", XDG_STATE_HOME=state)
    assert harness(project, "apply", quiet, XDG_STATE_HOME=state).returncode == 2
    # A state folder that cannot be written costs the later, not the dry run.
    assert proposed(project, "rename discount to rebate", XDG_STATE_HOME="/dev/null")


def test_apply_over_http(project, engine, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    engine(FIX)
    with Served(project, "--allow-writes") as server:
        dry = server.call("POST", "/v1/run", {"task": TASK, "dry_run": True}, timeout=60)[2]
        assert dry["ok"] and dry["writes"] == [] and "harness apply" in dry["hint"]
        status, _, done = server.call("POST", "/v1/apply", {"run": dry["run_id"]}, timeout=120)
        assert (status, done["ok"], pricing(project)) == (200, True, RIGHT)
        status, headers, answer = server.call("POST", "/v1/apply", {"run": "nosuch"})
        assert status == 400 and is_error(status, headers, answer)["param"] == "run"
        status, headers, answer = server.call("POST", "/v1/apply", {})
        assert status == 400 and is_error(status, headers, answer)["param"] == "run"
    with Served(project) as server:
        status, headers, answer = server.call("POST", "/v1/apply", {"run": dry["run_id"]})
        assert status == 403 and is_error(status, headers, answer)["code"] == "writes_disabled"


def test_clean_removes_the_copies_of_runs_and_nothing_else(project, engine):
    engine(FIX)
    assert harness(project, "clean").stdout == "nothing to clean\n" and not (project / ".harness").exists()
    own = project / "notes.bak"
    own.write_text("mine", encoding="utf-8")
    assert harness(project, "run", TASK).returncode == 0
    copy = project / "shop/pricing.py.bak"
    asked = harness(project, "clean")
    assert (asked.returncode, "shop/pricing.py.bak\n" in asked.stdout, copy.exists()) == (3, True, True) and "--yes" in asked.stderr
    done = harness(project, "clean", "--yes", "--json")
    assert json.loads(done.stdout) == {"backups": ["shop/pricing.py.bak"], "folders": [], "removed": True}
    assert not copy.exists() and own.exists() and pricing(project) == RIGHT
    # The run can be taken back all the same, and a copy that somebody wrote to is theirs.
    assert harness(project, "undo").returncode == 0 and pricing(project) == WRONG
    assert harness(project, "run", TASK).returncode == 0
    copy.write_text("mine", encoding="utf-8")
    assert harness(project, "clean", "--yes").stdout == "nothing to clean\n" and copy.read_text() == "mine"


def test_clean_all_takes_the_user_s_caches_too(project, tmp_path):
    homes = {name: str(tmp_path / name) for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")}
    proposed(project, "rename discount to rebate", **homes)
    cache = tmp_path / "XDG_CACHE_HOME/harness"
    cache.mkdir(exist_ok=True, parents=True)
    (cache / "fact").write_text("1", encoding="utf-8")
    outside = tmp_path / "outside"
    outside.write_text("stays", encoding="utf-8")
    (cache / "link").symlink_to(outside)
    listed = harness(project, "clean", "--all", **homes)
    assert listed.returncode == 3 and "caches" in listed.stdout and "proposals" in listed.stdout and cache.exists()
    assert harness(project, "clean", "--all", "--yes", **homes).returncode == 0
    assert not cache.exists() and outside.read_text() == "stays"


def test_a_copy_of_the_user_s_own_is_not_cleaned(project, engine):
    engine(FIX)
    assert harness(project, "run", TASK).returncode == 0
    assert harness(project, "undo").returncode == 0
    own = project / "shop/pricing.py.bak"
    own.write_text(WRONG, encoding="utf-8")
    assert "nothing to clean" in harness(project, "clean", "--yes").stdout
    assert own.read_text(encoding="utf-8") == WRONG


def test_two_renames_at_once_lose_nothing(project):
    code = RIGHT + "\n\ndef tax(total):\n    return total\n"
    (project / "shop/pricing.py").write_text(code, encoding="utf-8")
    words = {"rebate": "rename discount to rebate", "levy": "rename tax to levy"}
    started = {name: subprocess.Popen([PROGRAM, "run", task, "--project", str(project), "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for name, task in words.items()}
    results = {name: json.loads(process.communicate(timeout=120)[0]) for name, process in started.items()}
    assert any(result["ok"] for result in results.values())
    for name, result in results.items():
        assert (f"def {name}(" in pricing(project)) == result["ok"], (name, result["summary"], pricing(project))


def test_a_rename_that_waited_keeps_what_was_saved_meanwhile(project, engine):
    server = engine(Wait(""))
    holding = subprocess.Popen([PROGRAM, "run", TASK, "--project", str(project)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert server.waiting.wait(60)
        waiting = subprocess.Popen([PROGRAM, "run", "rename discount to rebate", "--project", str(project), "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        # Working it out takes milliseconds; then it waits for the project.
        time.sleep(3)
        assert waiting.poll() is None
        saved = pricing(project) + "\n\nKEPT = 1\n"
        (project / "shop/pricing.py").write_text(saved, encoding="utf-8")
    finally:
        holding.send_signal(signal.SIGINT)
        holding.wait(60)
    result = json.loads(waiting.communicate(timeout=120)[0])
    assert "KEPT = 1" in pricing(project), result["summary"]
    assert result["ok"] == ("def rebate(" in pricing(project)), result["summary"]


def test_half_a_secret_is_not_kept(project, tmp_path):
    token = "ghp_" + "a1B2c3D4e5" * 4
    line = "x " * 9_990 + token + "\n"
    done = subprocess.run([PROGRAM, "chat", "--project", str(project)], input="hello\n" + line, capture_output=True, text=True, timeout=120)
    assert "panicked" not in done.stderr
    kept = project / ".harness/chat.jsonl"
    assert not kept.exists() or "ghp_" not in kept.read_text(encoding="utf-8")
