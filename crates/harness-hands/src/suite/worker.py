"""A reused test process: everything that a changed file cannot influence is imported once, then each
try is a fork that imports the rest and runs the chosen tests.

    python worker.py CONFIG.json
Requests and answers are JSON lines on standard input and output; the tests see neither.
"""

import gc
import importlib
import importlib.util
import json
import os
import select
import signal
import sys
import time

ANSWER_LIMIT = 4 * 1024 * 1024


def load_report(folder):
    spec = importlib.util.spec_from_file_location("_harness_report", os.path.join(folder, "report.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules["_harness_report"] = module
    spec.loader.exec_module(module)
    return module


class EarlyLook:
    """Sees whether the changed file is imported before any test is looked for, as by a conftest.py."""

    def __init__(self, worker):
        self.worker, self.found = worker, True

    def pytest_collection(self, session):
        self.found = self.worker.has_imported(self.worker.config["changed"])


class BeforeCollection:
    """Holds pytest where its session stands and no test is looked for yet; each try goes on from there."""

    def __init__(self, worker, report, requests, answers):
        self.worker, self.report = worker, report
        self.requests, self.answers = requests, answers
        self.is_try = False

    def pytest_collection(self, session):
        descriptor = self.worker.serve(self.requests, self.answers, self.worker.branch)
        if descriptor is None:
            os._exit(0)
        self.is_try = True
        self.report.file, self.report.owner = descriptor, os.getpid()
        importlib.invalidate_caches()


class Watcher:
    """Sees the import of the changed file begin, and remembers what was complete by then."""

    def __init__(self, path):
        self.path = path
        self.before = None

    def find_spec(self, name, path=None, target=None):
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                origin = getattr(spec, "origin", None)
                if self.before is None and origin and os.path.realpath(origin) == self.path:
                    self.before = complete_modules()
                return spec
        return None


def complete_modules():
    found = []
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        if spec is not None and not getattr(spec, "_initializing", False):
            found.append(name)
    return found


def is_inside(module, root):
    path = getattr(module, "__file__", None)
    return bool(path) and os.path.realpath(path).startswith(root + os.sep) and "site-packages" not in path


def is_test(module):
    name = os.path.basename(getattr(module, "__file__", None) or "")
    return name == "conftest.py" or name.startswith("test") or name.endswith("_test.py")


class Worker:
    def __init__(self, config):
        self.config = config
        self.report = load_report(os.path.dirname(os.path.abspath(__file__)))
        self.root = config["root"]
        sys.path[0] = config["folder"]

    def run_tests(self, descriptor, more=()):
        """Runs in a fork: runs the tests, tells the parent through the pipe."""
        report = self.report.Report(descriptor)
        importlib.invalidate_caches()
        config = dict(self.config)
        if config["mode"] == "pytest":
            self.report.run_pytest(config, report, more)
        elif config["selection"]:
            self.report.run_chosen(config, report)
        else:
            self.report.run_unittest(config, report)

    def learn(self, path):
        """Runs the tests once in a fork to see what is imported before and beside the changed file, and whether
        that file is imported before tests are collected."""
        watcher, look = Watcher(path), EarlyLook(self)

        def body(descriptor):
            sys.meta_path.insert(0, watcher)
            try:
                self.run_tests(os.open(os.devnull, os.O_WRONLY), [look])
            finally:
                before = watcher.before if watcher.before is not None else complete_modules()
                modules = [name for name in before if not is_test(sys.modules.get(name))]
                rest = [name for name in complete_modules() if name not in set(before)]
                modules += [name for name in rest if not is_inside(sys.modules.get(name), self.root)]
                text = json.dumps([[name for name in modules if not name.startswith("__")], look.found])
                write_all(descriptor, text.encode("ascii", "replace"))

        answer, _ = self.fork(body, self.config["learn_seconds"])
        try:
            return json.loads(answer.decode("ascii"))
        except ValueError:
            return [], True

    def preload(self, modules):
        for name in modules:
            if name not in sys.modules:
                try:
                    importlib.import_module(name)
                except BaseException:
                    # It works only where the tests import it; then they will.
                    pass
        gc.collect()
        if hasattr(gc, "freeze"):
            gc.freeze()

    def has_imported(self, path):
        files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        return any(file and os.path.realpath(file) == path for file in files)

    def hold_pytest(self, requests, answers):
        """Serves tries that begin where pytest would collect."""
        import pytest

        # It has nowhere to go until a try begins.
        report = self.report.Report(os.open(os.devnull, os.O_WRONLY))
        holder = BeforeCollection(self, report, requests, answers)
        BeforeCollection.pytest_collection = pytest.hookimpl(tryfirst=True)(BeforeCollection.pytest_collection)
        try:
            self.report.run_pytest(self.config, report, [holder])
        finally:
            if holder.is_try:
                os._exit(0)

    def serve(self, requests, answers, attempt):
        """Answers until nobody asks any more. A try that goes on elsewhere gets the descriptor to tell it to."""
        write_all(answers, b'{"ready": true}\n')
        for line in requests:
            request = json.loads(line)
            begun = time.monotonic()
            answer, in_time = attempt(request["seconds"])
            if answer is None:
                return in_time
            lines = answer.decode("ascii", "replace").splitlines()
            reply = {"lines": lines, "in_time": in_time, "seconds": time.monotonic() - begun}
            write_all(answers, (json.dumps(reply) + "\n").encode("ascii"))
        return None

    def branch(self, seconds):
        """Forks; the child goes on with a descriptor, the parent returns what was written to it."""
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(ours)
            os.setsid()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            return None, theirs
        os.close(theirs)
        return self.listen(child, ours, seconds)

    def fork(self, body, seconds):
        """Runs `body(descriptor)` in a child; returns what it wrote and whether it ended in time."""
        answer, descriptor = self.branch(seconds)
        if answer is not None:
            return answer, descriptor
        code = 1
        try:
            body(descriptor)
            code = 0
        except BaseException:
            pass
        finally:
            os._exit(code)

    def listen(self, child, ours, seconds):
        answer, in_time = b"", True
        limit = time.monotonic() + seconds
        while True:
            left = limit - time.monotonic()
            if left <= 0 or len(answer) > ANSWER_LIMIT:
                in_time = False
                break
            ready, _, _ = select.select([ours], [], [], left)
            if not ready:
                continue
            part = os.read(ours, 65536)
            if not part:
                break
            answer += part
            # A process that a test left running must not hold us: the end was told.
            if b'"kind": "end"' in part:
                break
        try:
            os.killpg(child, signal.SIGKILL)
        except OSError:
            pass
        os.close(ours)
        os.waitpid(child, 0)
        return answer, in_time


def write_all(descriptor, data):
    while data:
        data = data[os.write(descriptor, data) :]


def main():
    requests = os.fdopen(os.dup(0), "r")
    answers = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    with open(sys.argv[1], encoding="utf-8") as file:
        config = json.load(file)
    worker = Worker(config)
    modules, is_early = worker.learn(config["changed"])
    worker.preload(modules)
    if config["mode"] == "pytest" and not is_early:
        worker.hold_pytest(requests, answers)
        return
    worker.serve(requests, answers, lambda seconds: worker.fork(worker.run_tests, seconds))


if __name__ == "__main__":
    main()
