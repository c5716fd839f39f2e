"""The rows of bench/promises fit the source: each promise and each entry of SPEC has one, and what it changes is there."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def checked(root=ROOT):
    command = [sys.executable, str(root / "bench" / "promises" / "run.py"), "--check"]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_rows_fit_the_source():
    done = checked()
    assert done.returncode == 0, done.stdout + done.stderr


def test_rows_that_do_not_fit_are_told(tmp_path):
    wrong = (
        "ROWS = [(1, 'nothing', [('a.rs', 'one', 'two')], 'harness-hands --lib lock::tests'), (9, 'less', [('a.rs', 'x', 'y')], 'test_x.py test_y')]\n"
    )
    spec = "ENTRIES = ['-v', '--json']\nROWS = [('-v', 'quiet', [('a.rs', 'x', 'y')], 'test_x.py test_y')]\n"
    files = {
        "bench/promises/run.py": (ROOT / "bench" / "promises" / "run.py").read_text(encoding="utf-8"),
        "bench/promises/rows.py": wrong,
        "bench/promises/spec_rows.py": spec,
        "SECURITY.md": "| # | promise | held by |\n|---|---|---|\n| 1 | a | `t` |\n| 2 | b | `t` |\n",
        "a.rs": "one one x\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = checked(tmp_path)
    assert done.returncode == 1, done.stdout
    assert done.stdout.splitlines() == [
        "promise 2 has no row",
        "there is no promise 9: less",
        "entry --json has no row",
        "1, nothing: 'one' stands 2 times in a.rs",
        "1, nothing: there is no test `harness-hands --lib lock::tests`",
        "9, less: there is no test `test_x.py test_y`",
        "-v, quiet: there is no test `test_x.py test_y`",
    ]
