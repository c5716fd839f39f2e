"""Clients as they are: OpenAI's JavaScript library, and what Continue, Zed and Cline send and read.

The shapes of the editors are those of their own sources:
- Continue, packages/openai-adapters/src/apis/OpenAI.ts at 023111db46ab (it uses OpenAI's library)
- Zed, crates/open_ai/src/open_ai.rs at 014676e49857 (`Request`, `RequestMessage`, `ResponseStreamEvent`)
- Cline, src/core/api/providers/openai.ts and src/core/api/transform/openai-format.ts at 0162b82878a6
"""

import http.client
import json
import pathlib
import shutil
import subprocess

import pytest

from conftest import FIX, RIGHT, ROOT, TASK, WRONG
from serving import Served

NODE = shutil.which("node")
MODULES = ROOT / "target" / "test-tools" / "node"
ANSWER = "It takes percent off the total."
TOOL = {"type": "function", "function": {"name": "read_file", "description": "Reads a file.", "parameters": {"type": "object", "properties": {}}}}


def javascript(server):
    script = pathlib.Path(__file__).with_name("openai_client.mjs")
    done = subprocess.run([NODE, script, MODULES, server.base, TASK], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(NODE is None or not (MODULES / "node_modules" / "openai").is_dir(), reason="no node with the package `openai` here")
def test_openai_s_javascript_client(project, engine):
    engine(ANSWER)
    with Served(project) as server:
        seen = javascript(server)
    assert seen["models"] == ["qwen3:8b"] and seen["whole"] == seen["streamed"] == ANSWER
    assert "asking qwen3:8b" in seen["progress"] and seen["usage"] > 0 and seen["final"] == [ANSWER, "stop"]
    assert seen["refusedStream"].startswith("BadRequestError 400") and "`stream`" in seen["refusedStream"]
    assert seen["task"].startswith("PermissionDeniedError 403") and "--allow-writes" in seen["task"]
    engine(ANSWER, ANSWER, ANSWER, FIX)
    with Served(project, "--allow-writes") as server:
        seen = javascript(server)
    assert seen["task"] == "none" and "```diff" in seen["written"] and "harness undo" in seen["written"]
    assert (project / "shop/pricing.py").read_text(encoding="utf-8") == RIGHT


def streamed(server, body, **headers):
    """The status and the lines of a streamed reply, as they stand on the wire."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    headers = {"content-type": "application/json", "authorization": "Bearer any", **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection.request("POST", "/v1/stream/chat/completions", json.dumps(body), headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode().splitlines()


def read_as_zed(lines):
    """What Zed makes of the lines: those with `data:` but the last are events with `choices`, and `usage` or null."""
    words, reasons, usage = "", [], None
    for line in lines:
        data = line.removeprefix("data: ") if line.startswith("data: ") else line.removeprefix("data:") if line.startswith("data:") else None
        if data is None or data == "[DONE]":
            continue
        event = json.loads(data)
        assert "error" not in event, event
        for choice in event["choices"]:
            assert isinstance(choice["index"], int)
            delta = choice.get("delta") or {}
            assert delta.get("role") in (None, "user", "assistant", "system", "tool")
            assert all(isinstance(delta.get(name), (str, type(None))) for name in ("content", "reasoning_content"))
            words += delta.get("content") or ""
            reasons.append(choice.get("finish_reason"))
        if event.get("usage"):
            usage = event["usage"]
            assert all(isinstance(usage[name], int) for name in ("prompt_tokens", "completion_tokens", "total_tokens"))
    return words, [reason for reason in reasons if reason], usage


def test_zed(project, engine):
    script = engine(ANSWER)
    body = {
        "model": "qwen3:8b",
        "messages": [
            {"role": "system", "content": "You are an assistant in an editor."},
            {"role": "user", "content": "hello"},
            # What it keeps of a reply goes back: the progress, and nothing where there were no words.
            {"role": "assistant", "content": "Hello. Say what should be changed, or ask about the code.", "reasoning_content": "read 4 files\n"},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}]},
            {"role": "tool", "content": "nothing", "tool_call_id": "1"},
            {"role": "user", "content": [{"type": "text", "text": "what does discount do?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens": 500,
        "stop": ["STOP"],
        "temperature": 1.0,
        "tool_choice": "auto",
        "parallel_tool_calls": False,
        "tools": [TOOL],
        "prompt_cache_key": "thread",
        "reasoning_effort": "medium",
    }
    with Served(project) as server:
        status, lines = streamed(server, body)
    assert status == 200 and lines[-2] == "data: [DONE]", lines[-3:]
    words, reasons, usage = read_as_zed(lines)
    assert words == ANSWER and reasons == ["stop"] and usage["total_tokens"] > 0
    assert script.requests[-1]["options"]["num_predict"] == 500


def test_continue(project, engine):
    engine(ANSWER)
    code = "```python shop/pricing.py (1-2)\n" + WRONG + "```"
    body = {
        "messages": [
            {"role": "system", "content": "You are in chat mode."},
            {"role": "user", "content": [{"type": "text", "text": f"{code}\n"}, {"type": "text", "text": "what does discount do?"}]},
        ],
        "model": "qwen3:8b",
        "max_tokens": 4096,
        "temperature": 0.5,
        "top_p": 0.9,
        "frequency_penalty": None,
        "presence_penalty": None,
        "stop": None,
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [TOOL],
    }
    with Served(project) as server:
        status, lines = streamed(server, body, accept="application/json", x_api_key="any", user_agent="OpenAI/JS 5.13.1", x_stainless_lang="js")
    assert status == 200 and read_as_zed(lines)[0].startswith(ANSWER)


def test_cline(project, engine):
    script = engine(ANSWER, FIX)
    details = "<environment_details>\n# Visual Studio Code Visible Files\nshop/__init__.py\n\n# Current Working Directory (/home/me/shop) Files\ntests/test_pricing.py\n</environment_details>"
    messages = [{"role": "system", "content": "You are Cline."}]

    def say(*texts):
        messages.append({"role": "user", "content": [{"type": "text", "text": text} for text in (*texts, details)]})
        body = {"model": "qwen3:8b", "messages": messages, "temperature": 0, "stream": True, "stream_options": {"include_usage": True}}
        status, lines = streamed(server, body)
        assert status == 200, lines
        words = read_as_zed(lines)[0]
        messages.append({"role": "assistant", "content": words})
        return words

    with Served(project, "--allow-writes") as server:
        assert say("<task>\nwhat does discount do?\n</task>", "# task_progress List (Optional)\n…") == ANSWER
        # Of what the editor adds about itself nothing is taken for the person's words.
        assert "Visible Files" not in json.dumps(script.requests[-1])
        written = say("fix it in shop/pricing.py")
        assert "```diff" in written and (project / "shop/pricing.py").read_text(encoding="utf-8") == RIGHT
        say("undo that")
    assert (project / "shop/pricing.py").read_text(encoding="utf-8") == WRONG
