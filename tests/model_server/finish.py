"""The finish rule once more, from a clean copy, by code that knows nothing of the program under test.

`ok` is true only when what was changed is proven: more than zero tests run, none that passed before fails now, no
existing test was changed unless the task is about tests. Tests and measurements count here how often that did not hold,
and print the number with their reports. Standard library only.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Runs every test that unittest finds and prints which passed.
PROBE = """
import json, signal, sys, unittest
sys.path.insert(0, '.')
def hung(*_):
    raise TimeoutError('hung')
class Seen(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.passed = []
    def startTest(self, test):
        super().startTest(test)
        if hasattr(signal, 'alarm'):
            # One that never ends has not passed.
            signal.signal(signal.SIGALRM, hung)
            signal.alarm(5)
    def addSuccess(self, test):
        self.passed.append(test.id())
seen = Seen()
unittest.defaultTestLoader.discover('.', top_level_dir='.').run(seen)
print(json.dumps({'ran': seen.testsRun, 'passed': seen.passed, 'broken': len(seen.errors) + len(seen.failures), 'skipped': len(seen.skipped)}))
"""

# Which runs were looked at again, and what did not hold.
CHECKED, VIOLATIONS = [], []


def report():
    return f"{len(CHECKED)} runs that ended ok were checked again from a clean copy: {len(VIOLATIONS)} violations"


def probed(folder):
    # Tests may be named after the order of a set: it is the same in both runs.
    variables = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run([sys.executable, "-B", "-c", PROBE], cwd=folder, env=variables, capture_output=True, text=True, encoding="utf-8", timeout=60)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 and done.stdout else None


def check(name, task, before, project, writes):
    """Lays the written files over a clean copy of what was there before, and notes what of the rule does not hold."""
    with tempfile.TemporaryDirectory() as place:
        clean = pathlib.Path(place, "clean")
        shutil.copytree(before, clean, ignore=shutil.ignore_patterns(".harness", "__pycache__", "*.bak"))
        first = probed(clean)
        for written in writes:
            source, target = project / written, clean / written
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.exists():
                shutil.copyfile(source, target)
            elif target.exists():
                target.unlink()
        second = probed(clean)
    faults = []
    about_tests = re.search(r"test|rename|->|instead of", task, re.IGNORECASE)
    if first and first["ran"]:
        if not second or not second["ran"]:
            faults.append("no test ran")
        elif not about_tests and set(first["passed"]) - set(second["passed"]):
            faults.append(f"passed before and does not now: {sorted(set(first['passed']) - set(second['passed']))}")
        elif second["broken"] > first["broken"] or second["skipped"] > first["skipped"]:
            faults.append("more tests fail or are skipped than before")
    changed_tests = [written for written in writes if "test" in written and (before / written).exists()]
    if changed_tests and not about_tests:
        faults.append(f"existing tests were changed: {changed_tests}")
    CHECKED.append(name)
    VIOLATIONS.extend(f"{name}: {fault}" for fault in faults)
    return faults


def check_journalled(name, project, harness):
    """The same for the last run that a project remembers, with `undo` in a copy as the way back to what was before."""
    shown = subprocess.run([harness, "last", "--project", str(project), "--json"], capture_output=True, text=True, encoding="utf-8", stdin=subprocess.DEVNULL)
    runs = json.loads(shown.stdout)["runs"] if shown.returncode == 0 else []
    if not runs or runs[0]["outcome"] != "done" or not runs[0]["files"] or runs[0]["undone"] or runs[0]["undoes"]:
        return []
    with tempfile.TemporaryDirectory() as place:
        before = pathlib.Path(place, "before")
        shutil.copytree(project, before, symlinks=True)
        undone = subprocess.run([harness, "undo", "--project", str(before), "--force", "--json"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if undone.returncode != 0:
            return []
        return check(name, runs[0]["task"] or "", before, pathlib.Path(project), runs[0]["files"])
