"""One conversation of thirty turns, held in a pipe, over HTTP, in Python and over both protocols with their official
clients: the same files and the same results."""

import asyncio
import json
import os
import re
import subprocess

import acp
from acp.schema import RequestPermissionResponse
from conftest import TESTS, WRONG, tree
from harness import Agent, AgentOptions
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from scripted import ScriptedServer
from serving import PROGRAM, Served

CART = '''from shop.pricing import discount


def line_total(price, quantity):
    return price * quantity


def cart_total(lines):
    return sum(line_total(*line) for line in lines)


def refund_total(lines):
    return -discount(cart_total(lines), 0)
'''
CART_TESTS = '''import unittest

from shop.cart import cart_total, line_total


class CartTest(unittest.TestCase):
    def test_line(self):
        self.assertEqual(line_total(3, 4), 12)

    def test_cart(self):
        self.assertEqual(cart_total([(3, 4), (1, 2)]), 14)
'''
TAX_TESTS = '''import unittest

from shop.tax import vat


class TaxTest(unittest.TestCase):
    def test_vat(self):
        self.assertEqual(vat(1000, 20), 200)
'''


def code(text):
    return f"```python\n{text}```\n"


# What the model says to a task that holds these words; the first that fits.
REPLIES = [
    ("write tests for", code(TAX_TESTS)),
    ("create shop/tax.py", code("def vat(cents, percent):\n    return cents * percent // 100\n")),
    ("docstring to `refund_total`", code('def refund_total(lines):\n    """What is given back."""\n    return -discount(cart_total(lines), 0)\n')),
    ("docstring to `cart_total`", code('def cart_total(lines):\n    """The price of all lines."""\n    return sum(line_total(*line) for line in lines)\n')),
    ("docstring to line_total", code('def line_total(price, quantity):\n    """The price of one line."""\n    return price * quantity\n')),
    ("fix discount", code("def discount(total, percent):\n    return total * (100 - percent) / 100\n")),
    ("clean this up", code("def discount(total, percent):\n    kept = 100 - percent\n    return total * kept / 100\n")),
    ("", "It is computed from what it is given."),
]

# Each turn: what is said, how it stops, which files change.
PRICING, BOTH = ["shop/pricing.py"], ["shop/cart.py", "shop/pricing.py", "tests/test_pricing.py"]
TURNS = [
    ("hi", "done", []),
    ("fix discount in shop/pricing.py", "done", PRICING),
    ("thanks", "done", []),
    ("what does it return?", "done", []),
    ("why?", "done", []),
    ("undo that", "done", PRICING),
    ("undo that", "done", PRICING),
    ("undo", "done", PRICING),
    ("redo", "done", PRICING),
    ("rename it to rebate", "done", BOTH),
    ("where is it used?", "done", []),
    ("undo that", "done", BOTH),
    ("clean this up", "question", []),
    ("never mind", "done", []),
    ("clean this up", "question", []),
    ("discount in shop/pricing.py", "done", PRICING),
    ("add a docstring to line_total in shop/cart.py", "done", ["shop/cart.py"]),
    ("the same for cart_total", "done", ["shop/cart.py"]),
    ("now also for refund_total", "done", ["shop/cart.py"]),
    ("undo that", "done", ["shop/cart.py"]),
    ("redo", "done", ["shop/cart.py"]),
    ("create shop/tax.py with a function vat(cents, percent)", "done", ["shop/tax.py"]),
    ("write tests for it", "done", ["tests/test_tax.py"]),
    ("rename it to sales_tax", "done", ["shop/tax.py", "tests/test_tax.py"]),
    ("fix the failing tests", "done", []),
    ("what does sales_tax in shop/tax.py do?", "done", []),
    ("again", "done", []),
    ("rename nosuch_thing to x", "question", []),
    ("never mind", "done", []),
    ("undo", "done", ["shop/tax.py", "tests/test_tax.py"]),
]
# Here the program that talks is left and started again.
RESUMED = 17


class ByTask(ScriptedServer):
    """A model whose reply hangs on the task alone, however often it is asked."""

    def next_reply(self, request):
        with self._lock:
            self.requests.append(request)
        said = [message["content"] for message in request["messages"] if message["role"] == "user"]
        asked = [re.split(r"(?:Task|Question): (?!one question)", text)[-1] for text in said if re.search(r"(?:Task|Question): (?!one question)", text)][-1]
        return next(reply for words, reply in REPLIES if words in asked)


def made(folder):
    files = {"shop/__init__.py": "", "shop/pricing.py": WRONG, "shop/cart.py": CART, "tests/__init__.py": "", "tests/test_pricing.py": TESTS, "tests/test_cart.py": CART_TESTS}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def through_a_pipe(project):
    results = []
    for lines, words in ((TURNS[:RESUMED], []), (TURNS[RESUMED:], ["--resume"])):
        text = "".join(f"{message}\n" for message, _, _ in lines)
        done = subprocess.run([PROGRAM, "chat", str(project), "--json", *words], input=text, capture_output=True, text=True, encoding="utf-8", timeout=300)
        results += [json.loads(line) for line in done.stdout.splitlines()]
    return results


def over_http(project):
    results, messages = [], []
    with Served(project, "--allow-writes") as server:
        for message, _, _ in TURNS:
            messages.append({"role": "user", "content": message})
            status, _, answer = server.call("POST", "/v1/chat/completions", {"messages": messages}, timeout=120)
            assert status == 200, answer
            messages.append(answer["choices"][0]["message"])
            results.append(answer["harness"])
    return results


def in_python(project):
    dialogue = Agent(AgentOptions(project=project)).converse()
    return [dialogue.say(message).as_dict() for message, _, _ in TURNS]


def over_mcp(project):
    async def session():
        server = StdioServerParameters(command=PROGRAM, args=["mcp", str(project), "--allow-writes"], env=dict(os.environ))
        async with Client(server) as client:
            return [(await client.call_tool("run", {"task": message})).structured_content for message, _, _ in TURNS]

    return asyncio.run(asyncio.wait_for(session(), 300))


class Editor:
    """An editor whose user keeps every change."""

    def __init__(self):
        self.words = []

    async def session_update(self, session_id, update, **more):
        if type(update).__name__ == "AgentMessageChunk":
            self.words.append(update.content.text)

    async def request_permission(self, options, session_id, tool_call, **more):
        chosen = next(option.option_id for option in options if option.kind == "allow_once")
        return RequestPermissionResponse.model_validate({"outcome": {"outcome": "selected", "optionId": chosen}})


def over_acp(project):
    """What is said to the user after each turn, and the files then."""
    editor, seen = Editor(), []

    async def session():
        async with acp.spawn_agent_process(editor, PROGRAM, "acp", env=dict(os.environ)) as (connection, _):
            await connection.initialize(protocol_version=1)
            begun = await connection.new_session(cwd=str(project), mcp_servers=[])
            for message, _, _ in TURNS:
                ended = await connection.prompt(session_id=begun.session_id, prompt=[acp.text_block(message)])
                assert ended.stop_reason == "end_turn", message
                seen.append(("".join(editor.words), sources(project)))
                editor.words.clear()

    asyncio.run(asyncio.wait_for(session(), 300))
    return seen


def sources(project):
    return {path: text for path, text in tree(project).items() if not path.endswith(".bak")}


def told(result):
    """What must be the same: not names of runs, not times."""
    summary = re.sub(r"\d{8}-\d{6}-\w{8}", "RUN", result["summary"])
    return summary, result["stopped"], result["ok"], list(result["writes"]), result["diff"], result["goals"] and [list(goal.values()) for goal in result["goals"]]


def test_thirty_turns_come_to_the_same_through_every_door(tmp_path, monkeypatch):
    assert len(TURNS) == 30
    outcomes, files = {}, {}
    for name, door in (("pipe", through_a_pipe), ("http", over_http), ("python", in_python), ("mcp", over_mcp)):
        project = made(tmp_path / name / "project")
        with ByTask([""]) as server:
            monkeypatch.setenv("OLLAMA_HOST", server.host)
            outcomes[name] = [told(result) for result in door(project)]
        files[name] = sources(project)
        for (message, stopped, writes), outcome in zip(TURNS, outcomes[name], strict=True):
            assert (outcome[1], outcome[3]) == (stopped, writes), (name, message, outcome)
    assert outcomes["pipe"] == outcomes["http"] == outcomes["python"] == outcomes["mcp"]
    assert files["pipe"] == files["http"] == files["python"] == files["mcp"]
    cart = files["pipe"]["shop/cart.py"].decode()
    assert all(words in cart for words in ("The price of one line.", "The price of all lines.", "What is given back."))
    assert b"def vat" in files["pipe"]["shop/tax.py"] and b"discount" in files["pipe"]["shop/pricing.py"]


def test_thirty_turns_in_an_editor_s_panel_leave_the_same_files_turn_by_turn(tmp_path, monkeypatch):
    plain, shown = made(tmp_path / "python" / "project"), made(tmp_path / "acp" / "project")
    with ByTask([""]) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        dialogue = Agent(AgentOptions(project=plain)).converse()
        expected = []
        for message, _, _ in TURNS:
            result = dialogue.say(message)
            expected.append((result.summary.splitlines()[0], sources(plain)))
        seen = over_acp(shown)
    for (message, _, _), (summary, files), (words, found) in zip(TURNS, expected, seen, strict=True):
        assert found == files, message
        # Names of runs differ.
        assert re.sub(r"\d{8}-\d{6}-\w{8}", "RUN", summary) in re.sub(r"\d{8}-\d{6}-\w{8}", "RUN", words), message
