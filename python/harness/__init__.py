"""A local coding agent that proves its work with the project's own tests.

    from harness import Agent, AgentOptions

    result = Agent(AgentOptions(project=".", on_event=print)).run("fix the NameError in orders/report.py")
    print(result.ok, result.summary, result.writes)

`Agent.run` changes files inside the project folder and nowhere else, keeps a `.bak` beside each, and takes its change
back when the tests do not bear it out. `Agent.ask` answers and never changes a file. `Agent.converse` begins a
conversation in which "it", "the same for X" and "undo that" are understood. The command `harness` and
`python -m harness` are the same agent on the command line.
"""

__all__ = [
    "Agent",
    "AgentOptions",
    "Counts",
    "Dialogue",
    "Event",
    "Goal",
    "HarnessError",
    "OptionTypeError",
    "OptionValueError",
    "OptionsError",
    "Question",
    "Refusal",
    "Result",
    "Step",
    "Tests",
    "Usage",
    "__version__",
]

# Checkers read this; importing `typing` for it would cost more than all the rest of this file.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness._harness import Agent, AgentOptions, Dialogue, __version__
    from harness._types import Event, HarnessError, OptionsError, OptionTypeError, OptionValueError, Refusal
    from harness._values import Counts, Goal, Question, Result, Step, Tests, Usage
else:
    # The native part is loaded when a name of it is first used: `python -m harness` never needs it.
    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module 'harness' has no attribute {name!r}")
        from harness import _harness, _types, _values

        part = next(part for part in (_types, _values, _harness) if hasattr(part, name))
        value = globals()[name] = getattr(part, name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
