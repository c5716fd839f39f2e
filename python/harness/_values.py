"""What a run gives back: frozen values that show, compare, copy and pickle themselves.

The module `harness._harness` makes these objects.
"""

from dataclasses import dataclass, fields

from harness._types import OptionTypeError, OptionValueError, Refusal

# Checkers read this; nothing here needs `typing` to run, and annotations resolve for whoever asks.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
else:
    Any = object

_STOPPED = ("done", "question", "steps", "stuck", "broke", "engine", "refused", "busy", "interrupted")


class _Value:
    """What the classes below have in common: a form that JSON takes."""

    def as_dict(self) -> dict[str, Any]:
        """The same as a dictionary, as `--json` and the server show it."""
        return {one.name: _plain(getattr(self, one.name)) for one in fields(self)}  # type: ignore[arg-type]


def _plain(value: Any) -> Any:
    if isinstance(value, (_Value, Refusal)):
        return value.as_dict()
    # Not isinstance: after it checkers would not know what the tuple holds.
    return [_plain(one) for one in value] if type(value) in (tuple,) else value


def _tuple(name: str, values: Any) -> Any:
    if isinstance(values, str):
        raise OptionTypeError(f"{name}: several are wanted, not one text", name)
    return tuple(values)


@dataclass(frozen=True, kw_only=True)
class Step(_Value):
    """One turn of a run.

    Attributes:
        number: its place in the run, from 1.
        action: what was asked for: a tool's name, `plan` for a list of places, or `reply` where nothing could be read from it.
        path: the file it concerned, or an empty string.
        result: what came of it, capped.
        refused: the rule that refused it, or an empty string.
        seconds: how long it took.
        tokens: tokens of the model's reply.
    """

    __module__ = "harness"

    number: int
    action: str
    path: str = ""
    result: str = ""
    refused: str = ""
    seconds: float = 0.0
    tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class Counts(_Value):
    """How many tests there were, and how they ended.

    Attributes:
        passed: tests that passed.
        failed: tests that failed or could not run.
        collected: tests that were found.
    """

    __module__ = "harness"

    passed: int = 0
    failed: int = 0
    collected: int = 0


@dataclass(frozen=True, kw_only=True)
class Tests(_Value):
    """The project's tests, before and after the change.

    Attributes:
        command: the command that ran them.
        why: why that command, and that interpreter.
        before: before the first write; None when they were not run then.
        after: after the last write; None when they were not run then.
        sandbox: which sandbox held them.
        unsteady: tests that passed and failed on the same state.
    """

    __module__ = "harness"

    # Not a test case, whatever pytest thinks of a class with this name.
    __test__ = False

    command: str
    why: str = ""
    before: Counts | None = None
    after: Counts | None = None
    sandbox: str = ""
    unsteady: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "unsteady", _tuple("unsteady", self.unsteady))


@dataclass(frozen=True, kw_only=True)
class Usage(_Value):
    """What the model cost.

    Attributes:
        model_calls: model calls made.
        prompt_tokens: tokens read by the model, as the server counts them.
        reply_tokens: tokens written by the model.
        characters_sent: characters that were sent in prompts.
        sent_to: the host they were sent to; empty when nothing was sent.
        masked: how often old observations were masked because the window was full.
    """

    __module__ = "harness"

    model_calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    characters_sent: int = 0
    sent_to: str = ""
    masked: int = 0


@dataclass(frozen=True, kw_only=True)
class Goal(_Value):
    """One thing that a task asks for.

    Attributes:
        text: what it is, in the words of the task, or the test that should pass.
        met: whether it is done, on disk, and the evidence says so.
        why: what proves it, or what is missing.
    """

    __module__ = "harness"

    text: str
    met: bool = False
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Question(_Value):
    """Something only the user can decide.

    Attributes:
        text: the question itself.
        options: what can be chosen, most likely first; at most four.
    """

    __module__ = "harness"

    text: str
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", _tuple("options", self.options)[:4])

    def render(self) -> str:
        """The text to show to the user: the question, then its numbered options."""
        return "\n".join([self.text, *(f"  {number}. {option}" for number, option in enumerate(self.options, 1))])

    def __str__(self) -> str:
        return self.render()


@dataclass(frozen=True, kw_only=True)
class Result(_Value):
    """What a run came to.

    Attributes:
        ok: true when the agent finished the task.
        summary: its closing sentence; when `stopped` is `question`, the question and its options.
        writes: files it changed: relative to the project, with forward slashes, sorted, each once.
        steps: every turn, in order.
        refusals: what the harness stopped, and why. Each is a string, the reason.
        stopped: why it stopped: `done`, `question`, `steps`, `stuck`, `broke`, `engine`, `refused`, `busy` or `interrupted`.
        goals: what the task asks for, one by one; `ok` says that all of it is met.
        run_id: the run's id, for `harness undo` and `harness last`.
        tests: the project's tests, before and after; None when they were not run.
        diff: the change as a unified diff.
        usage: what the model cost.
        hint: what to do next where the run could not go on; empty otherwise.
    """

    __module__ = "harness"

    ok: bool
    summary: str
    writes: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    stopped: str
    goals: tuple[Goal, ...] = ()
    run_id: str = ""
    tests: Tests | None = None
    diff: str = ""
    usage: Usage = Usage()
    hint: str = ""

    def __post_init__(self) -> None:
        if self.stopped not in _STOPPED:
            hint = f"it is one of {', '.join(_STOPPED)}"
            raise OptionValueError(f"stopped: no run ends so; {hint}", "stopped", hint)
        for name in ("writes", "steps", "refusals", "goals"):
            object.__setattr__(self, name, _tuple(name, getattr(self, name)))
        object.__setattr__(self, "usage", self.usage or Usage())


def result_from(facts: dict[str, Any]) -> Result:
    """A result from the dictionary that its `as_dict` would be."""
    tests = facts["tests"]
    if tests is not None:
        counts: dict[str, Any] = {name: tests[name] and Counts(**tests[name]) for name in ("before", "after")}
        tests = Tests(**{**tests, **counts})
    made: dict[str, Any] = {
        "steps": tuple(Step(**step) for step in facts["steps"]),
        "refusals": tuple(Refusal(one.pop("reason"), **one) for one in facts["refusals"]),
        "goals": tuple(Goal(**goal) for goal in facts["goals"]),
        "tests": tests,
        "usage": Usage(**facts["usage"]),
    }
    return Result(**{**facts, **made})
