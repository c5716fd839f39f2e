"""Tries an installed package as a user would: python check_install.py, with the Python that it was installed into."""

import pathlib
import subprocess
import sys
import sysconfig
import tempfile


def main():
    name = "harness.exe" if sys.platform == "win32" else "harness"
    program = pathlib.Path(sysconfig.get_path("scripts")) / name
    assert program.is_file(), f"{program} was not installed"
    head = program.read_bytes()[:4]
    assert not head.startswith(b"#!"), "the command is a script, not the native program"
    # Away from any clone, so that only what was installed can be found.
    with tempfile.TemporaryDirectory() as folder:
        version = said([str(program), "--version"], folder)
        module = said([sys.executable, "-m", "harness", "--version"], folder)
        assert version.split()[-1] == module.split()[-1], (version, module)
        assert "brief" in said([str(program)], folder)
        pathlib.Path(folder, "shop.py").write_text("def total(prices):\n    return sum(prices)\n", encoding="utf-8")
        library = (
            "import harness, sys\n"
            "options = harness.AgentOptions(project=sys.argv[1], allow_writes=False)\n"
            "assert options.steps == 20 and options.model.endswith(':8b'), options\n"
            "assert harness.__version__ == sys.argv[2].split()[-1], harness.__version__\n"
            "print(harness.Agent(options).run('clean this up').stopped)\n"
        )
        stopped = said([sys.executable, "-c", library, folder, version], folder).strip()
        assert stopped == "question", stopped
    print(f"{version.strip()} at {program}: the command, the module and the library answer")


def said(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


if __name__ == "__main__":
    main()
