"""Finds commits whose own tests show what they do, and lays them out with the tests in place and the code as it was.

    python commits.py REPOSITORIES FOLDER --python PYTHON [--most 400] [--each 12] [NAME...]

REPOSITORIES holds one folder a repository (`owner+name`), with a bare repository named `repo` in it. A commit counts
when it changes 1 to 6 files of code and at least one of tests, has 1 to 10 places (definitions, constants, files),
and its tests fail with the code as it was and pass with the code as it became. PYTHON is an interpreter with what the
projects need. Each case is FOLDER/ID/project and FOLDER/ID/case.json.
"""

import argparse
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bugs"))
import lab  # noqa: E402
import units  # noqa: E402


def git(repository, *words):
    return subprocess.run(["git", "-C", str(repository), *words], capture_output=True).stdout


def is_test(path):
    parts = path.lower().split("/")
    name = parts[-1]
    return any(part in ("test", "tests", "testing", "testdata", "__tests__") for part in parts[:-1]) or name.startswith("test") or bool(re.search(r"(_tests?|\.test|\.spec|conftest)\.\w+$", name))


def is_code(path):
    aside = ("doc", "example", "bench", "script", "tools", ".github")
    return units.language(path) is not None and not is_test(path) and not any(part.startswith(aside) for part in path.lower().split("/")) and not path.endswith(("setup.py", "noxfile.py", "conf.py", "build.rs"))


def candidates(repository, most):
    log = git(repository, "log", "--no-merges", f"-{most}", "--format=%x01%H%x02%s%x02%b%x03", "--name-status", "--no-renames", "HEAD")
    for block in log.decode("utf-8", "replace").split("\x01")[1:]:
        head, _, rows = block.partition("\x03")
        commit, subject, body = head.split("\x02")
        changed = [row.split("\t")[:2] for row in rows.strip().split("\n") if "\t" in row]
        code = [(state, path) for state, path in changed if is_code(path)]
        tests = [path for state, path in changed if units.language(path) and is_test(path) and state != "D"]
        inline = [path for _, path in code if path.endswith(".rs")]
        if 1 <= len(code) <= 6 and (tests or inline) and not re.match(r"(?i)merge|bump|release|revert|version", subject):
            yield commit, subject, body.strip(), code, tests


def text(repository, commit, path):
    raw = git(repository, "show", f"{commit}:{path}")
    return raw.decode("utf-8")


INLINE = re.compile(r"(?ms)^#\[cfg\(test\)\]\s*\nmod \w+ \{.*?^\}\n?")


def as_it_was(path, before, after):
    """The text from before; in Rust with the tests that the commit left in the file."""
    if path.endswith(".rs") and before and after:
        old, new = INLINE.search(before), INLINE.search(after)
        if new:
            return (before[: old.start()] + new[0] + before[old.end() :]) if old else before + "\n" + new[0]
    return before


def run_suite(root, kind, python, tests):
    """Runs the changed tests (Python) or all of them. Returns the ids that passed and failed, or nothing."""
    if kind == "python":
        report = lab.run_tests(root, python, limit=120, tests=[path for path in tests if not path.endswith("conftest.py")])
        return report and (report.passed, report.failed, report.collect_errors)
    command = {"go": ["go", "test", "-json", "./..."], "rust": ["cargo", "test", "--quiet", "--no-fail-fast", "--", "--format=pretty"], "javascript": ["node", "--test"], "typescript": None}[kind]
    variables = dict(os.environ, GOFLAGS="-mod=mod", GOPROXY="off", CARGO_TERM_COLOR="never")
    try:
        done = subprocess.run(command, cwd=root, env=variables, capture_output=True, text=True, timeout=300)
    except (subprocess.TimeoutExpired, OSError):
        return None
    passed, failed = set(), set()
    if kind == "go":
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                event = json.loads(line)
                if event.get("Test") and event["Action"] in ("pass", "fail"):
                    (passed if event["Action"] == "pass" else failed).add(f"{event['Package']}.{event['Test']}")
    else:
        for name, verdict in re.findall(r"^test (.+?) \.\.\. (ok|FAILED)$", done.stdout, re.M):
            # Where an example stands says nothing of what it is.
            (passed if verdict == "ok" else failed).add(re.sub(r" \(line \d+\)", "", name))
    return passed, failed, int(done.returncode != 0 and not failed)


def is_collected(root, python, tests):
    """Whether the project's own settings collect a file of these tests: some need a runner of long ago."""
    done = subprocess.run([python, "-m", "pytest", "--collect-only", "-q"], cwd=root, env=lab.environment(root), capture_output=True, text=True)
    return any(test.partition("::")[0] in done.stdout for test in tests)


def lay(repository, name, found, kept, python):
    commit, subject, body, code, tests = found
    files = {}
    for state, path in code:
        before = None if state == "A" else text(repository, f"{commit}~", path)
        after = None if state == "D" else text(repository, commit, path)
        files[path] = {"before": as_it_was(path, before, after), "after": after}
    places = [place for path, one in files.items() for place in units.places(path, one["before"], one["after"])]
    if not 1 <= len(places) <= 10 or sum(len(one["after"] or "") for one in files.values()) > 400_000:
        return None
    kinds = {units.language(path) for path in files}
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    root = kept / "project"
    packed = git(repository, "archive", commit)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(root, filter="data")
    if kind == "python":
        lab.prepare(root)
    states = {}
    for state in ("after", "before"):
        for path, one in files.items():
            if one[state] is None:
                (root / path).unlink(missing_ok=True)
            else:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(one[state], encoding="utf-8", newline="")
        states[state] = run_suite(root, kind, python, tests)
        if state == "after" and (not states[state] or states[state][1] or states[state][2] or not states[state][0]):
            return None
        if state == "after":
            # A case that is named by the time of day is another one each time.
            again = run_suite(root, kind, python, tests)
            states[state] = (states[state][0] & (again[0] if again else set()), *states[state][1:])
    before = states["before"]
    if not before:
        return None
    failing = sorted(states["after"][0] - before[0])
    if not failing or kind == "python" and not is_collected(root, python, failing):
        return None
    shutil.rmtree(root / "target", ignore_errors=True)
    return {
        "id": kept.name, "repository": name, "commit": commit, "subject": subject, "body": body, "language": kind,
        "files": files, "tests": tests, "failing": failing, "places": [repr(place) for place in places],
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("repositories", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--most", type=int, default=400)
    parser.add_argument("--each", type=int, default=12)
    options = parser.parse_intermixed_args()
    options.python = os.path.abspath(options.python)
    for folder in sorted(options.repositories.iterdir()):
        repository = folder / "repo"
        if not repository.is_dir() or (options.names and not any(name in folder.name for name in options.names)):
            continue
        count = len(list(options.folder.glob(f"{folder.name}-*/case.json")))
        for found in candidates(repository, options.most):
            if count >= options.each:
                break
            kept = options.folder / f"{folder.name}-{found[0][:10]}"
            if kept.exists():
                continue
            with tempfile.TemporaryDirectory() as place:
                trial = pathlib.Path(place, kept.name)
                try:
                    case = lay(repository, folder.name.replace("+", "/"), found, trial, options.python)
                except (SyntaxError, ValueError, OSError, KeyError, tarfile.TarError) as error:
                    print(f"  {kept.name}: {error}", flush=True)
                    continue
                if case:
                    shutil.copytree(trial, kept, symlinks=True)
                    (kept / "case.json").write_text(json.dumps(case))
                    count += 1
        print(f"{folder.name}: {count}", flush=True)


if __name__ == "__main__":
    main()
