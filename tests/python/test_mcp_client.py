"""`harness mcp` with the official Python client, by the handshake of today's editors and by the protocol after it."""

import asyncio
import os
import pathlib
import sys

import pytest
from conftest import FIX, RIGHT, TASK, tree
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import ElicitResult

PROGRAM = str(pathlib.Path(sys.executable).parent / "harness")
MODES = ["legacy", "auto"]


def converse(project, body, mode, *words, **more):
    """Runs a body with a client; the environment of the test is the server's."""
    async def session():
        server = StdioServerParameters(command=PROGRAM, args=["mcp", str(project), *words], env=dict(os.environ))
        async with Client(server, mode=mode, **more) as client:
            return await body(client)

    return asyncio.run(asyncio.wait_for(session(), 60))


@pytest.mark.parametrize("mode", MODES)
def test_tools_are_listed_and_called(project, mode):
    async def body(client):
        tools = {tool.name for tool in (await client.list_tools()).tools}
        brief = await client.call_tool("brief", {})
        plan = await client.call_tool("route", {"task": TASK})
        layout = await client.call_tool("layout", {})
        return tools, brief, plan, layout

    tools, brief, plan, layout = converse(project, body, mode)
    assert tools == {"ask", "brief", "layout", "route"}
    # The client has checked each against the tool's schema.
    assert brief.structured_content["files"] == 4 and plan.structured_content["kind"] == "fix"
    assert not layout.is_error and "findings" in layout.structured_content


@pytest.mark.parametrize("mode", MODES)
def test_a_run_with_progress_resources_and_prompts(project, engine, mode):
    engine(FIX)
    told = []

    async def progress(done, total, message):
        told.append(message)

    async def body(client):
        run = await client.call_tool("run", {"task": TASK}, progress_callback=progress)
        diff = await client.read_resource(f"harness://runs/{run.structured_content['run_id']}/diff")
        prompt = await client.get_prompt("write_tests", {"name": "discount"})
        tests = await client.call_tool("tests", {})
        undone = await client.call_tool("undo", {})
        return run, diff, prompt, tests, undone

    before = tree(project)
    run, diff, prompt, tests, undone = converse(project, body, mode, "--allow-writes")
    assert run.structured_content["ok"] and run.structured_content["writes"] == ["shop/pricing.py"]
    assert RIGHT.splitlines()[1] in diff.contents[0].text
    assert "write tests for discount" in prompt.messages[0].content.text
    assert tests.structured_content["ok"] and undone.structured_content["ok"]
    assert any("tests" in message for message in told), told
    assert tree(project) == before


@pytest.mark.parametrize("mode", MODES)
def test_the_user_answers_a_question(project, engine, mode):
    engine(FIX)
    asked = []

    async def answer(context, parameters):
        asked.append(parameters.message)
        return ElicitResult(action="accept", content={"answer": "discount in shop/pricing.py"})

    async def body(client):
        return await client.call_tool("run", {"task": "fix the bug"})

    run = converse(project, body, mode, "--allow-writes", elicitation_callback=answer)
    assert run.structured_content["ok"], run
    assert len(asked) == 1 and "which" in asked[0] and (project / "shop/pricing.py").read_text() == RIGHT


@pytest.mark.parametrize("mode", MODES)
def test_a_user_who_declines_gets_the_question_back(project, mode):
    async def answer(context, parameters):
        return ElicitResult(action="decline")

    async def body(client):
        return await client.call_tool("run", {"task": "fix the bug"})

    run = converse(project, body, mode, "--allow-writes", elicitation_callback=answer)
    assert run.structured_content["stopped"] == "question"


@pytest.mark.parametrize("mode", MODES)
def test_a_call_that_is_cancelled_frees_the_project(project, silent_engine, mode):
    before = tree(project)

    async def body(client):
        call = asyncio.ensure_future(client.call_tool("run", {"task": TASK}))
        assert await asyncio.to_thread(silent_engine.asked.wait, 20)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        return await asyncio.wait_for(client.call_tool("undo", {}), 15)

    undone = converse(project, body, mode, "--allow-writes")
    silent_engine.go_on.set()
    assert undone.structured_content["ok"] is False
    assert tree(project) == before
