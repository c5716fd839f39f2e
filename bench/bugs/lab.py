"""What the scripts here share: running a package's tests, and hiding some of them."""

import ast
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

PLUGIN = '''
import json, os, sys
ROOT = os.path.realpath(os.environ["LAB_ROOT"])
OUT = os.environ["LAB_OUT"]
state = {"passed": [], "failed": [], "errors": 0, "called": []}
called = set()
def profile(frame, event, argument):
    if event == "call":
        called.add((frame.f_code.co_filename, frame.f_code.co_name))
def pytest_configure(config):
    if os.environ.get("LAB_CALLS"):
        sys.setprofile(profile)
def pytest_collectreport(report):
    if report.failed:
        state["errors"] += 1
def pytest_runtest_logreport(report):
    if report.failed:
        state["failed"].append(report.nodeid)
    elif report.when == "call" and report.passed:
        state["passed"].append(report.nodeid)
def pytest_sessionfinish(session):
    sys.setprofile(None)
    for filename, name in called:
        path = os.path.realpath(filename)
        if path.startswith(ROOT + os.sep):
            state["called"].append([os.path.relpath(path, ROOT).replace(os.sep, "/"), name])
    with open(OUT, "w") as file:
        json.dump(state, file)
'''


class Report:
    def __init__(self, found, seconds):
        self.failed = set(found["failed"])
        self.passed = set(found["passed"]) - self.failed
        self.collect_errors = found["errors"]
        self.called = {tuple(pair) for pair in found["called"]}
        self.seconds = seconds


def is_test(name):
    parts = name.split("/")
    return any(part in ("tests", "test") for part in parts[:-1]) or parts[-1].startswith("test_") or parts[-1].endswith("_test.py") or parts[-1] == "conftest.py"


def prepare(root):
    """Settings that ask for plugins which are not there are set aside."""
    for name in ("pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml"):
        path = root / name
        if path.exists():
            text = path.read_text(encoding="utf-8", errors="replace")
            text = re.sub(r"(?m)^(\s*addopts\s*=).*(\n[ \t]+.*)*", "", text)
            text = re.sub(r"(?ms)^addopts\s*=\s*\[.*?\]\s*$", "", text)
            path.write_text(text, encoding="utf-8")


def environment(root):
    places = [str(root)] + ([str(root / "src")] if (root / "src").is_dir() else [])
    return {"PATH": os.environ["PATH"], "HOME": tempfile.gettempdir(), "PYTHONPATH": os.pathsep.join(places), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}


def run_tests(root, python, limit=60, calls=False, tests=()):
    """Runs every test, or those of some files; nothing when they do not end or do not report."""
    with tempfile.TemporaryDirectory() as folder:
        plugin = pathlib.Path(folder, "lab_plugin.py")
        plugin.write_text(PLUGIN)
        out = pathlib.Path(folder, "out.json")
        variables = environment(root)
        variables["PYTHONPATH"] += os.pathsep + folder
        variables.update(LAB_ROOT=str(root), LAB_OUT=str(out))
        if calls:
            variables["LAB_CALLS"] = "1"
        begun = time.monotonic()
        try:
            subprocess.run(
                [python, "-m", "pytest", "-q", "--tb=no", "-p", "lab_plugin", "-p", "no:cacheprovider", "--continue-on-collection-errors", *tests],
                cwd=root, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=limit,
            )
            return Report(json.loads(out.read_text()), time.monotonic() - begun)
        except (subprocess.TimeoutExpired, OSError, ValueError):
            return None


def called_functions(root, python):
    report = run_tests(root, python, limit=120, calls=True)
    return report.called if report else set()


def hide(root, held):
    """Takes tests out of their files: functions and methods by name. A test with several cases goes when all are held."""
    by_file = {}
    for test in held:
        path, _, name = test.partition("::")
        by_file.setdefault(path, set()).add(name.split("[")[0])
    for name, tests in by_file.items():
        path = root / name
        source = path.read_text(encoding="utf-8")
        lines = source.splitlines(keepends=True)
        cut = []

        def walk(body, prefix):
            for node in body:
                if isinstance(node, ast.ClassDef):
                    walk(node.body, prefix + [node.name])
                elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and "::".join(prefix + [node.name]) in tests:
                    first = min([node.lineno] + [decorator.lineno for decorator in node.decorator_list])
                    cut.append((first, node.end_lineno, node.col_offset))

        walk(ast.parse(source).body, [])
        for first, last, column in sorted(cut, reverse=True):
            lines[first - 1 : last] = [" " * column + "pass\n"]
        path.write_text("".join(lines), encoding="utf-8")
