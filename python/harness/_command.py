"""What the commands of the extras share: errors that say what to do, and exit codes as `harness` has them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn


class Problem(Exception):
    """Why a command cannot go on: what is wrong, what to do, and its exit code."""

    def __init__(self, message: str, hint: str, code: int = 2) -> None:
        super().__init__(message)
        self.hint = hint
        self.code = code


def printable(text: str) -> str:
    """Returns a text in which nothing moves the cursor, changes colours or reorders what is shown: such characters are written as escapes."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


class Parser(argparse.ArgumentParser):
    """A reader of the command line whose errors have a hint."""

    def error(self, message: str) -> NoReturn:
        """Raises what is wrong with the words."""
        raise Problem(message, f"`{self.prog} --help` says what it takes")


def run_command(parser: Parser, words: Sequence[str]) -> int:
    """Does what the words ask for. Returns the exit code."""
    name = parser.prog.rpartition(" ")[2]
    try:
        arguments = parser.parse_args(words)
        code: int = arguments.work(arguments)
        sys.stdout.flush()
        return code
    except Problem as problem:
        print(f"{name}: {printable(str(problem))}\nhint: {problem.hint}", file=sys.stderr)
        return problem.code
    except BrokenPipeError:
        # Nobody reads on; Python must not flush into the closed pipe at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        where = f"`{error.filename}`: " if error.filename else ""
        print(f"{name}: {printable(where)}{error.strerror or error}\nhint: check the path and its permissions", file=sys.stderr)
        return 2
