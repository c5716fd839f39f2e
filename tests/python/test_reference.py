"""Makes docs/reference/library.md from the module and fails when it is stale. `UPDATE_DOCS=1` writes the page."""

import inspect
import os
import pathlib
import re

import harness

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "reference" / "library.md"
# What people use first stands first.
ORDER = ["Agent", "AgentOptions", "Dialogue", "Result", "Step", "Refusal", "Question", "Event", "Goal", "Tests", "Counts", "Usage"]
ERRORS = ["HarnessError", "OptionsError", "OptionTypeError", "OptionValueError"]


def test_the_page_is_what_the_module_says():
    page = made()
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(page, encoding="utf-8", newline="\n")
    there = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    assert there == page, "docs/reference/library.md is stale: UPDATE_DOCS=1 python -m pytest tests/python/test_reference.py"


def test_no_name_is_left_out():
    assert sorted([*ORDER, *ERRORS, "__version__"]) == sorted(harness.__all__)


def made():
    parts = ["# Library", "<!-- Made from the module by tests/python/test_reference.py; UPDATE_DOCS=1 writes it. -->"]
    parts += [described(inspect.getdoc(harness) or "")]
    parts += [section(getattr(harness, name)) for name in ORDER]
    rows = [f"| `{name}` | {bases(getattr(harness, name))} | {first_line(getattr(harness, name))} |" for name in ERRORS]
    parts += ["## Errors\n\n| error | is also | when |\n|---|---|---|\n" + "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


def section(kind):
    doc, _, listed = (inspect.getdoc(kind) or "").partition("\n\nAttributes:\n")
    text = f"## {kind.__name__}\n\n{described(doc, defaults(kind))}"
    fields, methods = [f"| `{name}` | {about[0].upper()}{about[1:]} |" for name, about in re.findall(r"^    (\w+): (.+)$", listed, re.M)], []
    for name, member in members(kind):
        about = " ".join((inspect.getdoc(member) or "").split())
        if callable(member):
            methods.append(f"| `{name}{signature(member)}` | {about} |")
        else:
            fields.append(f"| `{name}` | {about} |")
    # Where the class itself lists its fields, a table would say it twice.
    if fields and "Args:" not in doc:
        text += "\n\n| field | meaning |\n|---|---|\n" + "\n".join(fields)
    if methods:
        text += "\n\n| method | meaning |\n|---|---|\n" + "\n".join(methods)
    return text


def members(kind):
    """The public members: fields in the order that the constructor takes them, the rest by name."""
    order = list(inspect.signature(kind).parameters)
    known = getattr(kind, "__dataclass_fields__", {})
    own = inspect.getmembers(kind, callable) if known else vars(kind).items()
    public = [(name, member) for name, member in own if not name.startswith("_") and name not in known]
    return sorted(public, key=lambda item: (order.index(item[0]) if item[0] in order else len(order), item[0]))


def defaults(kind):
    parameters = inspect.signature(kind).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if parameter.default is not parameter.empty}


def signature(member):
    words = str(inspect.signature(member)).partition(" ->")[0]
    return re.sub(r"\(self, /(, )?|\(self(, )?|\(\$self(, /)?(, )?", "(", words)


def described(doc, values=()):
    """A docstring as Markdown; its list of arguments becomes a list with the defaults."""
    lines, inside_list = [], False
    for line in doc.splitlines():
        argument = re.match(r"    (\w+): (.*)", line)
        if line == "Args:":
            inside_list = True
            lines.append("Keywords:\n")
        elif inside_list and argument:
            name = argument.group(1)
            default = f" (default `{values[name]!r}`)" if name in values else ""
            lines.append(f"- `{name}`{default}: {argument.group(2)}")
        elif inside_list and line.strip():
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    return "\n".join(lines).strip()


def first_line(kind):
    return (inspect.getdoc(kind) or "").splitlines()[0]


def bases(kind):
    return ", ".join(f"`{base.__name__}`" for base in kind.__bases__)
