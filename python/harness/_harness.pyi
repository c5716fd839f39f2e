from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, final, type_check_only

from typing_extensions import Unpack

from harness._types import Event
from harness._values import Question, Result

__all__ = [
    "__version__",
    "Agent",
    "AgentOptions",
    "Dialogue",
    "main", "secrets_in", "undone_runs",
]

__version__: str

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
    def converse(self) -> Dialogue:
        """Begins a conversation: each message is read in the light of those before it."""
    def __reduce__(self) -> tuple[type[Agent], tuple[AgentOptions]]: ...

@final
class Dialogue:
    """A conversation with an agent about one project folder.

    It remembers what was said: "it" is what the last task was about, "the same for X" is the last task for something
    else, "2" answers the question that was asked back, "undo that" takes the last change back. One message at a time.
    """

    def say(self, message: str) -> Result:
        """Does what a message asks for and returns what came of it: a change, an answer, a question, a reply."""
    @property
    def said(self) -> tuple[tuple[Literal["user", "agent"], str], ...]:
        """What was said, oldest first: pairs of "user" or "agent" and the words."""
    @property
    def options(self) -> AgentOptions:
        """The settings of the agent that it is held with."""

def main(words: Sequence[str]) -> int:
    """Runs the command line inside this interpreter and returns its exit code. The first word names the program."""

def secrets_in(text: str) -> list[str]:
    """Returns the kinds of the secrets in a text, in the order in which they stand there."""

def undone_runs(project: str) -> list[str]:
    """Returns the names of the runs in a project whose change was taken back."""
