"""A try compiles the changed statement alone: what it exchanges must be what the whole file would give."""

import importlib.util
import os
import pathlib
import random
import warnings

SUITE = pathlib.Path(__file__).resolve().parents[2] / "crates/harness-hands/src/suite"
LIBRARY = pathlib.Path(os.__file__).parent


def loaded(name):
    spec = importlib.util.spec_from_file_location(name, SUITE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


pieces = loaded("pieces")


def exchanged(old, new):
    """Returns the name, the line and the meaning of each function that a change exchanges."""
    try:
        chains = list(pieces.differing(old, new, []))
    except pieces.Stale:
        return "stale"
    # The bytes may differ: how a call is written depends on what else the file imports.
    return [[(a.co_name, a.co_firstlineno, b.co_names, b.co_varnames, b.co_freevars) for a, b in chain] for chain in chains]


def changed(lines, chance):
    lines, at, kind = list(lines), chance.randrange(len(lines)), chance.randrange(7)
    column = chance.randrange(len(lines[at]) + 1)
    if kind == 0:
        lines[at] = lines[at].replace("==", "!=") if "==" in lines[at] else lines[at].replace("self", "this", 1)
    elif kind == 1:
        lines.insert(at, lines[at])
    elif kind == 2:
        del lines[at]
    elif kind == 3:
        lines[at : at + 2] = reversed(lines[at : at + 2])
    elif kind == 4:
        lines[at] = "    " + lines[at]
    elif kind == 5:
        lines[at] = lines[at][4:]
    else:
        lines[at] = lines[at][:column] + chance.choice("a1 (#\n") + lines[at][column:]
    return "\n".join(lines)


def test_a_piece_exchanges_what_the_whole_file_would():
    chance = random.Random(7)
    files = [path for folder in (LIBRARY, LIBRARY / "asyncio") for path in sorted(folder.glob("*.py"))]
    cut = 0
    for path in chance.sample(files, 20):
        source = path.read_text(encoding="utf-8")
        if chance.random() < 0.2:
            source = source.replace("\n", "\r\n")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            original = pieces.Original(source, str(path))
            for _ in range(12):
                new = changed(source.split("\n"), chance).encode()
                try:
                    whole = exchanged(original.code, compile(new, str(path), "exec", dont_inherit=True))
                except (SyntaxError, ValueError):
                    whole = "broken"
                try:
                    old, now = original.beside(new)
                    piece = exchanged(old, now)
                except (SyntaxError, ValueError):
                    piece = "broken"
                cut += piece not in ("broken", "stale") and old is not original.code
                # What the whole file cannot tell (lines that moved) a piece may; never the other way round.
                assert piece == whole or (whole, piece) == ("broken", "stale") or whole == "stale", (path, new)
    assert cut > 60


def test_a_line_that_moves_into_a_function_is_not_overlooked():
    before = "def f():\n    one()\ntwo()\n\ndef g():\n    pass\n"
    after = before.replace("two()", "    two()")
    original = pieces.Original(before, "x.py")
    old, new = original.beside(after.encode())
    assert exchanged(old, new) == "stale"


def test_a_method_keeps_the_names_of_its_class():
    before = "class A(B):\n    def f(self):\n        return self.__x\n\n    def g(self):\n        return super().g()\n"
    original = pieces.Original(before, "x.py")
    old, new = original.beside(before.replace("self.__x", "self.__y").encode())
    assert exchanged(old, new) == [[("f", 2, ("_A__y",), ("self",), ())]]
    old, new = original.beside(before.replace("super().g", "super().h").encode())
    assert exchanged(old, new)[0][0][4] == ("__class__",)


def test_code_that_never_ran_is_not_taken_for_code_that_did():
    """What ran and is gone makes room for other code; a try must not be told that this one ran."""
    calls = loaded("quick").Calls()

    class Frame:
        pass

    for number in range(50):
        frame = Frame()
        frame.f_code = compile(f"x = {number}", "gone.py", "exec")
        calls.profile(frame, "call", None)
    new = [compile(f"y = {number}", "new.py", "exec") for number in range(200)]
    assert not any(id(code) in calls.seen for code in new)
