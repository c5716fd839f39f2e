"""A test that is left out fails under CI, and says why."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

import skips

HERE = pathlib.Path(skips.__file__).parent
TESTS = """
import pytest

@pytest.mark.skip(reason="no moon tonight")
def test_marked(): pass

def test_inside(): pytest.skip("no sun either")

@pytest.fixture
def absent(): pytest.skip("nobody is here")

def test_fixture(absent): pass

@pytest.mark.xfail
def test_known(): assert False

def test_plain(): pass
"""
WHOLE = "import pytest\npytest.skip('the whole file', allow_module_level=True)\n"


def counts(folder, **variables):
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    environment.update(variables, PYTHONPATH=str(HERE))
    command = [sys.executable, "-m", "pytest", "-p", "skips", "-p", "no:cacheprovider", str(folder)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    last = done.stdout.rstrip().splitlines()[-1]
    return done.stdout, {word.rstrip("s"): int(number) for number, word in re.findall(r"(\d+) (\w+)", last.split(" in ")[0])}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "test_sky.py").write_text(TESTS, encoding="utf-8")
    return tmp_path


def test_without_ci_a_skip_is_a_skip(folder):
    (folder / "test_whole.py").write_text(WHOLE, encoding="utf-8")
    assert counts(folder)[1] == {"passed": 1, "skipped": 4, "xfailed": 1}


def test_under_ci_a_skip_is_a_failure_with_its_reason(folder):
    said, found = counts(folder, CI="1")
    # What a fixture leaves out fails before the test begins, which pytest calls an error.
    assert found == {"failed": 1, "error": 2, "passed": 1, "xfailed": 1}, said
    for reason in ("no moon tonight", "no sun either", "nobody is here"):
        assert f"left out under CI: Skipped: {reason}" in said


def test_under_ci_a_whole_file_that_is_left_out_is_a_failure(tmp_path):
    (tmp_path / "test_whole.py").write_text(WHOLE, encoding="utf-8")
    said, found = counts(tmp_path, CI="1")
    assert found == {"error": 1} and "left out under CI: Skipped: the whole file" in said


def test_what_a_platform_lacks_is_listed_by_names_that_are_there():
    for names in skips.MAY_SKIP.values():
        for name in names:
            file, _, test = name.partition("::")
            wanted = f"def {test}(" if test else "def test_"
            assert wanted in (HERE / file).read_text(encoding="utf-8"), name
