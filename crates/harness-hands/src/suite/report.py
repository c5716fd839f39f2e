"""Runs a project's Python tests and writes down what happened to each of them.

Started by the harness with the project's own interpreter:
    python report.py CONFIG.json
One JSON object a line goes to the report file that the configuration names. The last line says that
the run came to its end; without it nothing counts, however the process exited. A test that begins is a line too: who
reads along knows what is running.
"""

import importlib.util
import io
import json
import os
import sys
import threading
import traceback

LONGEST_MESSAGE = 2000
LONGEST_TRACEBACK = 8000


def shortened(text, limit):
    """Keeps the beginning and the end of a long text."""
    if len(text) <= limit:
        return text
    head, tail = limit // 4, limit - limit // 4
    return text[:head] + "\n[...]\n" + text[-tail:]


def load(name):
    """Loads a file that lies beside this one; the tests' own modules of that name are others."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py")
    spec = importlib.util.spec_from_file_location("_harness_" + name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["_harness_" + name] = module
    spec.loader.exec_module(module)
    return module


watchdog = load("watchdog")


class Report:
    """The report file, or a pipe. Children that the tests fork cannot write to it."""

    def __init__(self, descriptor):
        self.owner = os.getpid()
        self.file = descriptor
        # What a process before this one judged, and whether it said how many tests there are.
        self.judged, self.counted = set(), False
        # Modules whose files are told, and what sees which lines a test runs.
        self.modules, self.lines = (), None

    def line(self, **fields):
        if os.getpid() != self.owner:
            return
        text = json.dumps(fields, ensure_ascii=True) + "\n"
        data = text.encode("ascii")
        while data:
            data = data[os.write(self.file, data) :]

    def end(self, code):
        """Says that the run came to its end, and before that where the watched modules came from."""
        found = {name: getattr(sys.modules.get(name), "__file__", None) for name in self.modules}
        files = {name: os.path.realpath(path) for name, path in found.items() if path}
        if files:
            self.line(kind="modules", files=files)
        self.line(kind="end", exit=code)

    def collected(self, count):
        if not self.counted:
            self.line(kind="collected", count=count)

    def hung(self, name, verdict, stage="run"):
        seconds, place = verdict["seconds"], (verdict["path"], verdict["line"])
        more = {"hung": seconds, "definition": verdict["definition"]}
        self.test(name, "failed", verdict["message"], verdict["trace"], *place, seconds=seconds, stage=stage, **more)

    def test(self, name, outcome, message="", trace="", path=None, line=None, seconds=0.0, stage="run", **more):
        if name in self.judged:
            return
        self.line(
            kind="test",
            id=name,
            outcome=outcome,
            message=shortened(message, LONGEST_MESSAGE),
            traceback=shortened(trace, LONGEST_TRACEBACK),
            file=path,
            line=line,
            seconds=seconds,
            stage=stage,
            **more
        )


def place_of(trace, root):
    """Returns the last line of a traceback that lies in the project, else the very last."""
    found = None
    for frame in traceback.extract_tb(trace):
        path = os.path.realpath(frame.filename)
        inside = path.startswith(root + os.sep) and "site-packages" not in path
        if inside or found is None or not found[2]:
            found = (path, frame.lineno, inside)
    return (found[0], found[1]) if found else (None, None)


class Lines:
    """Sees which lines of the project a test runs, in every thread."""

    def __init__(self, root):
        self.root = root + os.sep
        self.names = {}
        self.ran = {}

    def begin(self):
        self.ran = {}
        threading.settrace(self.enter)
        sys.settrace(self.enter)

    def end(self):
        sys.settrace(None)
        threading.settrace(None)
        return {name: sorted(lines) for name, lines in self.ran.items()}

    def enter(self, frame, event, argument):
        path = frame.f_code.co_filename
        if path not in self.names:
            real = os.path.realpath(path)
            inside = real.startswith(self.root) and "site-packages" not in real
            self.names[path] = real[len(self.root) :].replace(os.sep, "/") if inside else None
        name = self.names[path]
        if name is None:
            return None
        lines = self.ran.setdefault(name, set())
        lines.add(frame.f_lineno)

        def step(frame, event, argument):
            lines.add(frame.f_lineno)
            return step

        return step


# --- pytest -----------------------------------------------------------------------------------------


class PytestPlugin:
    """Hears what pytest itself reports. Holds the worst that happened to each test."""

    WORSE = {"passed": 0, "skipped": 1, "failed": 2, "error": 3}

    def __init__(self, report, root, watch):
        self.report = report
        self.root = root
        self.watch = watch
        self.open = {}
        self.ended = False

    def pytest_make_collect_report(self, collector):
        name = collector.nodeid
        if name and name in self.report.judged:
            # It never got through its import in the process before this one.
            collector.collect = lambda: []
        self.watch.begin(name, "collect", setting_up=True)
        yield
        self.watch.end()

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if item.nodeid not in self.report.judged]

    def pytest_runtest_logstart(self, nodeid, location):
        if self.report.lines:
            self.report.lines.begin()

    def pytest_runtest_logfinish(self, nodeid, location):
        if self.report.lines:
            self.report.line(kind="lines", id=nodeid, files=self.report.lines.end())

    def pytest_collection_finish(self, session):
        self.report.collected(len(session.items))

    def pytest_runtestloop(self, session):
        yield
        self.watch.rest()

    def pytest_runtest_setup(self, item):
        self.watch.begin(item.nodeid, setting_up=True)
        yield
        self.watch.end()

    def pytest_runtest_call(self, item):
        self.watch.begin(item.nodeid)
        yield
        self.watch.end()

    def pytest_runtest_teardown(self, item):
        self.watch.begin(item.nodeid, setting_up=True)
        yield
        self.watch.end()

    def pytest_collectreport(self, report):
        if report.failed:
            self.finish(report.nodeid, self.outcome_of(report, "error"), "collect")

    def pytest_runtest_logreport(self, report):
        name = report.nodeid
        if report.when == "setup" or name not in self.open:
            self.open[name] = ("passed", "", "", None, None, 0.0)
        if report.outcome == "rerun":
            return
        bad = "failed" if report.when == "call" else "error"
        found = self.outcome_of(report, bad)
        known = self.open[name]
        seconds = known[5] + getattr(report, "duration", 0.0)
        worse = self.WORSE[found[0]] > self.WORSE[known[0]]
        self.open[name] = (found if worse else known)[:5] + (seconds,)
        if report.when == "teardown":
            self.finish(name, self.open.pop(name), "run")

    def pytest_sessionfinish(self, session, exitstatus):
        for name, found in sorted(self.open.items()):
            # A test that was cut off in the middle has not passed.
            if found[0] != "passed":
                self.finish(name, found, "run")
        self.open.clear()
        self.ended = True
        self.report.end(int(exitstatus))

    def finish(self, name, found, stage):
        outcome, message, trace, path, line, seconds = found
        verdict = self.watch.verdicts.pop(name, None)
        if verdict is not None:
            self.report.hung(name, verdict, stage)
            return
        self.report.test(name, outcome, message, trace, path, line, seconds, stage)

    def outcome_of(self, report, bad):
        seconds = getattr(report, "duration", 0.0)
        if report.passed:
            return ("passed", "", "", None, None, seconds)
        text = str(report.longrepr)
        if report.skipped:
            return ("skipped", "", "", None, None, seconds)
        crash = getattr(report.longrepr, "reprcrash", None)
        message = getattr(crash, "message", "") or last_line(text)
        path, line = getattr(crash, "path", None), getattr(crash, "lineno", None)
        for entry in getattr(getattr(report.longrepr, "reprtraceback", None), "reprentries", ()):
            place = getattr(entry, "reprfileloc", None)
            where = os.path.realpath(os.path.join(self.root, place.path)) if place else ""
            if where.startswith(self.root + os.sep) and "site-packages" not in where:
                path, line = where, place.lineno
        return (bad, message, text, path, line, seconds)


AROUND = (
    "pytest_make_collect_report",
    "pytest_runtestloop",
    "pytest_runtest_setup",
    "pytest_runtest_call",
    "pytest_runtest_teardown",
)


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""


def pass_over_closed_settings():
    """Lets pytest go on where settings lie above the project, which the sandbox closes: they are not the project's."""
    try:
        from _pytest import config

        determine = config.determine_setup
    except (ImportError, AttributeError):
        return
    import pathlib

    is_file = pathlib.Path.is_file

    def is_open_file(path, *more, **named):
        if not is_file(path, *more, **named):
            return False
        try:
            with open(path, "rb"):
                return True
        except OSError:
            return False

    def determine_setup(*words, **named):
        pathlib.Path.is_file = is_open_file
        try:
            return determine(*words, **named)
        finally:
            pathlib.Path.is_file = is_file

    config.determine_setup = determine_setup


def run_pytest(config, report, more=()):
    import pytest

    pass_over_closed_settings()

    class Hung(pytest.fail.Exception):
        """What pytest takes for a failure of the test, and remembers of a fixture."""

    Hung.__qualname__ = "Hung"
    watch = watchdog.Watchdog(config["limits"], report, config["root"], (Hung, Hung))
    plugin = PytestPlugin(report, config["root"], watch)
    # The last to be told: what other plugins do at the end is over then.
    for name in ("pytest_sessionfinish", "pytest_collection_modifyitems"):
        setattr(PytestPlugin, name, pytest.hookimpl(trylast=True)(getattr(PytestPlugin, name)))
    for name in AROUND:
        setattr(PytestPlugin, name, pytest.hookimpl(hookwrapper=True, tryfirst=True)(getattr(PytestPlugin, name)))
    sys.argv = ["pytest"] + config["arguments"]
    code = pytest.main(config["arguments"], plugins=[plugin] + list(more))
    if not plugin.ended:
        # It did not understand its arguments or settings: no session ever began.
        report.line(kind="refused", exit=int(code))
    watch.leave()
    return code


# --- unittest ---------------------------------------------------------------------------------------


def make_result_class(report, root, watch, following=None):
    """Returns the class of results. `following` tells the name of the test that comes after another one."""
    import time
    import unittest

    class Result(unittest.TextTestResult):
        """Tells the report what the text result is told."""

        def startTestRun(self):
            super().startTestRun()
            self.between(None)

        def stopTestRun(self):
            watch.rest()
            super().stopTestRun()

        def between(self, test):
            """The setup of a class or module belongs to the test that comes after it."""
            if following:
                name = following(test and name_of(test))
                watch.begin(name, "between", setting_up=True) if name else watch.rest()

        def startTest(self, test):
            super().startTest(test)
            self.begun = time.time()
            self.verdict = None
            watch.begin(name_of(test))
            if report.lines:
                report.lines.begin()

        def stopTest(self, test):
            name, hung = name_of(test), watch.end()
            if report.lines:
                report.line(kind="lines", id=name, files=report.lines.end())
            super().stopTest(test)
            hung = hung or watch.verdicts.get(name)
            if hung:
                report.hung(name, hung, stage_of(test))
            else:
                outcome, message, trace, path, line = self.verdict or ("passed", "", "", None, None)
                report.test(name, outcome, message, trace, path, line, time.time() - self.begun, stage_of(test))
            self.verdict = None
            self.between(test)

        def note(self, test, outcome, error):
            import traceback as words

            message = "".join(words.format_exception_only(error[0], error[1])).strip()
            trace = self._exc_info_to_string(error, test)
            path, line = place_of(error[2], root)
            found = (outcome, message, trace, path, line)
            if isinstance(test, unittest.TestCase):
                if self.verdict is None or self.verdict[0] == "skipped":
                    self.verdict = found
            elif watch.verdict is not None:
                hung, watch.verdict = watch.verdict, None
                report.hung(name_of(test), hung)
            else:
                # A class or module that could not be set up is no test of its own.
                report.test(name_of(test), *found)

        def addFailure(self, test, err):
            super().addFailure(test, err)
            self.note(test, "failed", err)

        def addError(self, test, err):
            super().addError(test, err)
            self.note(test, "error", err)

        def addSubTest(self, test, subtest, err):
            super().addSubTest(test, subtest, err)
            if err is not None:
                failed = issubclass(err[0], test.failureException)
                self.note(test, "failed" if failed else "error", err)

        def addSkip(self, test, reason):
            super().addSkip(test, reason)
            if isinstance(test, unittest.TestCase) and self.verdict is None:
                self.verdict = ("skipped", "", "", None, None)

        def addExpectedFailure(self, test, err):
            super().addExpectedFailure(test, err)
            self.verdict = ("skipped", "", "", None, None)

        def addUnexpectedSuccess(self, test):
            super().addUnexpectedSuccess(test)
            self.verdict = ("failed", "unexpected success", "", None, None)

    return Result


FAILED_IMPORT = "unittest.loader._FailedTest."


def name_of(test):
    name = test.id()
    return name[len(FAILED_IMPORT) :] if name.startswith(FAILED_IMPORT) else name


def stage_of(test):
    return "collect" if test.id().startswith(FAILED_IMPORT) else "run"


def each_test(suite):
    import unittest

    if isinstance(suite, unittest.TestCase):
        yield suite
        return
    for part in suite:
        if part is not None:
            for test in each_test(part):
                yield test


def wanted(name, selection):
    """Says whether a test was asked for: by its name, its class, its module, or their endings."""
    for one in selection:
        parts = one.split(".")
        endings = [".".join(parts[start:]) for start in range(len(parts))]
        if name.endswith("." + one) or any((name + ".").startswith(ending + ".") for ending in endings):
            return True
    return False


def make_loader(watch):
    """Returns a loader whose imports have a limit each."""
    import unittest

    class Loader(unittest.TestLoader):
        def _get_module_from_name(self, name):
            if name in watch.report.judged:
                raise ImportError("its import never ended")
            watch.begin(name, "collect", setting_up=True)
            try:
                return super()._get_module_from_name(name)
            finally:
                watch.end()

        def loadTestsFromName(self, name, module=None):
            if name in watch.report.judged:
                return self.suiteClass()
            watch.begin(name, "collect", setting_up=True)
            try:
                return super().loadTestsFromName(name, module)
            except watchdog.Hung:
                watch.report.hung(name, watch.verdict, "collect")
                return self.suiteClass()
            finally:
                watch.end()

    return Loader()


def order_of(tests):
    """Returns what tells the name of the test that comes after another one, and at the beginning the first."""
    names = [name_of(test) for test in tests]
    after = dict(zip([None] + names, names))
    return after.get


def run_unittest(config, report):
    import unittest

    watch = watchdog.Watchdog(config["limits"], report, config["root"])
    loader = make_loader(watch)
    selection = config["selection"]

    class Runner(unittest.TextTestRunner):
        def run(self, suite):
            watch.rest()
            tests = list(each_test(suite))
            if not tests and not selection:
                tests = [test for folder in ("tests", "test") for test in found_in(folder, loader)]
            if selection:
                tests = [test for test in tests if wanted(name_of(test), selection)]
            tests = [test for test in tests if name_of(test) not in report.judged]
            report.collected(len(tests))
            self.resultclass = make_result_class(report, config["root"], watch, order_of(tests))
            # The text runner asks some things of the suite that only a real one knows.
            return super().run(unittest.TestSuite(tests))

    arguments = config["arguments"] or ["discover"]
    argv = ["python -m unittest"] + arguments
    program = unittest.main(module=None, argv=argv, testRunner=Runner, testLoader=loader, exit=False)
    result = program.result
    code = 0 if result.wasSuccessful() else 1
    report.end(code)
    watch.leave()
    return code


def run_chosen(config, report):
    """Runs tests by their full names, without looking at the others."""
    import unittest

    watch = watchdog.Watchdog(config["limits"], report, config["root"])
    for option in ("-t", "--top-level-directory", "-s", "--start-directory"):
        if option in config["arguments"][:-1]:
            folder = config["arguments"][config["arguments"].index(option) + 1]
            sys.path.insert(0, os.path.abspath(folder))
            break
    loader = make_loader(watch)
    tests = [test for name in config["selection"] for test in each_test(loader.loadTestsFromName(name))]
    report.collected(len(tests))
    result_class = make_result_class(report, config["root"], watch, order_of(tests))
    runner = unittest.TextTestRunner(stream=io.StringIO(), resultclass=result_class)
    result = runner.run(unittest.TestSuite(tests))
    report.end(0 if result.wasSuccessful() else 1)


def found_in(folder, loader):
    """Tests in a folder that is no package, which discovery from above does not enter."""
    if not os.path.isdir(folder):
        return []
    return list(each_test(loader.discover(folder, top_level_dir=folder)))


# --- other scripts that end up in unittest, such as Django's ------------------------------------------


def run_script(config, report):
    import runpy
    import unittest

    watch = watchdog.Watchdog(config["limits"], report, config["root"])
    unittest.TextTestRunner.resultclass = make_result_class(report, config["root"], watch)
    if report.judged:
        run = unittest.TextTestRunner.run

        def run_rest(runner, suite):
            return run(runner, unittest.TestSuite(test for test in each_test(suite) if name_of(test) not in report.judged))

        unittest.TextTestRunner.run = run_rest
    sys.argv = config["arguments"]
    code = 0
    try:
        runpy.run_path(config["arguments"][0], run_name="__main__")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    report.end(code)
    watch.leave()
    return code


def main():
    with io.open(sys.argv[1], encoding="utf-8") as file:
        config = json.load(file)
    report = Report(os.open(config["report"], os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600))
    report.modules = config.get("modules") or ()
    report.lines = Lines(config["root"]) if config.get("lines") else None
    if os.path.exists(config["limits"]["stack"]):
        watchdog.resume(config["limits"], report, config["report"], config["root"])
    # As `python -m` has it: the folder the tests start in, not the folder of this file.
    sys.path[0] = config["folder"]
    if config["mode"] == "script":
        sys.path[0] = os.path.dirname(os.path.abspath(config["arguments"][0]))
    modes = {"pytest": run_pytest, "unittest": run_unittest, "script": run_script}
    code = modes[config["mode"]](config, report)
    sys.stdout.flush()
    sys.stderr.flush()
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
