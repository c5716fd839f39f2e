"""A process that was forked after a run works like any other: multiprocessing, and servers that fork their workers."""

import os
import subprocess
import sys
import textwrap

import pytest

from conftest import FIX, RIGHT, TASK

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork there")

# Only so that a child that hangs does not hang the tests.
PATIENCE = 120


def forked(words, *arguments):
    """Runs a program whose children must end; kills them all when they do not."""
    words = textwrap.dedent(words)
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", words, *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        out, errors = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        pytest.fail("the child hangs")
    assert process.returncode == 0, errors
    return out.split()


def test_a_child_runs_after_its_parent_did(project, engine):
    engine(FIX)
    words = """
        import os, sys
        from harness import Agent, AgentOptions
        agent = Agent(AgentOptions(project=sys.argv[1], allow_writes=False))
        print(agent.ask("what does discount return?").stopped, flush=True)
        child = os.fork()
        if child == 0:
            result = Agent(AgentOptions(project=sys.argv[1])).run(sys.argv[2])
            print(result.stopped, result.ok, flush=True)
            grandchild = os.fork()
            if grandchild == 0:
                print(agent.ask("what does discount return?").stopped, flush=True)
                os._exit(0)
            os._exit(os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(agent.ask("what does discount return?").stopped, flush=True)
        sys.exit(code)
    """
    assert forked(words, project, TASK) == ["done", "done", "True", "done", "done"]
    assert (project / "shop/pricing.py").read_text(encoding="utf-8") == RIGHT


def test_workers_of_multiprocessing_run_after_their_parent_did(project, engine):
    engine("It returns a number.")
    words = """
        import multiprocessing, sys
        from harness import Agent, AgentOptions

        def ask(number):
            return Agent(AgentOptions(project=sys.argv[1], allow_writes=False)).ask(f"what does discount return, {number}?").stopped

        print(ask(0), flush=True)
        with multiprocessing.get_context("fork").Pool(3) as pool:
            print(*pool.map(ask, range(1, 7)), flush=True)
    """
    assert forked(words, project) == ["done"] * 7


def test_a_child_runs_while_its_parent_does(project, silent_engine):
    """Forked in the middle of a run: what the parent's threads held is not waited for."""
    words = """
        import os, sys, threading
        from harness import Agent, AgentOptions
        at_work = threading.Event()

        def listen(event):
            if event.kind == "engine":
                at_work.set()

        options = AgentOptions(project=sys.argv[1], allow_writes=False, on_event=listen)
        threading.Thread(target=lambda: Agent(options).ask("what does discount return?"), daemon=True).start()
        at_work.wait()
        child = os.fork()
        if child == 0:
            # Answered without a model.
            result = Agent(AgentOptions(project=sys.argv[1], allow_writes=False)).run("rename discount to rebate in shop/pricing.py")
            print(result.stopped, flush=True)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os._exit(code)
    """
    assert forked(words, project) == ["done"]
