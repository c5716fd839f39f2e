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
        "bench/promises/claim_rows.py": (ROOT / "bench" / "promises" / "claim_rows.py").read_text(encoding="utf-8").split("SENTENCES = ")[0] + "SENTENCES, SECTIONS, FIGURES = [], {}, []\n",
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
        "promise 1: there is no test `t`",
        "promise 2: there is no test `t`",
    ]


def test_a_claim_without_anything_behind_it_is_told(tmp_path):
    rows = (
        "SENTENCES = [('Every run can be undone', 'test_undo.py test_it'), ('gone', 'bench/x.md')]\n"
        "SECTIONS = {'docs/guide/a.md#': 'test_undo.py test_it', 'docs/guide/a.md#Old': 'test_undo.py test_no'}\n"
        "FIGURES = [('12 MB', 'bench/x.md', '| 12 |')]\n"
    )
    files = {
        "bench/promises/run.py": (ROOT / "bench" / "promises" / "run.py").read_text(encoding="utf-8"),
        "bench/promises/rows.py": "ROWS = []\n",
        "bench/promises/spec_rows.py": "ENTRIES, ROWS = [], []\n",
        "bench/promises/claim_rows.py": rows,
        "bench/x.md": "| 13 |\n",
        "tests/python/test_undo.py": "def test_it(): pass\n",
        "SECURITY.md": "",
        "README.md": "# A\nEvery run can be undone. It never fails, and weighs 12 MB.\n\n```sh\nnothing is a claim here: 40 MB\n```\n",
        "docs/guide/a.md": "# A\nIn 3 seconds.\n\n## New\nWords.\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = checked(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.splitlines() == [
        "README: nothing is behind 'It never fails, and weighs 12 MB.'",
        "README does not say 'gone' any more",
        "docs/guide/a.md: nothing is behind the section 'New'",
        "there is no section docs/guide/a.md#Old",
        "docs/guide/a.md#Old: there is no `test_undo.py test_no`",
        "docs/guide/a.md: nothing is behind the figure '3 seconds'",
        "the figure '12 MB': bench/x.md does not say '| 12 |'",
    ]
