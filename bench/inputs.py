"""What benches need that is not in this repository: packages, repositories, other programs. Fetched once, kept below
target/bench; what cannot be had raises `Missing` with the reason in words."""

import math
import os
import pathlib
import shutil
import subprocess
import sys
import time
import urllib.error

ROOT = pathlib.Path(__file__).resolve().parents[1]
PLACE = ROOT / "target" / "bench"
SCRIPTS = "Scripts" if os.name == "nt" else "bin"
sys.path.append(str(ROOT / "bench" / "bugs"))

import fetch  # noqa: E402

# Other programs: where they are published, the package, the program in it, and what it needs without saying so.
PEERS = {
    "py-harness": ("pip", "py-harness-cli", "py-harness"),
    "aider": ("pip", "aider-chat", "aider"),
    "mini-swe-agent": ("pip", "mini-swe-agent", "mini", "mcp"),
    "codex": ("npm", "@openai/codex", "codex"),
    "opencode": ("npm", "opencode-ai", "opencode"),
}
# The repositories that commits, sentences and bugs are taken from.
COMMITS = (
    "Suor/funcy", "alecthomas/voluptuous", "andialbrecht/sqlparse", "arrow-py/arrow", "astanin/python-tabulate", "dbader/schedule",
    "grantjenks/python-sortedcontainers", "hukkin/tomli", "jpvanhal/inflection", "keleshev/schema", "lepture/mistune", "mahmoud/boltons",
    "marshmallow-code/marshmallow", "martinblech/xmltodict", "mewwts/addict", "more-itertools/more-itertools",
)  # fmt: skip
SENTENCES = (
    "pallets/click", "pallets/itsdangerous", "python-humanize/humanize", "pytoolz/toolz", "r1chardj0n3s/parse", "tkem/cachetools",
    "un33k/python-slugify", "andialbrecht/sqlparse", "astanin/python-tabulate", "mahmoud/boltons",
)  # fmt: skip
# What the tests of those packages import.
FOR_THE_TESTS = ("pytest>=8,<10", "freezegun", "hypothesis", "simplejson", "pytz", "python-dateutil", "dateparser", "pytest-mock", "text-unidecode", "wcwidth")


# A moment of the monotonic clock at which nothing may go on any more; quick runs set it.
DEADLINE = math.inf


class Missing(Exception):
    """Why something cannot be had here."""


def time_left(most):
    """So many seconds, or what is left of them before the deadline."""
    left = DEADLINE - time.monotonic()
    if left < 1:
        raise Missing("no time is left of the 20 minutes")
    return min(most, left)


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:160] if lines else "no reason was given"


def said(words, what):
    """Runs a command that fetches something."""
    try:
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=time_left(1800), stdin=subprocess.DEVNULL, env={**os.environ, "GIT_TERMINAL_PROMPT": "0"})
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(f"{what} could not be fetched ({error})") from None
    if done.returncode != 0:
        raise Missing(f"{what} could not be fetched ({last_line(done.stderr)})")
    return done.stdout


def environment(name, *packages):
    """The Python of a virtualenv of our own with these packages."""
    folder = PLACE / "environments" / name
    python = folder / SCRIPTS / "python"
    if not (folder / "whole").exists():
        shutil.rmtree(folder, ignore_errors=True)
        said([sys.executable, "-m", "venv", folder], f"a virtualenv for {name}")
        said([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], name)
        (folder / "whole").touch()
    return python


def peer(name):
    """The program of a peer and its version."""
    source, package, program, *unsaid = PEERS[name]
    if source == "pip":
        python = environment(name, package, *unsaid)
        shown = said([python, "-m", "pip", "show", package], name)
        version = next(line.split(": ")[1] for line in shown.splitlines() if line.startswith("Version"))
        return str(python.parent / program), version
    npm = shutil.which("npm")
    if not npm:
        raise Missing("needs npm")
    folder = PLACE / "environments" / name
    if not (folder / "whole").exists():
        folder.mkdir(parents=True, exist_ok=True)
        said([npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, package], name)
        (folder / "whole").touch()
    manifest = (folder / "node_modules" / package / "package.json").read_text(encoding="utf-8")
    return str(folder / "node_modules" / ".bin" / program), manifest.split('"version": "')[1].split('"')[0]


def sdists(lines):
    """A folder with the source distributions of `name==version` lines, and nothing else."""
    known = PLACE / "sdists"
    chosen = PLACE / f"sdists-{len(lines)}"
    for folder in (known, chosen):
        folder.mkdir(parents=True, exist_ok=True)
    for line in lines:
        try:
            found = fetch.fetch(line, known, fetch.index())
        except (OSError, urllib.error.URLError) as error:
            raise Missing(f"{line} could not be fetched ({error})") from None
        if found and not (chosen / found.name).exists():
            shutil.copyfile(found, chosen / found.name)
    return chosen


def repositories(names, given=None):
    """A folder with bare repositories as `owner+name/repo`: the one that the user gave, or our own clones."""
    if given:
        # Figures from a part of them would be marked as if they were from all.
        absent = [f"{name.replace('/', '+')}/repo" for name in names if not (given / name.replace("/", "+") / "repo").is_dir()]
        if absent:
            raise Missing(f"needs {', '.join(absent[:3])}{f' and {len(absent) - 3} more' if len(absent) > 3 else ''} in --repositories")
        return given
    if not shutil.which("git"):
        raise Missing("needs git")
    for name in names:
        place = PLACE / "repositories" / name.replace("/", "+") / "repo"
        if not (place / "HEAD").exists():
            shutil.rmtree(place, ignore_errors=True)
            said(["git", "clone", "--quiet", "--bare", f"https://github.com/{name}", place], f"the repository {name}")
    return PLACE / "repositories"


def helper(name, may_build):
    """A program of bench/src/bin: built already, or built now where that is allowed."""
    ending = ".exe" if os.name == "nt" else ""
    for kind in ("release", "debug"):
        found = ROOT / "target" / kind / f"{name}{ending}"
        if found.exists():
            return str(found)
    if not may_build or not shutil.which("cargo"):
        raise Missing(f"needs `cargo build --release -p harness-bench --bin {name}`")
    subprocess.run(["cargo", "build", "--release", "--locked", "-p", "harness-bench", "--bin", name], cwd=ROOT, check=False)
    found = ROOT / "target" / "release" / f"{name}{ending}"
    if not found.exists():
        raise Missing(f"`cargo build --release -p harness-bench --bin {name}` failed")
    return str(found)
