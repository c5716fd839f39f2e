"""The page at `/`: what its HTML promises to a keyboard, a screen reader and a browser's policy, and what its script does
with a real server. A real browser looks at it in test_server_browser.py where there is one."""

import base64
import hashlib
import html.parser
import json
import re
import shutil
import subprocess

import pytest

from conftest import FIX, RIGHT, ROOT, TASK, WRONG
from serving import Served, answers, tree

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="no node on the path")
FLOW = ROOT / "tests" / "python" / "page_flow.mjs"


class Page(html.parser.HTMLParser):
    """The elements of a page in their order, with their attributes and the text directly inside."""

    EMPTY = {"meta", "br", "input", "img", "link"}

    def __init__(self, text):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(text)
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), (tag, names)
        element = {"tag": tag, "text": "", **dict(attributes)}
        self.elements.append(element)
        if tag not in self.EMPTY:
            self.open.append(element)

    def handle_endtag(self, tag):
        assert self.open.pop()["tag"] == tag

    def handle_data(self, text):
        if self.open:
            self.open[-1]["text"] += text

    def all(self, *tags):
        return [element for element in self.elements if element["tag"] in tags]


def fetched(server):
    (status, headers, body), = answers(server.raw(b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"))
    assert status == 200
    return headers, body.decode()


def token_of(server):
    return re.search(r'data-token="([0-9a-f]{48})"', fetched(server)[1]).group(1)


def flow(server, *steps):
    """What the page shows after each step of a person."""
    done = subprocess.run([NODE, FLOW, server.base, json.dumps(steps)], capture_output=True, text=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_policy_lets_in_our_own_style_and_script_and_nothing_else(project):
    with Served(project, "--allow-writes") as server:
        headers, text = fetched(server)
    page = Page(text)
    rules = dict(rule.strip().split(" ", 1) for rule in headers["content-security-policy"].split(";"))
    for kind, tag in (("style-src", "style"), ("script-src", "script")):
        element, = page.all(tag)
        digest = base64.b64encode(hashlib.sha256(element["text"].encode()).digest()).decode()
        assert rules[kind] == f"'sha256-{digest}'" and "src" not in element
    assert (rules["default-src"], rules["connect-src"], rules["frame-ancestors"], rules["form-action"], rules["base-uri"]) == ("'none'", "'self'", "'none'", "'none'", "'none'")
    for element in page.elements:
        assert not [name for name in element if name.startswith("on") or name == "style"], element
        assert not {"src", "href", "action", "formaction"} & set(element), element
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval|https?:", page.all("script")[0]["text"])


@pytest.mark.parametrize("words", [(), ("--allow-writes",)], ids=["read-only", "writes"])
def test_everything_has_a_name_and_an_order(project, engine, words):
    engine(FIX)
    with Served(project, "--allow-writes") as server:
        assert server.call("POST", "/v1/run", {"task": TASK}, timeout=120)[0] == 200
    with Served(project, *words) as server:
        page = Page(fetched(server)[1])
    ids = [element["id"] for element in page.elements if "id" in element]
    assert len(ids) == len(set(ids)) and page.all("html")[0]["lang"] == "en" and len(page.all("main")) == 1 and len(page.all("h1")) == 1
    labels = {element["for"]: element["text"] for element in page.all("label")}
    assert labels["task"] and {element["id"] for element in page.all("textarea", "input", "select")} == set(labels)
    for element in page.elements:
        assert element.get("aria-describedby") in (None, *ids)
        assert int(element.get("tabindex", 0)) == 0, "the order is that of the page"
        if element["tag"] == "pre":  # It scrolls, so that a key must reach it.
            assert element["tabindex"] == "0" and element["role"] == "region" and element["aria-label"]
    for button in page.all("button"):
        assert button["type"] in ("submit", "button") and (button["text"].strip() and button.get("aria-label", "x"))
    live = {element["id"]: element for element in page.elements if element.get("role") == "status" or "aria-live" in element}
    assert set(live) == {"status", "answer"}
    assert "width=device-width" in page.all("meta")[1]["content"]
    writes = {element.get("id") or "past" for element in page.all("button")} & {"run", "preview", "keep", "undo", "past"}
    assert writes == ({"run", "preview", "keep", "undo", "past"} if words else {"past"} & writes)
    assert bool(words) == bool([button for button in page.all("button") if "data-run" in button])


def test_a_page_without_the_token_does_nothing(project, engine):
    """Even from our own origin: another page there, or one from before the server was started again, knows no token."""
    engine(FIX)
    before = tree(project)
    with Served(project, "--allow-writes") as server:
        token = token_of(server)
        assert token != token_of_another(project)
        own = {"Origin": server.base, "Sec-Fetch-Site": "same-origin"}
        for headers in (own, {"Origin": server.base}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}):
            for given in ({}, {"X-Page-Token": ""}, {"X-Page-Token": token[:-1]}, {"X-Page-Token": token[:-1] + "x"}, {"X-Page-Token": token + "0"}):
                for path in ("/v1/run", "/v1/ask", "/v1/undo", "/v1/apply", "/v1/chat/completions", "/v1/stream/chat/completions"):
                    status, _, answer = server.call("POST", path, {"task": TASK}, **headers, **given)
                    assert (status, answer["error"]["code"]) == (403, "foreign_request"), (headers, given, path)
        foreign = {"Origin": "http://evil.example", "X-Page-Token": token}
        assert server.call("POST", "/v1/run", {"task": TASK}, **foreign)[0] == 403
        assert tree(project) == before
        assert server.call("POST", "/v1/run", {"task": TASK}, timeout=120, **own, **{"X-Page-Token": token})[2]["ok"]


def token_of_another(project):
    with Served(project) as server:
        return token_of(server)


@needs_node
def test_ask_run_and_undo(project, engine):
    engine("It takes a percentage off.", FIX)
    with Served(project, "--allow-writes") as server:
        states = flow(server, ["type", "what does discount do?"], ["enter", None], ["type", TASK], ["click", "run"], ["click", "undo"])
    _, asked, _, ran, undone = states
    assert (asked["status"], asked["answer"], asked["diff"]) == ("Done.", "It takes a percentage off.", "")
    assert asked["usable"] == ["preview", "run"]
    assert ran["status"] == "Done." and "1 test passes" in ran["answer"] and "+    return total * (100 - percent) / 100" in ran["diff"]
    assert ran["usable"] == ["preview", "run", "undo"]
    assert undone["status"] == "Done." and undone["answer"].startswith("took back") and "undo" in undone["usable"]
    assert (project / "shop/pricing.py").read_text() == WRONG


@needs_node
def test_preview_and_keep(project, engine):
    engine(FIX)
    with Served(project, "--allow-writes") as server:
        _, looked = flow(server, ["type", TASK], ["click", "preview"])
        assert "+    return total * (100 - percent) / 100" in looked["diff"] and looked["usable"] == ["preview", "run", "keep"]
        assert (project / "shop/pricing.py").read_text() == WRONG
        kept = flow(server, ["type", TASK], ["click", "preview"], ["click", "keep"])[-1]
        assert kept["status"] == "Done." and kept["usable"] == ["preview", "run", "undo"], kept
        assert (project / "shop/pricing.py").read_text() == RIGHT
        undone, = flow(server, ["undo the last", None])
    assert undone["status"] == "Done." and (project / "shop/pricing.py").read_text() == WRONG


@needs_node
def test_a_conversation_with_a_question(project):
    """The answer to our own question is read in the light of it."""
    with Served(project, "--allow-writes") as server:
        states = flow(server, ["type", "make it faster"], ["click", "run"], ["type", "undo that"], ["click", "run"])
    assert states[1]["status"] == "A question is open: answer it above." and "names no file" in states[1]["answer"], states[1]
    assert "nothing" in states[3]["answer"], states[3]


@needs_node
def test_what_goes_wrong_is_told(project, engine, silent_engine):
    with Served(project, "--allow-writes") as server:
        nothing, _, stopped, again = flow(server, ["submit", None], ["type", "what does discount do?"], ["submit", None], ["stop after", 300])
    assert nothing["status"] == "Say what you want first."
    assert again["status"] == "Stopped; nothing was kept." and again["usable"] == ["preview", "run"], stopped
    with Served(project) as server:
        _, refused = flow(server, ["type", TASK], ["submit", None])
        assert "--allow-writes" in refused["status"] and refused["usable"] == [], refused
    engine("It takes a percentage off.")
    with Served(project) as server:
        _, streamed = flow(server, ["type", "what does discount do?"], ["submit", None])
        assert (streamed["status"], streamed["answer"]) == ("Done.", "It takes a percentage off.")
