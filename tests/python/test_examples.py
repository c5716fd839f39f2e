"""The examples of the library, in Python and in Rust: each is run as its first lines say, on the sample project."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIX = "fix the NameError in orders/report.py"
RENAME = "rename best_percent to discount_percent"


@pytest.fixture
def orders(tmp_path):
    folder = tmp_path / "orders"
    shutil.copytree(ROOT / "demo" / "orders", folder, ignore=shutil.ignore_patterns("__pycache__", ".harness", "*.bak"))
    return folder


def run(words, said=""):
    done = subprocess.run([str(word) for word in words], input=said, capture_output=True, text=True, encoding="utf-8", timeout=120)
    return done.returncode, done.stdout, done.stderr


def python(name, *words, said=""):
    return run([sys.executable, ROOT / "examples" / name, *words], said)


def rust(name, *words):
    suffix = ".exe" if os.name == "nt" else ""
    return run([ROOT / "target" / "debug" / "examples" / f"{name}{suffix}", *words])


def test_every_example_is_run_here():
    here = pathlib.Path(__file__).read_text(encoding="utf-8")
    found = [*ROOT.glob("examples/*.py"), *ROOT.glob("crates/*/examples/*.rs")]
    assert len(found) == 5
    for path in found:
        call = f'python("{path.name}"' if path.suffix == ".py" else f'rust("{path.stem}"'
        assert call in here, path


def test_fix_in_python(orders):
    code, out, error = python("fix.py", orders, FIX)
    assert code == 0, error
    assert "-" + "    " in out and "percent" in out and "tests:" in out and "17 passed, 1 failed" in out
    assert "precent" not in (orders / "orders/report.py").read_text()


def test_review_in_python_changes_only_after_a_yes(orders):
    before = (orders / "orders/discounts.py").read_bytes()
    code, out, error = python("review.py", orders, RENAME, said="n\n")
    assert code == 0 and "nothing was changed" in out, error
    assert (orders / "orders/discounts.py").read_bytes() == before
    code, out, error = python("review.py", orders, RENAME, said="y\n")
    assert code == 0, error
    assert b"def discount_percent" in (orders / "orders/discounts.py").read_bytes()


def test_many_in_python_stops_at_the_first_that_is_not_proven(orders, tmp_path):
    tasks = tmp_path / "tasks.txt"
    tasks.write_text(f"{FIX}\nrename no_such_name to other\n{RENAME}\n")
    code, out, error = python("many.py", orders, tasks)
    assert code == 1, error
    assert [line.split(" - ")[0] for line in out.splitlines() if " - " in line and line[0] != " "][0] == "done"
    assert RENAME not in out


def test_fix_in_rust(orders):
    code, out, error = rust("fix", orders, FIX)
    assert code == 0, error
    assert "percent" in out and "precent" not in (orders / "orders/report.py").read_text()


def test_understand_in_rust(orders):
    code, out, error = rust("understand", orders, RENAME)
    assert code == 0, error
    assert "unittest" in out and "discount_percent" in out
    assert not (orders / ".harness").exists()
