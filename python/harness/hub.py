"""`python -m harness.hub`: publishes a dataset or weights to a model hub.

    python -m harness.hub dataset FOLDER OWNER/NAME
    python -m harness.hub model FOLDER OWNER/NAME

Looks for secrets in a private copy of every file, shows what would go where, asks, and sends that copy. Needs the extra `local-harness[hub]` and a token
in HF_TOKEN; HF_ENDPOINT names another hub than Hugging Face's.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    # `python -m` looks for modules in the current folder first, which may be a project with a `json.py` of its own.
    sys.path[:] = [folder for folder in sys.path if folder not in ("", os.getcwd())]

import argparse
import contextlib
import importlib
import json
import pathlib
import re
import shutil
import tempfile
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from harness import _harness
from harness._command import Parser, Problem, printable, run_command

# What a dataset and a model are made of; other files stay where they are.
ENDINGS = {
    "dataset": (".jsonl", ".md"),
    "model": (".safetensors", ".gguf", ".json", ".jinja", ".model", ".txt", ".md"),
}
# Formats of numbers, with texts in UTF-8 among them.
BINARY = (".safetensors", ".gguf", ".model")
# A file is looked through in pieces; a secret is shorter than what two of them share.
PIECE, SHARED = 4 << 20, 64 << 10
REPOSITORY = re.compile(r"\w[\w.-]*/\w[\w.-]*", re.ASCII)


def files_to_publish(folder: pathlib.Path, kind: str) -> tuple[list[pathlib.Path], list[pathlib.Path]]:
    """Returns the files that would go and those that stay, relative to the folder. Links are not followed."""
    if not folder.is_dir():
        raise Problem(f"`{folder}` is no folder", "name the folder that holds the files")
    going: list[pathlib.Path] = []
    staying: list[pathlib.Path] = []
    for base, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = pathlib.Path(base, name)
            goes = path.suffix in ENDINGS[kind] and not name.startswith(".") and path.is_file() and not path.is_symlink()
            (going if goes else staying).append(path.relative_to(folder))
    return going, staying


def take_copy(folder: pathlib.Path, files: Sequence[pathlib.Path], private: pathlib.Path) -> dict[pathlib.Path, tuple[int, ...]]:
    """Copies the files into a folder that only the user can enter. Returns what tells whether one changed since."""
    states: dict[pathlib.Path, tuple[int, ...]] = {}
    for file in files:
        copy = private / file
        copy.parent.mkdir(parents=True, exist_ok=True)
        # A link that took the place of a file is not followed.
        with open(os.open(folder / file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)), "rb") as source:
            states[file] = state_of(os.fstat(source.fileno()))
            try:
                with open(copy, "xb") as target:
                    shutil.copyfileobj(source, target, PIECE)
            except OSError as error:
                raise Problem(f"there is no private copy of `{file.as_posix()}`: {error.strerror or error}", "free some space there, or set TMPDIR to a folder that has it", 1) from None
            if state_of(os.fstat(source.fileno())) != states[file]:
                raise Problem(f"`{file.as_posix()}` is being written", "try again when nothing writes to it", 1)
    return states


def state_of(about: os.stat_result) -> tuple[int, ...]:
    """Returns what changes when a file is written or replaced."""
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns


def tell_of_changes(folder: pathlib.Path, states: dict[pathlib.Path, tuple[int, ...]]) -> None:
    """Says which files are no longer what was copied."""
    for file, state in states.items():
        try:
            is_same = state_of(os.lstat(folder / file)) == state
        except OSError:
            is_same = False
        if not is_same:
            print(f"`{printable(file.as_posix())}` has changed since it was checked; what was checked is sent", file=sys.stderr)


def texts_in(path: pathlib.Path) -> Iterator[str]:
    """Returns the text of a file in overlapping pieces, and what is written in JSON without its escapes."""
    with open(path, "rb") as file:
        piece = b""
        while new := file.read(PIECE):
            piece = piece[-SHARED:] + new
            yield piece.decode("utf-8", errors="replace")
            if path.suffix not in BINARY and b"\0" in piece:
                # In UTF-16 and UTF-32 the letters of a secret are those of UTF-8 with zeros between them.
                yield piece.replace(b"\0", b"").decode("utf-8", errors="replace")
    if path.suffix in (".json", ".jsonl"):
        with open(path, "rb") as file:
            encoding = json.detect_encoding(file.read(4))
        with open(path, encoding=encoding, errors="replace") as lines:
            for line in [lines.read()] if path.suffix == ".json" else lines:
                yield from strings_in(line)


def strings_in(text: str) -> Iterator[str]:
    """Returns every string of a JSON document, and every name in it; none where it is no JSON."""
    try:
        waiting: list[Any] = [json.loads(text)]
    except (ValueError, RecursionError):
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list):
            waiting += value


def check_for_secrets(folder: pathlib.Path, files: Sequence[pathlib.Path]) -> None:
    """Refuses files in which something looks like a secret, or in whose names. Names its kind, never the secret."""
    for file in files:
        for kind in _harness.secrets_in(file.as_posix()):
            raise Problem(f"the name of a file that ends in `{file.suffix}` holds what looks like a secret ({kind}): nothing was sent", "give it another name, and withdraw the secret where it is valid", 5)
        for text in texts_in(folder / file):
            for kind in _harness.secrets_in(text):
                raise Problem(f"`{file.as_posix()}` holds what looks like a secret ({kind}): nothing was sent", "take it out, and withdraw the secret where it is valid", 5)


def confirm(arguments: argparse.Namespace) -> None:
    """Asks on a terminal. Elsewhere only `--yes` is an answer."""
    if arguments.yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Problem("whether this should be published is a question that nobody can answer here", "add --yes", 3)
    print("publish it? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Problem("nothing was sent", "answer `y` to publish", 1)


def connect() -> tuple[Any, Any]:
    """Returns the hub's client library and a connection."""
    try:
        library: Any = importlib.import_module("huggingface_hub")
    except ImportError:
        raise Problem("the hub's client is not installed here", 'install it with: pip install "local-harness[hub]"', 4) from None
    token = os.environ.get("HF_TOKEN") or os.environ.get("HUGGING_FACE_HUB_TOKEN")
    if not token:
        raise Problem("there is no token for the hub", "set HF_TOKEN to one that may write", 4)
    return library, library.HfApi(token=token)


@contextlib.contextmanager
def hub_errors() -> Generator[None, None, None]:
    """Says what the hub or its client library complains of."""
    try:
        yield
    except Problem:
        raise
    except Exception as error:
        # The library raises errors of several HTTP clients; their words may span lines, the first says what is wrong.
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise Problem(f"the hub did not take it: {reason}", "check the token's rights, the name and the network", 4) from None


def check_readers(hub: Any, arguments: argparse.Namespace) -> None:
    """Refuses a repository that is there and can be read by everybody, unless that is what is wanted."""
    about = {"repo_type": arguments.kind}
    if arguments.public or not hub.repo_exists(arguments.repository, **about):
        return
    if not hub.repo_info(arguments.repository, **about).private:
        raise Problem(f"everybody can read `{arguments.repository}`", "name a private repository, or add --public")


def publish(arguments: argparse.Namespace) -> int:
    """Checks, shows, asks and sends."""
    folder: pathlib.Path = arguments.folder
    kind: str = arguments.kind
    if not REPOSITORY.fullmatch(arguments.repository):
        raise Problem(f"`{arguments.repository}` is no name of a repository", "it has the form OWNER/NAME")
    going, staying = files_to_publish(folder, kind)
    if not going:
        raise Problem(f"nothing in `{folder}` belongs to a {kind}", f"files that end in {', '.join(ENDINGS[kind])} do")
    if arguments.dry_run:
        check_and_show(arguments, folder, going, staying)
        return 0
    # What was checked is what goes, whatever happens to the files meanwhile.
    with tempfile.TemporaryDirectory(prefix="harness-hub-") as place:
        private = pathlib.Path(place)
        states = take_copy(folder, going, private)
        check_and_show(arguments, private, going, staying)
        library, hub = connect()
        with hub_errors():
            check_readers(hub, arguments)
        confirm(arguments)
        tell_of_changes(folder, states)
        with hub_errors():
            hub.create_repo(arguments.repository, repo_type=kind, private=not arguments.public, exist_ok=True)
            operations = [library.CommitOperationAdd(path_in_repo=file.as_posix(), path_or_fileobj=private / file) for file in going]
            sent = hub.create_commit(arguments.repository, operations, commit_message=f"Publish a {kind}", repo_type=kind)
    print(printable(str(sent.commit_url)))
    return 0


def check_and_show(arguments: argparse.Namespace, folder: pathlib.Path, going: Sequence[pathlib.Path], staying: Sequence[pathlib.Path]) -> None:
    """Refuses secrets, and shows what goes where."""
    check_for_secrets(folder, going)
    for file in going:
        print(f"{(folder / file).stat().st_size:>14,} bytes  {printable(file.as_posix())}", file=sys.stderr)
    for file in staying:
        print(f"{'stays here':>20}  {printable(file.as_posix())}", file=sys.stderr)
    seen_by = "everybody can read it" if arguments.public else "private"
    host = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
    print(f"these files go to {arguments.repository} on {host} as a {arguments.kind} ({seen_by}); no secret was found in them", file=sys.stderr)


def parser() -> Parser:
    """Returns the reader of the command line."""
    top = Parser(prog="python -m harness.hub", description="Publishes a dataset or weights to a model hub, after checking for secrets and asking.")
    top.add_argument("kind", choices=sorted(ENDINGS), help="what it is")
    top.add_argument("folder", type=pathlib.Path, metavar="FOLDER", help="the files: a dataset, an adapter or weights")
    top.add_argument("repository", metavar="OWNER/NAME", help="where they go; made when it is not there")
    top.add_argument("--public", action="store_true", help="a repository that is made now can be read by everybody (default: private)")
    top.add_argument("--dry-run", action="store_true", help="check and show, send nothing")
    top.add_argument("--yes", action="store_true", help="do not ask")
    top.set_defaults(work=publish)
    return top


if __name__ == "__main__":
    sys.exit(run_command(parser(), sys.argv[1:]))
