"""A folder of hostile and unlucky things, in which one small bug can be fixed all the same."""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

# What takes this long hangs; how long things take on an idle machine is in bench/hostile.py.
PATIENCE = 120

CODE = "def total(prices):\n    return sum(prices) - 1\n"
TESTS = """import unittest

from shop.cart import total


class CartTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2]), 3)

    def test_one(self):
        self.assertEqual(total([4]), 4)
"""


def pipe(path):
    os.mkfifo(path)


def link(target):
    return lambda path: path.symlink_to(target)


def text(content):
    return lambda path: path.write_text(content, encoding="utf-8")


def raw(content):
    return lambda path: path.write_bytes(content)


def hole(size):
    """A file that is large and takes no room on the disk."""

    def make(path):
        with open(path, "wb") as file:
            file.truncate(size)

    return make


def folder(path):
    path.mkdir()


@contextlib.contextmanager
def inside(place):
    before = os.getcwd()
    os.chdir(place)
    try:
        yield
    finally:
        os.chdir(before)


def listening(path):
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as end, inside(path.parent):
        end.bind(path.name)


def deep(path):
    # Deeper than a path may be long, step by step: the whole of it cannot be named.
    path.mkdir()
    with inside(path):
        for _ in range(70):
            os.mkdir("d" * 100)
            os.chdir("d" * 100)
        pathlib.Path("end.py").write_text("x = 1\n", encoding="utf-8")


def crowd(path):
    path.mkdir()
    for number in range(10_000):
        (path / f"m{number}.py").touch()


def locked(path):
    path.mkdir()
    (path / "inside.py").write_text("x = 1\n", encoding="utf-8")
    path.chmod(0)


def shut(path):
    path.write_text("x = 1\n", encoding="utf-8")
    path.chmod(0)


def twice(path):
    path.write_text("x = 1\n", encoding="utf-8")
    os.link(path, path.with_name("twin.py"))


# What lies where, and what it is meant to break.
THINGS = {
    # Files that every walk reads.
    ".gitignore": pipe,
    ".ignore": link("/dev/random"),
    "one/.gitignore": link("/dev/zero"),
    "two/.gitignore": text("*.x\n" * 300_000),
    "three/.gitignore": text("a*" * 200 + "b\n" + "[" * 5000 + "\n"),
    ".git/info/exclude": pipe,
    ".git/config": pipe,
    ".git/HEAD": link("/dev/zero"),
    ".git/index": raw(b"DIRC" + b"\xff" * 1_000_000),
    # Files that tell what kind of project it is.
    "README.md": pipe,
    "AGENTS.md": link("/dev/zero"),
    "pyproject.toml": pipe,
    "setup.cfg": hole(2 << 30),
    "tox.ini": link("tox.ini"),
    "package.json": text("[" * 2_000_000),
    "Cargo.toml": folder,
    "go.mod": link("nowhere"),
    "requirements.txt": link("/proc/kmsg"),
    ".harness/skills/evil/SKILL.md": pipe,
    ".claude/skills": link("/dev"),
    ".venv/pyvenv.cfg": pipe,
    "venv/bin/python": link("/dev/zero"),
    # Source files that are none.
    "shop/pipe.py": pipe,
    "shop/cart.py.bak": pipe,
    "zero.py": link("/dev/zero"),
    "terminal.py": link("/dev/tty"),
    "memory.py": link("/proc/self/mem"),
    "loop.py": link("loop.py"),
    "shop/up": link(".."),
    "system": link("/etc"),
    "socket.sock.py": listening,
    "shut.py": shut,
    "locked": locked,
    "twice.py": twice,
    # Source files that are too much.
    "huge.py": hole(3 << 30),
    "brackets.py": text("x = " + "(" * 100_000 + "\n"),
    "nested.py": text("".join(" " * depth + "if x:\n" for depth in range(3000))),
    "line.py": text("x = '" + "a" * 10_000_000 + "'\n"),
    "many.py": text("".join(f"def f{number}(): pass\n" for number in range(100_000))),
    "notebook.ipynb": text('{"cells": [' + '{"source": "x"},' * 500_000 + "]}"),
    "bytes.py": raw(bytes(range(256)) * 4000),
    "wide.py": raw("\ufeffdef f():\n    return 1\n".encode("utf-16-le")),
    "crowd": crowd,
    # Names.
    "right \u202e to left.py": text("x = 1\n"),
    "new\nline.py": text("x = 1\n"),
    "esc\x1b[31mape.py": text("x = 1\n"),
    # The one byte 0xff, which is no UTF-8.
    "not \udcff text.py": text("x = 1\n"),
    "deep": deep,
}


def small_project(project):
    """Makes a package with one bug and the tests that show it."""
    for name, content in {"shop/__init__.py": "", "shop/cart.py": CODE, "tests/__init__.py": "", "tests/test_cart.py": TESTS}.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(content, encoding="utf-8")
    return project


def lay_out(project):
    """Makes the small project among all the things."""
    small_project(project)
    for name, make in THINGS.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        # The file system of macOS takes only names that are text.
        with contextlib.suppress(*[OSError] if sys.platform == "darwin" else []):
            make(project / name)
    return project


@contextlib.contextmanager
def meddling(project):
    """Somebody who swaps, empties and grows files, hundreds of times a second, while the folder is read."""
    over = threading.Event()

    def meddle():
        swapped, grown, gone = project / "swapped.py", project / "grown.py", project / "gone"
        # Without a pause it takes a whole core, and the program under test waits for that instead of reading.
        while not over.wait(0.001):
            swapped.unlink(missing_ok=True)
            swapped.symlink_to("/dev/zero")
            with open(grown, "a", encoding="utf-8") as file:
                file.write("x = 1\n" * 100)
            if grown.stat().st_size > 5_000_000:
                grown.write_text("", encoding="utf-8")
            gone.mkdir(exist_ok=True)
            swapped.unlink(missing_ok=True)
            swapped.write_text("x = 1\n", encoding="utf-8")
            gone.rmdir()
            gone.write_text("x = 1\n", encoding="utf-8")
            gone.unlink()

    thread = threading.Thread(target=meddle)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def clear_away(project):
    for name in ("locked", "shut.py"):
        (project / name).chmod(0o700)
    shutil.rmtree(project)


def peak_of(words, project, variables):
    """Runs a command beside the meddler: its exit code, what it said, its seconds and its greatest memory in MB."""
    began = time.monotonic()
    with meddling(project), tempfile.TemporaryFile() as said:
        command = subprocess.Popen(words, cwd=project, env=variables, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        watch = threading.Timer(PATIENCE, command.kill)
        watch.start()
        _, status, usage = os.wait4(command.pid, 0)
        command.returncode = os.waitstatus_to_exitcode(status)
        watch.cancel()
        said.seek(0)
        text = said.read().decode(errors="replace")
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return command.returncode, text, time.monotonic() - began, usage.ru_maxrss / unit
