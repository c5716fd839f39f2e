"""What install.py and test.py share: problems told with a hint, long steps shown as they go, and finding the tools.

Standard library only; the same on Linux, macOS and Windows.
"""

import contextlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OLDEST_PYTHON = (3, 10)
WINDOWS = os.name == "nt"
# How often a plain log hears that a long step is still going on.
QUIET_SECONDS = 20.0


class Problem(Exception):
    """Something the user must do first: what is wrong, and how to go on."""

    def __init__(self, message, hint):
        super().__init__(message)
        self.hint = hint


# Python environments


def make_environment(folder, ours=False):
    """Returns the Python of the virtualenv in this folder; makes it when there is none.

    One that is ours alone is made anew when its files are gone: caches of build folders keep folders and drop files.
    """
    python = environment_python(folder)
    is_whole = python.exists() and (not ours or (folder / "pyvenv.cfg").exists())
    if is_whole:
        return python
    if folder.exists() and ours:
        shutil.rmtree(str(folder))
    if folder.exists():
        raise Problem(f"`{shown(folder)}` is there but has no Python in it", "delete that folder and run this again")
    if sys.version_info < OLDEST_PYTHON:
        raise Problem(too_old(".".join(map(str, sys.version_info[:2]))), "run this with a newer Python")
    check_venv()
    print(f"making a virtualenv in {shown(folder)}", flush=True)
    code, output = heard([sys.executable, "-m", "venv", str(folder)])
    if code != 0:
        # Half an environment would stand in the way of the next try.
        shutil.rmtree(str(folder), ignore_errors=True)
        raise Problem("this Python cannot make a virtualenv:\n" + indented(output), venv_hint(output))
    return python


def check_venv():
    """Debian and Ubuntu have what makes virtualenvs in a package of its own."""
    code, output = heard([sys.executable, "-c", "import ensurepip, venv"])
    if code != 0:
        raise Problem("this Python cannot make a virtualenv:\n" + indented(output), venv_hint(output))


def venv_hint(output):
    if "ensurepip" in output or "No module named 'venv'" in output or "No module named venv" in output:
        version = "{}.{}".format(*sys.version_info[:2])
        return f"on Debian and Ubuntu: sudo apt install python{version}-venv; then run this again"
    return "make one yourself, activate it, and run this again"


def check_python(python):
    """Asks an environment's Python whether harness can live there."""
    code, answer = heard([str(python), "-c", "import sys; print(*sys.version_info[:2], sys.implementation.name)"])
    words = answer.split()
    if code != 0 or len(words) != 3:
        raise Problem(f"`{shown(python)}` does not run", "delete that virtualenv and run this again")
    if tuple(map(int, words[:2])) < OLDEST_PYTHON:
        raise Problem(too_old(".".join(words[:2])), "make a virtualenv with a newer Python, activate it, run this again")
    if words[2] != "cpython":
        raise Problem(f"harness needs CPython, and `{shown(python)}` is {words[2]}", "use a virtualenv of CPython")


def too_old(version):
    return "harness needs Python {}.{} or newer, and this is {}".format(*OLDEST_PYTHON, version)


def ensure_pip(python):
    """Some tools make virtualenvs without pip; Python can put it there."""
    if heard([str(python), "-m", "pip", "--version"])[0] == 0:
        return
    print("putting pip into the virtualenv", flush=True)
    if heard([str(python), "-m", "ensurepip", "--default-pip"])[0] != 0:
        raise Problem("the virtualenv has no pip", f"install pip for {shown(python)} and run this again")


def environment_python(folder):
    """The Python of a virtualenv."""
    return folder / ("Scripts/python.exe" if WINDOWS else "bin/python")


def program(python):
    """The installed command, beside its Python."""
    return python.parent / ("harness.exe" if WINDOWS else "harness")


def editable_install(python, *options):
    """The command that installs this clone, so that changes to its Python files count at once. The dev profile compiles
    in the shortest time, others (`--profile`, Cargo.toml) make a faster program."""
    command = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "-v"]
    chosen = ["--config-settings", f"build-args={' '.join(options)}"] if options else []
    return [*command, *chosen, "--editable", str(ROOT)]


# The Rust toolchain


def check_rust():
    """A clone is compiled here, so cargo and a recent rustc must be there."""
    wanted = re.search(r'^rust-version = "([\d.]+)"', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.M)
    oldest = wanted.group(1) if wanted else "1"
    for tool in ("cargo", "rustc"):
        if shutil.which(tool) is None:
            raise Problem(f"`{tool}` is not on the PATH, and harness is compiled from this clone", rust_hint(oldest))
    code, output = heard(["rustc", "--version"])
    found = re.search(r"rustc ((\d+)\.(\d+)\S*)", output)
    if code != 0 or not found:
        raise Problem("rustc does not say its version:\n" + indented(output), rust_hint(oldest))
    if (int(found.group(2)), int(found.group(3))) < tuple(map(int, oldest.split(".")[:2])):
        hint = f"rustup update stable, or: {rust_hint(oldest)}"
        raise Problem(f"harness needs Rust {oldest} or newer, and this is {found.group(1)}", hint)


def rust_hint(oldest):
    how = "winget install Rustlang.Rustup" if WINDOWS else "curl --proto '=https' -sSf https://sh.rustup.rs | sh"
    return f"install Rust {oldest} or newer from https://rustup.rs ({how}), open a new terminal, run this again"


def check_compiler():
    """Some of what harness is made of is written in C: a compiler must be there, with a linker and the C library."""
    if WINDOWS:
        return  # Rust itself asks for the build tools there.
    compiler = os.environ.get("CC") or next(filter(shutil.which, ("cc", "gcc", "clang")), None)
    if compiler is None:
        raise Problem("there is no C compiler on the PATH, and parts of harness are written in C", compiler_hint())
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "try.c")
        source.write_text("#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n", encoding="utf-8")
        code, output = heard([*shlex.split(compiler), str(source), "-o", str(source.with_suffix(".out"))])
    if code != 0:
        raise Problem(f"the C compiler `{compiler}` cannot build a program:\n" + indented(output), compiler_hint())


def compiler_hint():
    if sys.platform == "darwin":
        return "xcode-select --install; then run this again"
    return "Debian and Ubuntu: sudo apt install build-essential; Fedora: sudo dnf install gcc; then run this again"


# Long steps


def follow(command, log, progress, environment=None):
    """Runs a command, writes what it says into the log, shows how far it is. Returns its exit code."""
    log.parent.mkdir(parents=True, exist_ok=True)
    # Tools are to speak plainly: their lines are read here.
    plain = {"TERM": "dumb", "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}
    plain.update(CARGO_TERM_COLOR="never", CARGO_TERM_PROGRESS_WHEN="never")
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(open(str(log), "w", buffering=1, encoding="utf-8", errors="replace"))
        try:
            process = subprocess.Popen(
                command,
                cwd=str(ROOT),
                env={**os.environ, **plain, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            file.write(f"error: `{command[0]}` cannot be started: {error}\n")
            return 127
        stack.enter_context(progress)
        try:
            for line in process.stdout:
                file.write(line)
                progress.hear(line)
            return process.wait()
        except KeyboardInterrupt:
            process.terminate()
            process.wait()
            raise


class Progress:
    """One live line on a terminal; a plain line now and then elsewhere."""

    def __init__(self, doing, verbose=False):
        self.doing = doing
        self.verbose = verbose
        self.live = sys.stdout.isatty() and not verbose and os.environ.get("TERM") != "dumb"
        self.started = self.spoken = time.monotonic()
        self.compiled = 0
        self.over = threading.Event()
        self.clock = threading.Thread(target=self.tick, daemon=True)

    def __enter__(self):
        self.clock.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.clock.join()
        if self.live:
            self.rewrite("")
            print("\r", end="", flush=True)

    def hear(self, line):
        """Takes from a tool's line what it is doing."""
        if self.verbose:
            print(line, end="", flush=True)
        words = line.split()
        if len(words) < 2:
            return
        if words[0] in ("Compiling", "Checking", "Documenting"):
            self.compiled += 1
            self.doing = f"{words[0].lower()} {words[1]} ({self.compiled} so far)"
        elif words[0] in ("Downloading", "Downloaded"):
            self.doing = f"getting {words[1]}"
        elif words[0] == "Running" and "deps" in line:
            self.doing = "testing " + words[-1].strip("()").replace("\\", "/").rpartition("/")[2]
        elif line.startswith("Installing collected packages"):
            self.doing = "installing"

    def tick(self):
        while not self.over.wait(0.2):
            now = time.monotonic()
            text = f"  {duration(now - self.started):>7}  {self.doing}"
            if self.live:
                self.rewrite(text)
            elif now - self.spoken > QUIET_SECONDS and not self.verbose:
                self.spoken = now
                print(text, flush=True)

    @staticmethod
    def rewrite(text):
        # Spaces wipe the line before: older Windows consoles know no other way.
        width = shutil.get_terminal_size().columns - 1
        print("\r" + text[:width].ljust(width), end="", flush=True)


# Small things


def heard(command, folder=ROOT):
    """Runs a short command. Returns its exit code and all that it said; one that cannot be started says so."""
    try:
        done = subprocess.run(
            command, cwd=str(folder), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    except OSError as error:
        return 127, str(error)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def shown(path):
    """A path as the user would type it from here."""
    try:
        return str(pathlib.Path(path).relative_to(pathlib.Path.cwd()))
    except ValueError:
        return str(path)


def duration(seconds):
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}m {rest:02d}s" if minutes else f"{rest}s"


def indented(text):
    return "\n".join("    " + line for line in text.rstrip().splitlines())
