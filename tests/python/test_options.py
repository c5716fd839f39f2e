"""AgentOptions: its fields and defaults, and errors that name the field."""

import copy
import gc
import inspect
import pathlib
import pickle
import weakref

import pytest

import harness
from harness import Agent, AgentOptions, HarnessError, OptionsError, OptionTypeError, OptionValueError

FIELDS = {
    "task": "",
    "model": "qwen3:8b",
    "engine": "local",
    "scope": "",
    "skills": [],
    "steps": 20,
    "max_tokens": 700,
    "allow_writes": True,
    "record": None,
    "keep_no_record": False,
    "on_event": None,
    "on_question": None,
}


def test_defaults(project):
    options = AgentOptions(project=project)
    assert {name: getattr(options, name) for name in FIELDS} == FIELDS
    assert options.project == project and isinstance(options.project, pathlib.Path)


def test_the_signature_shows_the_true_defaults(project):
    options = AgentOptions(project=project)
    for name, parameter in inspect.signature(AgentOptions).parameters.items():
        value = getattr(options, name)
        if name != "project":
            assert (tuple(value) if name == "skills" else value) == parameter.default, name


@pytest.mark.parametrize(
    ("field", "value", "kind"),
    [
        ("project", 3, TypeError),
        ("project", b".", TypeError),
        ("project", None, TypeError),
        ("project", "no/such/folder", ValueError),
        ("project", "", ValueError),
        ("project", "a\0b", ValueError),
        ("project", __file__, ValueError),
        ("project", "~no-such-user-of-this-machine/x", ValueError),
        ("task", None, TypeError),
        ("task", b"fix", TypeError),
        ("task", "half a character: \udc80", ValueError),
        ("model", 8, TypeError),
        ("engine", "nosuch", ValueError),
        ("engine", None, TypeError),
        ("scope", "../..", ValueError),
        ("scope", "/", ValueError),
        ("scope", "nosuch", ValueError),
        ("scope", 1, TypeError),
        ("skills", "fix-a-bug", TypeError),
        ("skills", [1], TypeError),
        ("skills", 1, TypeError),
        ("skills", ["nosuch"], ValueError),
        ("steps", "20", TypeError),
        ("steps", 20.0, TypeError),
        ("steps", True, TypeError),
        ("steps", None, TypeError),
        ("steps", 0, ValueError),
        ("steps", -1, ValueError),
        ("steps", 10**30, ValueError),
        ("max_tokens", "700", TypeError),
        ("max_tokens", 0, ValueError),
        ("allow_writes", 1, TypeError),
        ("allow_writes", "no", TypeError),
        ("record", 3, TypeError),
        ("keep_no_record", None, TypeError),
        ("on_event", "print", TypeError),
        ("on_question", 3, TypeError),
        ("stepz", 1, TypeError),
        ("Project", ".", TypeError),
    ],
)
def test_what_cannot_be_used_is_named(project, field, value, kind):
    with pytest.raises(OptionsError) as caught:
        AgentOptions(**{"project": project, field: value})
    error = caught.value
    assert isinstance(error, kind) and isinstance(error, HarnessError)
    assert isinstance(error, OptionTypeError if kind is TypeError else OptionValueError)
    assert error.field == field
    assert str(error).startswith(f"{field}: ")
    assert "\n" not in str(error) and str(error) == str(pickle.loads(pickle.dumps(error)))


def test_a_missing_project_is_named():
    with pytest.raises(OptionTypeError, match="^project: "):
        AgentOptions()


def test_a_stop_while_a_path_is_read_stays_one():
    class Path:
        def __fspath__(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        AgentOptions(project=Path())


def test_settings_are_given_by_name(project):
    with pytest.raises(TypeError, match="project"):
        AgentOptions(project.as_posix())


def test_what_may_be_written_in_several_ways(project, monkeypatch):
    monkeypatch.chdir(project.parent)
    assert AgentOptions(project="project").project == pathlib.Path("project")
    monkeypatch.setenv("HOME", str(project.parent))
    monkeypatch.setenv("USERPROFILE", str(project.parent))
    options = AgentOptions(project="~/project", record="~/turns.jsonl", scope=pathlib.PurePath("shop"), skills=("fix-a-bug",))
    assert options.project == project
    assert options.record == project.parent / "turns.jsonl"
    assert (options.scope, options.skills) == ("shop", ["fix-a-bug"])
    names = {"ollama": "local", "mlx": "on-device", "openai": "remote", "on-device": "on-device"}
    assert {name: AgentOptions(project=project, engine=name).engine for name in names} == names


def test_settings_cannot_be_changed(project):
    options = AgentOptions(project=project, skills=["fix-a-bug"])
    for change in (lambda: setattr(options, "steps", 3), lambda: setattr(options, "new", 3), lambda: delattr(options, "task")):
        with pytest.raises(AttributeError, match="replace"):
            change()
    options.skills.append("nosuch")
    assert options.skills == ["fix-a-bug"]


def test_replace_makes_new_settings_and_checks_them(project):
    options = AgentOptions(project=project, task="a", on_event=print)
    changed = options.replace(task="b", steps=3)
    assert (changed.task, changed.steps, changed.on_event) == ("b", 3, print)
    assert (options.task, options.steps) == ("a", 20)
    assert options.replace() == options
    with pytest.raises(OptionTypeError, match="^stepz: "):
        options.replace(stepz=3)
    with pytest.raises(OptionValueError, match="^scope: "):
        options.replace(scope="../..")
    if hasattr(copy, "replace"):
        assert copy.replace(options, task="b").task == "b"


def test_equal_settings_are_equal_and_hash_alike(project):
    one, other = AgentOptions(project=project, on_event=print), AgentOptions(project=str(project), on_event=print)
    assert one == other and hash(one) == hash(other) and len({one, other}) == 1
    assert one != one.replace(steps=3)
    assert one != one.replace(on_event=None)
    assert one != "options" and one != None  # noqa: E711


def test_settings_show_and_copy_themselves(project):
    options = AgentOptions(project=project, task="fix it", skills=["fix-a-bug"])
    shown = repr(options)
    assert shown.startswith("AgentOptions(project=") and "task='fix it'" in shown and "skills=['fix-a-bug']" in shown
    names = {**vars(pathlib), "AgentOptions": AgentOptions}
    assert eval(shown, names) == options
    assert pickle.loads(pickle.dumps(options)) == options == copy.deepcopy(options)


def test_an_agent_takes_settings_and_nothing_else(project):
    for wrong in (project, None, {"project": project}):
        with pytest.raises(TypeError, match="^options: "):
            Agent(wrong)
    options = AgentOptions(project=project)
    assert Agent(options).options is options
    assert repr(Agent(options)) == f"Agent({options!r})"
    assert pickle.loads(pickle.dumps(Agent(options))).options == options


def test_settings_that_hold_their_owner_are_collected(project):
    class Owner:
        def __init__(self):
            self.agent = Agent(AgentOptions(project=project, on_event=self.listen, on_question=self.listen))

        def listen(self, event):
            pass

    gone = weakref.ref(Owner())
    gc.collect()
    assert gone() is None


def test_a_path_that_is_not_text_is_used_as_it_is(tmp_path):
    folder = tmp_path / b"latin-\xe9".decode("utf-8", "surrogateescape")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    assert AgentOptions(project=folder).project == folder


def test_every_name_is_there_and_documented():
    for name in harness.__all__:
        value = getattr(harness, name)
        if isinstance(value, type):
            assert value.__doc__ and value.__module__ == "harness", name
            fields = getattr(value, "__dataclass_fields__", {})
            for field in fields:
                assert f"\n    {field}: " in inspect.getdoc(value), f"{name}.{field}"
            for member, attribute in vars(value).items():
                if not member.startswith("_") and member not in fields:
                    assert inspect.getdoc(attribute), f"{name}.{member}"
    assert set(harness.__all__) <= set(dir(harness))
    with pytest.raises(AttributeError, match="nosuch"):
        harness.nosuch
