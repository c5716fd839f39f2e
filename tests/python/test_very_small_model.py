"""A model that its engine calls very small: what it is shown first, and what once it failed."""

from harness import Agent, AgentOptions

HALF = 'def half(x):\n    """Return half of x."""\n    return x * 2\n'
RIGHT = HALF.replace("x * 2", "x / 2")
TEST = "import unittest\n\nfrom sums import half\n\n\nclass T(unittest.TestCase):\n    def test_half(self):\n        self.assertEqual(half(8), 4)\n"
TASK = "fix half in sums.py: it doubles"


def block(code):
    return f"```python\n{code}```\n"


def laid_out(folder, module=HALF):
    (folder / "project").mkdir()
    (folder / "project" / "sums.py").write_text(module, encoding="utf-8")
    (folder / "project" / "test_sums.py").write_text(TEST, encoding="utf-8")
    (folder / "home" / ".config" / "harness").mkdir(parents=True, exist_ok=True)
    (folder / "home" / ".config" / "harness" / "config.toml").write_text("search = false\n", encoding="utf-8")
    return folder / "project"


def small(engine, *replies):
    server = engine(*replies)
    server.parameters = 135_000_000
    return server


def test_the_first_prompt_is_the_documentation_alone(tmp_path, engine):
    server = small(engine, block(RIGHT))
    result = Agent(AgentOptions(project=laid_out(tmp_path))).run(TASK)
    assert result.ok, result.summary
    shown = server.requests[0]["messages"][-1]["content"]
    assert shown == '```python\ndef half(x):\n    """Return half of x."""\n    ...\n```'


def test_what_was_kept_back_comes_with_the_failure(tmp_path, engine):
    wrong = [block(HALF.replace("x * 2", f"x * {factor}")) for factor in (3, 4, 5, 6)]
    server = small(engine, *wrong, block(RIGHT))
    result = Agent(AgentOptions(project=laid_out(tmp_path))).run(TASK)
    assert result.ok, result.summary
    first, last = server.requests[0]["messages"], server.requests[-1]["messages"]
    assert last[: len(first)] == first
    told = last[-1]["content"]
    for part in ("48 != 4", HALF.rstrip(), "half(8) must be 4, but it is 16.", f"Task: {TASK}"):
        assert part in told, told
    # The last draft is the one that it answers to, and no list of actions distracts.
    assert "x * 6" in last[-2]["content"] and "Action:" not in told


def test_without_documentation_or_a_larger_model_the_code_is_shown(tmp_path, engine):
    bare = HALF.replace('    """Return half of x."""\n', "")
    server = small(engine, block(bare.replace("x * 2", "x / 2")))
    result = Agent(AgentOptions(project=laid_out(tmp_path, bare))).run(TASK)
    assert result.ok, result.summary
    assert "return x * 2" in server.requests[0]["messages"][-1]["content"]
    (tmp_path / "other").mkdir()
    server = engine(block(RIGHT))
    result = Agent(AgentOptions(project=laid_out(tmp_path / "other"))).run(TASK)
    assert result.ok, result.summary
    assert "return x * 2" in server.requests[0]["messages"][-1]["content"]


def test_asked_for_objects_it_is_told_the_task(tmp_path, engine):
    project = laid_out(tmp_path)
    settings = tmp_path / "home" / ".config" / "harness" / "config.toml"
    settings.write_text('search = false\nform = "json"\n', encoding="utf-8")
    server = small(engine, "nothing")
    Agent(AgentOptions(project=project, steps=1)).run(TASK)
    assert f"Task: {TASK}" in server.requests[0]["messages"][-1]["content"]
