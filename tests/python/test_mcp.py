"""`harness mcp` as lines of JSON-RPC: what a careful client, a careless one and one that vanishes meet."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import FIX, RIGHT, TASK, tree
from scripted import Wait

PROGRAM = str(pathlib.Path(sys.executable).parent / "harness")
LOOKING = {"ask", "brief", "layout", "route"}


class Session:
    """A client that writes lines and reads lines."""

    def __init__(self, project, *words, capabilities=None, begin=True):
        command = [PROGRAM, "mcp", str(project), *words]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.notifications, self.requests, self.number = [], [], 0
        self.answer = lambda request: None
        if begin:
            client = {"name": "test", "version": "1"}
            self.info = self.call("initialize", {"protocolVersion": "2025-06-18", "capabilities": capabilities or {}, "clientInfo": client})["result"]
            self.notify("notifications/initialized")

    def write(self, line):
        self.process.stdin.write(line if isinstance(line, bytes) else (json.dumps(line) + "\n").encode())
        self.process.stdin.flush()

    def notify(self, method, params=None):
        self.write({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})

    def send(self, method, params=None):
        self.number += 1
        self.write({"jsonrpc": "2.0", "id": self.number, "method": method, **({"params": params} if params is not None else {})})
        return self.number

    def read(self):
        line = self.process.stdout.readline()
        assert line, f"the server ended: {self.process.stderr.read().decode()}"
        return json.loads(line)

    def wait(self, number):
        while True:
            message = self.read()
            if message.get("id") == number and "method" not in message:
                return message
            if "method" in message and "id" in message:
                self.requests.append(message)
                self.write({"jsonrpc": "2.0", "id": message["id"], "result": self.answer(message)})
            elif "method" in message:
                self.notifications.append(message)

    def call(self, method, params=None):
        return self.wait(self.send(method, params))

    def tool(self, name, arguments=None, **more):
        return self.call("tools/call", {"name": name, "arguments": arguments or {}, **more})["result"]

    def close(self):
        for end in (self.process.stdin, self.process.stdout, self.process.stderr):
            end.close()
        self.process.wait(20)


@pytest.fixture
def mcp(project):
    sessions = []

    def start(*words, **more):
        sessions.append(Session(project, *words, **more))
        return sessions[-1]

    yield start
    for session in sessions:
        if session.process.poll() is None:
            session.process.kill()
        session.close()


def names(session):
    return {tool["name"] for tool in session.call("tools/list")["result"]["tools"]}


def test_a_read_only_server_offers_nothing_that_writes_or_starts_a_program(mcp, project):
    before, session = tree(project), mcp()
    assert names(session) == LOOKING
    for name in ("run", "undo", "tests"):
        refused = session.call("tools/call", {"name": name, "arguments": {}})
        assert refused["error"]["code"] == -32602 and "--allow-writes" in refused["error"]["message"]
    assert {prompt["name"] for prompt in session.call("prompts/list")["result"]["prompts"]} == {"explain", "find"}
    assert tree(project) == before and not (project / ".harness").exists()


def test_tools_say_what_they_take_give_and_do(mcp):
    tools = {tool["name"]: tool for tool in mcp("--allow-writes").call("tools/list")["result"]["tools"]}
    assert set(tools) == LOOKING | {"run", "undo", "tests"}
    for name, tool in tools.items():
        assert tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object" and tool["description"]
        assert tool["annotations"]["readOnlyHint"] is (name not in ("run", "undo"))
    assert tools["run"]["annotations"]["destructiveHint"] is True


@pytest.mark.parametrize("name", ["brief", "layout"])
def test_a_report_is_the_same_as_on_the_command_line(mcp, project, name):
    result = mcp().tool(name)
    printed = subprocess.run([PROGRAM, name, str(project), "--json"], capture_output=True, text=True).stdout
    assert result["structuredContent"] == json.loads(printed) and result["isError"] is False
    assert result["content"][0]["type"] == "text" and result["content"][0]["text"].strip()


def test_a_task_is_routed(mcp):
    plan = mcp().tool("route", {"task": TASK})["structuredContent"]
    assert plan["kind"] == "fix" and plan["writes"] is True and plan["files"][0]["path"] == "shop/pricing.py"


def test_bad_arguments_are_told_with_a_hint(mcp):
    session = mcp("--allow-writes")
    for name, arguments in [
        ("brief", {"scope": "../.."}),
        ("brief", {"scope": 3}),
        ("route", {}),
        ("run", {"task": " "}),
        ("run", {"task": TASK, "python": "/bin/sh"}),
        ("run", {"task": TASK, "skills": ["nosuch"]}),
        ("tests", {"tests": ["--rootdir=/"]}),
        ("undo", {"run": "../../etc"}),
    ]:
        result = session.tool(name, arguments)
        assert result["isError"] is True and "hint: " in result["content"][0]["text"], (name, arguments, result)
    assert session.call("tools/call", {"name": "nosuch"})["error"]["code"] == -32602
    assert session.call("no/such/method")["error"]["code"] == -32601
    assert session.tool("brief")["isError"] is False


def test_a_run_fixes_tells_of_it_and_can_be_undone(mcp, project, engine):
    engine(FIX)
    session, before = mcp("--allow-writes"), tree(project)
    result = session.tool("run", {"task": TASK}, _meta={"progressToken": "p"})
    run = result["structuredContent"]
    assert (run["ok"], run["writes"], run["tests"]["after"]["passed"]) == (True, ["shop/pricing.py"], 1), run["summary"]
    assert "```diff" in result["content"][0]["text"] and (project / "shop/pricing.py").read_text() == RIGHT
    told = [message["params"] for message in session.notifications if message["method"] == "notifications/progress"]
    assert len(told) > 3 and all(one["progressToken"] == "p" and one["message"] for one in told)
    assert [one["progress"] for one in told] == sorted(one["progress"] for one in told)

    listed = {one["uri"] for one in session.call("resources/list")["result"]["resources"]}
    diff = f"harness://runs/{run['run_id']}/diff"
    assert {"harness://brief", "harness://runs", diff} <= listed
    assert "+    return total * (100 - percent) / 100" in session.call("resources/read", {"uri": diff})["result"]["contents"][0]["text"]
    runs = json.loads(session.call("resources/read", {"uri": "harness://runs"})["result"]["contents"][0]["text"])["runs"]
    assert runs[0]["run"] == run["run_id"]

    undone = session.tool("undo")["structuredContent"]
    assert undone["ok"] is True and undone["writes"] == ["shop/pricing.py"] and tree(project) == before


def test_a_dry_run_writes_nothing(mcp, project, engine):
    engine(FIX)
    before = tree(project)
    run = mcp("--allow-writes").tool("run", {"task": TASK, "dry_run": True})["structuredContent"]
    assert run["ok"] is True and "+    return total * (100" in run["diff"]
    assert tree(project) == before and not (project / ".harness").exists()


def test_tests_run_without_a_task(mcp, project):
    session = mcp("--allow-writes")
    result = session.tool("tests")["structuredContent"]
    assert (result["ok"], result["tests"]["failed"], result["failures"][0]["line"]) == (False, 1, 8)
    (project / "shop/pricing.py").write_text(RIGHT)
    assert session.tool("tests", {"tests": ["test_discount"]})["structuredContent"]["ok"] is True


def test_a_question_is_asked_of_the_user_where_the_client_can(mcp, project, engine):
    engine(FIX)
    (project / "shop/report.py").write_text("def report(total):\n    return str(total)\n")
    asked = mcp("--allow-writes", capabilities={"elicitation": {}})
    asked.answer = lambda request: {"action": "accept", "content": {"answer": "discount in shop/pricing.py"}}
    run = asked.tool("run", {"task": "fix the bug"})["structuredContent"]
    form = asked.requests[0]["params"]
    assert asked.requests[0]["method"] == "elicitation/create" and form["message"].splitlines()[1].startswith("  1. ")
    assert form["requestedSchema"]["properties"]["answer"]["type"] == "string"
    assert (run["ok"], run["writes"]) == (True, ["shop/pricing.py"]), run["summary"]


def test_answers_come_in_any_order(mcp, project, engine):
    """While a question waits, others are answered; answers that nobody waits for, or a second one, change nothing."""
    engine(FIX)
    (project / "shop/report.py").write_text("def report(total):\n    return str(total)\n")
    session = mcp("--allow-writes", capabilities={"elicitation": {}})
    run = session.send("tools/call", {"name": "run", "arguments": {"task": "fix the bug"}})
    question = session.read()
    while question.get("method") != "elicitation/create":
        question = session.read()
    session.write({"jsonrpc": "2.0", "id": 4711, "result": {"action": "accept", "content": {"answer": "report in shop/report.py"}}})
    session.write({"jsonrpc": "2.0", "id": "x", "error": {"code": -1, "message": "nobody asked"}})
    brief = session.send("tools/call", {"name": "brief", "arguments": {}})
    layout = session.send("tools/call", {"name": "layout", "arguments": {}})
    answered = {session.read().get("id") for _ in (brief, layout)}
    assert answered == {brief, layout}
    answer = {"action": "accept", "content": {"answer": "discount in shop/pricing.py"}}
    for _ in range(2):
        session.write({"jsonrpc": "2.0", "id": question["id"], "result": answer})
    result = session.wait(run)["result"]["structuredContent"]
    assert (result["ok"], result["writes"]) == (True, ["shop/pricing.py"]), result["summary"]
    assert session.tool("brief")["structuredContent"]


@pytest.mark.parametrize("reply", [{"action": "decline"}, {"action": "cancel"}, {"action": "accept", "content": {"answer": ""}}])
def test_a_question_that_nobody_answers_is_the_result(mcp, reply):
    session = mcp("--allow-writes", capabilities={"elicitation": {}})
    session.answer = lambda request: reply
    run = session.tool("run", {"task": "fix the bug"})["structuredContent"]
    assert run["stopped"] == "question" and "  1. " in run["summary"] and run["hint"]


def test_without_elicitation_the_question_is_the_result(mcp):
    session = mcp("--allow-writes")
    result = session.tool("run", {"task": "fix the bug"})
    assert result["structuredContent"]["stopped"] == "question" and "hint: " in result["content"][0]["text"]
    assert session.requests == []


def test_an_engine_that_cannot_be_used_is_an_error_with_the_result(mcp):
    result = mcp("--allow-writes").tool("ask", {"question": "what does discount return?"})
    assert result["isError"] is True and result["structuredContent"]["stopped"] == "engine"
    assert "hint: " in result["content"][0]["text"]


def test_nonsense_ends_nothing(mcp, project):
    session = mcp(begin=False)
    for line in (b"\xff\xfe\x00garbage\n", b"{}\n", b"[]\n", b"null\n", b"\n", b'{"jsonrpc":"2.0"}\n', b'{"jsonrpc":"2.0","method":"notifications/nosuch"}\n', b'{"jsonrpc":"2.0","id":9,"result":{}}\n'):
        session.write(line)
    session.write({"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": {"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}})
    assert session.wait("first")["result"]["protocolVersion"].startswith("20")
    session.write(b'{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"brief","arguments":[]}}\n')
    session.write(b'{"jsonrpc":"2.0","id":78,"method":"tools/call","params":{"name":7}}\n')
    session.write(b'{"jsonrpc":"2.0","id":79,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}\n')
    assert "error" in session.wait(79)
    session.write(b'{"jsonrpc":"2.0","id":80,"method":"resources/read","params":{"uri":"harness://runs/../../x/diff"}}\n')
    assert "error" in session.wait(80)
    session.write(b'{"jsonrpc":"2.0","id":81,"result":{"late":true}}\n')
    # A request that cannot be read is answered all the same, and the next one is heard.
    session.write(b'{"jsonrpc":"2.0","id":82,"method":"x","params":{"a":"' + b"a" * (17 * 1024 * 1024) + b'"}}\n')
    assert session.wait(82)["error"]["code"] == -32600
    session.write(b'{"jsonrpc":"2.0","method":"x","params":"\xff","id":"83"}\n')
    assert session.wait("83")["error"]["code"] == -32700
    session.write(b'{"jsonrpc":"2.0","id":84,"method":"x","params":' + b"[" * 100_000 + b"\n")
    assert session.wait(84)["error"]["code"] == -32700
    assert session.tool("brief")["structuredContent"]["files"] > 0


def test_a_request_that_cannot_be_read_is_answered_with_its_id(mcp):
    """Without the id its client would wait for ever."""
    session = mcp()
    for number, (method, params) in enumerate([("tools/list", {"_meta": 7}), ("tools/call", {"name": "brief", "_meta": []}), ("tools/list", []), ("ping", "x"), (7, {})]):
        for id in (1000 + number, f"text {number}"):
            session.write({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
            assert session.wait(id)["error"]["code"] in (-32600, -32602), (method, params)
    assert session.call("tools/call", {"name": "brief", "arguments": [1]})["error"]["code"] == -32602
    # What is no request has no id to answer to.
    session.write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 7})
    assert session.tool("brief")["isError"] is False


def test_two_calls_at_once_are_both_answered(mcp, silent_engine):
    session = mcp()
    slow = session.send("tools/call", {"name": "ask", "arguments": {"question": "what does discount return?"}})
    assert silent_engine.asked.wait(20)
    assert session.tool("brief")["isError"] is False
    silent_engine.go_on.set()
    assert session.wait(slow)["result"]["structuredContent"]["stopped"] == "done"


def test_questions_are_part_of_the_conversation(mcp, project, engine):
    server = engine("It takes the percentage off.", "Because it was asked for.")
    (project / "shop/pricing.py").write_text(RIGHT)
    session = mcp("--allow-writes")
    session.tool("ask", {"question": "what does discount in shop/pricing.py return?"})
    session.tool("ask", {"question": "why?"})
    assert "what does discount" in json.dumps(server.requests[-1])
    renamed = session.tool("run", {"task": "rename it to reduced"})
    assert renamed["structuredContent"]["ok"] is True and "def reduced" in (project / "shop/pricing.py").read_text()


def test_an_undo_and_the_question_of_a_dry_run_are_part_of_it_too(mcp, project, engine):
    engine("It returns what it is given.")
    (project / "shop/pricing.py").write_text(RIGHT)
    session = mcp("--allow-writes")
    session.tool("run", {"task": "rename discount to reduced"})
    assert session.tool("undo")["structuredContent"]["ok"] is True
    again = session.tool("run", {"task": "rename it to cheaper"})
    assert again["structuredContent"]["ok"] is True and "def cheaper" in (project / "shop/pricing.py").read_text(), again
    for name in ("a", "b"):
        (project / f"shop/{name}.py").write_text("def total(x):\n    return x\n")
    asked = session.tool("run", {"task": "rename total to whole", "dry_run": True})
    assert asked["structuredContent"]["stopped"] == "question", asked
    # A question beside it does not take the answer away.
    session.tool("ask", {"question": "what does it do?"})
    shown = session.tool("run", {"task": "2", "dry_run": True})["structuredContent"]
    assert "+def whole" in shown["diff"], shown


def test_a_cancelled_call_is_not_remembered(mcp, project, engine):
    server = engine("It takes the percentage off.", Wait("never"), "Because.")
    session = mcp()
    session.tool("ask", {"question": "what does discount return?"})
    number = session.send("tools/call", {"name": "ask", "arguments": {"question": "how is it tested?"}})
    assert server.waiting.wait(20)
    session.notify("notifications/cancelled", {"requestId": number})
    time.sleep(0.5)
    server.go_on.set()
    session.tool("ask", {"question": "why?"})
    said = json.dumps(server.requests[-1])
    assert said.count("what does discount return?") == 1 and "interrupted" not in said and "how is it tested" not in said


def test_long_words_hold_nobody_up(mcp):
    session = mcp()
    numbers = [session.send("tools/call", {"name": "route", "arguments": {"task": "fix " + "a" * 300_000}}) for _ in range(4)]
    for number in numbers:
        session.notify("notifications/cancelled", {"requestId": number})
    began = time.monotonic()
    assert session.tool("brief")["isError"] is False and time.monotonic() - began < 20


def test_why_no_test_ran_is_told(mcp):
    result = mcp("--allow-writes").tool("tests", {"tests": ["nosuch"]})
    assert "no tests ran" in result["content"][0]["text"], result


def test_a_cancelled_run_stops_and_leaves_files_whole(mcp, project, silent_engine):
    session, before = mcp("--allow-writes"), tree(project)
    number = session.send("tools/call", {"name": "run", "arguments": {"task": TASK}})
    assert silent_engine.asked.wait(20)
    session.notify("notifications/cancelled", {"requestId": number})
    # The project is free again: an undo does not wait for the run.
    began = time.monotonic()
    assert session.tool("undo")["structuredContent"]["ok"] is False
    assert time.monotonic() - began < 10
    assert tree(project) == before


@pytest.mark.parametrize("how", ["closed", "killed"])
def test_a_client_that_goes_stops_its_run(mcp, project, silent_engine, how):
    if how == "killed" and os.name == "nt":
        pytest.skip("signals are sent otherwise on Windows")
    session, before = mcp("--allow-writes"), tree(project)
    session.send("tools/call", {"name": "run", "arguments": {"task": TASK}})
    assert silent_engine.asked.wait(20)
    began = time.monotonic()
    if how == "closed":
        session.process.stdin.close()
        code = session.process.wait(15)
        assert code == 0
    else:
        session.process.send_signal(signal.SIGTERM)
        assert session.process.wait(15) == 130
    assert time.monotonic() - began < 5
    assert tree(project) == before
    silent_engine.go_on.set()


def test_what_is_piped_in_is_answered_before_the_end(project):
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "brief"}},
    ]
    piped = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([PROGRAM, "mcp", str(project)], input=piped, capture_output=True, text=True, timeout=30)
    replies = {reply["id"]: reply for reply in map(json.loads, done.stdout.splitlines())}
    assert done.returncode == 0 and replies[2]["result"]["structuredContent"]["files"] == 4


def test_a_client_that_says_nothing_is_no_error(project):
    done = subprocess.run([PROGRAM, "mcp", str(project)], input="", capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_no_such_folder_is_bad_input(tmp_path):
    done = subprocess.run([PROGRAM, "mcp", str(tmp_path / "nosuch")], input="", capture_output=True, text=True, timeout=30)
    assert done.returncode == 2 and "hint: " in done.stderr and done.stdout == ""


def test_folders_that_have_nothing_to_do_with_the_project_get_no_tool(mcp, project, tmp_path):
    def with_roots(*folders):
        session = mcp(capabilities={"roots": {"listChanged": True}})
        session.answer = lambda request: {"roots": [{"uri": folder.as_uri()} for folder in folders]}
        return session

    other = tmp_path / "another folder"
    other.mkdir()
    session = with_roots(other)
    refused = session.tool("brief")
    assert refused["isError"] is True and "outside of the folders" in refused["content"][0]["text"]
    session.answer = lambda request: {"roots": [{"uri": project.as_uri()}]}
    session.notify("notifications/roots/list_changed")
    assert session.tool("brief")["isError"] is False
    for folders in ((), (project,), (tmp_path,), (project / "shop",), (other, project)):
        assert with_roots(*folders).tool("brief")["isError"] is False, folders
    assert "outside of the folders" in with_roots(other).call("resources/list")["error"]["message"]
    # What the client has not open it would not see change.
    session = mcp("--allow-writes", capabilities={"roots": {}})
    session.answer = lambda request: {"roots": [{"uri": (project / "shop").as_uri()}]}
    refused = session.tool("run", {"task": "rename discount to reduced"})
    assert refused["isError"] is True and "only a part" in refused["content"][0]["text"]


def test_prompts_have_their_holes_filled(mcp):
    session = mcp("--allow-writes")
    filled = session.call("prompts/get", {"name": "rename", "arguments": {"old": "discount", "new": "reduced"}})["result"]
    assert "rename discount to reduced" in filled["messages"][0]["content"]["text"]
    assert "`new` is missing" in session.call("prompts/get", {"name": "rename", "arguments": {"old": "x"}})["error"]["message"]
    assert session.call("prompts/get", {"name": "nosuch"})["error"]["code"] == -32602


def test_a_full_pipe_does_not_hold_up_other_things(mcp):
    """A client that reads late gets everything all the same."""
    session = mcp()
    numbers = [session.send("tools/list") for _ in range(20)]
    time.sleep(0.5)
    seen = set()
    reader = threading.Thread(target=lambda: seen.update(session.read()["id"] for _ in numbers))
    reader.start()
    reader.join(20)
    assert seen == set(numbers)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes cannot be told not to wait there")
def test_a_client_that_reads_no_answer_is_not_read_on(mcp):
    """A flood of requests that cannot be read waits in the pipe, not in our memory, and ends with its client."""
    session = mcp()
    line = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": 7}}\n'
    pipe, sent, until = session.process.stdin.fileno(), 0, time.monotonic() + 3
    os.set_blocking(pipe, False)
    while time.monotonic() < until:
        try:
            sent += os.write(pipe, line)
        except BlockingIOError:
            time.sleep(0.01)
    # Two pipes of the system, the one before the SDK, and what waits for its answer.
    assert sent < 1024 * 1024
    os.set_blocking(pipe, True)
    session.process.stdout.close()
    session.process.stdin.close()
    assert session.process.wait(20) == 0
