"""bench/run.py, its rows and its report: parts are skipped with a reason, rows have one shape, worse rows are told."""

import importlib.util
import json
import math
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree

import pytest
from scripted import ScriptedServer

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench"


def load(name, known_as=None):
    """A module of bench by its path: other files of that folder are called like packages and like modules of these tests."""
    spec = importlib.util.spec_from_file_location(known_as or name, BENCH / f"{name}.py")
    module = sys.modules[known_as or name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


inputs, rows = load("inputs"), load("rows")
parts = load("parts")
report = load("report")


def ran(*words, script="run.py"):
    return subprocess.run([sys.executable, str(BENCH / script), *map(str, words)], capture_output=True, text=True)


def row(value, spread=None, quick=False, better="lower", unit="s", name="a start", machine="2 cores, x86_64", **more):
    versions = {"harness": "1.0 (abc, release)"}
    return {"part": "startup", "name": name, "value": value, "unit": unit, "spread": spread, "better": better, "quick": quick, "date": "2026-01-01", "machine": machine, "versions": versions, **more}


# The command


def test_every_part_of_the_issue_is_there():
    names = {part.name for part in parts.PARTS}
    wanted = "startup understanding locating fixes edits oracle sentences bugs adversary overhead faults suites server sandbox on-device protocols latency scaling soak model"
    assert set(wanted.split()) <= names
    listed = ran("--list")
    assert listed.returncode == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()] == [part.name for part in parts.PARTS]


def test_the_table_names_only_known_needs():
    assert {need for part in parts.PARTS for need in part.needs} <= set(parts.NEEDS)
    assert [part.name for part in parts.PARTS if part.only_by_name] == ["model"]


def test_an_unknown_part_is_a_usage_error():
    done = ran("nonsense")
    assert done.returncode == 2
    assert "no such part: nonsense" in done.stderr


def test_a_part_that_cannot_run_says_why_and_hinders_no_other(tmp_path):
    # A program that answers nothing: one part can measure its start, none of the others can use it.
    program = tmp_path / "harness"
    program.write_text("#!/bin/sh\necho harness 9.9.9\nexit 4\n", encoding="utf-8")
    program.chmod(0o755)
    done = ran("edits", "locating", "model", "startup", "--quick", "--program", program, "--rows", tmp_path / "rows")
    assert "skipped: needs" in done.stdout, done.stdout + done.stderr
    assert "skipped: no model can be asked" in done.stdout
    assert "harness: CPU:" in done.stdout, "the part after them was measured"
    found = rows.read(tmp_path / "rows")["startup"]
    assert found and all(one["quick"] for one in found)
    assert [rows.faults(one) for one in found] == [[]] * len(found)
    assert all(one["versions"]["harness"].startswith("9.9.9 (") for one in found)


def test_a_part_that_breaks_is_told_and_the_exit_code_says_so(monkeypatch, tmp_path, capsys):
    run = load("run", "bench_run")

    def breaks(bench):
        raise ValueError("this went wrong")

    broken = parts.Part("broken", "a part that breaks", breaks)
    good = parts.Part("good", "a part that works", lambda bench: [rows.Measure("figure", [1.0, 2.0, 4.0], "s", "lower")])
    needy = parts.Part("needy", "a part that needs what is not there", breaks, ("wings",))
    monkeypatch.setitem(parts.NEEDS, "wings", lambda: False)
    monkeypatch.setattr(parts, "PARTS", [broken, needy, good])
    assert run.main(["--program", sys.executable, "--rows", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "skipped: it broke: ValueError: this went wrong" in said
    assert "skipped: needs wings" in said
    [found] = rows.read(tmp_path)["good"]
    assert (found["value"], found["spread"], found["quick"]) == (2.0, 3.0, False)


def test_a_quick_run_ends_in_time(monkeypatch):
    monkeypatch.setattr(inputs, "DEADLINE", time.monotonic() + 30)
    assert 25 < inputs.time_left(600) <= 30
    assert inputs.time_left(3) == 3
    monkeypatch.setattr(inputs, "DEADLINE", time.monotonic())
    with pytest.raises(inputs.Missing, match="no time is left of the 20 minutes"):
        inputs.time_left(600)


# Rows


def test_committed_rows_have_the_shape():
    for part, found in rows.read(BENCH / "rows").items():
        assert part in {one.name for one in parts.PARTS}
        for one in found:
            assert rows.faults(one) == [], (part, one)
            assert one["part"] == part


@pytest.mark.parametrize(
    "wrong, told",
    [
        ({"value": "4"}, "`value` is no number"),
        ({"value": None}, "nothing was measured and `why` does not say why"),
        ({"better": "bigger"}, "`better` is neither lower nor higher"),
        ({"versions": {}}, "`quick` or `versions` is not what it should be"),
        ({"more": 1}, "`more` is unknown"),
    ],
)
def test_a_row_of_another_shape_is_told(wrong, told):
    assert rows.faults({**row(1.0), **wrong}) == [told]


def test_a_row_that_lacks_a_field_is_told():
    found = row(1.0)
    del found["unit"]
    assert rows.faults(found) == ["`unit` is missing"]


def test_what_was_not_measured_is_a_row_with_a_reason():
    found = rows.row("model", rows.not_measured("commits: done", "no engine"), False, {"harness": "1"})
    assert rows.faults(found) == []
    assert (found["value"], found["why"]) == (None, "no engine")


def test_the_machine_is_named_with_its_processor(tmp_path):
    listed = tmp_path / "cpuinfo"
    listed.write_text("processor\t: 0\nmodel name\t: Some  Processor 9 @ 2.50GHz\nprocessor\t: 1\nmodel name\t: Another\n", encoding="utf-8")
    assert rows.processor(listed) == "Some Processor 9 @ 2.50GHz"
    assert rows.processor(tmp_path / "absent") == " ".join(platform.processor().split())
    assert rows.machine().startswith(f"{os.cpu_count()} cores, {platform.machine()}") and not rows.machine().endswith(", ")


def test_a_program_that_is_older_than_its_sources_is_marked(monkeypatch, tmp_path):
    program, source = tmp_path / "release" / "harness", tmp_path / "main.rs"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho harness 9.9.9\n", encoding="utf-8")
    program.chmod(0o755)
    source.touch()
    monkeypatch.setattr(rows, "sources", lambda: [source, tmp_path / "gone.rs"])
    monkeypatch.setattr(rows, "commit", lambda: "abc")
    number = "9.9.9" if os.name != "nt" else "unknown"
    os.utime(source, (1, 1))
    assert rows.harness_version(str(program)) == f"{number} (abc, release)"
    os.utime(source, (time.time() + 60, time.time() + 60))
    version = rows.harness_version(str(program))
    assert version == f"{number} (abc, older than its sources, release)"
    # How it was built is read off a marked row as off any other.
    assert rows.built({"versions": {"harness": version}}) == "release"


def test_a_program_is_built_from_sources_and_not_from_tests():
    found = {file.relative_to(ROOT).as_posix() for file in rows.sources()}
    assert "crates/harness/src/main.rs" in found and any("/prompts/" in name for name in found)
    assert not any("/tests/" in name or "harness-python" in name for name in found)


def test_a_row_names_no_version_of_what_was_not_there():
    found = rows.row("startup", rows.Measure("a start", 1.0, "s", peer={"py-harness": "", "engine": "local"}), False, {"harness": "1"})
    assert found["versions"] == {"harness": "1", "engine": "local"}


def bench(tmp_path, *words):
    """What the parts share, with a program that nobody starts."""
    arguments = load("run", "bench_run").read_arguments(["--program", sys.executable, *map(str, words)])
    return parts.Bench(arguments)


def test_peers_are_measured_as_times_harness(monkeypatch, tmp_path):
    costs = {
        "harness, its test runs included": {"rounds": [[0.5, 17, 300, True], [0.6, 17, 300, True], [0.5, 17, 300, True]]},
        "codex": {"rounds": [[1.0, 150, 9000, False], [1.0, 150, 9000, False], [4.0, 150, 9000, False]]},
        "aider": {"trouble": "it asked nothing"},
    }
    monkeypatch.setattr(parts.Bench, "samples", lambda self, script, *words, **how: costs if script.endswith("peers.py") else [[True, 0.02, 15.5, 286]])
    monkeypatch.setattr(parts.Bench, "peer", lambda self, name: (name, "1.2") if name == "codex" else ("", ""))
    found = {measure.name: measure for measure in parts.overhead(bench(tmp_path))}
    ratios = {name: (one.value, one.unit, one.better, one.peer) for name, one in found.items() if "times harness" in name}
    assert ratios == {
        "codex: times harness, CPU": (2.0, "times", "higher", {"codex": "1.2"}),
        "codex: times harness, first request": (30.0, "times", "higher", {"codex": "1.2"}),
    }
    # Where harness itself broke, there is nothing to measure by.
    costs["harness, its test runs included"] = {"trouble": "it asked nothing"}
    assert not any("times harness" in measure.name for measure in parts.overhead(bench(tmp_path)))


def test_only_rows_of_the_peer_name_its_version(monkeypatch, tmp_path):
    found = {name: {"milliseconds": [1.0], "memory": None} for name in ("python -c pass", "harness", "py-harness (peer)")}
    monkeypatch.setattr(parts.Bench, "samples", lambda self, *words, **how: found)
    monkeypatch.setattr(parts.Bench, "peer", lambda self, name: ("py-harness", "0.3.1"))
    assert [measure.name for measure in parts.startup(bench(tmp_path)) if measure.peer] == ["py-harness (peer): CPU"]


@pytest.mark.skipif(os.name == "nt", reason="a helper that is a script")
def test_locating_needs_no_package_beside_the_caller(monkeypatch, tmp_path):
    """The Python that fits weights has numpy in an environment of its own."""
    helper = tmp_path / "locate_signals"
    helper.write_text("#!/bin/sh\necho signals of $1\n", encoding="utf-8")
    helper.chmod(0o755)
    (tmp_path / "locate").mkdir()
    (tmp_path / "locate" / "dev.jsonl").write_text('{"repo": "a/b"}\n', encoding="utf-8")
    called, asked = [], []

    def call(self, script, *words, seconds, python=None, variables=None):
        called.append((script, python))
        return "files (12)  50.8 70.8 77.2 85.0 90.3\n" if script == "locate/fit.py" else ""

    monkeypatch.setattr(parts.Bench, "call", call)
    monkeypatch.setattr(parts.Bench, "helper", lambda self, name: str(helper))
    monkeypatch.setattr(parts, "PLACE", tmp_path)
    monkeypatch.setattr(inputs, "environment", lambda name, *packages: asked.append((name, packages)) or "the python of locate")
    monkeypatch.setattr(inputs, "repositories", lambda names, given=None: tmp_path)
    measures = parts.locating(bench(tmp_path, "--cases", tmp_path))
    assert asked == [("locate", ("numpy",))]
    assert called == [("locate/lay_out.py", None), ("locate/fit.py", "the python of locate")]
    assert [(one.name, one.value, one.cases) for one in measures][0] == ("files: recall at 1", 50.8, 12)
    # The helper too is given no more time than there is.
    monkeypatch.setattr(inputs, "DEADLINE", time.monotonic())
    with pytest.raises(inputs.Missing, match="no time is left"):
        parts.locating(bench(tmp_path, "--cases", tmp_path))


# What got worse


@pytest.mark.parametrize(
    "old, new, is_worse",
    [
        (row(1.0, 0.1), row(1.05, 0.1), False),
        (row(1.0, 0.1), row(1.2, 0.1), True),
        (row(1.0, 0.1), row(1.2, 0.5), False),
        (row(1.0, 0.1), row(0.5, 0.1), False),
        (row(90.0, better="higher", unit="%"), row(89.0, better="higher", unit="%"), True),
        (row(90.0, better="higher", unit="%"), row(91.0, better="higher", unit="%"), False),
        (row(1.0), row(9.0, machine="8 cores, arm64"), False),
        (row(1.0), row(9.0, machine="2 cores, x86_64, Some Processor 9"), False),
        (row(1.0, unit="times"), row(9.0, unit="times", machine="8 cores, arm64"), True),
        (row(1.0), row(9.0, versions={"harness": "1.0 (def, development)"}), False),
        (row(1.0, unit="bugs"), row(9.0, unit="bugs", versions={"harness": "1.0 (def, development)"}), True),
        (row(1.0, better=None), row(9.0, better=None), False),
        (row(1.0), row(None, why="gone"), False),
    ],
)
def test_worse_is_worse_by_more_than_the_spread(old, new, is_worse):
    assert bool(rows.worse(new, old)) == is_worse


def test_only_the_last_two_full_rows_are_compared(tmp_path):
    history = [row(1.0, 0.1), row(5.0, 0.1, quick=True), row(3.0, 0.1), row(1.0, 0.1, name="other"), row(9.0, 0.1, quick=True)]
    rows.append(tmp_path, "startup", history)
    done = ran("--rows", tmp_path, "--check", script="report.py")
    assert done.returncode == 1
    assert done.stdout.splitlines() == ["worse than before:", "startup: a start: 1 s (2026-01-01) -> 3 s, spread 0.1"]
    rows.append(tmp_path, "startup", [row(2.0, 0.1)])
    assert ran("--rows", tmp_path, "--check", script="report.py").stdout == "Nothing got worse; 1 name was compared.\n"


@pytest.mark.parametrize(
    "history",
    [
        [row(1.0), row(9.0, quick=True)],
        [row(1.0), row(9.0, machine="8 cores, arm64")],
        [row(1.0, better=None), row(9.0, better=None)],
        [row(None, why="gone"), row(9.0)],
    ],
)
def test_where_nothing_could_be_compared_it_is_said(tmp_path, history):
    rows.append(tmp_path / "rows", "startup", history)
    done = ran("--rows", tmp_path / "rows", "--out", tmp_path / "out", script="report.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "No row has an earlier full one to compare with."
    assert "## Worse than before\n\nNo row has an earlier full one to compare with.\n" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")


def measured_again(monkeypatch, tmp_path, capsys, value, *words):
    """What a run says at its end where one full row of 1 s is committed and `value` is measured now."""
    run = load("run", "bench_run")
    before = rows.row("good", rows.Measure("figure", 1.0, "s", "lower"), False, rows.versions(sys.executable))
    rows.append(tmp_path / "committed", "good", [before])
    monkeypatch.setattr(rows, "COMMITTED", tmp_path / "committed")
    monkeypatch.setattr(parts, "PARTS", [parts.Part("good", "a part", lambda bench: [rows.Measure("figure", value, "s", "lower")])])
    assert run.main(["--program", sys.executable, "--rows", str(tmp_path / "rows"), *words]) == 0
    return capsys.readouterr().out.splitlines()


def test_a_run_says_what_it_could_compare(monkeypatch, tmp_path, capsys):
    said = measured_again(monkeypatch, tmp_path, capsys, 1.0)
    assert said[-1] == "Nothing got worse; 1 name was compared."
    said = measured_again(monkeypatch, tmp_path, capsys, 3.0)
    assert said[-2] == "worse than the last committed full row:" and said[-1].startswith("good: figure: 1 s (")
    assert any(line == "    figure: 3 s  WORSE" for line in said)
    assert measured_again(monkeypatch, tmp_path, capsys, 3.0, "--quick")[-1] == "No row has an earlier full one to compare with."


# The report


def test_tables_and_plots_are_made_of_rows(tmp_path):
    startup = [row(4.1, 0.3, name="harness: CPU", unit="ms"), row(31.0, name="py-harness (peer): CPU", unit="ms", better=None), row(15.0, quick=True, name="python -c pass: CPU", unit="ms", better=None)]
    grown = [{**row(size / 1000, name=f"{name}, {size:,} files: CPU"), "part": "scaling"} for name in ("brief", "a < b & c") for size in (100, 1000, 10000)]
    rows.append(tmp_path / "rows", "startup", startup)
    rows.append(tmp_path / "rows", "scaling", grown)
    done = ran("--rows", tmp_path / "rows", "--out", tmp_path / "out", script="report.py")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "| harness: CPU | 4.1 | ms | 0.3 |  | 2026-01-01, 1.0 (abc, release) |" in text
    assert "| python -c pass: CPU | 15 | ms |  |  | 2026-01-01, 1.0 (abc, release), quick |" in text
    assert "## model\n\nThe engine and the model that you have configured.\n\nNot measured." in text
    pictures = sorted((tmp_path / "out").glob("*.svg"))
    assert [picture.stem for picture in pictures] == ["scaling-cpu", "startup-cpu"]
    for picture in pictures:
        assert f"({picture.name})" in text
        tree = xml.etree.ElementTree.fromstring(picture.read_text(encoding="utf-8"))
        assert tree.tag == "{http://www.w3.org/2000/svg}svg"
        words = "".join(tree.itertext())
        assert "prefers-color-scheme:dark" in words and tree.find("{http://www.w3.org/2000/svg}desc").text


def test_a_piece_that_was_measured_is_not_called_unmeasured():
    name = "sandboxed run / bare run: CPU"
    why = row(None, name=name, why="needs `hands_cost`")
    tried = row(6.1, name="one try in a reused process, unittest: CPU")
    assert list(report.shown([tried, why])) == [name, tried["name"]]
    measured = row(1.15, name="one unittest test: sandboxed run / bare `python -m unittest`: CPU", quick=True)
    assert list(report.shown([tried, why, measured])) == [measured["name"], tried["name"]]
    # What could not be measured again was measured all the same, also where both rows have one name.
    assert list(report.shown([measured, why])) == [measured["name"]]
    assert report.shown([row(1.0), row(None, why="gone")])["a start"]["value"] == 1.0


def test_each_piece_is_one_that_is_attempted():
    asked = set(re.findall(r'attempt\("([^"]+)", ', (BENCH / "parts.py").read_text(encoding="utf-8")))
    assert set(parts.PIECES) <= asked and len(asked) > len(parts.PIECES)


def test_a_table_names_the_machine_of_its_rows():
    there = [row(1.0, machine="2 cores, x86_64, A | B"), row(2.0, name="another", machine="2 cores, x86_64, A | B"), row(3.0, name="a third", machine="8 cores, arm64")]
    part = parts.PARTS[0]
    assert report.part_table(part, there)[2] == "What a start costs. Measured on 2 cores, x86_64, A \\| B. 1 of these rows: 8 cores, arm64."
    assert report.part_table(part, [row(None, why="gone", machine="8 cores, arm64")])[2] == "What a start costs."


def test_plots_that_are_no_longer_made_are_taken_away(tmp_path):
    rows.append(tmp_path / "rows", "startup", [row(4.1, name="harness: CPU", unit="ms"), row(31.0, name="python -c pass: CPU", unit="ms")])
    (tmp_path / "out").mkdir()
    for name in ("scaling-cpu.svg", "startup-cpu.svg", "notes.txt"):
        (tmp_path / "out" / name).write_text("old", encoding="utf-8")
    assert ran("--rows", tmp_path / "rows", "--out", tmp_path / "out", "--check", script="report.py").returncode == 0
    assert (tmp_path / "out" / "scaling-cpu.svg").exists(), "a check changes nothing"
    assert ran("--rows", tmp_path / "rows", "--out", tmp_path / "out", script="report.py").returncode == 0
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["README.md", "notes.txt", "startup-cpu.svg"]
    assert (tmp_path / "out" / "startup-cpu.svg").read_text(encoding="utf-8").startswith("<svg")


def test_the_committed_report_is_made_of_the_committed_rows(tmp_path):
    done = ran("--out", tmp_path / "out", script="report.py")
    assert done.returncode == 0, done.stderr
    made = {file.name: file.read_text(encoding="utf-8") for file in (tmp_path / "out").iterdir()}
    committed = {file.name: file.read_text(encoding="utf-8") for file in (BENCH / "report").iterdir()}
    assert made == committed, "run: python bench/report.py"


# Scaling


def test_the_exponent_is_the_slope_of_the_logarithms():
    scaling = load("scaling")
    assert math.isclose(scaling.exponent([(size, 3 * size**1.5) for size in (10, 100, 1000)]), 1.5)
    assert scaling.exponent([(10, 1.0)]) is None
    assert scaling.fitted({100: [[9.0, 1]], 1000: [[1.0, 1]], 10000: [[10.0, 1]]}) == pytest.approx(1.0)


def test_a_generated_tree_is_as_large_as_asked_for_and_python(tmp_path):
    scaling = load("scaling")
    scaling.make_tree(tmp_path, 120)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 120
    for path in tmp_path.rglob("*.py"):
        compile(path.read_text(encoding="utf-8"), str(path), "exec")


def test_samples_are_read_from_what_scripts_print():
    said = "words\n| a | b |\n|---|---|\n| 1 | x |\n| 2 | y |\n"
    assert parts.table(said) == [{"a": "1", "b": "x"}, {"a": "2", "b": "y"}]
    assert json.dumps([parts.number("1,234.5 ms"), parts.number("-")]) == "[1234.5, null]"


# Sentences with a model


SLUGIFY = {
    "slugify/__init__.py": "from slugify.slugify import slugify, smart_truncate\n",
    "slugify/slugify.py": (
        '"""Slugs."""\n\n\ndef smart_truncate(text, length):\n    """Cuts a text."""\n    return text[:length]\n\n\n'
        'def slugify(text, length=0):\n    """Makes a slug."""\n    return smart_truncate(text.lower(), length) if length else text.lower()\n'
    ),
}
HARNESS = shutil.which("harness", path=str(pathlib.Path(sys.executable).parent))


@pytest.fixture
def repositories(tmp_path):
    """A folder with one bare repository, called like a package that there are sentences about."""
    work, bare = tmp_path / "work", tmp_path / "repositories" / "un33k+python-slugify" / "repo"
    for name, text in SLUGIFY.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text, encoding="utf-8")
    git = ["git", "-C", str(work), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "slugs"]):
        subprocess.run([*git, *words], check=True)
    subprocess.run(["git", "clone", "-q", "--bare", str(work), str(bare)], check=True)
    return tmp_path / "repositories"


@pytest.mark.skipif(HARNESS is None, reason="no harness beside this Python")
@pytest.mark.parametrize("name, is_right", [("slugify", True), ("smart_truncate", False)])
def test_sentences_are_judged_by_what_the_configured_model_would_change(monkeypatch, tmp_path, repositories, name, is_right):
    """A model that always writes the same function anew is right where that was meant, and nowhere else."""
    with ScriptedServer([f"```python\ndef {name}(text, length=0):\n    return str(text).lower()\n```\n"]) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        done = ran(HARNESS, repositories, "slugify", "--only", "own", "--configured", "--rows", tmp_path / "rows.jsonl", script="sentences/run.py")
        asked = len(server.requests)
    assert done.returncode == 0, done.stderr
    found = {row["sentence"]: row for row in map(json.loads, (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines())}
    assert not any("rename" in row["kinds"] or "question" in row["kinds"] or "tests" in row["kinds"] for row in found.values())
    one = found["slugify should accept bytes too"]
    assert (one["right"], one["placed"], one["calls"] > 0) == (["slugify"], is_right, True)
    assert one["changed"] == ["slugify"] or not is_right
    # All that the model is credited with are its own calls.
    assert sum(row["calls"] for row in found.values()) == asked
    by_model = [row for row in found.values() if row["calls"]]
    assert f"in a right definition: {sum(row['placed'] for row in by_model)} of {len(by_model)}, {len(found) - len(by_model)} more ended without the model" in done.stdout


@pytest.mark.skipif(HARNESS is None, reason="no harness beside this Python")
def test_without_an_engine_no_sentence_is_right(tmp_path, repositories):
    done = ran(HARNESS, repositories, "slugify", "--only", "own", "--configured", "--rows", tmp_path / "rows.jsonl", script="sentences/run.py")
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["calls"] for row in found if row["stopped"] == "engine"] and not any(row["placed"] for row in found)
    # It counts as asked and not right, and not as done without the model.
    assert all(row["calls"] is None for row in found if row["stopped"] == "engine")


def test_a_member_that_is_new_counts_for_its_class(tmp_path):
    sentences = load("sentences/run", "bench_sentences")
    (tmp_path / "a.py").write_text("class A:\n    x = 1\n\n\ndef gone():\n    pass\n", encoding="utf-8")
    diff = "--- a/a.py\n+++ b/a.py\n@@ -1,6 +1,5 @@\n class A:\n     x = 1\n \n-\n-def gone():\n-    pass\n+    def more(self):\n+        pass\n"
    assert sentences.definitions_in(diff, tmp_path) == {"A", "gone"}
    assert sentences.definitions_in("", tmp_path) == set()
    assert sentences.is_right({"A"}, {"A", "B.c"}) and sentences.is_right({"c"}, {"B.c"}) and not sentences.is_right({"B"}, {"B.c"})


def test_a_model_is_credited_with_what_it_was_asked(monkeypatch, tmp_path):
    rows_of = [{"calls": 0, "placed": True}, {"calls": 2, "placed": True}, {"calls": 3, "placed": False}, {"calls": None, "placed": False}]
    monkeypatch.setattr(parts, "PLACE", tmp_path)
    monkeypatch.setattr(parts, "configured_model", lambda bench: {"engine": "local", "model": "tiny"})
    monkeypatch.setattr(parts.Bench, "python", lambda self: sys.executable)
    monkeypatch.setattr(parts, "commits_folder", lambda bench: (_ for _ in ()).throw(inputs.Missing("no commits")))
    monkeypatch.setattr(parts, "made_bugs", lambda *words: (_ for _ in ()).throw(inputs.Missing("no bugs")))
    monkeypatch.setattr(inputs, "repositories", lambda names, given=None: tmp_path)

    def call(self, script, *words, **how):
        if script == "sentences/run.py":
            assert "--configured" in words
            pathlib.Path(words[words.index("--rows") + 1]).write_text("".join(json.dumps(row) + "\n" for row in rows_of), encoding="utf-8")
        return "| fixed and proven | ok but not clean |\n|---|---|\n| 4 of 10 | 0 |\n"

    monkeypatch.setattr(parts.Bench, "call", call)
    [found] = [one for one in parts.model(bench(tmp_path)) if one.name.startswith("sentences")]
    assert (round(found.value), found.cases, found.peer) == (33, 3, {"engine": "local", "model": "tiny"})


# A newcomer

INSTALL = """import pathlib, sys
words = sys.argv[1:]
print("installed", *words[:2])
sys.exit(0 if "--wheel" in words and pathlib.Path(words[-1]).name == "right.whl" else 1)
"""


@pytest.mark.parametrize("wheel, code", [("right.whl", 0), ("wrong.whl", 1)])
def test_a_newcomer_is_timed_in_a_fresh_clone_and_a_demo_that_fails_is_no_figure(tmp_path, wheel, code):
    source = tmp_path / "source"
    (source / "scripts" / "run").mkdir(parents=True)
    (source / "scripts" / "run" / "install.py").write_text(INSTALL, encoding="utf-8")
    git = ["git", "-C", str(source), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
        subprocess.run([*git, *words], check=True)
    done = ran("--wheel", tmp_path / wheel, "--clone-of", source, "--json", tmp_path / "out.json", script="newcomer.py")
    assert done.returncode == code, done.stdout + done.stderr
    assert "installed --demo --no-model" in done.stdout
    seconds = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["a wheel, to a proven fix"]
    assert (seconds is None) == bool(code) and (seconds or 1) < 60


def test_a_part_of_the_repositories_is_none(tmp_path):
    (tmp_path / "a+b" / "repo").mkdir(parents=True)
    assert inputs.repositories(["a/b"], tmp_path) == tmp_path
    with pytest.raises(inputs.Missing, match="needs c[+]d/repo, e[+]f/repo, g[+]h/repo and 1 more in --repositories"):
        inputs.repositories(["a/b", "c/d", "e/f", "g/h", "i/j"], tmp_path)
