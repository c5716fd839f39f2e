"""A hostile client of either protocol: it reaches nothing outside of the project, and ends nothing but its own request."""

import json
import os
import shutil
import sys

import pytest
from conftest import FIX, TASK, tree
from test_acp import editor, green  # noqa: F401
from test_mcp import mcp  # noqa: F401

SECRET = "SECRET_OF_A_STRANGER"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege")


@pytest.fixture
def stranger(project, tmp_path):
    """Another project beside ours, with a link to it inside of ours."""
    folder = tmp_path / "stranger"
    folder.mkdir()
    (folder / "secret.py").write_text(f"def discount(total):\n    return '{SECRET}'\n")
    os.symlink(folder, project / "shop" / "link")
    return folder


def outside(project, stranger):
    return ["..", "../stranger", "shop/../../stranger", str(stranger), "/", "shop/link", "~", "file:///etc", "shop\0x"]


@pytest.mark.parametrize("tool", ["brief", "layout", "route", "ask", "run"])
def test_no_scope_leads_outside(mcp, project, stranger, engine, tool):
    server, before = engine(FIX), tree(stranger)
    session = mcp("--allow-writes")
    words = {"route": {"task": TASK}, "run": {"task": TASK}, "ask": {"question": "what does discount return?"}}.get(tool, {})
    for scope in outside(project, stranger):
        result = session.tool(tool, {**words, "scope": scope})
        assert result["isError"] is True and SECRET not in json.dumps(result), scope
    assert server.requests == [] and tree(stranger) == before


def test_no_argument_widens_a_server(mcp, project, stranger, engine):
    engine(FIX)
    before = tree(project)
    session = mcp()
    for more in ({"allow_writes": True}, {"project": str(stranger)}, {"python": "/bin/sh"}, {"test_command": "id"}, {"record": "/tmp/x"}, {"files": ["/etc/passwd"]}):
        for tool, words in (("brief", {}), ("ask", {"question": "why?"}), ("route", {"task": TASK})):
            assert session.tool(tool, {**words, **more})["isError"] is True, (tool, more)
    writing = mcp("--allow-writes")
    for more in ({"project": str(stranger)}, {"python": "/bin/sh"}, {"keep": True}):
        assert writing.tool("run", {"task": TASK, **more})["isError"] is True, more
    assert tree(project) == before


def test_no_name_of_a_run_or_a_test_leads_outside(mcp, project, stranger):
    session, before = mcp("--allow-writes"), tree(stranger)
    for name in ("../../stranger", "/etc", "..", "x/../../y", "\0", ""):
        assert session.tool("undo", {"run": name})["isError"] is True, name
        answer = session.call("resources/read", {"uri": f"harness://runs/{name}/diff"})
        assert "error" in answer, name
    started = stranger / "started"
    (stranger / "test_it.py").write_text(f"open({str(started)!r}, 'w')\n")
    for name in (str(stranger / "test_it.py"), "../stranger/test_it.py", "shop/link/test_it.py", "--rootdir=/", "-c=/etc/passwd"):
        result = session.tool("tests", {"tests": [name]})
        assert result["isError"] is True or result["structuredContent"]["ok"] is False, name
    assert not started.exists() and set(tree(stranger)) - set(before) == {"test_it.py"}


@pytest.mark.parametrize("path", ["../stranger/secret.py", "shop/link/secret.py", None])
def test_a_model_writes_nothing_outside_over_mcp(mcp, project, stranger, engine, path):
    path = path or str(stranger / "secret.py")
    engine(json.dumps({"tool": "edit", "path": path, "content": "owned = True\n"}))
    before = tree(stranger)
    result = mcp("--allow-writes").tool("run", {"task": TASK, "steps": 3})
    assert result["structuredContent"]["ok"] is False and tree(stranger) == before


def test_roots_that_lead_nowhere_are_not_no_roots(mcp, project, tmp_path):
    for uri in ((tmp_path / "nosuch").as_uri(), "https://example.org/", "file://%zz", (project / "../nosuch").as_uri()):
        session = mcp(capabilities={"roots": {}})
        session.answer = lambda request, uri=uri: {"roots": [{"uri": uri}]}
        assert session.tool("brief")["isError"] is True, uri


def test_a_session_elsewhere_is_refused_where_one_project_is_served(editor, project, stranger, tmp_path):
    own = editor()
    elsewhere = own.begin(stranger)
    one, before = editor(project), tree(stranger)
    for folder in (str(stranger), f"{project}/../stranger", str(project / "shop" / "link"), "/", "..", "~"):
        for method, more in (("session/new", {}), ("session/load", {"sessionId": elsewhere})):
            answer = one.call(method, {"cwd": folder, "mcpServers": [], **more})
            assert "error" in answer and SECRET not in json.dumps(answer), (method, folder)
        assert "error" in one.call("session/list", {"cwd": folder}), folder
    assert tree(stranger) == before and one.begin(project)


def test_a_file_outside_that_is_put_into_a_message_is_not_read(editor, project, stranger, engine):
    server = engine("It subtracts.")
    one = editor(reads=True)
    session = one.begin(project)
    uris = [(stranger / "secret.py").as_uri(), (project / "shop/link/secret.py").as_uri(), f"file://{project}/../stranger/secret.py"]
    one.say(session, "what does discount in shop/pricing.py do?", *({"type": "resource_link", "uri": uri, "name": "x"} for uri in uris))
    assert server.requests and SECRET not in json.dumps(list(server.requests))
    assert not any("stranger" in path or "link" in path for path in one.read_files)


@pytest.mark.parametrize("reply", [{"content": 7}, {}, None, [], {"content": "x" * (17 * 1024 * 1024)}])
def test_an_editor_whose_answers_lie_loses_nothing(editor, green, reply):
    one = editor(reads=True)
    real = one.write

    def write(line):
        if isinstance(line, dict) and "content" in (line.get("result") or {}):
            line = {**line, "result": reply}
        real(line)

    one.write = write
    session = one.begin(green)
    one.choice = "drop"
    before = tree(green)
    assert one.say(session, "rename discount to reduced") == "end_turn"
    assert tree(green) == before
    assert one.say(session, "hello") == "end_turn"


@pytest.mark.parametrize("choice", ["nosuch", "", "KEEP"])
def test_a_permission_that_nobody_offered_is_none(editor, green, choice):
    one, before = editor(), tree(green)
    one.choice = choice
    one.say(one.begin(green), "rename discount to reduced")
    assert len(one.asked) == 1 or choice == ""
    assert tree(green) == before


def test_permissions_are_answered_in_any_order(editor, green, tmp_path):
    """Two sessions ask; the second is answered first, and a stray answer comes between."""
    other = tmp_path / "second"
    shutil.copytree(green, other)
    one = editor()
    sessions = {one.begin(folder): folder for folder in (green, other)}
    prompts = {one.send("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "rename discount to reduced"}]}) for session in sessions}
    asked, ended = [], set()
    while len(asked) < 2:
        message = json.loads(one.process.stdout.readline())
        if message.get("method") == "session/request_permission":
            asked.append(message)
    one.write({"jsonrpc": "2.0", "id": "never-asked", "result": {"outcome": {"outcome": "selected", "optionId": "keep"}}})
    first, second = asked
    for message, choice in ((second, "keep"), (first, "drop")):
        one.write({"jsonrpc": "2.0", "id": message["id"], "result": {"outcome": {"outcome": "selected", "optionId": choice}}})
    while ended != prompts:
        message = json.loads(one.process.stdout.readline())
        if "method" not in message:
            ended.add(message["id"])
    kept, dropped = (sessions[message["params"]["sessionId"]] for message in (second, first))
    assert "def reduced" in (kept / "shop/pricing.py").read_text() and "def discount" in (dropped / "shop/pricing.py").read_text()
