"""The errors, and the two classes that are also strings.

The module `harness._harness` makes these objects; everything else that `harness` offers is defined there.
"""

from __future__ import annotations

# Checkers read this; nothing here needs `typing` to run.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


class HarnessError(Exception):
    """Base class of every error that `harness` raises itself."""

    __module__ = "harness"


class OptionsError(HarnessError):
    """A setting that cannot be used. The message begins with the name of the field.

    Attributes:
        field: the name of the setting.
        hint: what to do about it; may be empty.
    """

    __module__ = "harness"

    field: str
    hint: str

    def __init__(self, message: str, field: str = "", hint: str = "") -> None:
        super().__init__(message, field, hint)
        self.field = field
        self.hint = hint

    def __str__(self) -> str:
        return str(self.args[0])


class OptionTypeError(OptionsError, TypeError):
    """A setting of the wrong type, a setting that does not exist, or one that is missing."""

    __module__ = "harness"


class OptionValueError(OptionsError, ValueError):
    """A setting of the right type whose value cannot be used, such as a folder that does not exist."""

    __module__ = "harness"


class _FrozenText(str):
    """A string with facts beside it that cannot be changed."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} objects cannot be changed")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} objects cannot be changed")


class Refusal(_FrozenText):
    """Something that the harness stopped. It is a string, the reason, with three facts beside it."""

    __slots__ = {
        "rule": "A stable id such as `path.outside` or `write.read_only`.",
        "step": "The number of the step it belongs to; 0 before the first.",
        "path": "The file it concerned, or an empty string.",
    }
    __module__ = "harness"

    rule: str
    step: int
    path: str

    def __new__(cls, reason: str, *, rule: str, step: int = 0, path: str = "") -> Refusal:
        self = super().__new__(cls, reason)
        object.__setattr__(self, "rule", rule)
        object.__setattr__(self, "step", step)
        object.__setattr__(self, "path", path)
        return self

    @property
    def reason(self) -> str:
        """The reason as a plain string: one sentence that says what to do instead."""
        return str(self)

    def as_dict(self) -> dict[str, Any]:
        """The refusal as it stands in `Result.as_dict()`."""
        return {"rule": self.rule, "reason": str(self), "step": self.step, "path": self.path}

    def __repr__(self) -> str:
        return f"Refusal({str(self)!r}, rule={self.rule!r}, step={self.step!r}, path={self.path!r})"

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        return (str(self),), {"rule": self.rule, "step": self.step, "path": self.path}

    def __getstate__(self) -> None:
        return None


class Event(_FrozenText):
    """A piece of progress. It is a string, its sentence, with three facts beside it, so `on_event=print` just works.

    Kinds are `started`, `located`, `question`, `fixed`, `engine`, `sent`, `reply`, `action`, `refused`, `wrote`,
    `tests`, `undone` and `finished`.
    """

    __slots__ = {
        "kind": "What kind of progress it is.",
        "data": "The facts of this event.",
        "seconds": "The time since the run began.",
    }
    __module__ = "harness"

    kind: str
    data: dict[str, Any]
    seconds: float

    def __new__(cls, text: str, *, kind: str, data: dict[str, Any] | None = None, seconds: float = 0.0) -> Event:
        self = super().__new__(cls, text)
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "data", {} if data is None else data)
        object.__setattr__(self, "seconds", seconds)
        return self

    @property
    def text(self) -> str:
        """The sentence as a plain string."""
        return str(self)

    def __repr__(self) -> str:
        return f"Event({str(self)!r}, kind={self.kind!r}, data={self.data!r}, seconds={self.seconds!r})"

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        return (str(self),), {"kind": self.kind, "data": self.data, "seconds": self.seconds}

    def __getstate__(self) -> None:
        return None
