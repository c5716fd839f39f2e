"""What CI and scripts use: `--output`, reports of findings, annotations."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

import pytest
from conftest import FIX, TASK, WRONG_DRAFT
from serving import PROGRAM, tree

ON_UNIX = pytest.mark.skipif(sys.platform == "win32", reason="a shell and its permissions")


def harness(*words, **more):
    more = {"capture_output": True, "text": True, "encoding": "utf-8", "timeout": 120, **more}
    return subprocess.run([PROGRAM, *map(str, words)], **more)


@pytest.fixture
def large(project):
    """A project whose layout has findings: a circle, and a long file with a name that formats must escape."""
    (project / "shop" / "a.py").write_text("from shop import b\n")
    (project / "shop" / "b.py").write_text("from shop import a\n")
    odd = project / "shop" / "very & long, 100%.py"
    odd.write_text("x = 1\n" * 5000)
    return project


# --output


@pytest.mark.parametrize("words", [["brief"], ["layout"], ["route", TASK], ["test"], ["run", TASK], ["last"], ["editors"], ["config"]])
def test_the_file_holds_what_json_prints_and_stdout_stays(project, engine, tmp_path, words):
    engine(FIX)
    file = tmp_path / "result.json"
    file.write_text("from an earlier run")
    printed = harness(*words, "--json", "--output", file, cwd=project)
    assert json.loads(file.read_text(encoding="utf-8")) == json.loads(printed.stdout)
    assert list(tmp_path.glob(".harness-*")) == []
    if words[0] in ("run", "test"):
        return  # Their numbers and names differ from run to run.
    plain = harness(*words, "--output", file, cwd=project)
    assert plain.stdout == harness(*words, cwd=project).stdout and not plain.stdout.startswith("{")
    assert json.loads(file.read_text(encoding="utf-8")) == json.loads(printed.stdout)


@pytest.mark.parametrize("place", ["nosuch/result.json", "."])
def test_a_file_that_cannot_be_written_is_told_before_anything_is_done(project, engine, tmp_path, place):
    server, before = engine(FIX), tree(project)
    shown = harness("run", TASK, "--output", tmp_path / place, cwd=project)
    assert shown.returncode == 2 and "cannot write" in shown.stderr and "hint: " in shown.stderr and shown.stdout == ""
    assert server.requests == [] and tree(project) == before


@ON_UNIX
@pytest.mark.skipif(sys.platform != "win32" and os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_told_before_anything_is_done(project, engine, tmp_path):
    engine(FIX)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    shown = harness("run", TASK, "--output", closed / "r.json", cwd=project)
    assert shown.returncode == 2 and "cannot write" in shown.stderr


def test_a_dash_is_no_file(project):
    before = tree(project)
    shown = harness("brief", "--output", "-", cwd=project)
    assert shown.returncode == 2 and shown.stdout == "" and "hint: `--json` prints the result on stdout" in shown.stderr
    assert tree(project) == before


def test_an_error_replaces_the_result_of_an_earlier_run(project, tmp_path):
    file = tmp_path / "result.json"
    file.write_text('{"ok": true}')
    shown = harness("run", TASK, "--scope", "nosuch", "--output", file, cwd=project)
    assert shown.returncode == 2 and "nosuch" in json.loads(file.read_text(encoding="utf-8"))["error"]["message"]


@pytest.mark.parametrize("command", ["chat", "serve", "mcp", "acp"])
def test_commands_without_one_result_have_no_file(project, tmp_path, command):
    shown = harness(command, "--output", tmp_path / "r.json", cwd=project, input="")
    assert shown.returncode == 2 and "--output" in shown.stderr and "hint: " in shown.stderr
    assert not (tmp_path / "r.json").exists()


# Findings


def test_findings_as_sarif(large, tmp_path):
    file = tmp_path / "layout.sarif"
    shown = harness("layout", large, "--format", "sarif", "--output", file)
    report = json.loads(shown.stdout)
    assert shown.returncode == 0 and json.loads(file.read_text(encoding="utf-8")) == report
    (run,) = report["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    findings = json.loads(harness("layout", large, "--json").stdout)["findings"]
    assert [result["ruleId"] for result in run["results"]] == [finding["kind"] for finding in findings]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    uris = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]]
    assert "shop/very%20%26%20long%2C%20100%25.py" in uris and report["version"] == "2.1.0"


def test_sarif_has_what_readers_require(large):
    """What the published schema requires, and code scanning besides; bench/formats.py holds it against the schema itself."""
    report = json.loads(harness("layout", large, "--format", "sarif").stdout)
    assert set(report) == {"$schema", "version", "runs"} and report["$schema"].startswith("https://")
    (run,) = report["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] and run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    assert all(rule["id"] and rule["shortDescription"]["text"] for rule in driver["rules"])
    assert len({rule["id"] for rule in driver["rules"]}) == len(driver["rules"])
    for result in run["results"]:
        assert result["level"] in ("none", "note", "warning", "error") and result["message"]["text"] and 0 <= result["rank"] <= 100
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert place["region"]["startLine"] >= 1 and not place["artifactLocation"]["uri"].startswith(("/", "file:"))


def test_junit_has_what_readers_require(large, tmp_path):
    """The attributes that servers read: those of the suites, a name and a class for each case, a type for each failure."""
    (tmp_path / "empty").mkdir()
    for folder in (large, tmp_path / "empty"):
        root = xml.etree.ElementTree.fromstring(harness("layout", folder, "--format", "junit").stdout)
        (suite,) = root
        assert (root.tag, suite.tag) == ("testsuites", "testsuite") and suite.get("name")
        for counted in (root, suite):
            assert [int(counted.get(name)) for name in ("tests", "failures", "errors", "skipped")] == [len(suite), len(suite.findall("testcase/failure")), 0, 0]
            assert float(counted.get("time")) == 0
        for case in suite:
            assert case.tag == "testcase" and case.get("name") and case.get("classname") and float(case.get("time")) == 0
            assert all(child.tag == "failure" and child.get("type") and child.get("message") and child.text for child in case)
        names = [(case.get("classname"), case.get("name")) for case in suite]
        assert len(set(names)) == len(names), "readers know a case by its name"


def test_findings_as_junit(large, project):
    root = xml.etree.ElementTree.fromstring(harness("layout", large, "--format", "junit").stdout)
    cases = root.findall("testsuite/testcase")
    findings = json.loads(harness("layout", large, "--json").stdout)["findings"]
    assert len(cases) == len(findings) == int(root.get("failures")) == len(root.findall(".//failure"))
    assert "shop/very & long, 100%.py" in [case.get("file") for case in cases]


def test_a_clean_layout_is_one_passed_test(tmp_path):
    (tmp_path / "empty").mkdir()
    root = xml.etree.ElementTree.fromstring(harness("layout", tmp_path / "empty", "--format", "junit").stdout)
    assert (root.get("tests"), root.get("failures")) == ("1", "0")


def test_a_weight_can_fail_the_command(large):
    worst = max(finding["weight"] for finding in json.loads(harness("layout", large, "--json").stdout)["findings"])
    assert harness("layout", large, "--fail-at", worst).returncode == 1
    assert worst == 100 or harness("layout", large, "--fail-at", worst + 1).returncode == 0
    for wrong in (["--fail-at", "-1"], ["--fail-at=-1"], ["--fail-at", "101"]):
        shown = harness("layout", large, *wrong)
        assert shown.returncode == 2 and "it is a whole number from 1 to 100" in shown.stderr and "-- -1" not in shown.stderr
    for wrong in (["--fail-at", "0"], ["--format", "xml"], ["--format", "sarif", "--json"]):
        shown = harness("layout", large, *wrong)
        assert shown.returncode == 2 and "hint: " in shown.stderr and "Usage" not in shown.stderr


# Annotations


def annotations(shown):
    """The lines that GitHub takes for commands, on either stream: it reads them apart, and in no order that holds."""
    lines = (shown.stderr + shown.stdout).splitlines()
    return [line for line in lines if line.lstrip().startswith("::") or "##[" in line]


def test_annotations_are_for_workflows_only(large, engine, monkeypatch):
    engine(WRONG_DRAFT)
    for value in (None, "false"):
        monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
        if value:
            monkeypatch.setenv("GITHUB_ACTIONS", value)
        for words in (["layout"], ["test"], ["run", TASK, "--steps", "1"], ["ask", "--scope", "nosuch", "x"]):
            assert annotations(harness(*words, cwd=large)) == [], words


def test_red_tests_and_findings_stand_beside_their_lines(large, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(large.parent))
    shown = harness("test", "--json", cwd=large)
    (note,) = annotations(shown)
    assert re.match(r"::error file=project/tests/test_pricing\.py,line=8,title=[^:,]*test_discount[^:,]*::.*190", note), note
    assert json.loads(shown.stdout)["ok"] is False
    shown = harness("layout", cwd=large)
    notes = annotations(shown)
    assert any(note.startswith("::warning file=project/shop/") and "import circle" in note for note in notes), notes
    assert any("file=project/shop/very & long%2C 100%25.py,line=1," in note for note in notes), notes
    assert "::" not in shown.stdout


def test_a_failed_run_and_a_wrong_call_are_errors(project, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    vague = harness("run", "clean up", cwd=project)
    (note,) = annotations(vague)
    assert vague.returncode == 3 and note.startswith("::error title=harness::") and "%0A" in note
    wrong = harness("run", TASK, "--scope", "nosuch", cwd=project)
    (note,) = annotations(wrong)
    assert wrong.returncode == 2 and "nosuch" in note


def test_what_is_red_after_a_failed_run_stands_beside_its_line(project, engine, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project.parent))
    engine(WRONG_DRAFT)
    failed = harness("run", TASK, "--steps", "1", "--json", cwd=project)
    summary, red = annotations(failed)
    assert failed.returncode == 1 and summary.startswith("::error title=harness::")
    # As the run left the project: the draft said 210, the code that is there says 190.
    assert re.match(r"::error file=project/tests/test_pricing\.py,line=8,title=[^:,]*test_discount[^:,]*::.*190", red), red
    engine(FIX)
    assert annotations(harness("run", TASK, cwd=project)) == []


def test_a_part_that_was_kept_leaves_the_other_red(project, engine, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    (project / "shop/rounding.py").write_text("def half(number):\n    return number / 3\n")
    tests = (project / "tests/test_pricing.py").read_text()
    (project / "tests/test_rounding.py").write_text(tests.replace("pricing", "rounding").replace("discount(200, 10), 180", "half(6), 'three'").replace("discount", "half"))
    engine(FIX, WRONG_DRAFT.replace("discount(total, percent)", "half(number)").replace("total + percent", "number / 4"))
    shown = harness("run", "fix the failing tests", "--steps", "4", "--json", cwd=project)
    result = json.loads(shown.stdout)
    assert result["ok"] is False and result["writes"] == ["shop/pricing.py"], result["summary"]
    _, red = annotations(shown)
    assert "file=tests/test_rounding.py,line=8," in red


def test_what_a_project_says_is_no_command(project, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    tests = project / "tests" / "test_pricing.py"
    tests.write_text(tests.read_text() + "\n\n::error::planted\n")
    shown = harness("test", cwd=project)
    assert not any(note.startswith("::error::") for note in annotations(shown))


@pytest.mark.parametrize("words", [[], ["--json"], ["-v"]])
def test_what_a_model_says_is_no_command(project, engine, monkeypatch, words):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    said = "It takes it off.\n\n  ::add-mask::planted\n::error::planted\nsee ##[group]planted"
    engine(said, said)
    shown = harness("ask", "what does discount return?", *words, cwd=project)
    assert shown.returncode == 0 and "planted" in shown.stdout and annotations(shown) == []
    # What goes into a file is for another program: it stays as it is.
    with open(project / "said.txt", "wb") as said:
        subprocess.run([PROGRAM, "ask", "what does discount return?", *words], cwd=project, stdout=said, timeout=60, check=True)
    assert "##[group]planted" in (project / "said.txt").read_text(encoding="utf-8")
    if words == ["--json"]:
        assert "##[group]planted" in json.loads(shown.stdout)["summary"]
