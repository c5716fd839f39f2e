"""A folder of hostile things: every command ends, none takes much memory, and the bug in it is fixed."""

import os
import pathlib
import sys

import pytest

if not hasattr(os, "mkfifo"):
    pytest.skip("there are no pipes with names on this system", allow_module_level=True)

import hostile
from serving import Served

HARNESS = pathlib.Path(sys.executable).with_name("harness")
MOST_MEGABYTES = 500
COMMANDS = {
    "brief": (["brief"], 0),
    "layout": (["layout"], 0),
    "route": (["route", "fix total in shop/cart.py"], 0),
    # Without an engine an answer is not to be had; the file is read all the same.
    "ask": (["ask", "what does total in shop/cart.py do?"], 4),
    "run": (["run", "fix total in shop/cart.py"], 0),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    project = hostile.lay_out(tmp_path_factory.mktemp("hostile") / "project")
    yield project
    hostile.clear_away(project)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_ends_as_it_should(folder, name):
    words, expected = COMMANDS[name]
    surroundings = {**os.environ, "OLLAMA_HOST": "127.0.0.1:9"}
    code, said, _, megabytes = hostile.peak_of([HARNESS, *words], folder, surroundings)
    assert code == expected, said
    assert "panicked" not in said
    assert "cart" in said or name == "layout"
    assert megabytes < MOST_MEGABYTES
    # Names of files are shown without what would steer a terminal.
    assert "\x1b[31mape" not in said and "\u202e" not in said
    if name == "run":
        assert (folder / "shop/cart.py").read_text(encoding="utf-8") == hostile.CODE.replace(" - 1", "")


def test_the_server_answers_about_it(folder):
    with Served(folder) as server, hostile.meddling(folder):
        for route, body in {"brief": {}, "layout": {}, "route": {"task": "fix total in shop/cart.py"}}.items():
            status, _, reply = server.call("POST", f"/v1/{route}", body, timeout=hostile.PATIENCE)
            assert status == 200 and reply[route], reply
        told = pathlib.Path(f"/proc/{server.process.pid}/status")
        if told.exists():
            peak = next(line for line in told.read_text(encoding="utf-8").splitlines() if line.startswith("VmHWM"))
            assert int(peak.split()[1]) / 1024 < MOST_MEGABYTES
