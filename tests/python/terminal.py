"""A program in a pseudo-terminal, and what a person sees on it. Standard library only; not on Windows."""

import os
import re
import select
import signal
import struct
import subprocess
import time

from serving import PROGRAM

ESCAPE = re.compile(r"\x1b\[([0-9;?]*)([a-zA-Z])")


class Terminal:
    """A program in a pseudo-terminal of so many columns."""

    def __init__(self, columns, *words, program=None, **environment):
        import fcntl
        import pty
        import termios

        self.own, theirs = pty.openpty()
        self.columns = columns
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        # Before the program is there: one that starts quickly would have changed them.
        self.usual_settings = self.settings()

        def take_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            # Tests that run in the background of a shell would not hear Ctrl-C.
            signal.signal(signal.SIGINT, signal.SIG_DFL)

        # The test command speaks without colour; a person's terminal does not.
        env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        env.update({"TERM": "xterm-256color", **environment})
        self.process = subprocess.Popen([program or PROGRAM, *words], stdin=theirs, stdout=theirs, stderr=theirs, env=env, preexec_fn=take_terminal, close_fds=True)
        os.close(theirs)
        self.seen = ""
        self.everything = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.own)

    def settings(self):
        """Whether lines are edited, shown and interrupted by the terminal itself."""
        import termios

        return termios.tcgetattr(self.own)[3] & (termios.ICANON | termios.ECHO | termios.ISIG)

    def read(self, seconds=0.1):
        ready, _, _ = select.select([self.own], [], [], seconds)
        if not ready:
            return False
        try:
            piece = os.read(self.own, 65536)
        except OSError:
            return False
        text = piece.decode("utf-8", "replace")
        self.seen += text
        self.everything += text
        return bool(piece)

    def expect(self, pattern, seconds=30):
        """Waits for a pattern after what was expected before; returns what came up to its end."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = re.search(pattern, self.plain())
            if found:
                text = self.plain()[: found.end()]
                self.seen = self.seen[self._raw_end(found.end()) :]
                return text
            self.read()
        raise AssertionError(f"{pattern!r} did not come: {self.seen[-2000:]!r}")

    def plain(self):
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.seen)

    def _raw_end(self, wanted):
        """Where so many plain characters end in what was seen."""
        plain = 0
        for match in re.finditer(r"\x1b\[[0-9;?]*[a-zA-Z]|(.)", self.seen, re.S):
            plain += match[1] is not None
            if plain == wanted:
                return match.end()
        return len(self.seen)

    def type(self, text):
        os.write(self.own, text.encode())

    def resize(self, columns):
        """Makes the window another size, as a window manager does."""
        import fcntl
        import termios

        self.columns = columns
        fcntl.ioctl(self.own, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.process.send_signal(signal.SIGWINCH)

    def ended(self, seconds=20):
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            self.read()
        while self.read(0):
            pass
        return self.process.poll()


def rendered(text, columns):
    """Plays what a program printed: what a person sees, without colours, on a window of any height."""
    lines, row, column = [[]], 0, 0

    def put(character):
        nonlocal row, column
        if column >= columns:
            row, column = row + 1, 0
        while len(lines) <= row:
            lines.append([])
        lines[row] += [" "] * (column + 1 - len(lines[row]))
        lines[row][column] = character
        column += 1

    at = 0
    while at < len(text):
        escape = ESCAPE.match(text, at)
        if escape:
            at = escape.end()
            count = int(escape[1]) if escape[1].isdigit() else 1
            if escape[2] == "A":
                row = max(0, row - count)
            elif escape[2] == "B":
                row += count
            elif escape[2] == "C":
                column += count
            elif escape[2] == "D":
                column = max(0, column - count)
            elif escape[2] == "G":
                column = count - 1
            elif escape[2] in "KJ" and row < len(lines):
                del lines[row][column:]
                if escape[2] == "J":
                    del lines[row + 1 :]
            continue
        character = text[at]
        at += 1
        if character == "\r":
            column = 0
        elif character == "\n":
            row, column = row + 1, 0
            while len(lines) <= row:
                lines.append([])
        elif character == "\b":
            column = max(0, column - 1)
        elif character != "\x07":
            put(character)
    return ["".join(line).rstrip() for line in lines]
