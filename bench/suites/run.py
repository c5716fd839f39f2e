"""Whether strangers' tests run: public packages in three states, our counts beside those of their own command.

python bench/suites/run.py HARNESS FOLDER OUT.jsonl [--state ready|bare|own] [--jobs 2] [NAME…]

- ready: set up in `.venv` as the project's guide says; `harness test` must count what the project's own command counts.
- bare: unpacked and nothing installed; the reason must be the runner's own, and the printed command must mend it.
- own: the same with harness's own virtualenv active.
"""

import argparse
import concurrent.futures
import contextlib
import html
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).parent
INDEX = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple/")
SECONDS = 300
CRATES = "https://static.crates.io/crates/"
STATES = ("ready", "bare", "own")


def python_source(name: str, version: str) -> str:
    """Where the index has the source distribution."""
    page = f"{INDEX.rstrip('/')}/{re.sub(r'[-_.]+', '-', name).lower()}/"
    text = urllib.request.urlopen(page, timeout=60).read().decode()
    links = re.findall(r'<a[^>]*href="([^"]+)"[^>]*>([^<]+)</a>', text)
    (link,) = [link for link, label in links if label.strip().endswith(f"-{version}.tar.gz")]
    return urllib.parse.urljoin(page, html.unescape(link)).split("#")[0]


def source_of(kind: str, name: str, version: str, folder: pathlib.Path) -> pathlib.Path:
    """The unpacked source distribution of a version."""
    target = folder / "source" / name
    if target.is_dir():
        return target
    archive = folder / f"{name}.tar.gz"
    url = f"{CRATES}{name}/{name}-{version}.crate" if kind == "rust" else python_source(name, version)
    archive.write_bytes(urllib.request.urlopen(url, timeout=120).read())
    unpacked = folder / "unpacked" / name
    with tarfile.open(archive) as opened:
        opened.extractall(unpacked, filter="data")
    archive.unlink()
    (inner,) = [entry for entry in unpacked.iterdir() if entry.is_dir()]
    target.parent.mkdir(parents=True, exist_ok=True)
    inner.rename(target)
    unpacked.rmdir() if not list(unpacked.iterdir()) else shutil.rmtree(unpacked)
    return target


def call(words: list[str], cwd: pathlib.Path, environment: dict[str, str]) -> tuple[int, str, str]:
    """Runs a command and ends all that it started."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(words, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
        try:
            code = child.wait(SECONDS)
        except subprocess.TimeoutExpired:
            code = 124
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
    return code, texts[0], texts[1]


def clean_environment(home: pathlib.Path) -> dict[str, str]:
    """A stranger's variables: no virtualenv, caches of the bench's own."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("VIRTUAL_ENV", "PYTHON", "HARNESS"))}
    return kept | {"XDG_CACHE_HOME": str(home / "cache"), "XDG_CONFIG_HOME": str(home / "config"), "XDG_STATE_HOME": str(home / "state")}


def set_up(kind: str, package: dict[str, str], project: pathlib.Path, environment: dict[str, str]) -> str:
    """Makes `.venv` as the guide says, or fetches crates; says what went wrong."""
    if kind == "rust":
        code, _, errors = call(["cargo", "fetch"], project, environment)
        return errors.strip()[-300:] if code else ""
    python = project / ".venv/bin/python"
    steps = [
        [sys.executable, "-m", "venv", ".venv"],
        [str(python), "-m", "pip", "install", "-q", "-U", "pip", "setuptools"],
        [str(python), "-m", "pip", "install", "-q", *package["install"].split()],
    ]
    for step in steps:
        code, _, errors = call(step, project, environment)
        if code:
            return errors.strip()[-300:] or f"exit {code}"
    return ""


def own_counts(kind: str, package: dict[str, str], project: pathlib.Path, environment: dict[str, str]) -> dict:
    """What the project's own command counts, by the runner's own last words."""
    if kind == "rust":
        _, output, _ = call(["cargo", "test", "--no-fail-fast"], project, environment)
        results = re.findall(r"^test result: .*? (\d+) passed; (\d+) failed; (\d+) ignored", output, re.M)
        passed, failed, skipped = (sum(int(row[at]) for row in results) for at in range(3))
        return {"passed": passed, "failed": failed, "skipped": skipped, "said": ""}
    command = package.get("command", "-m pytest").split()
    activated = environment | {"PATH": f"{project / '.venv/bin'}{os.pathsep}{environment['PATH']}", "COLUMNS": "200"}
    _, output, errors = call([".venv/bin/python", *command], project, activated)
    said = re.sub(r"\x1b\[[0-9;]*m", "", output + "\n" + errors)
    counting = [line for line in said.splitlines() if re.search(r"\d+ (passed|failed|error)|^(OK|FAILED)\b", line)]
    last = counting[-1].strip("= ") if counting else ""
    if "pytest" in command:
        counted = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|skipped|xfailed|xpassed|error)", last)}
        passed, failed = (counted.get("passed", 0) + counted.get("xpassed", 0), counted.get("failed", 0) + counted.get("error", 0))
        skipped = counted.get("skipped", 0) + counted.get("xfailed", 0)
    else:
        ran = re.search(r"Ran (\d+) tests?", said)
        counted = {word: int(number) for word, number in re.findall(r"\b(failures|errors|skipped|expected failures)=(\d+)", last)}
        failed = counted.get("failures", 0) + counted.get("errors", 0)
        skipped = counted.get("skipped", 0) + counted.get("expected failures", 0)
        passed = (int(ran[1]) if ran else 0) - failed - skipped
    return {"passed": passed, "failed": failed, "skipped": skipped, "said": last[-200:]}


def our_counts(harness: str, project: pathlib.Path, environment: dict[str, str]) -> dict:
    """What `harness test` says."""
    started = time.monotonic()
    code, output, errors = call([harness, "test", "--json", "-q"], project, environment)
    try:
        told = json.loads(output)
    except ValueError:
        told = {"ok": False, "summary": errors.strip()[-300:], "tests": None, "hint": ""}
    tests = told.get("tests") or {}
    return {
        "passed": tests.get("passed", 0),
        "failed": tests.get("failed", 0),
        "skipped": told.get("skipped", 0),
        "exit": code,
        "seconds": round(time.monotonic() - started, 1),
        "said": " ".join(str(told.get(key, "")) for key in ("summary", "hint")).strip(),
        "command": told.get("command", ""),
        "failures": [failure.get("message", "")[:200] for failure in told.get("failures", [])[:5]],
    }


def runner_reasons(command: str, project: pathlib.Path, environment: dict[str, str]) -> list[str]:
    """The modules and options that the runner itself complains about, when it is started as we started it."""
    words = command.split()
    if not words:
        return []
    _, output, errors = call(words, project, environment)
    text = output + errors
    found = re.findall(r"No module named '?([\w.]+)", text)
    found += re.findall(r"(?:failed to get|no matching package named|failed to download) `([\w-]+)", text)
    found += re.findall(r"unrecognized arguments: (.*)", text)
    found += re.findall(r"(\S+) is not installed|Missing required plugins: (.*)", text) and ["plugin"]
    found += re.findall(r"(?:ImportError|PackageNotFoundError)[^\n]*?[ '\"]([\w.-]+)['\"]?\s*$", text, re.M)
    return sorted({word for word in found if word})


def is_true(said: str, reasons: list[str]) -> bool:
    """Whether one of the runner's reasons stands in what we say."""
    words = [part for reason in reasons for part in re.findall(r"[\w-]{2,}", reason)]
    return any(word.lower().replace("_", "-") in said.lower().replace("_", "-") for word in words)


def measure(harness: str, folder: pathlib.Path, kind: str, name: str, package: dict[str, str], state: str) -> dict:
    source = source_of(kind, name, package["version"], folder)
    project = folder / state / name
    shutil.rmtree(project, ignore_errors=True)
    shutil.copytree(source, project, symlinks=True)
    environment = clean_environment(folder / "home" / state)
    row: dict = {"name": name, "version": package["version"], "state": state}
    if state == "ready":
        row["trouble"] = set_up(kind, package, project, environment)
        row["theirs"] = own_counts(kind, package, project, environment)
        row["ours"] = our_counts(harness, project, environment)
        row["same"] = all(row["theirs"][key] == row["ours"][key] for key in ("passed", "failed", "skipped"))
        shutil.rmtree(project / ".venv", ignore_errors=True)
        return row
    if kind == "rust":
        # Nothing was ever fetched here.
        environment |= {"CARGO_HOME": str(folder / "home" / state / f"cargo-{name}"), "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(pathlib.Path.home() / ".rustup"))}
    if state == "own":
        own = pathlib.Path(harness).parent
        environment |= {"VIRTUAL_ENV": str(own.parent), "PATH": f"{own}{os.pathsep}{environment['PATH']}"}
    # What an earlier run left, when it was stopped.
    call([harness, "prepare", "--remove"], project, environment)
    if kind == "rust":
        shutil.rmtree(environment["CARGO_HOME"], ignore_errors=True)
    row["first"] = our_counts(harness, project, environment)
    if row["first"]["exit"] == 0:
        row["runs"] = True
        return row
    # Tests have no network; cargo would mend it by itself.
    row["reasons"] = runner_reasons(row["first"]["command"], project, environment | {"CARGO_NET_OFFLINE": "true"})
    row["true"] = is_true(row["first"]["said"] + " ".join(row["first"]["failures"]), row["reasons"])
    row["printed"], then = [], row["first"]
    started = time.monotonic()
    while then["exit"] and len(row["printed"]) < 4 and (words := printed_command(harness, then["said"])):
        if words in row["printed"]:
            break
        row["printed"].append(words)
        code, _, errors = call(words, project, environment)
        row["command_said"] = errors.strip()[-300:] if code else ""
        then = our_counts(harness, project, environment)
    row["seconds"] = round(time.monotonic() - started, 1)
    row["then"] = then
    call([harness, "prepare", "--remove"], project, environment)
    return row


def printed_command(harness: str, said: str) -> list[str]:
    """The command that we told the user to type."""
    for text in re.findall(r"`([^`]+)`", said):
        words = shlex.split(text)
        if words[:2] == ["harness", "prepare"]:
            return [harness, *words[1:], "--yes", "-q"]
        if words[1:4] == ["-m", "pip", "install"]:
            return words
    return []


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("harness")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--state", choices=STATES, action="append")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("names", nargs="*")
    options = parser.parse_intermixed_args()
    harness = str(pathlib.Path(options.harness).absolute())
    folder = options.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    kinds = tomllib.loads((HERE / "packages.toml").read_text())
    packages = {(kind, name): package for kind in kinds for name, package in kinds[kind].items()}
    wanted = [key for key in packages if not options.names or key[1] in options.names or key[0] in options.names]
    # What virtualenv is active means nothing to cargo.
    cases = [(key, state) for state in options.state or STATES for key in wanted if (key[0], state) != ("rust", "own")]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, options.out.open("a") as out:
        rows = {pool.submit(measure, harness, folder, *key, packages[key], state): (key[1], state) for key, state in cases}
        for future in concurrent.futures.as_completed(rows):
            try:
                row = future.result()
            except Exception as error:  # A package that cannot be had is a row of its own.
                row = dict(zip(("name", "state"), rows[future])) | {"trouble": repr(error)}
            out.write(json.dumps(row) + "\n")
            out.flush()
            print(json.dumps(row)[:300], flush=True)


if __name__ == "__main__":
    main()
