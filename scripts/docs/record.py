#!/usr/bin/env python3
"""Makes docs/recording.svg, the recording on top of README: python3 scripts/docs/record.py [FILE]

Types the commands below in a copy of demo/orders, without an engine, on a terminal of its own, and draws what they print
on stdout as an SVG that moves by CSS alone. What is printed is real; the pace is not: typing and reading have fixed
times, ids of runs are numbered, so that the same program always gives the same file. Whoever asks their system for less
motion sees the last picture.

Runs with a Python that has harness installed: target/test-venv/bin/python scripts/docs/record.py
Not on Windows, which has no pseudo-terminal.
"""

import contextlib
import os
import pathlib
import re
import struct
import subprocess
import sys
from xml.sax.saxutils import escape

from pages import ROOT
from paste import PYTHON, Workspace

FILE = ROOT / "docs" / "recording.svg"
# Each command, how long it is waited for before its output comes, and how long that is read, in seconds. What is longer
# than the screen is read in two halves, the first while the command is the topmost line.
SCENES = [
    ("harness brief", 0.4, 6.0),
    ('harness run "fix the failing tests"', 1.6, 11.5),
    ("python3 -m unittest 2>&1 | tail -1", 0.5, 1.8),
    ("harness undo", 0.4, 3.0),
]
SECONDS = 40
COLUMNS, ROWS = 84, 24
# One letter is typed in this time, one line printed in that.
LETTER, LINE = 0.06, 0.04
# The picture, in pixels.
SIZE, HEIGHT, LETTER_WIDTH, MARGIN, BAR = 13, 18, 7.83, 16, 30
COLOURS = {"31": "r", "32": "g", "36": "c", "1": "b", "2": "d"}
STYLE = """
text{font:%dpx ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d8dee9;white-space:pre}
.p{fill:#8fbcbb}.t{fill:#eceff4;font-weight:600}.r{fill:#f0938a}.g{fill:#a3d977}.c{fill:#88c0d0}.b{font-weight:600}.d{fill:#9aa5b8}
text,#tape,.t{animation-duration:%ds;animation-iteration-count:infinite;animation-timing-function:step-end}
@media (prefers-reduced-motion:reduce){text,#tape,.t{animation:none!important}}
"""


class Line:
    """A line on the tape: when it comes, and for a command until when it is typed."""

    def __init__(self, text, begin, typed=None):
        self.text, self.begin, self.typed = text, begin, typed


def play():
    """Performs the scenes. Returns the lines with their times, and how long it all takes."""
    lines, now, known = [], 0.6, {}
    with contextlib.ExitStack() as stack:
        place = Workspace(stack)
        for command, wait, read in SCENES:
            end = now + LETTER * len(command)
            lines.append(Line(command, now, end))
            now = end + wait
            said = printed(place, command)
            is_longer = len(said) + 1 > ROWS
            for number, text in enumerate(said, 2):
                lines.append(Line(numbered(text, known), now))
                now += LINE + (read / 2 if is_longer and number == ROWS else 0)
            lines.append(Line("", now))
            now += read / 2 if is_longer else read
    return lines, now


def printed(place, command):
    """What a command prints on a terminal, as lines with their colours."""
    import fcntl
    import pty
    import termios

    own, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    variables = {name: value for name, value in place.variables.items() if name not in ("NO_COLOR", "COLUMNS")}
    variables["TERM"] = "xterm-256color"
    process = subprocess.Popen(["sh", "-c", command], cwd=place.folder, env=variables, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    pieces = []
    # Linux says that the other end is closed by an error, other systems by nothing.
    with contextlib.suppress(OSError):
        while piece := os.read(own, 65536):
            pieces.append(piece)
    os.close(own)
    code = process.wait()
    if code != 0:
        raise SystemExit(f"`{command}` ended with {code}")
    text = PYTHON.sub("python3", b"".join(pieces).decode("utf-8").replace("\r\n", "\n"))
    return text.rstrip("\n").split("\n")


def numbered(text, known):
    """Ids of runs in the order in which they come."""
    return re.sub(r"\b\d{8}-\d{6}-[0-9a-f]{8}\b", lambda found: known.setdefault(found[0], f"20261117-1200{len(known):02d}-{0x51f0c3a7 + len(known) * 0x1d2b4c69:08x}"), text)


def drawn(lines, length):
    """The picture."""
    width, height = round(COLUMNS * LETTER_WIDTH + 2 * MARGIN), ROWS * HEIGHT + BAR + 2 * MARGIN
    frames, body, scale = [], [], 100 / SECONDS
    assert length <= SECONDS, f"the scenes take {length:.1f} s"
    for number, line in enumerate(lines):
        at, y = f"{line.begin * scale:.2f}", BAR + MARGIN + (number + 1) * HEIGHT - 5
        frames.append(f"@keyframes l{number}{{0%{{opacity:0}}{at}%{{opacity:1}}}}")
        begin = f'<text x="{MARGIN}" y="{y}" style="animation-name:l{number}">'
        if line.typed is None:
            body.append(f"{begin}{spans(line.text)}</text>" if line.text else "")
            continue
        end, letters = f"{line.typed * scale:.2f}", len(line.text)
        hidden = "clip-path:inset(0 100% 0 0)"
        frames.append(f"@keyframes t{number}{{0%{{{hidden}}}{at}%{{{hidden};animation-timing-function:steps({letters})}}{end}%,100%{{clip-path:inset(0)}}}}")
        body.append(f'{begin}<tspan class="p">$ </tspan></text>')
        body.append(f'<text class="t" x="{MARGIN + 2 * LETTER_WIDTH:.2f}" y="{y}" style="animation-name:t{number}">{escape(line.text)}</text>')
    moves = [(line.begin, max(0, number + 1 - ROWS) * HEIGHT) for number, line in enumerate(lines) if number + 1 > ROWS]
    steps = "".join(f"{begin * scale:.2f}%{{transform:translateY(-{up}px)}}" for begin, up in moves)
    frames.append(f"@keyframes up{{0%{{transform:none}}{steps}}}")
    last = moves[-1][1] if moves else 0
    about = "A terminal. " + " ".join(f"{command}." for command, _, _ in SCENES)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{escape(about, {chr(34): "&quot;"})}">',
        "<!-- Made by scripts/docs/record.py from a real run. -->",
        f"<style>{STYLE % (SIZE, SECONDS)}{''.join(frames)}\n</style>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#20242d"/>',
        '<circle cx="20" cy="16" r="5.5" fill="#bf616a"/><circle cx="38" cy="16" r="5.5" fill="#ebcb8b"/><circle cx="56" cy="16" r="5.5" fill="#a3be8c"/>',
        f'<clipPath id="screen"><rect y="{BAR}" width="{width}" height="{height - BAR}"/></clipPath>',
        f'<g clip-path="url(#screen)"><g id="tape" style="transform:translateY(-{last}px);animation-name:up" xml:space="preserve">',
        *filter(None, body),
        "</g></g></svg>",
    ]) + "\n"


def spans(text):
    """A line with its colours as classes."""
    out, style = [], ""
    for piece in re.split(r"(\x1b\[[0-9;]*m)", text):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", piece)
        if code:
            style = " ".join(COLOURS[part] for part in code[1].split(";") if part in COLOURS)
        elif piece:
            out.append(f'<tspan class="{style}">{escape(piece)}</tspan>' if style else escape(piece))
    return "".join(out)


def main(words):
    file = pathlib.Path(words[0]) if words else FILE
    picture = drawn(*play())
    file.write_text(picture, encoding="utf-8", newline="\n")
    print(f"{file}: {len(picture.encode()) / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
