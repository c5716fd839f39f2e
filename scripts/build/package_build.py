"""The package build: maturin for the module, and before it cargo for the native program that goes into the same wheel.

pip and other front ends call the functions below (PEP 517 and PEP 660). A wheel is built with the release profile, an
editable install with the dev profile, unless `--config-settings build-args=--profile=NAME` names another one.
"""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

# Without cargo maturin would fetch a toolchain in silence; we say how to get one instead.
os.environ["MATURIN_NO_INSTALL_RUST"] = "1"

import maturin
from maturin import (
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# `data` in pyproject.toml names the same folder; what lies in its `scripts` lands beside the interpreter.
PACKAGE = ROOT / "target" / "package"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds a wheel with the module and the program."""
    place_program("release", config_settings)
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds a wheel that points at this clone; the program in it is a copy of what was built."""
    place_program("dev", config_settings)
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    """Packs the sources; a program built here has no place in them."""
    shutil.rmtree(PACKAGE, ignore_errors=True)
    PACKAGE.mkdir(parents=True)
    return maturin.build_sdist(sdist_directory, config_settings)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Writes the metadata alone."""
    cargo()
    PACKAGE.mkdir(parents=True, exist_ok=True)
    return maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def prepare_metadata_for_build_editable(metadata_directory, config_settings=None):
    """Writes the metadata alone."""
    return prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def place_program(profile, config_settings):
    """Builds the program and puts it where maturin collects the scripts of the wheel."""
    program = build_program(maturin_option("--profile", config_settings) or profile, config_settings)
    scripts = PACKAGE / "scripts"
    shutil.rmtree(PACKAGE, ignore_errors=True)
    scripts.mkdir(parents=True, exist_ok=True)
    # Whole or not at all: an interrupted build must not leave half a program for the next one.
    handle, unfinished = tempfile.mkstemp(dir=scripts.parent)
    os.close(handle)
    shutil.copy2(program, unfinished)
    os.replace(unfinished, scripts / program.name)


def build_program(profile, config_settings):
    """Runs cargo for the program and returns the path that cargo reports."""
    # The module's package is named too: cargo then settles on one set of features for both halves, and what they share
    # is compiled once.
    command = [cargo(), "build", "--package", "harness", "--package", "harness-python", "--bin", "harness"]
    command += ["--profile", profile]
    command += ["--message-format", "json-render-diagnostics"]
    triple, features = (maturin_option(name, config_settings) for name in ("--target", "--features"))
    if triple:
        command += ["--target", triple]
    if features:
        command += ["--features", f"harness-python/{features}"]
    print("running", shlex.join(command), flush=True)
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        sys.exit("the program `harness` could not be built; what cargo said stands above")
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message.get("reason") == "compiler-artifact" and message["target"]["name"] == "harness" and message["executable"]:
            return pathlib.Path(message["executable"])
    sys.exit("cargo built no program `harness`")


def cargo():
    """Returns cargo, or ends with how to get it."""
    found = shutil.which("cargo")
    if found is None:
        sys.exit(
            "cargo, the Rust package manager, is not on the PATH\n"
            "hint: install Rust from https://rustup.rs, open a new terminal and try again"
        )
    return found


def maturin_option(name, config_settings):
    """Returns the value of an option that maturin was given, so that both halves of the wheel agree."""
    arguments = maturin.get_maturin_pep517_args(config_settings)
    for index, argument in enumerate(arguments):
        if argument.startswith(f"{name}="):
            return argument.partition("=")[2]
        if argument == name and index + 1 < len(arguments):
            return arguments[index + 1]
    return None
