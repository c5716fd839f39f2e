"""`python -m harness` is the program that the package installed, and no other."""

import os
import pathlib
import shutil
import stat
import subprocess
import sys

import pytest

import harness

BESIDE = pathlib.Path(sys.executable).parent
PROGRAM = shutil.which("harness", path=str(BESIDE))


def start(*words, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, encoding="utf-8", timeout=60, **more)


def test_the_module_is_the_program():
    assert PROGRAM, "the program is not beside this Python: run scripts/run/test.py"
    module, program = start(sys.executable, "-m", "harness", "--version"), start(PROGRAM, "--version")
    assert (module.returncode, module.stdout) == (program.returncode, program.stdout)
    assert module.stdout.split()[-1] == harness.__version__


def test_the_program_is_native():
    assert pathlib.Path(PROGRAM).read_bytes()[:2] != b"#!"


def test_it_names_itself_as_it_was_started():
    shown = start(sys.executable, "-m", "harness", "nosuch")
    assert shown.returncode == 2
    assert f"{pathlib.Path(sys.executable).name} -m harness" in shown.stderr


def test_exit_codes_and_words_pass_through(tmp_path):
    for words in (["run"], ["brief", tmp_path / "nosuch"], ["nosuch"]):
        module, program = start(sys.executable, "-m", "harness", *words), start(PROGRAM, *words)
        assert module.returncode == program.returncode == 2
        assert module.stdout == program.stdout


def test_the_native_part_is_not_loaded_to_start_the_program():
    code = "import sys, harness; print('harness._harness' in sys.modules)"
    assert start(sys.executable, "-c", code).stdout == "False\n"


def test_without_the_program_the_module_answers_itself():
    code = "import sys\nfrom harness._harness import main\nsys.exit(main(['python -m harness', *sys.argv[1:]]))"
    inside = start(sys.executable, "-c", code, "--version")
    assert (inside.returncode, inside.stdout.split()[-1]) == (0, harness.__version__)
    wrong = start(sys.executable, "-c", code, "nosuch")
    assert wrong.returncode == 2 and "-m harness" in wrong.stderr


@pytest.mark.skipif(os.name == "nt", reason="a foreign program is made of a shell script")
def test_another_program_of_this_name_is_not_started(tmp_path):
    """Outside a virtualenv a `harness` beside the interpreter may be anyone's."""
    base = str(pathlib.Path(sys.base_prefix, "bin", "python{}.{}".format(*sys.version_info[:2])))
    fake = tmp_path / "bin" / "harness"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho foreign\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    package = pathlib.Path(harness.__file__).parent
    code = (
        "import runpy, sys\n"
        f"sys.path.insert(0, {str(package.parent)!r})\n"
        f"sys.executable = {str(fake.parent / 'python')!r}\n"
        "sys.argv = ['harness', '--version']\n"
        "runpy.run_module('harness', run_name='__main__')\n"
    )
    done = start(base, "-I", "-c", code, env={**os.environ, "PATH": f"{fake.parent}{os.pathsep}{os.environ['PATH']}"})
    assert "foreign" not in done.stdout
    assert (done.returncode, done.stdout.split()[-1]) == (0, harness.__version__), done.stderr


@pytest.mark.skipif(os.name == "nt", reason="arguments are text on Windows")
def test_a_word_that_is_not_utf_8_is_handled():
    done = subprocess.run([sys.executable, "-m", "harness", b"\xff\xfe"], capture_output=True, timeout=60)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr and b"panicked" not in done.stderr
