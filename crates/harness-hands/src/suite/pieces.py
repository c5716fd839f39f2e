"""What a change exchanges: two versions of a file, reduced to the statement in which they differ, and the
functions whose code is not the same in both.
"""

import __future__
import ast
import sys
import types

OPTIMIZED, NEWLOCALS = 0x1, 0x2


class Stale(Exception):
    """The change shows only after the file is imported again."""


def is_function(code):
    return code.co_flags & OPTIMIZED and code.co_flags & NEWLOCALS


def nested(code):
    return [const for const in code.co_consts if isinstance(const, types.CodeType)]


def same_constant(one, other):
    if isinstance(one, types.CodeType) or isinstance(other, types.CodeType):
        return isinstance(one, types.CodeType) and isinstance(other, types.CodeType)
    if isinstance(one, frozenset) and isinstance(other, frozenset):
        # Two equal ones may list their members in different orders.
        return sorted(map(repr, one)) == sorted(map(repr, other))
    return type(one) is type(other) and repr(one) == repr(other)


SHAPE = (
    "co_code",
    "co_names",
    "co_varnames",
    "co_freevars",
    "co_cellvars",
    "co_flags",
    "co_argcount",
    "co_kwonlyargcount",
    "co_posonlyargcount",
    "co_exceptiontable",
)


def same_shape(one, other):
    if any(getattr(one, name, None) != getattr(other, name, None) for name in SHAPE):
        return False
    if len(one.co_consts) != len(other.co_consts):
        return False
    return all(same_constant(a, b) for a, b in zip(one.co_consts, other.co_consts))


def differing(old, new, chain):
    """Yields the chains of functions, outermost first, whose code is not the same."""
    if same_shape(old, new):
        link = chain + [(old, new)] if is_function(old) else chain
        for a, b in zip(nested(old), nested(new)):
            for found in differing(a, b, link):
                yield found
    elif is_function(old) and is_function(new) and old.co_name == new.co_name:
        yield chain + [(old, new)]
    else:
        raise Stale("a module or class body changes")


FUTURE = 0
for feature in __future__.all_feature_names:
    FUTURE |= getattr(__future__, feature).compiler_flag


class Original:
    """A file as it was imported, cut into statements: a try compiles the changed one, not the file."""

    def __init__(self, source, path):
        self.path = path
        self.code = compile(source, path, "exec", dont_inherit=True)
        self.source = source.encode("utf-8", "surrogatepass")
        lines = self.source.split(b"\n")
        self.starts = [0]
        for line in lines:
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.starts[-1] -= 1
        plain = b"coding" not in b"".join(lines[:2]) and not any(b"\r" in line[:-1] for line in lines)
        # Before Python 3.8 statements do not tell where they end.
        self.statements = statements(ast.parse(source)) if plain and sys.version_info >= (3, 8) else []

    def beside(self, source):
        """Returns the code of the old and of the new file, reduced to the statement in which they differ."""
        found = self.piece(source)
        if found is not None:
            try:
                return self.compiled(found[0]), self.compiled(found[1])
            except (SyntaxError, ValueError):
                # It may be whole only together with what follows.
                pass
        return self.code, compile(source, self.path, "exec", dont_inherit=True)

    def compiled(self, text):
        return compile(text, self.path, "exec", self.code.co_flags & FUTURE, True)

    def piece(self, new):
        """Returns the changed statement in both files, on its own line and in the classes around it."""
        old, starts = self.source, self.starts
        start, end = differing_lines(old, new)
        heads, holder, level = [], None, self.statements
        while True:
            reach = [(starts[one[0]], starts[one[1]], one) for one in level]
            inner = [one for low, high, one in reach if low <= start and end <= high and (start < end or low < start)]
            if len(inner) != 1:
                break
            # A class around it: its head stays, for the names that it lends to what is in it.
            heads += [holder] if holder else []
            holder = inner[0]
            level = holder[3] if start >= starts[holder[2]] else []
        if holder is None:
            return None
        text, line = b"", 0
        for first, _, body, _ in heads:
            text += b"\n" * (first - line) + old[starts[first] : starts[body]]
            line = body
        text += b"\n" * (holder[0] - line)
        low, high = starts[holder[0]], starts[holder[1]]
        then, now = old[low:high], new[low : high + len(new) - len(old)]
        if margin(then) != margin(now):
            # Alone it could stand where it would not between its neighbours.
            return None
        return text + then, text + now


def differing_lines(old, new):
    """Returns where the whole lines of the old text begin and end that are others in the new one."""
    shorter = min(len(old), len(new))
    start = alike(shorter, lambda low, high: old[low:high] == new[low:high])
    ends = lambda low, high: old[len(old) - high : len(old) - low] == new[len(new) - high : len(new) - low]
    end = len(old) - alike(shorter - start, ends)
    start = old.rfind(b"\n", 0, start) + 1
    there = end + len(new) - len(old)
    if old[:end][-1:] not in (b"", b"\n") or new[:there][-1:] not in (b"", b"\n"):
        end = (old.find(b"\n", end) + 1) or len(old)
    return start, end


def alike(most, same):
    """Returns how many bytes are the same, by halves."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if same(low, middle):
            low = middle
        else:
            high = middle - 1
    return low


def margin(text):
    return text[: len(text) - len(text.lstrip())]


def statements(node):
    """Returns of each its first line, the line behind it, and of classes where their body begins and what is in it."""
    found, before = [], 0
    if isinstance(node, ast.ClassDef):
        before = node.lineno
    for one in node.body:
        first = min([one.lineno] + [part.lineno for part in getattr(one, "decorator_list", ())]) - 1
        if first < before:
            # Two on one line cannot be told apart by lines.
            return []
        inside = statements(one) if isinstance(one, ast.ClassDef) else []
        found.append((first, one.end_lineno, inside[0][0] if inside else 0, inside))
        before = one.end_lineno
    return found
