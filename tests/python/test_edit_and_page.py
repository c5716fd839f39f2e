"""A change that is edited before it is kept, and a diff in a pager: the user's own programs on a pseudo-terminal."""

import sys

import pytest

from conftest import FIX, RIGHT, TASK, WRONG
from terminal import Terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are Unix's")

KEEP = r"\[k\]eep, \[d\]rop, \[e\]dit: "
DOCUMENTED = RIGHT.replace("):\n", '):\n    """Takes percent off."""\n')


def pricing(project):
    return (project / "shop/pricing.py").read_text(encoding="utf-8")


def program(folder, name, script):
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def editor(folder, text, name="editor"):
    """An editor that saves this text, and tells what it was given."""
    saved = folder / f"{name}.text"
    saved.write_text(text, encoding="utf-8")
    return program(folder, name, f'echo "$@" > {folder}/given; cp "$1" {folder}/before; ls -ld "$(dirname "$1")/.." > {folder}/mode; cat {saved} > "$1"')


@pytest.mark.parametrize("words", [["chat", "--ask"], ["run", "--ask", TASK]], ids=["chat", "run"])
def test_a_change_is_edited_tested_and_kept(project, engine, tmp_path, words):
    engine(FIX)
    own = editor(tmp_path, DOCUMENTED)
    with Terminal(80, *words, "--project", str(project), VISUAL=str(own), EDITOR="false") as terminal:
        if words[0] == "chat":
            terminal.expect("> ")
            terminal.type(f"{TASK}\r")
        terminal.expect(KEEP)
        terminal.type("e")
        terminal.expect(r'\+    """Takes percent off\."""')
        terminal.expect("1 test passes")
        terminal.expect(KEEP)
        assert pricing(project) == WRONG
        terminal.type("k")
        terminal.expect(r"take it back with:\s+harness undo")
        if words[0] == "chat":
            terminal.expect("> ")
            terminal.type("undo that\r")
            terminal.expect("took back")
            terminal.expect("> ")
            terminal.type("\x04")
        assert terminal.ended() == 0
    assert pricing(project) == (WRONG if words[0] == "chat" else DOCUMENTED)
    # The editor was given the proposed text under its own name, in a folder that nobody else may look into.
    given = (tmp_path / "given").read_text().strip()
    assert given.endswith("/pricing.py") and not given.startswith(str(project)) and (tmp_path / "before").read_text() == RIGHT
    assert (tmp_path / "mode").read_text().startswith("drwx------")


@pytest.mark.parametrize("text, reason", [
    (WRONG.replace("-", "+"), "test_discount"),
    ("def discount(total, percent:\n", "cannot be kept"),
    (RIGHT, "it is the same"),
], ids=["worse", "syntax", "same"])
def test_an_edit_goes_through_the_same_guards_and_tests(project, engine, tmp_path, text, reason):
    engine(FIX)
    with Terminal(80, "run", "--ask", TASK, "--project", str(project), VISUAL=str(editor(tmp_path, text))) as terminal:
        terminal.expect(KEEP)
        terminal.type("e")
        terminal.expect(r"the edited text cannot be kept")
        terminal.expect(KEEP)
        assert reason in " ".join(terminal.everything.split())
        # What was proposed before still stands.
        terminal.type("k")
        assert terminal.ended() == 0
    assert pricing(project) == RIGHT


def test_an_editor_that_fails_loses_nothing(project, engine):
    engine(FIX)
    for command in ("false", "no-such-editor-here", "'"):
        with Terminal(80, "run", "--ask", TASK, "--project", str(project), VISUAL=command) as terminal:
            terminal.expect(KEEP)
            terminal.type("e")
            terminal.expect("nothing was edited")
            terminal.expect("hint: VISUAL")
            terminal.expect(KEEP)
            terminal.type("d")
            assert terminal.ended() == 1
    assert pricing(project) == WRONG


LONG = "```python\n" + RIGHT + "".join(f"\n\ndef more_{number}():\n    return {number}\n" for number in range(20)) + "```\n"


@pytest.mark.parametrize("reply, words, variables, is_paged", [
    (LONG, (), {}, True),
    (FIX, (), {}, False),
    (LONG, ("--no-pager",), {}, False),
    (LONG, (), {"PAGER": "cat"}, False),
    (LONG, (), {"TERM": "dumb"}, False),
], ids=["long", "short", "--no-pager", "cat", "dumb"])
def test_a_long_diff_is_read_in_the_pager(project, engine, tmp_path, reply, words, variables, is_paged):
    engine(reply)
    pager = program(tmp_path, "my-pager", f"cat > {tmp_path}/paged; echo 'THE PAGER'")
    with Terminal(80, "chat", *words, "--project", str(project), **{"PAGER": f"{pager} -x", **variables}) as terminal:
        terminal.expect("> ")
        terminal.type(f"{TASK}\r")
        terminal.expect(r"take it back with:\s+harness undo", 60)
        terminal.expect("> ")
        terminal.type("/diff\r")
        terminal.expect("> ")
        terminal.type("/quit\r")
        assert terminal.ended() == 0
    assert (terminal.everything.count("THE PAGER") == 2) == is_paged == (tmp_path / "paged").exists()
    shown = (tmp_path / "paged").read_text() if is_paged else terminal.everything
    assert "+    return total * (100 - percent) / 100" in shown


def test_without_the_pager_the_diff_is_shown_all_the_same(project, engine):
    engine(LONG)
    with Terminal(80, "chat", "--project", str(project), PAGER="no-such-pager-here") as terminal:
        terminal.expect("> ")
        terminal.type(f"{TASK}\r")
        terminal.expect(r"\+    return total \* \(100 - percent\) / 100", 60)
        terminal.expect("> ")
        terminal.type("\x04")
        assert terminal.ended() == 0
