"""The pages of the documentation and the blocks in them. Reads only; paste.py runs what is shown.

A block is a fenced piece of a page. A comment on the line before it says how it is run:

    <!-- run: model=volume.txt lines=12 code=3 -->    a transcript, or a piece of Python
    <!-- output -->                                   what the Python block before it printed
    <!-- config -->                                   the user's config file for what follows
    <!-- not run: why -->                             shown as it is

Transcripts (`console`) and Python need no comment where nothing is to be said.
"""

import pathlib
import re
import shlex

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Pages for people whose every block is run. The reference is made from the code and has tests of its own.
RUN = ("README.md", "docs/guide/**/*.md", "docs/concept/**/*.md")
COMMENT = re.compile(r"^<!-- (run|output|config|not run)(?:: (.*))? -->$")
FENCE = re.compile(r"^(\s*)(```+)(.*)$")


class Block:
    """A fenced piece of a page: its language, its text, the comment before it and where it stands."""

    def __init__(self, language, lines, first, comment):
        self.language, self.lines, self.first = language, lines, first
        found = COMMENT.match(comment)
        self.kind, self.words = (found[1], found[2] or "") if found else ("", "")

    @property
    def text(self):
        return "".join(f"{line}\n" for line in self.lines)

    @property
    def is_run(self):
        return self.kind in ("run", "") and self.language in ("console", "python")

    def option(self, name, default=None):
        """What the comment says of this name: `lines=12` is the value, a bare word is True."""
        for word in shlex.split(self.words):
            key, equals, value = word.partition("=")
            if key == name:
                return value if equals else True
        return default

    def commands(self):
        """The commands of a transcript, each with what is shown below it."""
        found = []
        for line in self.lines:
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif found:
                found[-1][1].append(line)
        return found


def pages():
    """Every page whose blocks are run."""
    return sorted(path for pattern in RUN for path in ROOT.glob(pattern))


def blocks(text):
    """The blocks of a page in order."""
    found, lines, at = [], text.splitlines(), 0
    while at < len(lines):
        opened = FENCE.match(lines[at])
        if not opened:
            at += 1
            continue
        end = next(i for i in range(at + 1, len(lines)) if lines[i].strip() == opened[2])
        comment = lines[at - 1].strip() if at else ""
        language = opened[3].split()[0] if opened[3].split() else ""
        found.append(Block(language, lines[at + 1 : end], at + 1, comment))
        at = end + 1
    return found


def prose(text):
    """A page without its blocks and comments."""
    kept, fence = [], None
    for line in text.splitlines():
        opened = FENCE.match(line)
        if fence is None and opened:
            fence = opened[2]
        elif fence is not None and line.strip() == fence:
            fence = None
        elif fence is None:
            kept.append(line)
    return re.sub(r"<!--.*?-->", "", "\n".join(kept), flags=re.S)
