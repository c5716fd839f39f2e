"""The command line in odd places: interrupted, piped into nothing, narrow, fed with nonsense."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "model_server"))

from scripted import ScriptedServer, Wait  # noqa: E402

PRICING = "def apply_discount(total, percent):\n    return total - percent\n"
TESTS = "import unittest\nfrom pricing import apply_discount\n\n\nclass T(unittest.TestCase):\n    def test_discount(self):\n        self.assertEqual(apply_discount(200, 10), 180)\n"


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pricing.py").write_text(PRICING, encoding="utf-8")
    (folder / "test_pricing.py").write_text(TESTS, encoding="utf-8")
    return folder


def harness():
    found = shutil.which("harness", path=str(pathlib.Path(sys.executable).parent))
    assert found, "the harness program is not beside this Python: run scripts/run/test.py"
    return found


def environment(tmp_path, host="127.0.0.1:9", **more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HARNESS", "OLLAMA", "XDG_", "NO_COLOR", "CLICOLOR")) and not name.lower().endswith("_proxy")}
    return {**kept, "HOME": str(tmp_path), "APPDATA": str(tmp_path), "OLLAMA_HOST": host, **more}


def run(words, tmp_path, cwd=None, **more):
    env = more.pop("env", None) or environment(tmp_path)
    return subprocess.run([harness(), *words], env=env, cwd=cwd, capture_output=True, timeout=60, **more)


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file() and ".harness" not in path.parts}


def test_a_closed_pipe_ends_quietly(tmp_path):
    for words in ([], ["--help"], ["completions", "bash"], ["man"]):
        process = subprocess.Popen([harness(), *words], env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.close()
        assert (process.wait(20), process.stderr.read()) == (0, b""), words
        process.stderr.close()


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
def test_ctrl_c_stops_a_run_with_files_whole(project, tmp_path):
    before = files(project)
    wrong = "```python\ndef apply_discount(total, percent):\n    return total + percent\n```\n"
    # A draft was tried and taken back before the engine fell silent.
    with ScriptedServer([wrong, Wait("")]) as server:
        env = environment(tmp_path, server.host)
        process = subprocess.Popen([harness(), "run", "fix apply_discount in pricing.py", "--json"], env=env, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert server.waiting.wait(60), "the run never came to its second draft"
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    assert (process.returncode, json.loads(out)["stopped"]) == (130, "interrupted")
    assert files(project) == before


def test_a_task_of_a_megabyte_is_read(project, tmp_path):
    task = "fix apply_discount in pricing.py\n" + "the log says nothing of interest here\n" * 28_000
    with ScriptedServer(["```python\ndef apply_discount(total, percent):\n    return total * (100 - percent) / 100\n```"]) as server:
        done = run(["run", "-", "--json"], tmp_path, cwd=project, env=environment(tmp_path, server.host), input=task.encode())
        sent = len(json.dumps(server.requests))
    assert (done.returncode, json.loads(done.stdout)["ok"]) == (0, True), done.stderr
    assert sent < 40_000


def test_no_control_character_of_a_model_reaches_the_terminal(project, tmp_path):
    nasty = "\x1b]0;owned\x07 the \x1b[31mtotal\x9b31m\u202e"
    with ScriptedServer([nasty]) as server:
        env = environment(tmp_path, server.host, CLICOLOR_FORCE="1")
        done = run(["ask", "what does apply_discount return?"], tmp_path, cwd=project, env=env)
        as_json = run(["ask", "what does apply_discount return?", "--json"], tmp_path, cwd=project, env=env)
    assert done.returncode == 0, done.stderr
    shown = (done.stdout + done.stderr + as_json.stdout).decode()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shown), shown
    assert "total" in shown


def test_tool_results_are_shown_where_they_are_wanted(project, tmp_path):
    fixed = "```python\ndef apply_discount(total, percent):\n    return total * (100 - percent) / 100\n```"
    for words, is_shown in (([], False), (["-v"], True)):
        (project / "pricing.py").write_text(PRICING, encoding="utf-8")
        with ScriptedServer([fixed]) as server:
            done = run(["run", "fix apply_discount in pricing.py", *words], tmp_path, cwd=project, env=environment(tmp_path, server.host))
        assert done.returncode == 0, done.stderr
        for result in (b"    +    return total * (100 - percent) / 100", b"    Ran 1 test"):
            assert (result in done.stderr) == is_shown, (words, result, done.stderr)


def test_what_a_model_looked_at_is_shown_where_it_is_wanted(project, tmp_path):
    looks = ["Action: read\nPath: pricing.py", "It takes a part off."]
    for words, is_shown in (([], False), (["-v"], True)):
        with ScriptedServer(looks) as server:
            done = run(["ask", "how is the price made?", *words], tmp_path, cwd=project, env=environment(tmp_path, server.host))
        assert b"read brought " in done.stderr, done.stderr
        assert (b"def apply_discount" in done.stderr) == is_shown, (words, done.stderr)


def test_colour_only_where_it_is_wanted(project, tmp_path):
    fixed = "```python\ndef apply_discount(total, percent):\n    return total * (100 - percent) / 100\n```"
    for wanted, more in ((False, {}), (False, {"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}), (True, {"CLICOLOR_FORCE": "1"})):
        (project / "pricing.py").write_text(PRICING, encoding="utf-8")
        with ScriptedServer([fixed]) as server:
            done = run(["run", "fix apply_discount in pricing.py"], tmp_path, cwd=project, env=environment(tmp_path, server.host, **more))
        assert done.returncode == 0, done.stderr
        assert (b"\x1b[32m" in done.stdout) == wanted, more


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_a_narrow_terminal(project, tmp_path):
    import fcntl
    import pty
    import struct
    import termios

    for words in ([], ["brief"], ["layout"], ["route", "fix apply_discount"]):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
        process = subprocess.Popen([harness(), *words], env=environment(tmp_path, TERM="dumb"), cwd=project, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL)
        os.close(theirs)
        text = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:
                break
            if not piece:
                break
            text += piece
        os.close(ours)
        assert process.wait(20) == 0, words
        long = [line for line in text.decode().splitlines() if len(line) > 60]
        assert text and not long, (words, long)


def test_a_broken_config_is_a_clear_error(project, tmp_path):
    env = environment(tmp_path, XDG_CONFIG_HOME=str(tmp_path / "config"))
    place = next(folder for folder in (tmp_path / "config" / "harness", tmp_path / "harness", tmp_path / "Library" / "Application Support" / "harness") if sys.platform != "darwin" or "Library" in str(folder))
    place = tmp_path / "harness" if os.name == "nt" else place
    place.mkdir(parents=True)
    (place / "config.toml").write_text("steps = 3\nstepz = 4\n", encoding="utf-8")
    done = run(["ask", "what does apply_discount return?", "--json"], tmp_path, cwd=project, env=env)
    assert done.returncode == 2, done.stderr
    assert b"config.toml" in done.stderr and b"hint:" in done.stderr and b"line 2" in done.stderr
    assert "config.toml" in json.loads(done.stdout)["error"]["message"]


def test_every_setting_is_shown_with_where_it_came_from(project, tmp_path):
    for folder in (".config", "Library/Application Support", "."):
        place = tmp_path / folder / "harness"
        place.mkdir(parents=True, exist_ok=True)
        text = f'model = "m1"\nbase_url = "https://me:pass@host.example/v1"\n[[project]]\npath = {json.dumps(str(project))}\ntests = ["make", "check"]\n'
        (place / "config.toml").write_text(text, encoding="utf-8")
    words = [harness(), "config", str(project), "--engine", "remote"]
    env = environment(tmp_path, HARNESS_MAX_SEND="5")
    done = subprocess.run([*words, "--json"], env=env, capture_output=True, text=True)
    told = json.loads(done.stdout)
    assert done.returncode == 0 and told["found"] and told["file"].endswith("config.toml")
    found = {one["name"]: (one["value"], one["from"]) for one in told["settings"]}
    assert found["engine"] == ("remote", "a flag") and found["model"] == ("m1", "the config file")
    assert found["steps"] == ("20", "the default") and found["max_send"] == ("5", "HARNESS_MAX_SEND")
    assert found["base_url"][0] == "https://host.example/v1" and found["tests of this project"][0] == "make check"
    shown = subprocess.run(words, env=env, capture_output=True, text=True).stdout
    assert "m1  (the config file)" in shown and "pass" not in shown
    absent = subprocess.run([harness(), "config", "/no/such/folder"], env=env, capture_output=True, text=True)
    assert absent.returncode == 2 and "hint:" in absent.stderr and not absent.stdout


def test_help_is_a_command_too(tmp_path):
    def said(*words):
        return subprocess.run([harness(), *words], env=environment(tmp_path), capture_output=True, text=True)

    assert said("help", "undo").stdout == said("undo", "--help").stdout
    assert said("help").stdout == said("--help").stdout
    unknown = said("help", "nosuch")
    assert unknown.returncode == 2 and "there is no command `nosuch`" in unknown.stderr and "hint:" in unknown.stderr


def test_errors_are_json_where_json_is_asked_for(tmp_path):
    for words in (["brief", "/no/such/folder", "--json"], ["nosuch", "--json"], ["run", "--json"]):
        done = run(words, tmp_path, cwd=tmp_path)
        assert (done.returncode, sorted(json.loads(done.stdout)["error"])) == (2, ["code", "hint", "message", "param", "type"]), words


def test_completions_and_manual_pages(tmp_path):
    for shell in ("bash", "zsh", "fish", "powershell", "nushell"):
        done = run(["completions", shell], tmp_path)
        assert done.returncode == 0, shell
        assert b"harness" in done.stdout, shell
    for words in (["man"], ["man", "run"]):
        done = run(words, tmp_path)
        assert done.returncode == 0, words
        assert b"\n.TH harness" in done.stdout, words


def completed(folder, env, *words):
    """What bash offers for the last of these words."""
    script = subprocess.run([harness(), "completions", "bash"], capture_output=True, text=True, timeout=60, check=True).stdout
    line = " ".join(f"'{word}'" for word in ("harness", *words))
    ask = f'{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}; COMP_TYPE=9; _clap_complete_harness harness \'{words[-1]}\'; printf "%s\\n" "${{COMPREPLY[@]}}"'
    folders = f"{pathlib.Path(harness()).parent}{os.pathsep}{env['PATH']}"
    done = subprocess.run(["bash", "-c", ask], cwd=folder, capture_output=True, text=True, timeout=60, env={**env, "PATH": folders})
    return done.stdout.split()


@pytest.mark.skipif(sys.platform == "win32", reason="bash is Unix's")
def test_completions_know_what_can_stand_there(project, tmp_path):
    env = environment(tmp_path)
    (project / "README.md").write_text("x")
    assert completed(project, env, "run", "--engine", "") == ["local", "on-device", "remote"]
    assert completed(project, env, "editors", "z") == ["zed"]
    assert completed(project, env, "ask", "--skill", "nosuch") == []
    skills = completed(project, env, "ask", "--skill", "")
    assert len(skills) == 14 and "README.md" not in skills
    with ScriptedServer(["no"]) as server:
        assert completed(project, environment(tmp_path, server.host), "run", "--model", "q") == ["qwen3:8b"]
    run(["run", "--project", str(project), "rename apply_discount to discounted"], tmp_path)
    runs = json.loads(run(["last", "--json", "--project", str(project)], tmp_path).stdout)["runs"]
    assert runs and completed(project, env, "undo", "")[: len(runs)] == [one["run"] for one in runs]
    # No file is offered where none can stand.
    assert completed(project, env, "undo", "READ") == []


def test_a_run_is_replayed_and_judged_again_without_a_model(project, tmp_path):
    right = "```python\ndef apply_discount(total, percent):\n    return total * (100 - percent) / 100\n```\n"
    with ScriptedServer([right]) as server:
        done = run(["run", ".", "fix apply_discount in pricing.py", "--json"], tmp_path, cwd=project, env=environment(tmp_path, server.host))
    assert done.returncode == 0, done.stderr
    first = json.loads(done.stdout)
    fixed = (project / "pricing.py").read_bytes()
    # What it changed is there: nothing to replay, and how to go on is said.
    done = run(["replay", first["run_id"]], tmp_path, cwd=project)
    assert done.returncode == 1 and f"harness undo {first['run_id']}".encode() in done.stderr
    assert run(["undo"], tmp_path, cwd=project).returncode == 0
    assert (project / "pricing.py").read_bytes() != fixed
    # Without any engine: the change is applied, and the tests judge it again.
    done = run(["replay", first["run_id"], "--json"], tmp_path, cwd=project)
    again = json.loads(done.stdout)
    assert (done.returncode, again["ok"], again["usage"]["model_calls"]) == (0, True, 0), done.stderr
    assert again["tests"]["after"] == first["tests"]["after"] and again["writes"] == first["writes"]
    assert (project / "pricing.py").read_bytes() == fixed
    # A file that changed since is not written over.
    assert run(["undo"], tmp_path, cwd=project).returncode == 0
    (project / "pricing.py").write_text("# mine\n" + (project / "pricing.py").read_text())
    mine = (project / "pricing.py").read_bytes()
    done = run(["replay", first["run_id"]], tmp_path, cwd=project)
    assert done.returncode == 1 and b"is not what it was" in done.stderr and (project / "pricing.py").read_bytes() == mine
    done = run(["replay", "20200101-000000-00000000"], tmp_path, cwd=project)
    assert done.returncode == 2 and b"no run" in done.stderr
    # The story of a run has its steps.
    done = run(["last", first["run_id"], "--json"], tmp_path, cwd=project)
    assert [step["action"] for step in json.loads(done.stdout)["steps"]] == ["edit"]


def replayed(project, tmp_path, more):
    """Fixes the function in a file with more in it, takes it back, and replays it."""
    (project / "pricing.py").write_text(PRICING + more, encoding="utf-8")
    right = "```python\ndef apply_discount(total, percent):\n    return total * (100 - percent) / 100\n```\n"
    with ScriptedServer([right]) as server:
        done = run(["run", ".", "fix apply_discount in pricing.py", "--json"], tmp_path, cwd=project, env=environment(tmp_path, server.host))
    assert done.returncode == 0, done.stderr
    assert run(["undo"], tmp_path, cwd=project).returncode == 0
    return run(["replay", json.loads(done.stdout)["run_id"]], tmp_path, cwd=project)


def test_a_long_file_is_replayed_whole(project, tmp_path):
    done = replayed(project, tmp_path, "\n# a line that says little\n" * 2_000)
    assert done.returncode == 0, done.stderr
    assert (project / "pricing.py").read_text().count("says little") == 2_000


def test_a_change_that_the_record_does_not_keep_is_not_replayed(project, tmp_path):
    before = run(["last"], tmp_path, cwd=project)
    assert before.returncode == 0
    key = "AKIA" + "Q3TSHWFKZN7LDX2B"
    done = replayed(project, tmp_path, f'\nKEY = "{key}"\n')
    assert done.returncode == 2 and b"were redacted" in done.stderr, done.stderr
    assert key.encode() not in (project / ".harness" / "traces.jsonl").read_bytes()


def test_questions_of_fact_are_answered_also_without_an_engine(project, tmp_path):
    done = run(["ask", ".", "what calls apply_discount?"], tmp_path, cwd=project)
    assert (done.returncode, b"no model server answers" in done.stderr) == (4, True)
    assert b"`T.test_discount` calls `apply_discount` (test_pricing.py:7)" in done.stdout
    with ScriptedServer(["Nothing does, see other.py:3."]) as server:
        done = run(["ask", ".", "what calls apply_discount?"], tmp_path, cwd=project, env=environment(tmp_path, server.host))
        assert "Facts, checked against the code" in json.dumps(server.requests)
    told = done.stdout.decode()
    assert done.returncode == 0 and told.startswith("Nothing does") and "not there: other.py:3" in told
    assert "checked:\n- `apply_discount` is defined" in told and "trust the checked ones" in told


def test_questions_about_the_project_are_answered_from_its_documents(project, tmp_path):
    (project / "README.md").write_text("# Shop\n\nTakes percent off prices.\n\n## Secrets of the trade\n\nNone.\n", encoding="utf-8")
    (project / "pyproject.toml").write_text('[project]\nname = "shop"\nrequires-python = ">=3.9"\n', encoding="utf-8")
    known = {"how are the tests run?": "the tests are run by", "which python versions are supported?": '`requires-python = ">=3.9"` (pyproject.toml:3)'}
    for question, fact in known.items():
        asked = run(["ask", question], tmp_path, cwd=project)
        assert asked.returncode == 4 and fact in asked.stdout.decode(), asked
    with ScriptedServer(["It takes percent off prices."]) as server:
        asked = run(["ask", "what does this project do?"], tmp_path, cwd=project, env=environment(tmp_path, server.host))
        shown = server.requests[-1]["messages"][-1]["content"]
    assert asked.returncode == 0 and "Takes percent off prices." in shown and "def apply_discount" not in shown, shown
    assert str(pathlib.Path(sys.executable).parent) not in shown, "where this machine keeps its programs"


def test_the_length_of_the_prompt_is_that_of_what_it_shows(tmp_path):
    folder = tmp_path / "large"
    folder.mkdir()
    body = "".join(f"    def part_{at}(self):\n        return {at}\n\n" for at in range(3000))
    (folder / "large.py").write_text("class Large:\n" + body)
    done = run(["route", "fix Large in large.py", "--json"], tmp_path, cwd=folder, env=environment(tmp_path))
    assert done.returncode == 0, done.stderr
    assert 350 < json.loads(done.stdout)["prompt_tokens"] < 2000
