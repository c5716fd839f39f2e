from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, TypedDict, final, type_check_only

from typing_extensions import Unpack

from harness._types import Event, Refusal

__all__ = [
    "__version__",
    "Agent",
    "AgentOptions",
    "Counts",
    "Question",
    "Result",
    "Step",
    "Tests",
    "Usage",
    "main",
]

__version__: str

_Stopped: TypeAlias = Literal[
    "done", "question", "steps", "stuck", "broke", "engine", "refused", "busy", "interrupted"
]
_EngineName: TypeAlias = Literal["local", "on-device", "remote"]

# Every setting but `project` may be left out; `AgentOptions.replace` takes any of them.
@type_check_only
class _Changes(TypedDict, total=False):
    project: str | PathLike[str]
    task: str
    model: str
    engine: _EngineName | Literal["ollama", "mlx", "openai"]
    scope: str | PathLike[str]
    skills: Iterable[str]
    steps: int
    max_tokens: int
    allow_writes: bool
    record: str | PathLike[str] | None
    keep_no_record: bool
    on_event: Callable[[Event], object] | None
    on_question: Callable[[Question], str] | None

@final
class AgentOptions:
    """The settings of an agent. Keyword arguments only; immutable; `project` is the only one without a default.

    Every setting is checked at once: a wrong type, a name that does not exist, a project that is no folder or a scope
    outside it raise an OptionsError whose message begins with the name of the field.
    """

    def __new__(
        cls,
        *,
        project: str | PathLike[str],
        task: str = "",
        model: str = "qwen3:8b",
        engine: _EngineName | Literal["ollama", "mlx", "openai"] = "local",
        scope: str | PathLike[str] = "",
        skills: Iterable[str] = (),
        steps: int = 20,
        max_tokens: int = 700,
        allow_writes: bool = True,
        record: str | PathLike[str] | None = None,
        keep_no_record: bool = False,
        on_event: Callable[[Event], object] | None = None,
        on_question: Callable[[Question], str] | None = None,
    ) -> AgentOptions: ...
    @property
    def project(self) -> Path:
        """The folder the agent may read and write inside."""
    @property
    def task(self) -> str:
        """What is asked for, when a call names no task of its own."""
    @property
    def model(self) -> str:
        """The model's name."""
    @property
    def engine(self) -> _EngineName:
        """Where the model runs: `local`, `on-device` or `remote`."""
    @property
    def scope(self) -> str:
        """A subfolder to stay inside; empty means the whole project."""
    @property
    def skills(self) -> list[str]:
        """Skills to load; empty means choose from the task. A new list each time."""
    @property
    def steps(self) -> int:
        """The most model turns before a run stops."""
    @property
    def max_tokens(self) -> int:
        """The greatest length of one model reply."""
    @property
    def allow_writes(self) -> bool:
        """Whether files may change and the project's tests may run."""
    @property
    def record(self) -> Path | None:
        """The file to which redacted turns are appended; None means `.harness/traces.jsonl` inside the project."""
    @property
    def keep_no_record(self) -> bool:
        """Whether to write no trace at all."""
    @property
    def on_event(self) -> Callable[[Event], object] | None:
        """Called with an Event for every piece of progress, on the thread that called `run`."""
    @property
    def on_question(self) -> Callable[[Question], str] | None:
        """Called with a Question when only the user can decide; returns the answer."""
    def replace(self, **changes: Unpack[_Changes]) -> AgentOptions:
        """The same settings with some of them changed."""
    def __replace__(self, **changes: Unpack[_Changes]) -> AgentOptions: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@final
class Agent:
    """A coding agent that works on one project folder.

    One agent may run many tasks, one after the other or from several threads at once. Other Python threads go on while
    it runs. Ctrl-C stops a run within a second with files whole and raises KeyboardInterrupt; an exception in a
    callback stops it just so and is raised.
    """

    def __new__(cls, options: AgentOptions) -> Agent: ...
    @property
    def options(self) -> AgentOptions:
        """The settings it works with."""
    def run(self, task: str | None = None) -> Result:
        """Performs a task and returns what came of it. Without an argument the task is that of the options."""
    def ask(self, question: str | None = None) -> Result:
        """Answers a question and never changes a file. Without an argument the question is the options' task."""
    def __reduce__(self) -> tuple[type[Agent], tuple[AgentOptions]]: ...

@final
class Result:
    """What a run came to."""

    def __new__(
        cls,
        *,
        ok: bool,
        summary: str,
        stopped: _Stopped,
        writes: Sequence[str] = (),
        steps: Sequence[Step] = (),
        refusals: Sequence[Refusal] = (),
        run_id: str = "",
        tests: Tests | None = None,
        diff: str = "",
        usage: Usage | None = None,
        hint: str = "",
    ) -> Result: ...
    @property
    def ok(self) -> bool:
        """True when the agent finished the task."""
    @property
    def summary(self) -> str:
        """Its closing sentence; when `stopped` is `question`, the question and its options."""
    @property
    def writes(self) -> tuple[str, ...]:
        """Files it changed: relative to the project, with forward slashes, sorted, each once."""
    @property
    def steps(self) -> tuple[Step, ...]:
        """Every turn, in order."""
    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """What the harness stopped, and why. Each is a string, the reason."""
    @property
    def stopped(self) -> _Stopped:
        """Why it stopped."""
    @property
    def run_id(self) -> str:
        """The run's id, for `harness undo` and `harness last`."""
    @property
    def tests(self) -> Tests | None:
        """The project's tests, before and after; None when they were not run."""
    @property
    def diff(self) -> str:
        """The change as a unified diff."""
    @property
    def usage(self) -> Usage:
        """What the model cost."""
    @property
    def hint(self) -> str:
        """What to do next where the run could not go on; empty otherwise."""
    def as_dict(self) -> dict[str, Any]:
        """The same as a dictionary, as `--json` and the server show it."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@final
class Step:
    """One turn of a run."""

    def __new__(
        cls,
        *,
        number: int,
        action: str,
        path: str = "",
        result: str = "",
        refused: str = "",
        seconds: float = 0.0,
        tokens: int = 0,
    ) -> Step: ...
    @property
    def number(self) -> int:
        """Its place in the run, from 1."""
    @property
    def action(self) -> str:
        """What was asked for: a tool's name, or `reply` where nothing could be read from it."""
    @property
    def path(self) -> str:
        """The file it concerned, or an empty string."""
    @property
    def result(self) -> str:
        """What came of it, capped."""
    @property
    def refused(self) -> str:
        """The rule that refused it, or an empty string."""
    @property
    def seconds(self) -> float:
        """How long it took."""
    @property
    def tokens(self) -> int:
        """Tokens of the model's reply."""
    def as_dict(self) -> dict[str, Any]:
        """The same as a dictionary, as `--json` and the server show it."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@final
class Question:
    """Something only the user can decide."""

    def __new__(cls, *, text: str, options: Sequence[str] = ()) -> Question: ...
    @property
    def text(self) -> str:
        """The question itself."""
    @property
    def options(self) -> tuple[str, ...]:
        """What can be chosen, most likely first; at most four."""
    def render(self) -> str:
        """The text to show to the user: the question, then its numbered options."""
    def as_dict(self) -> dict[str, Any]:
        """The same as a dictionary, as `--json` and the server show it."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@final
class Counts:
    """How many tests there were, and how they ended."""

    def __new__(cls, *, passed: int = 0, failed: int = 0, collected: int = 0) -> Counts: ...
    @property
    def passed(self) -> int:
        """Tests that passed."""
    @property
    def failed(self) -> int:
        """Tests that failed or could not run."""
    @property
    def collected(self) -> int:
        """Tests that were found."""
    def as_dict(self) -> dict[str, Any]:
        """The same as a dictionary, as `--json` and the server show it."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@final
class Tests:
    """The project's tests, before and after the change."""

    __test__: ClassVar[Literal[False]]

    def __new__(
        cls,
        *,
        command: str,
        before: Counts | None = None,
        after: Counts | None = None,
        sandbox: str = "",
        unsteady: Sequence[str] = (),
    ) -> Tests: ...
    @property
    def command(self) -> str:
        """The command that ran them."""
    @property
    def before(self) -> Counts | None:
        """Before the first write; None when they were not run then."""
    @property
    def after(self) -> Counts | None:
        """After the last write; None when they were not run then."""
    @property
    def sandbox(self) -> str:
        """Which sandbox held them."""
    @property
    def unsteady(self) -> tuple[str, ...]:
        """Tests that passed and failed on the same state."""
    def as_dict(self) -> dict[str, Any]:
        """The same as a dictionary, as `--json` and the server show it."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@final
class Usage:
    """What the model cost."""

    def __new__(
        cls,
        *,
        model_calls: int = 0,
        prompt_tokens: int = 0,
        reply_tokens: int = 0,
        characters_sent: int = 0,
        sent_to: str = "",
        masked: int = 0,
    ) -> Usage: ...
    @property
    def model_calls(self) -> int:
        """Model calls made."""
    @property
    def prompt_tokens(self) -> int:
        """Tokens read by the model, as the server counts them."""
    @property
    def reply_tokens(self) -> int:
        """Tokens written by the model."""
    @property
    def characters_sent(self) -> int:
        """Characters that were sent in prompts."""
    @property
    def sent_to(self) -> str:
        """The host they were sent to; empty when nothing was sent."""
    @property
    def masked(self) -> int:
        """How often old observations were masked because the window was full."""
    def as_dict(self) -> dict[str, Any]:
        """The same as a dictionary, as `--json` and the server show it."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

def main(words: Sequence[str]) -> int:
    """Runs the command line inside this interpreter and returns its exit code. The first word names the program."""
