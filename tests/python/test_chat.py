"""`harness chat`: line by line from a pipe, and with an editor in a pseudo-terminal."""

import json
import re
import signal
import stat
import subprocess
import sys
import time

import pytest

from conftest import FIX, RIGHT, TASK, WRONG
from scripted import Wait
from serving import PROGRAM
from terminal import Terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are Unix's")


def pricing(project):
    return (project / "shop/pricing.py").read_text(encoding="utf-8")


def talk(project, lines, *words):
    text = lines if isinstance(lines, bytes) else "".join(f"{line}\n" for line in lines).encode()
    return subprocess.run([PROGRAM, "chat", str(project), *words], input=text, capture_output=True, timeout=120)


def test_a_pipe_is_a_conversation(project, engine):
    server = engine(FIX, "It takes the percentage off.")
    done = talk(project, [TASK, "undo that", "", "redo", "rename it to rebate", "what does it return?", "/help", "thanks"])
    out = done.stdout.decode()
    assert done.returncode == 0, done.stderr.decode()
    assert "def rebate" in pricing(project) and "took back" in out and "brought back" in out and "It takes the percentage off." in out
    assert "what does `rebate` return?" in json.dumps(server.requests[-1])
    assert "/undo" in out and "Any time." in out and "\x1b" not in out + done.stderr.decode()
    # The diff comes first, and how to take it back stands once.
    assert out.index("--- a/shop/pricing.py") < out.index("changed `discount`") < out.index("take it back with: harness undo")


def test_commands_know_what_was_said_and_tell_what_they_did(project, engine):
    engine("It takes the percentage off.")
    lines = ["what does discount return?", "/route rename it to rebate", "/route undo that", "/file shop/pricing.py", "/file", "/model other:1b", "/model", "/tests"]
    done = talk(project, lines)
    told, beside = done.stdout.decode(), done.stderr.decode()
    assert "kind     rename" in told and "names no file" not in told and "would be taken back" in told, told
    for words in ("the model is shown shop/pricing.py from here on\nshop/pricing.py\n", "other:1b is used from here on\nother:1b\n"):
        assert words in told
    assert (told + beside).count("0 passed, 1 failed") == 1


def test_json_is_one_result_a_line(project, engine):
    engine(FIX)
    done = talk(project, [TASK, "undo that", "clean this up"], "--json")
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(one["stopped"], one["writes"]) for one in results] == [("done", ["shop/pricing.py"]), ("done", ["shop/pricing.py"]), ("question", [])]
    assert done.returncode == 3


def test_every_line_of_json_is_json(project, engine):
    engine("I do not know.")
    done = talk(project, ["/help", "/nosuch", "/model", "/diff", "/tests", "/brief", "thanks"], "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line.get("command") if "text" in line else None for line in lines] == ["help", None, "model", "diff", None, "brief", None]
    assert "/undo" in lines[0]["text"] and lines[1]["error"]["hint"] and lines[3]["text"] == ""
    assert lines[4]["failures"] and lines[6]["summary"] == "Any time."


def test_a_question_of_the_model_is_no_question_of_ours(project, engine):
    server = engine("It takes the percentage off. Shall I change it?", FIX)
    done = talk(project, ["what does discount return?", TASK])
    assert done.returncode == 0 and pricing(project) == RIGHT, done.stdout
    # The prompt shows the task alone.
    assert "what does discount return?\\n" + TASK not in json.dumps(server.requests[-1])


def test_a_pasted_log_is_read_at_once(project, engine):
    engine("I do not know.")
    line = "see " + "the value of total is wrong in line 12 of nosuch.module " * 1000
    began = time.monotonic()
    done = talk(project, [line])
    # A linear reading takes a second; a quadratic one took minutes.
    assert time.monotonic() - began < 40 and done.returncode in (0, 3), done.stderr


def test_a_conversation_is_taken_up_again(project, engine):
    key = "AKIA" + "Q7X4M2N8P5R3T6V9"
    engine(FIX)
    assert talk(project, [TASK, f"thanks {key}"]).returncode in (0, 1, 3)
    kept = project / ".harness/chat.jsonl"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600 and key not in kept.read_text() and "[redacted:" in kept.read_text()
    assert pricing(project) == RIGHT
    done = talk(project, ["undo that"], "--resume")
    assert (done.returncode, pricing(project)) == (0, WRONG), done.stdout
    # A new conversation knows nothing of the old one.
    done = talk(project, ["rename it to rebate"])
    assert done.returncode == 3 and pricing(project) == WRONG


def test_what_goes_wrong_is_told_and_ends_nothing(project, engine, tmp_path):
    assert talk(project, b"").returncode == 0
    nonsense = talk(project, b"\xff\xfe\x00\x01\n")
    assert nonsense.returncode == 2 and b"hint:" in nonsense.stderr
    wrong = talk(project, ["/nosuch", "/file nosuch.py", "/route", "/model", "/file", "/diff", "thanks"])
    assert wrong.returncode == 0 and wrong.stderr.count(b"hint:") == 3, wrong.stderr
    assert talk(tmp_path / "nosuch", ["hi"]).returncode == 2
    missing = talk(project, ["what does discount do?"], "--engine", "local")
    assert missing.returncode == 4 and missing.stderr.count(b"harness:") == 1 and b"hint:" in missing.stderr
    assert talk(project, ["/quit", "fix discount in shop/pricing.py"]).returncode == 0 and pricing(project) == WRONG
    engine("I do not know.")
    closed = subprocess.run(f"printf 'what does discount do?\\n/help\\n' | '{PROGRAM}' chat '{project}' | true", shell=True, capture_output=True, timeout=60)
    assert b"panicked" not in closed.stderr


def test_a_change_that_nobody_can_confirm_is_not_kept(project, engine):
    engine(FIX)
    done = talk(project, [TASK], "--ask")
    assert (done.returncode, pricing(project)) == (3, WRONG), done.stdout
    assert b"+    return total * (100 - percent) / 100" in done.stdout and b"harness apply" in done.stderr
    assert not (project / "shop/pricing.py.bak").exists()


def test_a_yes_does_not_make_the_change_again(project, engine):
    server = engine(FIX)
    done = talk(project, [TASK, "yes"], "--ask")
    assert (done.returncode, pricing(project)) == (0, WRONG), done.stdout
    assert b"`harness apply` line above" in done.stdout and len(server.requests) == 1
    run = re.search(rb"harness apply (\S+)`", done.stderr)[1].decode()
    applied = subprocess.run([PROGRAM, "apply", "--project", str(project), run], capture_output=True, timeout=120)
    assert applied.returncode == 0 and pricing(project) == RIGHT
    # What was taken back is not taken back again in silence.
    undo = [PROGRAM, "undo", "--project", str(project)]
    last = re.search(rb"harness undo (\S+)", applied.stdout)[1].decode()
    assert subprocess.run([*undo, last], capture_output=True, timeout=60).returncode == 0 and pricing(project) == WRONG
    twice = subprocess.run([*undo, last], capture_output=True, timeout=60)
    assert twice.returncode == 1 and b"left no change" in twice.stderr and b"hint:" in twice.stderr


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_terminal_edits_and_shows(project, engine, columns):
    engine(FIX, "It takes the percentage off the total.")
    with Terminal(columns, "chat", str(project)) as terminal:
        terminal.expect(r"/quit\s+leaves")
        terminal.expect("> ")
        terminal.type("fix disc\t in shop/pri\t\r")
        terminal.expect(r"\+    return total \* \(100 - percent\)")
        terminal.expect(r"take it back with:\s+harness undo")
        terminal.expect("> ")
        terminal.type("what does it return?\r")
        terminal.expect("It takes the percentage off the total")
        terminal.expect("> ")
        # The arrow brings back what was said; Ctrl-C clears the line, and leaves at the second time.
        terminal.type("\x1b[A")
        terminal.expect("what does it return")
        terminal.type("\x03")
        terminal.expect("press Ctrl-C again to leave")
        terminal.type("\x03")
        assert terminal.ended() == 0
    assert pricing(project) == RIGHT


def test_ctrl_c_stops_the_run_and_not_the_conversation(project, engine):
    server = engine(Wait(""))
    with Terminal(80, "chat", str(project)) as terminal:
        terminal.expect("> ")
        terminal.type(f"{TASK}\r")
        assert server.waiting.wait(30)
        terminal.type("\x03")
        terminal.expect("interrupted")
        terminal.expect("> ")
        terminal.type("thanks\r")
        terminal.expect("Any time")
        terminal.expect("> ")
        terminal.type("\x04")
        assert terminal.ended() == 0
    assert pricing(project) == WRONG


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_the_terminal_as_it_was(project, ending):
    import termios

    with Terminal(80, "chat", str(project)) as terminal:
        terminal.expect("> ")
        end = time.monotonic() + 20
        while termios.tcgetattr(terminal.own)[3] & termios.ICANON and time.monotonic() < end:
            time.sleep(0.01)
        assert not termios.tcgetattr(terminal.own)[3] & termios.ICANON
        terminal.process.send_signal(ending)
        assert terminal.ended() == 130
        assert termios.tcgetattr(terminal.own)[3] & (termios.ICANON | termios.ECHO) == termios.ICANON | termios.ECHO
        # The line editor may end what it drew at once after that.
        assert re.sub(r"\x1b\[\?2026[hl]", "", terminal.seen).rstrip().endswith("\x1b[?2004l")


def test_a_change_is_kept_or_dropped_by_one_key(project, engine):
    engine(FIX)
    with Terminal(80, "chat", "--ask", str(project)) as terminal:
        terminal.expect("> ")
        terminal.type(f"{TASK}\r")
        terminal.expect(r"\[k\]eep, \[d\]rop, \[e\]dit: ")
        assert pricing(project) == WRONG
        terminal.type("d")
        terminal.expect("the change was not kept")
        terminal.expect("> ")
        assert pricing(project) == WRONG
        terminal.type("again\r")
        shown = terminal.expect(r"\[k\]eep, \[d\]rop, \[e\]dit: ")
        assert shown.count("--- a/shop/pricing.py") == 1
        terminal.type("k")
        rest = terminal.expect("take it back with")
        # What was read before the key was pressed is not told again.
        assert "--- a/shop" not in rest and "changed `discount`" not in rest
        terminal.expect("> ")
        terminal.type("\x04")
        assert terminal.ended() == 0
    assert pricing(project) == RIGHT


@pytest.mark.parametrize("kind", ["xterm-256color", "dumb"])
def test_ctrl_c_at_the_decision_drops_and_goes_on(project, engine, kind):
    engine(FIX)
    with Terminal(80, "chat", "--ask", str(project), TERM=kind) as terminal:
        terminal.expect("> ")
        terminal.type(f"{TASK}\r" if kind != "dumb" else f"{TASK}\n")
        terminal.expect(r"\[k\]eep, \[d\]rop, \[e\]dit: ")
        terminal.type("\x03")
        terminal.expect("the change was not kept|interrupted")
        terminal.expect("> ")
        assert pricing(project) == WRONG
        terminal.type("/quit\r" if kind != "dumb" else "/quit\n")
        assert terminal.ended() == 0
    assert pricing(project) == WRONG


def test_what_was_typed_before_the_question_is_no_answer(project, engine):
    server = engine(Wait(FIX))
    with Terminal(80, "run", "--ask", "--project", str(project), TASK) as terminal:
        assert server.waiting.wait(60)
        terminal.type("k")
        server.go_on.set()
        terminal.expect(r"\[k\]eep, \[d\]rop, \[e\]dit: ")
        time.sleep(0.5)
        assert terminal.process.poll() is None and pricing(project) == WRONG
        terminal.type("d")
        assert terminal.ended() == 1
    assert pricing(project) == WRONG


def test_ctrl_c_at_a_question_ends_the_run(project, engine):
    engine(FIX)
    with Terminal(80, "run", "--project", str(project), "clean this up") as terminal:
        terminal.expect("which one is it about")
        terminal.expect("> ")
        terminal.type("\x03")
        assert terminal.ended(5) in (3, 130)
    assert pricing(project) == WRONG


def test_a_search_says_how_long_it_may_take_and_is_skipped_by_one_key(tmp_path, monkeypatch):
    import termios

    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    project = tmp_path / "puzzle"
    project.mkdir()
    (project / "puzzle.py").write_text("def puzzle(a, b, c):\n    return (a + b) * c - a // b + c % a\n")
    (project / "test_puzzle.py").write_text(
        "import time\nimport unittest\n\nfrom puzzle import puzzle\n\n\nclass T(unittest.TestCase):\n    def test_puzzle(self):\n        time.sleep(0.4)\n        self.assertEqual(puzzle(3, 5, 7), 123456)\n"
    )
    with Terminal(80, "run", "--project", str(project), "fix the failing test test_puzzle") as terminal:
        terminal.expect(r"small changes? around puzzle[^\n]*, up to 40 s; press s to skip", 60)
        terminal.type("xs")
        terminal.expect("skipped")
        began = time.monotonic()
        assert terminal.ended() in (1, 4) and time.monotonic() - began < 10
        assert termios.tcgetattr(terminal.own)[3] & (termios.ICANON | termios.ECHO) == termios.ICANON | termios.ECHO


def test_run_asks_too(project, engine):
    engine(FIX)
    with Terminal(80, "run", "--ask", "--project", str(project), TASK) as terminal:
        terminal.expect(r"\[k\]eep, \[d\]rop, \[e\]dit: ")
        terminal.type("n")
        assert terminal.ended() == 1
    assert pricing(project) == WRONG


def test_a_terminal_that_only_prints_gets_plain_lines(project, engine):
    engine("It takes the percentage off.")
    with Terminal(40, "chat", str(project), TERM="dumb") as terminal:
        terminal.expect("> ")
        terminal.type("what does discount return?\n")
        terminal.expect("It takes the percentage off")
        terminal.type("/quit\n")
        assert terminal.ended() == 0
        assert "\x1b" not in terminal.seen


def test_a_signal_ends_a_waiting_pipe(project):
    process = subprocess.Popen([PROGRAM, "chat", str(project)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        process.stdin.write(b"thanks\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"Any time.\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
    finally:
        process.kill()
        process.communicate()


def test_a_line_that_ends_in_a_backslash_goes_on(project, engine):
    server = engine("It takes the percentage off.")
    with Terminal(80, "chat", "--project", str(project)) as terminal:
        terminal.expect("> ")
        terminal.type("what does \\\r")
        terminal.type("discount return?\r")
        terminal.expect("percentage off")
        terminal.expect("> ")
        terminal.type("\x04")
        assert terminal.ended() == 0
    assert "what does \\ndiscount return?" in json.dumps(server.requests[0])
