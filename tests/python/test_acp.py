"""`harness acp` as an editor meets it: lines of JSON-RPC, and the official Python client library."""

import asyncio
import json
import os
import pathlib
import subprocess
import sys
import time

import acp
import pytest
from acp.schema import ClientCapabilities, FileSystemCapabilities, ReadTextFileResponse, RequestPermissionResponse
from conftest import FIX, RIGHT, TASK, WRONG, tree

PROGRAM = str(pathlib.Path(sys.executable).parent / "harness")


class Editor:
    """An editor that writes lines and reads lines."""

    def __init__(self, *words, reads=False):
        self.process = subprocess.Popen([PROGRAM, "acp", *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.number, self.updates, self.asked, self.read_files = 0, [], [], []
        self.choice, self.buffers = "keep", {}
        self.info = self.call("initialize", {"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": reads}}})["result"]

    def write(self, line):
        self.process.stdin.write(line if isinstance(line, bytes) else (json.dumps(line) + "\n").encode())
        self.process.stdin.flush()

    def send(self, method, params):
        self.number += 1
        self.write({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return self.number

    def wait(self, number):
        while True:
            line = self.process.stdout.readline()
            assert line, f"the server ended: {self.process.stderr.read().decode()}"
            message = json.loads(line)
            if message.get("method") == "session/update":
                self.updates.append(message["params"]["update"])
            elif message.get("method") == "session/request_permission":
                self.asked.append(message["params"])
                outcome = {"outcome": "selected", "optionId": self.choice} if self.choice else {"outcome": "cancelled"}
                self.write({"jsonrpc": "2.0", "id": message["id"], "result": {"outcome": outcome}})
            elif message.get("method") == "fs/read_text_file":
                path = message["params"]["path"]
                self.read_files.append(path)
                known = path in self.buffers or os.path.exists(path)
                answer = {"result": {"content": self.buffers.get(path) or pathlib.Path(path).read_text()}} if known else {"error": {"code": -32002, "message": "no such file"}}
                self.write({"jsonrpc": "2.0", "id": message["id"], **answer})
            elif message.get("id") == number:
                return message

    def call(self, method, params):
        return self.wait(self.send(method, params))

    def begin(self, folder):
        return self.call("session/new", {"cwd": str(folder), "mcpServers": []})["result"]["sessionId"]

    def say(self, session, *blocks):
        blocks = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
        self.updates.clear()
        return self.call("session/prompt", {"sessionId": session, "prompt": blocks})["result"]["stopReason"]

    def said(self):
        return "".join(update["content"]["text"] for update in self.updates if update["sessionUpdate"] == "agent_message_chunk")

    def kinds(self):
        return {update["sessionUpdate"] for update in self.updates}

    def close(self):
        for end in (self.process.stdin, self.process.stdout, self.process.stderr):
            end.close()
        self.process.wait(20)


@pytest.fixture
def editor():
    editors = []

    def start(*words, **more):
        editors.append(Editor(*words, **more))
        return editors[-1]

    yield start
    for one in editors:
        if one.process.poll() is None:
            one.process.kill()
        one.close()


@pytest.fixture
def green(project):
    """The project with nothing wrong: a rename is proven by tests that pass."""
    (project / "shop/pricing.py").write_text(RIGHT)
    return project


def test_a_change_is_shown_and_asked_about_before_it_is_kept(editor, project, engine):
    engine(FIX)
    one, before = editor(), tree(project)
    session = one.begin(project)
    assert one.say(session, TASK) == "end_turn"
    call = one.asked[0]["toolCall"]
    diff = call["content"][0]
    assert (call["kind"], diff["type"], diff["oldText"], diff["newText"]) == ("edit", "diff", WRONG, RIGHT)
    assert call["locations"] == [{"path": str(project / "shop/pricing.py"), "line": 2}]
    assert {option["kind"] for option in one.asked[0]["options"]} == {"allow_once", "allow_always", "reject_once"}
    # Something is seen at once, however long the project takes to read.
    assert one.updates[0]["content"]["text"] == "reading the project\n"
    assert {"plan", "tool_call", "tool_call_update", "agent_thought_chunk", "agent_message_chunk"} <= one.kinds()
    plans = [update["entries"][0]["status"] for update in one.updates if update["sessionUpdate"] == "plan"]
    assert plans == ["in_progress", "completed"] and "harness undo" in one.said()
    # The tests are one call each time, from their beginning to what they said.
    calls = {update["toolCallId"]: update for update in one.updates if update["sessionUpdate"] == "tool_call" and update["kind"] == "execute"}
    ended = [update for update in one.updates if update["sessionUpdate"] == "tool_call_update" and update["toolCallId"] in calls]
    assert [call["status"] for call in calls.values()] == ["in_progress"] * 2 and [update["status"] for update in ended] == ["completed"] * 2
    assert "1 passed" in ended[-1]["title"]
    # What is said beside is no edit of a file.
    assert [update["title"] for update in one.updates if update["sessionUpdate"] == "tool_call" and update["kind"] == "edit"][1:] == ["wrote shop/pricing.py"]
    assert (project / "shop/pricing.py").read_text() == RIGHT and (project / "shop/pricing.py.bak").read_text() == WRONG
    assert one.say(session, "undo that") == "end_turn" and tree(project) == before


@pytest.mark.parametrize("choice", ["drop", None])
def test_a_change_that_is_not_wanted_leaves_every_byte(editor, project, engine, choice):
    engine(FIX)
    one, before = editor(), tree(project)
    one.choice = choice
    assert one.say(one.begin(project), TASK) == ("end_turn" if choice else "cancelled")
    assert tree(project) == before and len(one.asked) == 1


def test_a_user_can_be_asked_no_more(editor, green):
    one = editor()
    session = one.begin(green)
    one.choice = "keep_all"
    for task in ("rename discount to reduced", "rename it to cheaper"):
        assert one.say(session, task) == "end_turn"
    assert len(one.asked) == 1 and "def cheaper" in (green / "shop/pricing.py").read_text()


def test_in_ask_mode_nothing_is_written(editor, project):
    one, before = editor(), tree(project)
    session = one.begin(project)
    assert "error" in one.call("session/set_mode", {"sessionId": session, "modeId": "nosuch"})
    assert "result" in one.call("session/set_mode", {"sessionId": session, "modeId": "ask"})
    one.say(session, "rename discount to reduced")
    assert "+def reduced" in one.said() and one.asked == []
    assert tree(project) == before and not (project / ".harness").exists()


def test_a_question_ends_the_turn_and_the_next_message_answers_it(editor, project, engine):
    engine(FIX)
    one = editor()
    session = one.begin(project)
    one.say(session, "fix the bug")
    assert "  1. " in one.said()
    one.say(session, "discount in shop/pricing.py")
    assert (project / "shop/pricing.py").read_text() == RIGHT


def test_an_answer_streams(editor, project, engine):
    engine("It subtracts the percentage from the total.")
    one = editor()
    assert one.say(one.begin(project), "what does discount do?") == "end_turn"
    assert one.said().count("It subtracts the percentage") == 1


def test_a_file_that_is_put_into_the_message_is_named(editor, green):
    one = editor()
    link = {"type": "resource_link", "uri": (green / "shop/pricing.py").as_uri(), "name": "pricing.py"}
    outside = {"type": "resource_link", "uri": "file:///etc/passwd", "name": "passwd"}
    one.say(one.begin(green), "rename discount to reduced in", link, outside)
    assert "def reduced" in (green / "shop/pricing.py").read_text()


def test_what_is_not_saved_is_never_overwritten(editor, green):
    one, before = editor(reads=True), tree(green)
    one.buffers[str(green / "shop/pricing.py")] = RIGHT + "# typed just now\n"
    session = one.begin(green)
    one.say(session, "rename discount to reduced")
    assert "save it" in one.said() and "shop/pricing.py" in one.said() and tree(green) == before
    # A file that the change reaches, and that the task does not name.
    one.buffers = {str(green / "tests/test_pricing.py"): "typed just now\n"}
    one.say(session, "rename discount to reduced")
    assert "save it" in one.said() and one.asked == [] and tree(green) == before
    one.buffers.clear()
    one.say(session, "rename discount to reduced")
    assert "def reduced" in (green / "shop/pricing.py").read_text()


def test_a_buffer_that_was_never_saved_is_not_overwritten(editor, green, engine):
    engine("```python\ndef vat(total):\n    return total * 19 // 100\n```")
    one = editor(reads=True)
    one.buffers[str(green / "shop/tax.py")] = "# typed just now\n"
    one.say(one.begin(green), "create shop/tax.py with a function vat(total) that returns 19 percent of the total")
    assert "save it" in one.said() and not (green / "shop/tax.py").exists()


@pytest.mark.parametrize(("name", "change"), [("CRLF", lambda text: text.replace("\n", "\r\n")), ("no end", lambda text: text.rstrip("\n")), ("BOM", lambda text: "\ufeff" + text)])
def test_a_diff_shows_only_what_changes(editor, green, name, change):
    pricing = green / "shop/pricing.py"
    pricing.write_bytes(change(RIGHT).encode())
    one = editor()
    one.say(one.begin(green), "rename discount to reduced")
    diffs = [content for content in one.asked[0]["toolCall"]["content"] if content["path"] == str(pricing)]
    assert len(diffs) == 1 and diffs[0]["oldText"].replace("discount", "reduced") == diffs[0]["newText"]
    assert pricing.read_bytes() == change(RIGHT).replace("discount", "reduced").encode()


def test_what_an_editor_embeds_is_shown(editor, project, engine):
    server = engine("It multiplies.", "A file.", "It does.")
    one = editor()
    session = one.begin(project)
    one.say(session, "explain this", {"type": "resource", "resource": {"uri": "untitled:///notes.txt", "text": "prices fall in june"}})
    assert "prices fall in june" in json.dumps(list(server.requests))
    credentials = {"type": "resource", "resource": {"uri": "file:///home/me/.env", "text": "PASSWORD=hunter2"}}
    one.say(session, "what is this?", credentials, {"type": "resource", "resource": {"uri": (project / ".env").as_uri(), "text": "PASSWORD=hunter2"}})
    assert "hunter2" not in json.dumps(list(server.requests))
    symbol = {"type": "resource_link", "uri": (project / "shop/pricing.py").as_uri() + "?symbol=discount#L1:2", "name": "discount"}
    one.say(session, "what does this do?", symbol)
    assert "def discount(total, percent)" in json.dumps(server.requests[-1])


def test_an_undo_leaves_what_is_not_saved(editor, green):
    one = editor(reads=True)
    session = one.begin(green)
    one.say(session, "rename discount to reduced")
    renamed = (green / "shop/pricing.py").read_text()
    one.buffers[str(green / "shop/pricing.py")] = renamed + "# typed just now\n"
    one.say(session, "undo that")
    assert "save it" in one.said() and (green / "shop/pricing.py").read_text() == renamed
    one.buffers.clear()
    one.say(session, "undo that")
    assert (green / "shop/pricing.py").read_text() == RIGHT


def test_a_pipe_that_is_put_into_the_message_is_not_waited_for(editor, project, engine):
    engine("It multiplies.")
    os.mkfifo(project / "shop/pipe.py")
    one = editor(reads=True)
    link = {"type": "resource_link", "uri": (project / "shop/pipe.py").as_uri(), "name": "pipe.py"}
    assert one.say(one.begin(project), "what does discount do?", link) == "end_turn"


def test_a_hidden_file_is_not_read_through_the_editor(editor, project, engine, tmp_path):
    server = engine("It multiplies.")
    config = pathlib.Path(os.environ["HOME"]) / ".config/harness/config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('never_show = ["shop/rates.py"]\n')
    (project / "shop/rates.py").write_text("RATE = 1\n")
    one = editor(reads=True)
    one.buffers[str(project / "shop/rates.py")] = "RATE = 987654\n"
    link = {"type": "resource_link", "uri": (project / "shop/rates.py").as_uri(), "name": "rates.py"}
    one.say(one.begin(project), "what does discount in shop/pricing.py do?", link)
    assert server.requests and "987654" not in json.dumps(list(server.requests))


def test_what_is_not_saved_is_read(editor, project, engine):
    server = engine("It multiplies.")
    one = editor(reads=True)
    one.buffers[str(project / "shop/pricing.py")] = WRONG + "# a typed thought\n"
    one.say(one.begin(project), "what does discount in shop/pricing.py do?")
    assert "# a typed thought" in json.dumps([request for request in server.requests])


def test_a_session_is_taken_up_again(editor, green):
    first = editor()
    session = first.begin(green)
    first.say(session, "rename discount to reduced")
    first.close()
    second = editor()
    listed = second.call("session/list", {"cwd": str(green)})["result"]["sessions"]
    assert [(one["sessionId"], one["title"]) for one in listed] == [(session, "rename discount to reduced")]
    loaded = second.call("session/load", {"sessionId": session, "cwd": str(green), "mcpServers": []})
    assert loaded["result"]["modes"]["currentModeId"] == "write"
    assert [update["sessionUpdate"] for update in second.updates] == ["user_message_chunk", "agent_message_chunk"]
    second.say(session, "rename it to cheaper")
    assert "def cheaper" in (green / "shop/pricing.py").read_text()
    assert "error" in second.call("session/load", {"sessionId": "../../x", "cwd": str(green), "mcpServers": []})


def test_a_cancelled_turn_leaves_files_whole(editor, project, silent_engine):
    one, before = editor(), tree(project)
    session = one.begin(project)
    number = one.send("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": TASK}]})
    assert silent_engine.asked.wait(20)
    busy = one.call("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "hi"}]})
    assert "under way" in busy["error"]["message"]
    began = time.monotonic()
    one.write({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})
    assert one.wait(number)["result"]["stopReason"] == "cancelled" and time.monotonic() - began < 5
    assert tree(project) == before


def test_a_turn_can_be_cancelled_at_once(editor, project, silent_engine):
    one = editor()
    session = one.begin(project)
    for _ in range(5):
        one.number += 1
        prompt = {"jsonrpc": "2.0", "id": one.number, "method": "session/prompt", "params": {"sessionId": session, "prompt": [{"type": "text", "text": TASK}]}}
        cancel = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}
        began = time.monotonic()
        one.write((json.dumps(prompt) + "\n" + json.dumps(cancel) + "\n").encode())
        assert one.wait(one.number)["result"]["stopReason"] == "cancelled" and time.monotonic() - began < 5


def test_a_cancelled_turn_keeps_nothing_and_leaves_nothing_in_progress(editor, project, engine):
    engine(FIX)
    one, before = editor(), tree(project)
    session = one.begin(project)
    real = one.write

    def write(line):
        # The user cancels, and the answer that was on its way comes too.
        if isinstance(line, dict) and "outcome" in (line.get("result") or {}):
            real({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})
        real(line)

    one.write = write
    assert one.say(session, TASK) == "cancelled" and tree(project) == before
    plans = [[entry["status"] for entry in update["entries"]] for update in one.updates if update["sessionUpdate"] == "plan"]
    assert plans and "in_progress" not in plans[-1]


def test_an_editor_that_goes_stops_its_run(editor, project, silent_engine):
    one, before = editor(), tree(project)
    one.send("session/prompt", {"sessionId": one.begin(project), "prompt": [{"type": "text", "text": TASK}]})
    assert silent_engine.asked.wait(20)
    began = time.monotonic()
    one.process.stdin.close()
    assert one.process.wait(15) == 0 and time.monotonic() - began < 8
    assert tree(project) == before


def test_a_server_for_one_project_serves_no_other(editor, project, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    one = editor(project)
    for folder in (other, tmp_path, tmp_path / "nosuch"):
        refused = one.call("session/new", {"cwd": str(folder), "mcpServers": []})
        assert "hint: " in refused["error"]["data"], refused
    assert one.begin(project / "shop")


def test_nonsense_ends_nothing(editor, project):
    one = editor()
    for line in (b"\xff\xfe\x00\n", b"garbage\n", b"{}\n", b"[]\n", b"\n", b'{"jsonrpc":"2.0","id":5,"result":{}}\n', b'{"jsonrpc":"2.0","method":"no/such"}\n'):
        one.write(line)
    # A request that cannot be read is answered all the same.
    one.write(b'{"jsonrpc":"2.0","id":900,"method":"session/prompt","params":{"x":"' + b"a" * (17 * 1024 * 1024) + b'"}}\n')
    assert one.wait(900)["error"]["code"] == -32600
    one.write(b'{"jsonrpc":"2.0","id":901,"method":"session/prompt","params":"\xff"}\n')
    assert one.wait(901)["error"]["code"] == -32700
    one.write(b'{"jsonrpc":"2.0","id":902,"method":"session/prompt","params":' + b"[" * 100_000 + b"}\n")
    assert one.wait(902)["error"]["code"] == -32700
    assert one.call("no/such", {})["error"]["code"] == -32601
    assert "error" in one.call("session/prompt", {"sessionId": "nosuch", "prompt": []})
    assert "error" in one.call("session/new", {"cwd": 7})
    session = one.begin(project)
    assert "error" in one.call("session/prompt", {"sessionId": session, "prompt": []})
    assert one.say(session, "hello") == "end_turn"


class Client(acp.Client):
    """The editor's side with the official library."""

    def __init__(self):
        self.updates, self.asked, self.unsaved = [], [], {}

    async def session_update(self, session_id, update, **more):
        self.updates.append(update)

    async def request_permission(self, session_id, tool_call, options, **more):
        self.asked.append(tool_call)
        chosen = next(option.option_id for option in options if option.kind == "allow_once")
        return RequestPermissionResponse.model_validate({"outcome": {"outcome": "selected", "optionId": chosen}})

    async def read_text_file(self, session_id, path, line=None, limit=None, **more):
        return ReadTextFileResponse(content=self.unsaved.get(path) or pathlib.Path(path).read_text())


def test_the_official_client_is_served(project, engine):
    engine(FIX)
    client = Client()

    async def converse():
        async with acp.spawn_agent_process(client, PROGRAM, "acp", env=dict(os.environ)) as (connection, _):
            can = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True, write_text_file=False))
            met = await connection.initialize(protocol_version=1, client_capabilities=can)
            session = await connection.new_session(cwd=str(project), mcp_servers=[])
            said = []
            for words in (TASK, "undo that", "redo", "thanks"):
                ended = await connection.prompt(session_id=session.session_id, prompt=[acp.text_block(words)])
                said.append(ended.stop_reason)
            listed = await connection.list_sessions(cwd=str(project))
            return met, session, said, listed

    met, session, said, listed = asyncio.run(asyncio.wait_for(converse(), 60))
    assert met.agent_capabilities.load_session and session.modes.current_mode_id == "write"
    assert said == ["end_turn"] * 4 and [one.session_id for one in listed.sessions] == [session.session_id]
    assert len(client.asked) == 1 and (project / "shop/pricing.py").read_text() == RIGHT
    assert {type(update).__name__ for update in client.updates} >= {"AgentMessageChunk", "ToolCallStart", "AgentPlanUpdate"}
