"""scripts/run/install.py before the build: what it says when something is missing. The build itself is tried by test.py."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import zipfile

import pytest

from conftest import tree
from serving import PROGRAM

ROOT = pathlib.Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="stands in for tools with shell scripts")


@pytest.fixture
def clone(tmp_path):
    """A clone with nothing in it but the scripts, and a PATH that the test fills."""
    (tmp_path / "tools").mkdir()
    shutil.copytree(ROOT / "scripts", tmp_path / "clone" / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "clone" / "Cargo.toml").write_text('rust-version = "1.95"\n', encoding="utf-8")
    return tmp_path / "clone"


def tool(clone, name, script):
    file = clone.parent / "tools" / name
    file.write_text("#!/bin/sh\n" + script, encoding="utf-8")
    file.chmod(0o755)


def install(clone, *words, python=sys.executable, **environment):
    env = {"PATH": f"{clone.parent / 'tools'}", "HOME": str(clone.parent), **environment}
    command = [python, str(clone / "scripts" / "run" / "install.py"), *words]
    return subprocess.run(command, cwd=clone, env=env, capture_output=True, text=True, timeout=120)


def rust(clone, version="1.95.0"):
    for name in ("cargo", "rustc"):
        tool(clone, name, f"echo '{name} {version} (0123456 2026-01-01)'\n")


def compiler(clone, script="exit 0\n"):
    tool(clone, "cc", script)


def test_without_a_c_compiler_it_says_what_to_install(clone):
    rust(clone)
    done = install(clone)
    assert done.returncode == 1 and "there is no C compiler on the PATH" in done.stderr
    wanted = "xcode-select --install" if sys.platform == "darwin" else "sudo apt install build-essential"
    assert wanted in done.stderr.split("hint: ")[1]
    assert not (clone / ".venv").exists()


def test_a_c_compiler_without_its_library_is_named(clone):
    rust(clone)
    compiler(clone, "echo 'fatal error: stdio.h: No such file or directory' >&2\nexit 1\n")
    done = install(clone)
    assert done.returncode == 1
    assert "the C compiler `cc` cannot build a program" in done.stderr and "    fatal error: stdio.h" in done.stderr
    assert "hint: " in done.stderr and not (clone / ".venv").exists()


def test_the_compiler_is_asked_to_build_a_program(clone):
    """The real one passes, and the check goes on to what comes after it."""
    rust(clone)
    (clone / ".venv").mkdir()
    done = install(clone, python=base_python(), PATH=f"{clone.parent / 'tools'}{os.pathsep}{os.environ['PATH']}")
    assert "C compiler" not in done.stderr and "`.venv` is there but has no Python in it" in done.stderr


def test_a_python_without_ensurepip_is_named_before_anything_is_made(clone):
    """Debian's Python without python3-venv."""
    rust(clone)
    compiler(clone)
    block = clone.parent / "block"
    block.mkdir()
    (block / "ensurepip.py").write_text("raise ModuleNotFoundError(\"No module named 'ensurepip'\")\n", encoding="utf-8")
    done = install(clone, python=base_python(), PYTHONPATH=str(block))
    assert done.returncode == 1 and "this Python cannot make a virtualenv" in done.stderr
    version = "{}.{}".format(*sys.version_info[:2])
    assert f"sudo apt install python{version}-venv" in done.stderr.split("hint: ")[1]
    assert "making a virtualenv" not in done.stdout and not (clone / ".venv").exists()


def test_our_own_environment_without_files_is_made_anew(clone):
    """Caches of build folders keep the folders and drop the files."""
    folder = clone / "target" / "test-venv"
    (folder / "bin").mkdir(parents=True)
    (folder / "lib" / "python3" / "site-packages").mkdir(parents=True)
    code = "import pathlib, steps; print(steps.make_environment(pathlib.Path('target/test-venv'), ours=True))"
    done = subprocess.run([base_python(), "-c", code], cwd=clone, env={**os.environ, "PYTHONPATH": str(clone / "scripts" / "run")}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert (folder / "pyvenv.cfg").is_file() and done.stdout.splitlines()[-1] == "target/test-venv/bin/python"
    assert subprocess.run([folder / "bin" / "python", "-m", "pip", "--version"], capture_output=True).returncode == 0


def test_without_cargo_it_says_how_to_get_it(clone):
    done = install(clone)
    assert done.returncode == 1
    assert "`cargo` is not on the PATH" in done.stderr
    assert "hint: install Rust 1.95 or newer from https://rustup.rs" in done.stderr
    assert not (clone / ".venv").exists()


def test_an_old_rust_is_named(clone):
    rust(clone, "1.70.0")
    done = install(clone)
    assert done.returncode == 1 and "needs Rust 1.95 or newer, and this is 1.70.0" in done.stderr
    assert "hint: rustup update stable" in done.stderr


def test_a_rust_that_does_not_run_is_named(clone):
    tool(clone, "cargo", "exit 0\n")
    tool(clone, "rustc", "echo 'no toolchain is set' >&2\nexit 1\n")
    done = install(clone)
    assert done.returncode == 1 and "no toolchain is set" in done.stderr and "hint: " in done.stderr


def test_an_environment_without_python_is_named(clone):
    rust(clone)
    compiler(clone)
    (clone / ".venv").mkdir()
    done = install(clone, python=base_python())
    assert done.returncode == 1
    assert "`.venv` is there but has no Python in it" in done.stderr and "hint: delete" in done.stderr
    assert (clone / ".venv").exists()


def test_a_python_without_venv_is_named_and_leaves_nothing(clone):
    """Debian's Python comes without ensurepip: `python -m venv` then fails half-way."""
    rust(clone)
    compiler(clone)
    # A module of this name before Python's own plays that Python.
    block = clone.parent / "block"
    block.mkdir()
    (block / "venv.py").write_text(
        textwrap.dedent(
            """
            import pathlib, sys
            pathlib.Path(sys.argv[-1]).mkdir()
            print("The virtual environment was not created successfully because ensurepip is not available.")
            sys.exit(1)
            """
        ),
        encoding="utf-8",
    )
    done = install(clone, python=base_python(), PYTHONPATH=str(block))
    assert done.returncode == 1
    assert "ensurepip is not available" in done.stderr and "-venv" in done.stderr.split("hint:")[1]
    assert not (clone / ".venv").exists()


def test_a_failed_build_shows_the_first_error_and_the_log(clone):
    rust(clone)
    compiler(clone)
    done = install(clone, VIRTUAL_ENV=str(environment(clone)))
    assert done.returncode == 1
    assert "the build did not succeed" in done.stderr and "hint: the whole story is in target/install.log" in done.stderr
    assert (clone / "target" / "install.log").is_file()
    assert "Traceback" not in done.stderr


def test_at_the_end_it_says_how_to_activate_the_environment(clone):
    code = "import pathlib, sys; sys.path.insert(0, sys.argv[1]); import install; install.print_next_steps(pathlib.Path(sys.argv[2]))"
    words = [sys.executable, "-c", code, str(clone / "scripts" / "run"), str(clone / ".venv" / "bin" / "python")]
    for active, is_told in (("", True), (str(clone / ".venv"), False)):
        done = subprocess.run(words, cwd=clone, env={"SHELL": "/bin/sh", "VIRTUAL_ENV": active}, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and "harness brief" in done.stdout, done.stderr
        assert ("in every new terminal" in done.stdout and "bin/activate\n" in done.stdout) == is_told, done.stdout
        assert "on-device" not in done.stdout and " ask " not in done.stdout, "a tiny model answers no questions"
        for memory, model in (("8 GB", "qwen3:4b"), ("16 GB", "qwen3:8b"), ("32 GB", "qwen3:14b")):
            assert re.search(rf"^ +{memory} +ollama pull {model} .*GB", done.stdout, re.M), done.stdout


def test_what_it_suggests_at_the_end_works_with_what_is_installed(clone, tmp_path):
    """Without a model server, as after an install: every command ends well, and the sample project is as it was."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); import install; print(*install.FIRST_COMMANDS, sep='\\n')"
    commands = subprocess.run([sys.executable, "-c", code, str(clone / "scripts" / "run")], capture_output=True, text=True, timeout=60).stdout.splitlines()
    assert [command.split()[:2] for command in commands] == [["harness", "brief"], ["harness", "run"], ["harness", "undo"]]
    orders = tmp_path / "orders"
    shutil.copytree(ROOT / "demo" / "orders", orders, ignore=shutil.ignore_patterns("__pycache__", ".harness", "*.bak"))
    before = tree(orders)
    for command in commands:
        done = subprocess.run([PROGRAM, *shlex.split(command)[1:]], cwd=orders, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    assert tree(orders) == before


# From a wheel


def wheel(folder, tag="py3-none-any", version="0.1.0"):
    """A wheel with the program under test and a module that can be imported."""
    name = f"local_harness-{version}"
    parts = {
        "harness/__init__.py": "class Agent: pass\nclass AgentOptions: pass\n",
        f"{name}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: local-harness\nVersion: {version}\n",
        f"{name}.dist-info/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n",
        f"{name}.data/scripts/harness": f'#!/bin/sh\nexec "{PROGRAM}" "$@"\n',
    }
    record = f"{name}.dist-info/RECORD"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}-{tag}.whl"
    with zipfile.ZipFile(file, "w") as archive:
        for path, text in parts.items():
            about = zipfile.ZipInfo(path)
            about.external_attr = 0o100755 << 16
            archive.writestr(about, text)
        archive.writestr(record, "".join(f"{path},,\n" for path in [*parts, record]))
    return file


def versioned(clone):
    (clone / "Cargo.toml").write_text('version = "0.1.0"\nrust-version = "1.95"\n', encoding="utf-8")


def from_wheel(clone, *words):
    shutil.copytree(ROOT / "demo", clone / "demo", ignore=shutil.ignore_patterns("__pycache__", ".harness", "*.bak"), dirs_exist_ok=True)
    return install(clone, *words, python=base_python(), PATH=f"{clone.parent / 'tools'}{os.pathsep}/usr/bin{os.pathsep}/bin", OLLAMA_HOST="127.0.0.1:9")


def test_a_wheel_needs_no_compiler_and_ends_in_a_proven_fix(clone):
    versioned(clone)
    done = from_wheel(clone, "--wheel", str(wheel(clone.parent / "given")), "--demo", "--no-model")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing was compiled" in done.stdout and "tests: 16 passed, 2 failed before; 17 passed, 1 failed now" in done.stdout
    assert (clone / ".venv" / "bin" / "harness").exists()


def test_a_wheel_in_dist_is_taken_when_it_is_of_this_version_and_platform(clone):
    versioned(clone)
    wheel(clone / "dist", version="0.0.9")
    done = from_wheel(clone)
    assert done.returncode == 1 and "`cargo` is not on the PATH" in done.stderr, "an old wheel was taken"
    wheel(clone / "dist", tag="cp310-abi3-win_arm64")
    done = from_wheel(clone)
    assert done.returncode == 1 and "no wheel in dist/ is for this platform" in done.stdout and "`cargo` is not on the PATH" in done.stderr
    wheel(clone / "dist")
    done = from_wheel(clone)
    assert done.returncode == 0 and "installed dist/local_harness-0.1.0-py3-none-any.whl; nothing was compiled" in done.stdout, done.stderr
    done = from_wheel(clone, "--build")
    assert done.returncode == 1 and "`cargo` is not on the PATH" in done.stderr


def test_a_wheel_that_cannot_be_used_is_named(clone):
    versioned(clone)
    done = from_wheel(clone, "--wheel", str(wheel(clone.parent / "given", tag="cp310-abi3-win_arm64")))
    assert done.returncode == 1 and "cannot be installed here" in done.stderr and "not a supported wheel" in done.stderr and "hint: take the wheel for this platform" in done.stderr
    done = from_wheel(clone, "--wheel", "nosuch.whl")
    assert done.returncode == 1 and "there is no file `nosuch.whl`" in done.stderr


def test_help_and_a_wrong_word(clone):
    assert install(clone, "--help").returncode == 0
    assert install(clone, "--nosuch").returncode == 2


def base_python():
    """The Python under the virtualenv that runs these tests, so that none is active."""
    return str(pathlib.Path(sys.base_prefix, "bin", "python{}.{}".format(*sys.version_info[:2])))


def environment(clone):
    """A virtualenv whose pip only says that it failed: no network, no build."""
    folder = clone.parent / "active"
    (folder / "bin").mkdir(parents=True)
    python = folder / "bin" / "python"
    script = (
        '#!/bin/sh\ncase "$*" in\n'
        "*implementation.name*) echo 3 12 cpython ;;\n"
        "*--version*) exit 0 ;;\n"
        '*install*) echo "Preparing"; echo "  error: linker not found"; exit 1 ;;\n'
        "esac\n"
    )
    python.write_text(script, encoding="utf-8")
    python.chmod(0o755)
    return folder


def test_the_error_stands_before_the_hint(clone):
    rust(clone)
    compiler(clone)
    done = install(clone, python=base_python(), VIRTUAL_ENV=str(environment(clone)))
    assert "    error: linker not found" in done.stderr.replace("      error", "    error")
    assert done.stderr.index("linker not found") < done.stderr.index("hint:")
