"""A source file as its named parts: functions, methods, classes, constants, and the lines between them.

Written for the oracle alone: Python by its own parser, languages with braces by their first lines and brackets.
"""

import ast
import pathlib
import re

LANGUAGES = {".py": "python", ".go": "go", ".rs": "rust", ".js": "javascript", ".ts": "typescript"}
REST = ""  # the name of the lines that belong to no definition


class Unit:
    """One part: its name (`Class.method` for a method), where it stands, and whether it holds others."""

    is_overload = False

    def __init__(self, name, first, last, holds=False):
        self.name, self.first, self.last, self.holds = name, first, last, holds

    def text(self, lines):
        return "".join(lines[self.first - 1 : self.last])


def language(path):
    return LANGUAGES.get(pathlib.PurePosixPath(path).suffix)


def units(path, source):
    """The parts of a file; raises SyntaxError or ValueError for what cannot be read."""
    return python(source) if language(path) == "python" else braces(source, language(path))


def python(source):
    found = []

    def walk(body, prefix):
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                first = min([node.lineno] + [one.lineno for one in node.decorator_list])
                is_class = isinstance(node, ast.ClassDef)
                if found and found[-1].name == prefix + node.name and found[-1].is_overload:
                    # A function is one part with its overloads.
                    first = found.pop().first
                found.append(Unit(prefix + node.name, first, node.end_lineno, is_class))
                found[-1].is_overload = any(ast.unparse(one).split(".")[-1] == "overload" for one in node.decorator_list)
                if is_class:
                    walk(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if len(targets) == 1 and isinstance(targets[0], ast.Name):
                    found.append(Unit(prefix + targets[0].id, node.lineno, node.end_lineno))

    walk(ast.parse(source).body, "")
    return found


HEADS = {
    "go": [
        (re.compile(r"^func \(\w*\s*\*?(\w+)(?:\[[^\]]*\])?\) (\w+)"), True),
        (re.compile(r"^func (\w+)"), False),
        (re.compile(r"^type (\w+)"), False),
        (re.compile(r"^(?:var|const) (\w+)"), False),
    ],
    "rust": [
        (re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?(?:const )?(?:unsafe )?(?:async )?fn (\w+)"), False),
        (re.compile(r"^(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|union|mod|static|const|type) (\w+)"), False),
        (re.compile(r"^macro_rules! (\w+)"), False),
    ],
    "javascript": [
        (re.compile(r"^(?:export )?(?:default )?(?:async )?function\*? (\w+)"), False),
        (re.compile(r"^(?:export )?class (\w+)"), False),
        (re.compile(r"^(?:export )?(?:var|let|const) (\w+)\s*="), False),
    ],
}
HEADS["typescript"] = HEADS["javascript"]
OWNER = re.compile(r"^(?:unsafe )?impl(?:<.*?>)?\s+(?:.*? for )?(?:&(?:mut )?)?(\w+)|^(?:pub(?:\([^)]*\))? )?trait (\w+)")


def braces(source, kind):
    lines = source.splitlines()
    clean = [re.sub(r'//.*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|`[^`]*`', "", line) for line in lines]
    found, owner, owner_end, at = [], "", 0, 0
    while at < len(lines):
        if kind == "rust" and (owns := OWNER.match(lines[at])):
            owner, owner_end = owns[1] or owns[2], end_of(clean, at)
        if at > owner_end:
            owner = ""
        for head, has_owner in HEADS[kind]:
            match = head.match(lines[at])
            if not match:
                continue
            name = f"{match[1]}.{match[2]}" if has_owner else match[1]
            if owner and lines[at].startswith((" ", "\t")):
                name = f"{owner}.{name}"
            first, last = at, end_of(clean, at)
            while first and lines[first - 1].strip().startswith(("//", "#[", "*", "/*")):
                first -= 1
            holds = kind == "rust" and re.match(r"^(?:pub(?:\([^)]*\))? )?(?:mod|trait) ", lines[at]) is not None
            found.append(Unit(name, first + 1, last + 1, holds))
            if not holds:
                at = last
            break
        at += 1
    return found


def end_of(clean, at):
    """The line on which what begins here ends: its brackets are closed, or it has none and ends its statement."""
    depth, opened = 0, False
    for line in range(at, len(clean)):
        for sign in clean[line]:
            if sign in "{([":
                depth, opened = depth + 1, opened or sign == "{"
            elif sign in "})]":
                depth -= 1
        text = clean[line].rstrip()
        if depth <= 0 and (opened or text.endswith((";", "}", ")")) or not text and line > at):
            return line
    return len(clean) - 1


def rest(source, found):
    """What belongs to no part, and a class without its parts."""
    lines = source.splitlines(keepends=True)
    taken = set()
    for one in found:
        taken.update(range(one.first, one.last + 1))
    return "".join(line for number, line in enumerate(lines, 1) if number not in taken and line.strip())


def own_text(one, found, lines):
    """A part without the parts inside it."""
    inside = set()
    for other in found:
        if other is not one and other.name.startswith(one.name + ".") and one.first <= other.first and other.last <= one.last:
            inside.update(range(other.first, other.last + 1))
    kept = [lines[number - 1] for number in range(one.first, one.last + 1) if number not in inside]
    return "".join(line for line in kept if line.strip())


class Place:
    """One place that a commit changes."""

    def __init__(self, path, name, state, text):
        self.path, self.name, self.state, self.text = path, name, state, text

    def __repr__(self):
        return f"{self.path}: {self.state} {self.name or '(other lines)'}"


def is_inside(one, other):
    return other.first <= one.first and one.last <= other.last


def words(text):
    """The lines without the blanks at their ends: nobody can be asked for those."""
    return [line.rstrip() for line in text.splitlines()]


def places(path, before, after):
    """The places that lead from one text of a file to the other. The state is new, changed or removed."""
    if before is None:
        return [Place(path, "", "new file", after)]
    if after is None:
        return [Place(path, "", "removed file", "")]
    old, new = units(path, before), units(path, after)
    old_lines, new_lines = before.splitlines(keepends=True), after.splitlines(keepends=True)
    was = {one.name: one for one in old}
    is_now = {one.name: one for one in new}
    found = []
    for one in new:
        parent = one.name.rpartition(".")[0]
        if parent and parent in is_now and parent not in was and is_inside(one, is_now[parent]):
            continue  # the whole class is new
        if one.name not in was:
            found.append(Place(path, one.name, "new", one.text(new_lines)))
        elif words(own_text(one, new, new_lines)) != words(own_text(was[one.name], old, old_lines)):
            found.append(Place(path, one.name, "changed", one.text(new_lines)))
    for one in old:
        parent = one.name.rpartition(".")[0]
        goes_with = parent and parent in was and parent not in is_now and is_inside(one, was[parent])
        if one.name not in is_now and not goes_with:
            found.append(Place(path, one.name, "removed", ""))
    if words(rest(before, old)) != words(rest(after, new)):
        found.append(Place(path, REST, "changed", rest(after, new)))
    return found
