"""`never_show` in the user's own config: files that no model is shown, wherever it runs."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from harness import Agent, AgentOptions
from serving import PROGRAM, Served

VALUE = "seven-blue-horses"
LOOKS = [
    "Action: read\nPath: private/plan.py\n",
    "Action: read\nPath: ./private/../private/PLAN.py\n",
    "Action: search\nQuery: horses\n",
    "Action: search\nQuery: horses\nPath: private\n",
    "Action: map\n",
    "Action: map\nPath: private\n",
    "Action: read\nPath: AGENTS.md\n",
    "It returns a number.",
]


def settings():
    """The user's config file, where this platform has it."""
    home = pathlib.Path(os.environ["HOME"])
    places = {"darwin": home / "Library" / "Application Support", "win32": pathlib.Path(os.environ["APPDATA"])}
    return places.get(sys.platform, home / ".config") / "harness" / "config.toml"


@pytest.fixture
def never_show(project):
    """A project with files that the list names; sets the list."""
    (project / "private").mkdir()
    (project / "private" / "plan.py").write_text(f"def horses():\n    return '{VALUE}'\n", encoding="utf-8")
    (project / "AGENTS.md").write_text(f"Rules: {VALUE}\n", encoding="utf-8")
    (project / "notes.md").write_text("horses are animals\n", encoding="utf-8")

    def write(*patterns):
        settings().parent.mkdir(parents=True, exist_ok=True)
        settings().write_text(f"never_show = {json.dumps(patterns)}\n", encoding="utf-8")

    return write


def test_what_is_listed_is_in_no_prompt_search_or_map(project, engine, never_show):
    never_show("private/", "/AGENTS.md")
    server = engine(*LOOKS)
    agent = Agent(AgentOptions(project=project, keep_no_record=True))
    result = agent.ask("what does horses in private/plan.py return, and what are the rules?")
    assert result.ok, result
    sent = json.dumps(server.requests)
    assert VALUE not in sent and "notes.md:1: horses are animals" in sent
    refused = [(refusal.rule, refusal.path) for refusal in result.refusals]
    assert refused == [
        ("path.never_show", "private/plan.py"),
        ("path.never_show", "private/PLAN.py"),
        ("path.never_show", "private"),
        ("path.never_show", "private"),
        ("path.never_show", "AGENTS.md"),
    ]
    assert "`private/plan.py` is never shown: the user's `never_show` has `private/`" in result.refusals[0]


def test_what_is_listed_while_a_server_runs_is_hidden_from_then_on(project, engine, never_show):
    never_show("private/")
    model = engine("It returns a number.")
    with Served(project) as server:
        ask = {"task": "what are the rules?"}
        assert server.call("POST", "/v1/ask", ask)[0] == 200
        assert VALUE in json.dumps(model.requests)
        model.requests.clear()
        never_show("private/", "/AGENTS.md")
        assert server.call("POST", "/v1/ask", ask)[0] == 200
        assert model.requests and VALUE not in json.dumps(model.requests)


def test_what_is_listed_is_not_changed_by_a_model(project, engine, never_show):
    never_show("*plan*", "AGENTS.md")
    edit = "Action: edit\nPath: private/plan.py\n```python\ndef horses():\n    return 1\n```\n"
    patch = "Action: patch\nPath: private/plan.py\nFind:\n```\nreturn\n```\nReplace:\n```\nyield\n```\n"
    server = engine(edit, patch, "Action: done\nSummary: gave up")
    before = (project / "private" / "plan.py").read_text(encoding="utf-8")
    result = Agent(AgentOptions(project=project, steps=3)).run("change shop/pricing.py: discount should use horses")
    assert (project / "private" / "plan.py").read_text(encoding="utf-8") == before
    assert {refusal.rule for refusal in result.refusals if refusal.path == "private/plan.py"} == {"path.never_show"}
    assert VALUE not in json.dumps(server.requests)


def test_a_rename_without_a_model_reaches_what_is_listed(project, never_show):
    """Nothing is shown to anybody there, and half a rename would break the project."""
    (project / "private" / "plan.py").write_text("from shop.pricing import discount\n\nPRICE = discount(200, 10)\n", encoding="utf-8")
    never_show("private/")
    result = Agent(AgentOptions(project=project, allow_writes=False)).run("rename discount to rebate in shop/pricing.py")
    assert "+from shop.pricing import rebate" in result.diff and "+PRICE = rebate(200, 10)" in result.diff


def test_a_skill_of_the_project_that_is_listed_is_not_shown(project, engine, never_show):
    skill = project / ".claude" / "skills" / "riding" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(f"---\nname: riding\ndescription: how to ride\n---\nSay {VALUE}.\n", encoding="utf-8")
    (project / "AGENTS.md").unlink()
    for patterns, is_shown in ((("nothing",), True), ((".claude/",), False)):
        never_show(*patterns)
        server = engine("It returns a number.")
        Agent(AgentOptions(project=project, skills=["riding"], keep_no_record=True)).ask("what does discount return?")
        assert (VALUE in json.dumps(server.requests)) == is_shown, patterns


def test_without_a_list_all_is_shown(project, engine, never_show):
    server = engine(*LOOKS)
    Agent(AgentOptions(project=project, keep_no_record=True)).ask("what does horses in private/plan.py return?")
    assert VALUE in json.dumps(server.requests)


def harness(project, *words):
    command = [PROGRAM, "run", "--dry-run", "--project", str(project), *words]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=60)


def test_a_file_that_is_named_is_shown_whole(project, engine, never_show):
    server = engine("Action: done\nSummary: looked")
    done = harness(project, "--file", "notes.md", "change discount in shop/pricing.py")
    assert done.returncode == 0, done.stderr
    assert "notes.md, line 1:\n```\nhorses are animals\n```" in server.requests[0]["messages"][-1]["content"]


def test_naming_a_file_does_not_lift_the_list(project, never_show, tmp_path):
    never_show("private/")
    (tmp_path / "beside.txt").write_text("beside", encoding="utf-8")
    for file, words in (
        ("private/plan.py", "`private/plan.py` is never shown: `never_show` has `private/`"),
        ("nosuch.txt", "there is no file `nosuch.txt` in the project"),
        ("../beside.txt", "`../beside.txt` lies outside the project"),
        ("private", "there is no file `private` in the project"),
    ):
        done = harness(project, "--file", file, "change discount in shop/pricing.py")
        assert done.returncode == 2 and words in done.stderr and "hint: " in done.stderr, (file, done.stderr)


def test_a_pattern_that_hides_nothing_is_an_error(project, never_show):
    never_show("*.pem", "~/keys")
    with pytest.raises(Exception, match="never_show: `~/keys` is no pattern"):
        Agent(AgentOptions(project=project)).ask("what is this?")
