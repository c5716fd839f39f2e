"""A local coding agent that proves its work with the project's own tests.

    from harness import Agent, AgentOptions

    result = Agent(AgentOptions(project=".", on_event=print)).run("fix the NameError in orders/report.py")
    print(result.ok, result.summary, result.writes)

`Agent.run` changes files inside the project folder and nowhere else, keeps a `.bak` beside each, and takes its change
back when the tests do not bear it out. `Agent.ask` answers and never changes a file. The command `harness` and
`python -m harness` are the same agent on the command line.
"""

__all__ = [
    "Agent",
    "AgentOptions",
    "Counts",
    "Event",
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

_PYTHON_CLASSES = ("Event", "HarnessError", "OptionTypeError", "OptionValueError", "OptionsError", "Refusal")


# The native part is loaded when a name of it is first used: `python -m harness` never needs it.
def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'harness' has no attribute {name!r}")
    if name in _PYTHON_CLASSES:
        from harness import _types as home
    else:
        from harness import _harness as home
    value = globals()[name] = getattr(home, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
