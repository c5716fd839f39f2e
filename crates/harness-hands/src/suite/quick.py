"""A test process that has collected everything: each try is a fork in which the code of the changed
functions is exchanged, the failing tests run first, and the first verdict ends it.

    python quick.py CONFIG.json
Requests and answers are JSON lines on standard input and output; the tests see neither.
What cannot be exchanged (module and class bodies, defaults, code that ran while tests were collected)
is answered with "stale": then somebody else imports it anew.
"""

import gc
import importlib
import importlib.util
import json
import os
import select
import signal
import sys
import threading
import time
import types

ANSWER_LIMIT = 16 * 1024 * 1024


def load(name):
    """Loads a file that lies beside this one; the tests' own modules of that name are others."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py")
    spec = importlib.util.spec_from_file_location("_harness_" + name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["_harness_" + name] = module
    spec.loader.exec_module(module)
    return module


pieces = load("pieces")


def write_all(descriptor, data):
    while data:
        data = data[os.write(descriptor, data) :]


class Calls:
    """Remembers which code ran while the tests were collected.

    The code itself, not only where it lies: what is dropped (the body of a module that was imported) makes room for
    other code at the same place, which never ran.
    """

    def __init__(self):
        self.seen = {}

    def start(self):
        monitoring = getattr(sys, "monitoring", None)
        if monitoring is not None:
            try:
                monitoring.use_tool_id(4, "harness")
                monitoring.register_callback(4, monitoring.events.PY_START, self.began)
                monitoring.set_events(4, monitoring.events.PY_START)
                return
            except ValueError:
                pass
        sys.setprofile(self.profile)

    def began(self, code, offset):
        self.seen[id(code)] = code
        return sys.monitoring.DISABLE

    def profile(self, frame, event, argument):
        if event == "call":
            self.seen[id(frame.f_code)] = frame.f_code

    def stop(self):
        sys.setprofile(None)
        monitoring = getattr(sys, "monitoring", None)
        if monitoring is not None and monitoring.get_tool(4) == "harness":
            monitoring.set_events(4, 0)
            monitoring.free_tool_id(4)


class Server:
    """Answers requests once the tests are collected. `run` is told how tests of this kind are run."""

    def __init__(self, config, requests, answers):
        self.config, self.requests, self.answers = config, requests, answers
        self.root = os.path.realpath(config["root"])
        self.calls = Calls()
        self.functions = {}
        self.originals = {}
        self.run = None
        self.names, self.known = [], set()

    # --- what is loaded -----------------------------------------------------------------------------

    def inside(self, filename):
        if filename.startswith("<"):
            return None
        path = os.path.realpath(filename)
        return path if path.startswith(self.root + os.sep) and "site-packages" not in path else None

    def settle(self):
        """Takes stock of every function of the project that is alive."""
        self.calls.stop()
        places = {}
        for found in gc.get_objects():
            if type(found) is types.FunctionType:
                code = found.__code__
                if code.co_filename not in places:
                    places[code.co_filename] = self.inside(code.co_filename)
                path = places[code.co_filename]
                if path is not None:
                    key = (path, code.co_name, code.co_firstlineno)
                    self.functions.setdefault(key, []).append(found)
        self.loaded = set()
        for module in list(sys.modules.values()):
            filename = getattr(module, "__file__", None)
            if filename:
                self.loaded.add(os.path.realpath(filename))
        gc.collect()
        if hasattr(gc, "freeze"):
            gc.freeze()

    def exchange(self, path):
        """Gives every living function of a changed file its new code."""
        path = os.path.realpath(path)
        if path not in self.loaded:
            return
        with open(path, "rb") as file:
            source = file.read()
        old, new = self.originals[path].beside(source)
        done = {}
        for chain in pieces.differing(old, new, []):
            alive = 0
            for old, code in chain:
                for function in self.functions.get((path, old.co_name, old.co_firstlineno), ()):
                    if id(function.__code__) in self.calls.seen and id(function) not in done:
                        raise pieces.Stale("it ran while the tests were collected")
                    if len(function.__code__.co_freevars) != len(code.co_freevars):
                        raise pieces.Stale("its closure changes")
                    done[id(function)] = function
                    function.__code__ = code
                    alive += 1
            if not alive:
                raise pieces.Stale("no such function is alive")

    # --- requests -----------------------------------------------------------------------------------

    def tell(self, **fields):
        write_all(self.answers, (json.dumps(fields) + "\n").encode("ascii"))

    def serve(self, names, run):
        """Answers until nobody asks any more. `run(names, judge)` runs tests in this order."""
        self.names, self.known, self.run = names, set(names), run
        self.settle()
        self.tell(ready=True, tests=len(names))
        for line in self.requests:
            request = json.loads(line)
            begun = time.monotonic()
            if request.get("old") is not None:
                path = os.path.realpath(request["path"])
                try:
                    self.originals[path] = pieces.Original(request["old"], path)
                except (SyntaxError, ValueError, RecursionError):
                    self.originals.pop(path, None)
            body = self.trace if request["kind"] == "trace" else self.attempt
            answer, ended = self.fork(lambda out: body(request, out), request)
            lines = [json.loads(line) for line in answer.decode("ascii", "replace").splitlines() if line.endswith("}")]
            self.tell(lines=lines, ended=ended, seconds=time.monotonic() - begun)

    def attempt(self, request, out):
        say = lambda **fields: write_all(out, (json.dumps(fields) + "\n").encode("ascii"))
        if request.get("path"):
            try:
                if os.path.realpath(request["path"]) not in self.originals:
                    raise pieces.Stale("it cannot be compiled")
                self.exchange(request["path"])
            except (pieces.Stale, SyntaxError, ValueError) as error:
                return say(kind="stale", why=str(error))
        first = [name for name in request["first"] if name in self.known]
        # Time of the processor: a machine that is busy otherwise does not make a test fail.
        begun = time.process_time()
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, request["cpu"])
        if not first:
            return say(kind="stale", why="the tests are not among those collected")
        ran, failed = self.run(first, True)
        if failed:
            return say(kind="end", passed=False, test=failed[0], ran=ran, cpu=time.process_time() - begun)
        say(kind="rest", ran=ran)
        signal.setitimer(signal.ITIMER_PROF, request["rest_seconds"])
        skip = set(request["red"]) | set(first)
        near = [name for name in request.get("near", ()) if name in self.known and name not in skip]
        far = set(near)
        others = near + [name for name in self.names if name not in skip and name not in far]
        more, failed = self.run(others, True) if request["rest"] else (0, [])
        say(kind="end", passed=not failed, test=failed[0] if failed else "", ran=ran + more, cpu=time.process_time() - begun)

    def trace(self, request, out):
        """Tells which lines each of the failing tests runs, then how many of the others run them.

        Where a change is asked for, the failing ones run with it, and no others.
        """
        if request.get("path"):
            try:
                self.exchange(request["path"])
            except (pieces.Stale, SyntaxError, ValueError, KeyError):
                return
        lines, places, files = {}, {}, None

        def place(filename):
            if filename not in places:
                path = self.inside(filename)
                places[filename] = os.path.relpath(path, self.root) if path else None
            return places[filename]

        def on_call(frame, event, argument):
            path = place(frame.f_code.co_filename)
            if path is None or (files is not None and path not in files):
                return None
            seen = lines.setdefault(path, set())
            seen.add(frame.f_lineno)

            def on_line(frame, event, argument):
                if event == "line":
                    seen.add(frame.f_lineno)
                return on_line

            return on_line

        def say(**fields):
            write_all(out, (json.dumps(fields) + "\n").encode("ascii"))

        class TooLong(BaseException):
            """Ends one test: it may never end by itself."""

        def late(signum, frame):
            sys.settrace(None)
            if not given_up and time.monotonic() < until - 0.02:
                given_up.append(current[0])
                signal.setitimer(signal.ITIMER_REAL, max(until - time.monotonic(), 0.01))
                raise TooLong
            if current[0]:
                say(kind="lines", test=current[0], failing=current[1], lines={k: sorted(v) for k, v in lines.items()})
            say(kind="end", passed=False, test="", ran=0, cpu=0.0)
            os._exit(0)

        current, given_up = ["", True], []
        until, each = time.monotonic() + request["seconds"], request["each"]
        signal.signal(signal.SIGALRM, late)
        first = [name for name in request["first"] if name in self.known]
        touched = set()
        for name in first:
            current[:] = [name, True]
            lines.clear()
            del given_up[:]
            signal.setitimer(signal.ITIMER_REAL, max(min(each, until - time.monotonic()), 0.01))
            threading.settrace(on_call)
            sys.settrace(on_call)
            try:
                self.run([name], False)
            finally:
                sys.settrace(None)
                threading.settrace(None)
            if given_up:
                # The others likely hang in the same place.
                each = min(each, request["each_again"])
            touched.update(lines)
            say(kind="lines", test=name, failing=True, lines={path: sorted(found) for path, found in lines.items()})
        given_up.append("")
        signal.setitimer(signal.ITIMER_REAL, max(until - time.monotonic(), 0.01))
        # Of the others only what the failing ones run is told.
        files = touched
        skip = set(request["red"]) | set(first)
        for name in self.names if not request.get("path") else ():
            if name in skip:
                continue
            current[:] = ["", False]
            lines.clear()
            sys.settrace(on_call)
            try:
                self.run([name], False)
            finally:
                sys.settrace(None)
            if lines:
                say(kind="lines", test=name, failing=False, lines={path: sorted(found) for path, found in lines.items()})
        say(kind="end", passed=True, test="", ran=0, cpu=0.0)

    def fork(self, body, request):
        """Runs `body(descriptor)` in a child; returns what it wrote and how it ended."""
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(ours)
                os.setsid()
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                body(theirs)
            except BaseException:
                pass
            finally:
                os._exit(0)
        os.close(theirs)
        answer, ended = b"", "crashed"
        limit = time.monotonic() + request["seconds"] + (1 if request["kind"] == "trace" else 0)
        while True:
            left = limit - time.monotonic()
            if left <= 0 or len(answer) > ANSWER_LIMIT:
                ended = "late"
                break
            ready, _, _ = select.select([ours], [], [], left)
            if not ready:
                continue
            part = os.read(ours, 65536)
            if not part:
                break
            answer += part
            if b'"kind": "rest"' in part:
                limit = time.monotonic() + request["rest_seconds"]
            # A process that a test left running must not hold us: the end was told.
            if b'"kind": "end"' in part or b'"kind": "stale"' in part:
                ended = "told"
                break
        try:
            os.killpg(child, signal.SIGKILL)
        except OSError:
            pass
        os.close(ours)
        os.waitpid(child, 0)
        return answer, ended


# --- pytest -----------------------------------------------------------------------------------------


class Plugin:
    """Takes the loop over the tests from pytest and hands it to the server."""

    def __init__(self, server):
        self.server = server
        self.bad = False

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.bad = True

    def pytest_runtestloop(self, session):
        items = {item.nodeid: item for item in session.items}
        for item in session.items:
            # A failure in a word: nobody reads the long form, and it costs more than the test.
            item.repr_failure = item._repr_failure_py = in_a_word
            # Looked up once for all tries; pytest keeps it.
            item.location

        def run(names, stop):
            ran, failed = 0, []
            for index, name in enumerate(names):
                item = items[name]
                after = items[names[index + 1]] if index + 1 < len(names) else None
                self.bad = False
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                ran += 1
                if self.bad:
                    failed.append(name)
                    if stop:
                        break
            return ran, failed

        self.server.serve(list(items), run)
        return True


def in_a_word(excinfo, style=None):
    return "failed"


def quiet_protocol():
    """Returns pytest's way through one test, which then tells only us: printing costs as much as the test.

    Plugins that go their own way through a test (they repeat it, say) are asked before us, and those
    that only stand around it (warnings, time limits) stand around ours too.
    """
    from _pytest.runner import runtestprotocol

    def pytest_runtest_protocol(self, item, nextitem):
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            self.pytest_runtest_logreport(report)
        return True

    return pytest_runtest_protocol


def serve_pytest(config, server, report, watch):
    import pytest

    report.pass_over_closed_settings()

    class Imports:
        """Gives each import of a file with tests its limit."""

        def __init__(self):
            self.watch, self.report = watch, watch.report

        around = pytest.hookimpl(hookwrapper=True, tryfirst=True)
        pytest_make_collect_report = around(report.PytestPlugin.pytest_make_collect_report)

    Plugin.pytest_runtestloop = pytest.hookimpl(tryfirst=True)(Plugin.pytest_runtestloop)
    try:
        Plugin.pytest_runtest_protocol = quiet_protocol()
    except ImportError:
        # A pytest that is cut differently: it prints to nobody, and is slower.
        pass
    plugin = Plugin(server)
    sys.argv = ["pytest"] + config["arguments"]
    server.calls.start()
    pytest.main(config["arguments"], plugins=[plugin, Imports()])


# --- unittest ---------------------------------------------------------------------------------------


def serve_unittest(config, server, report, watch):
    import unittest

    loader = report.make_loader(watch)

    class Quiet(unittest.TestResult):
        def __init__(self):
            super().__init__()
            self.names = []

        def addSubTest(self, test, subtest, err):
            super().addSubTest(test, subtest, err)
            if err is not None and self.failfast:
                self.stop()

    class Runner(unittest.TextTestRunner):
        def run(self, suite):
            tests = list(report.each_test(suite))
            if not tests:
                tests = [test for folder in ("tests", "test") for test in report.found_in(folder, loader)]
            by_name = {}
            for test in tests:
                by_name.setdefault(report.name_of(test), test)

            def run(names, stop):
                result = Quiet()
                result.failfast = stop
                unittest.TestSuite([by_name[name] for name in names]).run(result)
                bad = [test for test, _ in result.failures + result.errors] + list(result.unexpectedSuccesses)
                failed = [report.name_of(getattr(test, "test_case", test)) for test in bad]
                return result.testsRun, failed

            server.serve(list(by_name), run)
            return unittest.TestResult()

    arguments = config["arguments"] or ["discover"]
    server.calls.start()
    argv = ["python -m unittest"] + arguments
    unittest.main(module=None, argv=argv, testRunner=Runner, testLoader=loader, exit=False)


def main():
    requests = os.fdopen(os.dup(0), "r")
    answers = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    with open(sys.argv[1], encoding="utf-8") as file:
        config = json.load(file)
    report = load("report")
    sys.path[0] = config["folder"]
    server = Server(config, requests, answers)
    nobody = report.Report(nothing)
    watch = report.watchdog.Watchdog(config["limits"], nobody, server.root)
    serve = serve_pytest if config["mode"] == "pytest" else serve_unittest
    serve(config, server, report, watch)


if __name__ == "__main__":
    main()
