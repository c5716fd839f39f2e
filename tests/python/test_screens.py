"""What a person sees: the screens of the main flows as text (`tests/screens`), resizing, and Ctrl-C at every stage.

`UPDATE_SCREENS=1` writes the screens anew; they are then read by whoever changed them.
"""

import os
import pathlib
import re
import subprocess
import sys
import time

import pytest

from conftest import FIX, TASK, tree
from scripted import Pieces, Wait
from serving import PROGRAM

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are Unix's")

SCREENS = pathlib.Path(__file__).resolve().parents[1] / "screens"
CHANGING = [
    (r"\d{8}-\d{6}-[0-9a-f]{8}", "RUN"),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
    (r"\d+\.\d+ s\b", "N s"),
    # The terminal itself shows the key, some time after the program has heard of it.
    (r"\^C", ""),
]
KEEP = r"\[k\]eep, \[d\]rop, \[e\]dit: "
ANSWER = "It takes `percent` percent off the total.\n\n- a total of 200 and 10 percent give 180\n- nothing is rounded\n"


class Flow:
    """A command on a terminal, what is typed after which words, and how it ends."""

    def __init__(self, columns, words, code, *steps, replies=(FIX,), engine=True):
        self.columns, self.words, self.code, self.steps, self.replies, self.engine = columns, words, code, steps, replies, engine


FLOWS = {
    "run": Flow(80, ["run", TASK], 0),
    "run-narrow": Flow(40, ["run", TASK], 0),
    "run-wide": Flow(200, ["run", TASK], 0),
    "run-dry": Flow(80, ["run", "--dry-run", "rename discount to rebate"], 0),
    "run-dropped": Flow(80, ["run", "--ask", TASK], 1, (KEEP, "d")),
    "run-question": Flow(80, ["run", "clean this up"], 130, (r"\n> ", "\x03")),
    "run-in-vain": Flow(80, ["run", TASK], 1, replies=["I cannot do that.", "No.", "Still no.", "Never."]),
    "ask": Flow(80, ["ask", "what does discount return?"], 0, replies=[ANSWER]),
    "ask-without-engine": Flow(80, ["ask", "how is the shop meant to grow?"], 4, engine=False),
    "chat": Flow(80, ["chat"], 0, ("> ", f"{TASK}\r"), (r"undo \S+\s+> ", "undo that\r"), (r"undo \S+\s+> ", "/quit\r")),
    "chat-narrow": Flow(40, ["chat"], 0, ("> ", "/help\r"), (r"next\.\s+> ", "/quit\r")),
    "usage": Flow(80, ["run"], 2),
    "run-question-narrow": Flow(40, ["run", "clean this up"], 130, (r"\n> ", "\x03")),
    "run-dropped-narrow": Flow(40, ["run", "--ask", TASK], 1, (KEEP, "d")),
    "run-in-vain-narrow": Flow(40, ["run", TASK], 1, replies=["I cannot do that.", "No.", "Still no.", "Never."]),
    "ask-narrow": Flow(40, ["ask", "what does discount return?"], 0, replies=[ANSWER]),
    "ask-without-engine-narrow": Flow(40, ["ask", "how is the shop meant to grow?"], 4, engine=False),
    "route-narrow": Flow(40, ["route", TASK], 0),
    "chat-wide": Flow(200, ["chat"], 0, ("> ", f"{TASK}\r"), (r"undo \S+\s+> ", "undo that\r"), (r"undo \S+\s+> ", "/quit\r")),
}


@pytest.mark.parametrize("name", FLOWS)
def test_a_screen_is_as_it_was_read(project, engine, name, monkeypatch):
    from terminal import Terminal, rendered

    flow = FLOWS[name]
    if flow.engine:
        engine(*flow.replies)
    else:
        monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    with Terminal(flow.columns, *flow.words, "--project", str(project)) as terminal:
        for pattern, keys in flow.steps:
            terminal.expect(pattern)
            terminal.type(keys)
        assert terminal.ended(60) == flow.code, terminal.everything
    printed = terminal.everything.replace(str(project), "PROJECT")
    # Before it is laid out: a longer number would break lines elsewhere.
    for pattern, word in CHANGING:
        printed = re.sub(pattern, word, printed)
    shown = "\n".join(rendered(printed, flow.columns)).strip("\n") + "\n"
    place = SCREENS / f"{name}.txt"
    if os.environ.get("UPDATE_SCREENS"):
        place.parent.mkdir(exist_ok=True)
        place.write_text(shown, encoding="utf-8")
    assert shown == place.read_text(encoding="utf-8")


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_window_may_change_its_size(project, engine, columns):
    from terminal import Terminal

    server = engine(Wait(FIX))
    with Terminal(columns, "chat", "--project", str(project)) as terminal:
        terminal.expect("> ")
        terminal.type(TASK)
        terminal.resize(44)
        terminal.expect("pricing.py")
        terminal.type("\r")
        assert server.waiting.wait(60)
        # While the live line is drawn it fits, whatever the size.
        terminal.resize(24)
        time.sleep(0.7)
        terminal.read()
        live = re.findall(r"\r\x1b\[K([^\r\n\x1b]+)", terminal.everything)
        assert live and len(live[-1]) < 24, live[-3:]
        terminal.resize(120)
        server.go_on.set()
        terminal.expect("take it back with: harness undo")
        terminal.expect("> ")
        terminal.type("\x04")
        assert terminal.ended() == 0


def slow_suite(project):
    test = project / "tests/test_pricing.py"
    test.write_text("import time\n\ntime.sleep(30)\n" + test.read_text(encoding="utf-8"), encoding="utf-8")


def large(project):
    """Makes reading the project take so long that a person notices."""
    code = "".join(f"def f{number}(a, b):\n    return a + b * {number}\n\n\n" for number in range(300))
    for number in range(500):
        (project / f"shop/m{number}.py").write_text(code, encoding="utf-8")


# What is said, what the model replies, and what is seen when the key is pressed.
STAGES = {
    "reading": (TASK, [FIX], "reading the project"),
    "tests": (TASK, [FIX], "running"),
    "waiting": (TASK, [Wait(FIX)], "asking"),
    "draft": (TASK, [Pieces(["```python\n", FIX])], "1 token"),
    "answer": ("what does discount return?", [Pieces(["It takes the percentage off", " the total."])], "It takes the"),
    "question": ("clean this up", [FIX], r"shop/__init__\.py\s+> "),
    "diff": (TASK, [FIX], KEEP),
}
PREPARED = {"reading": large, "tests": slow_suite}


@pytest.mark.parametrize("command", ["run", "chat"])
@pytest.mark.parametrize("stage", STAGES)
def test_ctrl_c_is_heard_at_every_stage(project, engine, command, stage):
    from terminal import Terminal

    task, replies, pattern = STAGES[stage]
    server = engine(*replies)
    PREPARED.get(stage, lambda project: None)(project)
    before = tree(project)
    words = ["run", "--ask", task] if command == "run" else ["chat", "--ask"]
    with Terminal(80, *words, "--project", str(project)) as terminal:
        if command == "chat":
            terminal.expect("> ")
            terminal.type(f"{task}\r")
        terminal.expect(pattern, 60)
        if stage in ("waiting", "draft", "answer"):
            assert server.waiting.wait(60)
        began = time.monotonic()
        terminal.type("\x03")
        if command == "chat":
            terminal.expect("interrupted", 10)
            terminal.expect("> ", 10)
            terminal.type("\x04")
            assert terminal.ended() == 0
        else:
            assert terminal.ended(10) == 130, terminal.everything
        assert time.monotonic() - began < 10
        assert terminal.settings() == terminal.usual_settings
    # Pastes are not marked any more, and the cursor is there.
    assert terminal.everything.count("\x1b[?2004h") == terminal.everything.count("\x1b[?2004l")
    assert "\x1b[?25l" not in terminal.everything.rpartition("\x1b[?25h")[2]
    assert tree(project) == before


def test_something_is_seen_at_once(project, engine):
    from terminal import Terminal

    engine(Wait(FIX))
    large(project)
    # The program's own start is the machine's affair; the first word comes with it.
    began = time.monotonic()
    subprocess.run([PROGRAM, "--version"], capture_output=True, timeout=60)
    start = time.monotonic() - began
    with Terminal(80, "run", "--project", str(project), TASK) as terminal:
        began = time.monotonic()
        while "reading the project" not in terminal.everything:
            terminal.read(0.01)
            assert time.monotonic() - began < 20
        # It is 0.1 seconds in itself; a busy machine takes several times as long.
        assert time.monotonic() - began < start + 1
        terminal.type("\x03")
        terminal.ended()
