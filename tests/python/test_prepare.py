"""`harness prepare`: an environment outside the project in which its tests run, and which Python is taken for them."""

import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

PROGRAM = pathlib.Path(sys.executable).with_name("harness")
CODE = "import tiny\n\n\ndef total(prices):\n    return tiny.add(prices)\n"
TESTS = "import unittest\n\nfrom shop import total\n\n\nclass T(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n"


@pytest.fixture
def place(tmp_path):
    """A project that needs a package which only a folder of wheels has, and folders of its own for all that is kept."""
    project, wheels = tmp_path / "project", tmp_path / "wheels"
    project.mkdir()
    wheels.mkdir()
    (project / "shop.py").write_text(CODE)
    (project / "test_shop.py").write_text(TESTS)
    (project / "requirements.txt").write_text("tiny>=1\n")
    with zipfile.ZipFile(wheels / "tiny-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny.py", "add = sum\n")
        wheel.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        wheel.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("tiny-1.0.dist-info/RECORD", "tiny.py,,\ntiny-1.0.dist-info/METADATA,,\ntiny-1.0.dist-info/WHEEL,,\ntiny-1.0.dist-info/RECORD,,\n")
    return tmp_path


def harness(place, *words, code=0):
    surroundings = {
        **os.environ,
        "XDG_CACHE_HOME": str(place / "cache"),
        "XDG_CONFIG_HOME": str(place / "config"),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(place / "wheels"),
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(place / "wheels"),
    }
    done = subprocess.run([PROGRAM, *words], cwd=place / "project", env=surroundings, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    assert done.returncode == code, (done.stdout, done.stderr)
    return done


def files(project):
    return {path.relative_to(project).as_posix(): path.read_bytes() for path in project.rglob("*") if path.is_file()}


def test_tests_that_lack_a_package_run_after_it(place):
    project = place / "project"
    before = files(project)
    suite = json.loads(harness(place, "brief", "--json").stdout)["tests"]
    assert suite["missing"] == ["tiny"]
    assert "lacks tiny; `harness prepare` installs it" in harness(place, "brief").stdout
    broken = harness(place, "test", code=1)
    assert "the tests need `tiny`, which is not installed" in broken.stderr
    assert "hint: `harness prepare` installs what the tests need" in broken.stderr
    # Nobody said yes: what would be done is shown, and nothing is.
    asked = harness(place, "prepare", code=3)
    assert "-m venv" in asked.stdout and "requirements.txt" in asked.stdout and "--yes" in asked.stderr
    assert not (place / "cache" / "harness" / "environments").exists()
    made = json.loads(harness(place, "prepare", "--yes", "--json").stdout)
    assert made["done"] and made["tests"]["tests"]["passed"] == 1, made
    suite = json.loads(harness(place, "brief", "--json").stdout)["tests"]
    assert suite["interpreter_why"] == "prepared for this project" and "missing" not in suite
    assert "1 passed" in harness(place, "test").stdout
    assert files(project) == before
    # The way on from red tests is told too, and slow ones are named.
    (project / "test_shop.py").write_text(TESTS.replace("3)", "4)") + "\n    def test_slow(self):\n        import time\n\n        time.sleep(1.2)\n")
    red = harness(place, "test", code=1)
    assert 'hint: `harness run "fix the failing tests"` works on them' in red.stderr and "slow: test_shop.T.test_slow (1." in red.stdout
    assert "fix the failing tests" in harness(place, "prepare", "--yes").stderr
    assert harness(place, "prepare", "--remove").stdout == "removed\n"
    assert "nothing was prepared" in harness(place, "prepare", "--remove").stdout
    assert json.loads(harness(place, "brief", "--json").stdout)["tests"]["missing"] == ["tiny"]


def test_the_doctor_tells_what_the_tests_lack(place):
    def row(*words):
        done = subprocess.run([PROGRAM, "doctor", "--json", *words], cwd=place / "project", env={**os.environ, "OLLAMA_HOST": "127.0.0.1:9", "XDG_CACHE_HOME": str(place / "cache")}, capture_output=True, text=True, timeout=120)
        return {check["name"]: check for check in json.loads(done.stdout)["checks"]}

    rows = row()
    assert rows["tests"]["found"].endswith("lacks tiny") and "harness prepare" in rows["tests"]["hint"]
    assert "tests here" not in rows and not (place / "project" / ".harness").exists()
    assert "the tests need `tiny`" in row("--tests")["tests here"]["found"]


def test_what_cannot_be_installed_is_told_and_leaves_nothing_half(place):
    (place / "project" / "requirements.txt").write_text("tiny>=2\n")
    before = files(place / "project")
    failed = harness(place, "prepare", "--yes", code=1)
    assert "No matching distribution found for tiny>=2" in failed.stderr or "no version of tiny" in failed.stderr.lower()
    suite = json.loads(harness(place, "brief", "--json").stdout)["tests"]
    assert suite["interpreter_why"] != "prepared for this project"
    assert files(place / "project") == before
    # It goes on where the mistake is mended.
    (place / "project" / "requirements.txt").write_text("tiny\n")
    assert "1 passed" in harness(place, "prepare", "--yes").stdout


BACKEND = """import os, pathlib, zipfile
for target in {targets!r}:
    try:
        pathlib.Path(target).write_text("x")
    except OSError as error:
        pathlib.Path("refused.txt").open("a").write(f"{{error}}\\n")
def build_wheel(folder, *_):
    with zipfile.ZipFile(os.path.join(folder, "shop-1-py3-none-any.whl"), "w") as wheel:
        for name, text in {{"METADATA": "Metadata-Version: 2.1\\nName: shop\\nVersion: 1\\nRequires-Dist: tiny\\n", "WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n", "RECORD": ""}}.items():
            wheel.writestr(f"shop-1.dist-info/{{name}}", text)
        wheel.writestr("built.txt", open("refused.txt").read())
    return "shop-1-py3-none-any.whl"
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the walls are Linux's")
def test_build_code_writes_nowhere_else(place):
    project = place / "project"
    targets = [str(place / "outside.txt"), str(project / "new.txt"), str(project / "shop.py")]
    (project / "backend.py").write_text(BACKEND.format(targets=targets))
    (project / "pyproject.toml").write_text('[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n[project]\nname = "shop"\nversion = "1"\n')
    before = files(project)
    assert "1 passed" in harness(place, "prepare", "--yes").stdout
    assert files(project) == before and not (place / "outside.txt").exists()
    (built,) = (place / "cache").rglob("built.txt")
    # What lies in /tmp is written to one of its own, the project is only to be read.
    assert len({line for line in built.read_text().splitlines() if str(project) in line}) == 2, "the build code ran and was refused"


def test_a_project_that_cannot_be_built_is_prepared_without_it(place):
    project = place / "project"
    (project / "backend.py").write_text("raise SystemExit('too old for this Python')\n")
    build = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n[project]\nname = "shop"\nversion = "1"\ndependencies = ["tiny"]\n'
    (project / "pyproject.toml").write_text(build)
    (project / "requirements.txt").unlink()
    made = harness(place, "prepare", "--yes")
    assert "without building the project ..." in made.stderr and "1 passed" in made.stdout


def test_versions_of_a_lock_file_are_taken_where_they_can_be_had(place):
    lock = '[[package]]\nname = "tiny"\nversion = "{}"\n'
    for version, told in (("1.0", 1), ("9.9", 2)):
        (place / "project" / "uv.lock").write_text(lock.format(version))
        made = harness(place, "prepare", "--yes")
        assert made.stderr.count("install what the project and its tests ask for") == told and "1 passed" in made.stdout, made.stderr


def test_a_requirement_on_the_project_itself_means_the_project(place):
    (place / "project" / "requirements.txt").write_text("./vendor/tiny-1.0-py3-none-any.whl\n")
    (place / "project" / "vendor").mkdir()
    (place / "wheels" / "tiny-1.0-py3-none-any.whl").rename(place / "project" / "vendor" / "tiny-1.0-py3-none-any.whl")
    assert "1 passed" in harness(place, "prepare", "--yes").stdout


def test_what_no_file_asks_for_is_named_with_what_to_type(place):
    project = place / "project"
    (project / "requirements.txt").write_text("")
    told = harness(place, "prepare", "--yes", code=1)
    python = re.search(r"no file of the project asks for it: `(\S+) -m pip install tiny`", told.stderr)[1]
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", "--find-links", str(place / "wheels"), "tiny"], check=True, timeout=120)
    assert "1 passed" in harness(place, "test").stdout


@pytest.mark.skipif(sys.platform == "win32", reason="a script with a first line that names its program")
def test_programs_of_the_environment_are_found(place):
    """As they are when somebody activated it: tests of a command start the command."""
    assert "1 passed" in harness(place, "prepare", "--yes").stdout
    (programs,) = (place / "cache").glob("harness/environments/*/*/python/bin")
    (programs / "shop-total").write_text("#!/bin/sh\necho $VIRTUAL_ENV\n")
    (programs / "shop-total").chmod(0o755)
    starts = "\n    def test_program(self):\n        import subprocess\n        told = subprocess.run(['shop-total'], capture_output=True, text=True).stdout\n        self.assertEqual(told.strip(), %r)\n"
    (place / "project" / "test_shop.py").write_text(TESTS + starts % str(programs.parent))
    assert "2 passed" in harness(place, "test").stdout


def test_a_python_and_a_command_are_named_for_one_run(place):
    python = pathlib.Path(sys.executable)
    other = harness(place, "test", "--python", str(python), "--json", code=1)
    assert json.loads(other.stdout)["command"].startswith(str(python))
    named = harness(place, "test", "--test-command", f"'{python}' -c 'raise SystemExit(3)'", "--json", code=1)
    assert json.loads(named.stdout)["command"].endswith("raise SystemExit(3)")
    wrong = harness(place, "test", "--python", "no/such/python", code=2)
    assert "there is no program" in wrong.stderr and "hint:" in wrong.stderr
    assert "is no command" in harness(place, "test", "--test-command", "'", code=2).stderr


@pytest.mark.skipif(shutil.which("npm") is None, reason="no npm on the path")
@pytest.mark.parametrize("part", ["", "web"])
def test_packages_of_node_are_lent_to_the_tests(place, part):
    project = place / "project"
    for path in project.iterdir():
        path.unlink()
    home = project / part
    home.mkdir(exist_ok=True)
    with tarfile.open(home / "tiny.tgz", "w:gz") as packed:
        for name, text in {"package.json": '{"name": "tiny", "version": "1.0.0", "main": "tiny.js"}', "tiny.js": "exports.add = (a, b) => a + b;\n"}.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text)
            packed.addfile(entry, io.BytesIO(text.encode()))
    (home / "package.json").write_text('{"name": "shop", "scripts": {"test": "node --test"}, "dependencies": {"tiny": "file:tiny.tgz"}}')
    (home / "shop.js").write_text('const { add } = require("tiny");\nexports.total = add;\n')
    (home / "shop.test.js").write_text(
        'const test = require("node:test");\nconst assert = require("node:assert");\nconst { total } = require("./shop.js");\n'
        'test("total", () => assert.equal(total(1, 2), 3));\n'
    )
    before = files(project)
    broken = harness(place, "test", code=1)
    assert "the tests need `tiny`, which is not installed" in broken.stderr and "hint: `harness prepare`" in broken.stderr, broken.stderr
    made = json.loads(harness(place, "prepare", "--yes", "--json").stdout)
    assert made["done"] and made["tests"]["tests"]["passed"] == 1, made
    assert "1 passed" in harness(place, "test").stdout
    # Nothing of it lies in the project, not even a link.
    assert files(project) == before and not (home / "node_modules").is_symlink()
    harness(place, "prepare", "--remove")
    harness(place, "test", code=1)


# Stand-ins that fetch into the user's folder, and whose tests pass where that was kept.
CARGO = """#!/bin/sh
if [ "$1" = fetch ]; then pwd > "$CARGO_HOME/registry/fetched"; exit; fi
test -s "$CARGO_HOME/registry/fetched" || { echo 'error: no matching package named `tiny` found' >&2; exit 101; }
printf 'running 1 test\\ntest one ... ok\\n\\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\\n'
"""
GO = """#!/bin/sh
if [ "$1" = mod ]; then mkdir -p "$GOPATH/pkg/mod" && pwd > "$GOPATH/pkg/mod/fetched"; exit; fi
test -s "$GOPATH/pkg/mod/fetched" || { echo 'missing go.sum entry' >&2; exit 1; }
echo '{"Action":"run","Package":"tiny","Test":"TestOne"}'
echo '{"Action":"pass","Package":"tiny","Test":"TestOne","Elapsed":0}'
echo '{"Action":"pass","Package":"tiny","Elapsed":0}'
"""


@pytest.mark.skipif(os.name == "nt", reason="the stand-ins are shell scripts")
@pytest.mark.parametrize(
    "tool, script, kept, command, files",
    [
        ("cargo", CARGO, ".cargo/registry/fetched", "cargo fetch", {"Cargo.toml": '[package]\nname = "tiny"\nversion = "0.1.0"\n', "src/lib.rs": "#[test]\nfn one() {}\n"}),
        ("go", GO, "go/pkg/mod/fetched", "go mod download", {"go.mod": "module tiny\n\ngo 1.19\n", "a.go": "package tiny\n", "a_test.go": "package tiny\n"}),
    ],
)
@pytest.mark.parametrize("part", ["", "inner"])
def test_what_a_tool_fetches_is_kept_in_a_home_that_never_had_any(tmp_path, tool, script, kept, command, files, part):
    project, home, programs = tmp_path / "project", tmp_path / "user", tmp_path / "programs"
    for path, text in files.items():
        (project / part / path).parent.mkdir(parents=True, exist_ok=True)
        (project / part / path).write_text(text)
    home.mkdir()
    programs.mkdir()
    (programs / tool).write_text(script)
    (programs / tool).chmod(0o755)
    variables = {name: value for name, value in os.environ.items() if name not in ("CARGO_HOME", "GOPATH", "RUSTUP_HOME")}
    variables.update(HOME=str(home), XDG_CACHE_HOME=str(tmp_path / "cache"), PATH=f"{programs}{os.pathsep}/usr/bin{os.pathsep}/bin")
    if part:
        # It may name several folders; what is fetched goes to the first.
        variables["GOPATH"] = f"{home / 'go'}{os.pathsep}{home / 'work'}"
    done = subprocess.run([PROGRAM, "prepare", "--yes"], cwd=project, env=variables, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    assert done.returncode == 0 and "prepared: 1 passed, 0 failed" in done.stdout, (done.stdout, done.stderr)
    assert (f"cd {part} && {command}" if part else command) in done.stdout
    assert (home / kept).read_text().strip().endswith(f"source/{part}".rstrip("/"))
    assert not list(project.rglob("fetched")) and {one.name for one in home.iterdir()} <= {".cargo", "go"}
