"""Ends a test that does not end by itself and says where it was, so that the other tests still run.

A timer of the system raises an exception in the test. A test that swallows it is ended a little later, together with
the process. A test that cannot be reached (it is busy in C code, it took the timer for itself, the system has no such
timer) is ended by `faulthandler`, which needs no interpreter. After these two a new process runs the tests that are
left; `resume` tells it which ones those are.
"""

import ast
import faulthandler
import json
import linecache
import os
import re
import signal
import time

try:
    # Its twin in `signal` makes an enumeration of what it returns, which costs more than all the rest.
    from _signal import getsignal as current_handler
except ImportError:
    from signal import getsignal as current_handler

# Imports and fixtures load libraries and start servers: they may take so many times as long as a test.
SETTING_UP = 3
# How long a test may clean up after it was interrupted.
CLEANING_UP = 3.0
# How much longer `faulthandler` waits: everything else comes before it.
UNREACHABLE = 2.0
# How long the process may take to end once every test is judged.
LEAVING = 10.0
# A loop takes processor time; one that waits takes none. A busy machine leaves a loop this share of a core.
BUSY = 0.2
MOST_FRAMES = 30


class Hung(BaseException):
    """Raised in a test that hangs. Code that catches every `Exception` lets it pass."""


class HungOutside(Exception):
    """Raised in the setup of a class or module, where unittest goes on only after an `Exception`."""


class Watchdog:
    """Holds the limit of what runs now. `verdicts` has what was ended, by the name it was begun with."""

    def __init__(self, limits, report, root, raises=(Hung, HungOutside)):
        self.report, self.root, self.raises = report, root, raises
        self.each, self.again = limits["each"], min(limits["again"], limits["each"])
        self.cleaning_up = min(CLEANING_UP, limits["each"])
        self.tests = limits.get("tests", {})
        self.files = {}
        for name, seconds in self.tests.items():
            home = home_of(name)
            self.files[home] = max(seconds, self.files.get(home, 0.0))
        # Definitions that tests hung in: the next one that does is not waited for as long.
        self.hung = set(map(tuple, limits.get("hung", ())))
        self.verdicts = {}
        self.name, self.stage, self.started = None, "run", None
        self.began = self.cpu = self.first = self.limit = self.deadline = 0.0
        self.verdict = None
        self.earlier = []
        self.has_alarm = hasattr(signal, "setitimer")
        self.stack = None
        if limits.get("stack"):
            self.stack = os.open(limits["stack"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.set_inheritable(self.stack, False)

    def limit_of(self, name):
        """A test that is not known yet may take as long as the slowest one in its file."""
        return self.tests.get(name) or self.files.get(home_of(name)) or self.each

    # --- what runs now ------------------------------------------------------------------------------

    def begin(self, name, stage="run", setting_up=False):
        """Something begins that must end; the limit starts now."""
        usual = self.limit_of(name)
        self.first, self.limit = usual / 2, usual * SETTING_UP if setting_up else usual
        self.began, self.cpu = time.monotonic(), time.process_time()
        if name != self.started:
            self.started = name
            self.report.line(kind="start", id=name, stage=stage, limit=self.limit if stage == "collect" else usual)
        self.verdict, self.stage, self.name = None, stage, name
        if self.has_alarm:
            try:
                if current_handler(signal.SIGALRM) != self.ring:
                    signal.signal(signal.SIGALRM, self.ring)
                self.alarm(0.0)
            except ValueError:
                # Only the main thread hears signals.
                pass
        # Where the timer rings, it makes more room for a long setup; see `ring`.
        self.unreachable(usual if self.has_alarm else self.limit)

    def unreachable(self, seconds):
        """Has `faulthandler` end what still runs when everything else has failed."""
        if self.stack is None or os.getpid() != self.report.owner:
            return
        wanted = self.began + seconds + self.cleaning_up + UNREACHABLE
        # Starting its timer anew for each test would cost more than most tests do.
        if not wanted <= self.deadline <= wanted + 2.0:
            self.deadline = wanted + 1.0
            faulthandler.dump_traceback_later(self.deadline - time.monotonic(), exit=True, file=self.stack)

    def end(self):
        """What was begun has ended, by itself or by us. Returns what is to be reported of it in the latter case."""
        self.name = None
        if self.has_alarm:
            signal.setitimer(signal.ITIMER_REAL, 0)
        self.earlier = []
        return self.verdict

    def rest(self):
        """Nothing that has a limit runs any more."""
        self.end()
        if self.deadline:
            faulthandler.cancel_dump_traceback_later()
            self.deadline = 0.0

    def leave(self):
        """Every test is judged: a thread that was left running does not hold the process."""
        self.rest()
        if self.stack is not None and os.getpid() == self.report.owner:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            faulthandler.dump_traceback_later(LEAVING, exit=True, file=nowhere)

    def alarm(self, elapsed):
        """Sets the timer to the next moment at which something is to be looked at."""
        if elapsed == 0.0:
            signal.setitimer(signal.ITIMER_REAL, min(self.first, self.again) if self.hung else self.first)
            return
        moments = (self.again, self.limit / 2, self.limit)
        left = [moment - elapsed for moment in moments if moment > elapsed + 0.001]
        signal.setitimer(signal.ITIMER_REAL, min(left) if left else 0.001)

    def ring(self, signum, frame):
        """The timer rings in the main thread, between two steps of what runs there."""
        if self.name is None:
            return
        if self.verdict is not None:
            self.give_up()
            return
        elapsed = time.monotonic() - self.began
        frames = frames_to(frame)
        known = [index for index, one in enumerate(frames) if self.definition(one.f_code) in self.hung]
        is_over = elapsed >= self.limit - 0.01
        if not is_over and not (known and elapsed >= self.again - 0.01):
            self.earlier = frames
            self.unreachable(self.limit)
            self.alarm(elapsed)
            return
        is_busy = time.process_time() - self.cpu > BUSY * elapsed
        at = known[-1] if known else self.staying(frames) if is_busy else None
        places = [(one.f_code.co_filename, one.f_lineno, one.f_code.co_name) for one in frames]
        seconds = self.limit if is_over else self.again
        self.verdict = described(places, self.root, seconds, at, is_busy)
        self.hung.add(self.verdict["definition"])
        self.verdicts[self.name] = self.verdict
        self.earlier = []
        signal.setitimer(signal.ITIMER_REAL, self.cleaning_up)
        inside, outside = self.raises
        raise (outside if self.stage == "between" else inside)(self.verdict["message"])

    def staying(self, frames):
        """Returns the innermost call of the project that was there at the last look too: what it calls comes and goes."""
        for index in range(len(frames) - 1, -1, -1):
            stays = any(frames[index] is one for one in self.earlier)
            if stays and is_inside(frames[index].f_code.co_filename, self.root):
                return index
        return None

    def definition(self, code):
        return (shown(code.co_filename, self.root), code.co_name)

    def give_up(self):
        """It went on although it was interrupted: the process ends, and a new one runs what is left."""
        if self.stack is None or os.getpid() != self.report.owner:
            os._exit(1)
        self.report.hung(self.name, self.verdict, self.stage)
        os.write(self.stack, b"ended\n")
        os._exit(1)


# --- where it was -----------------------------------------------------------------------------------


def frames_to(frame):
    found = []
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return found[::-1]


def is_inside(filename, root):
    path = os.path.realpath(filename)
    return path.startswith(root + os.sep) and "site-packages" not in path


def shown(filename, root):
    path = os.path.realpath(filename)
    return os.path.relpath(path, root).replace(os.sep, "/") if path.startswith(root + os.sep) else filename


def home_of(name):
    return name.split("::")[0] if "::" in name else name.rsplit(".", 2)[0]


def described(places, root, seconds, at=None, is_busy=True):
    """Says where something hung, from its calls (file, line, name), outermost first."""
    inside = [index for index, place in enumerate(places) if is_inside(place[0], root)]
    if at is None:
        at = inside[-1] if inside else len(places) - 1
    path, line, name = places[at] if places else ("?", 0, "?")
    if is_busy:
        line = loop_around(path, line)
    linecache.checkcache(path)
    code = linecache.getline(path, line).strip()
    words = "hung at %s:%s%s after %g s" % (shown(path, root), line, " (`%s`)" % code if code else "", seconds)
    trace = ["Traceback (most recent call last):\n"]
    first = inside[0] if inside else 0
    for one in places[max(first, len(places) - MOST_FRAMES) :]:
        trace.append('  File "%s", line %s, in %s\n' % one)
        text = linecache.getline(one[0], one[1]).strip()
        trace.append("    %s\n" % text if text else "")
    return {
        "message": words,
        "trace": "".join(trace) + words,
        "path": os.path.realpath(path),
        "line": line,
        "seconds": seconds,
        "definition": (shown(path, root), name),
    }


def loop_around(path, line):
    """Returns the first line of the loop that a line stands in, in its own function; else the line."""
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return line
    around = [one for one in ast.walk(tree) if getattr(one, "lineno", line + 1) <= line <= (getattr(one, "end_lineno", 0) or 0)]
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    first = max([one.lineno for one in around if isinstance(one, functions)] or [0])
    for kind in (ast.While, (ast.For, ast.AsyncFor)):
        loops = [one.lineno for one in around if isinstance(one, kind) and one.lineno >= first]
        if loops:
            return max(loops)
    return line


# --- a new process ----------------------------------------------------------------------------------


def resume(limits, report, path, root):
    """Reads what the process before this one reported, and reports the test that `faulthandler` ended."""
    running = None
    with open(path, encoding="ascii", errors="replace") as file:
        for text in file:
            try:
                line = json.loads(text)
            except ValueError:
                continue
            if line.get("kind") == "start":
                running = line
            elif line.get("kind") == "test":
                report.judged.add(line["id"])
                if line.get("hung"):
                    limits["hung"].append(line["definition"])
            elif line.get("kind") == "collected":
                report.counted = True
    with open(limits["stack"], "r+", encoding="utf-8", errors="replace") as file:
        dump = file.read()
        file.truncate(0)
    if running is not None and running["id"] not in report.judged and "File " in dump:
        verdict = described(main_thread(dump), root, running["limit"], None, False)
        limits["hung"].append(verdict["definition"])
        report.hung(running["id"], verdict, running["stage"])
        report.judged.add(running["id"])


def main_thread(dump):
    """Returns the calls of the thread that is written last, outermost first: that is the one the tests run in."""
    calls = []
    for line in dump.splitlines():
        if line.startswith(("Thread ", "Current thread ")):
            calls = []
        found = re.match(r'  File "(.*)", line (\d+) in (.*)', line)
        if found:
            calls.append((found.group(1), int(found.group(2)), found.group(3)))
    return calls[::-1]
