"""Puts random misspellings into real packages and counts what is made of them: exact, wrong, asked, nothing.

    cargo build --release -p harness-bench --bin fixes
    python bench/misspell_packages.py [--each 40] [--seed 1] [--cache FOLDER] [--named] [--whole] [-v] [PACKAGE==VERSION ...]

The packages are not those of the cases of bench/fixes.py. A misspelling is one slip (a key beside the right one, two
letters swapped, one left out, one doubled, the wrong capitals) in one use of a name: variables, parameters, builtins,
keyword arguments, attributes of modules and of `self`, imports, decorators, exceptions, annotations, f-strings. It is
kept when the new name stands nowhere in the file and is no builtin, so that Python cannot resolve it. Only a change
that gives back the package's own bytes is exact; every other change is wrong.
"""

import argparse
import ast
import builtins
import collections
import keyword
import random
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from fixes import HERE, Engine, installed

PACKAGES = [
    "more-itertools==10.8.0",
    "cachetools==6.2.2",
    "sortedcontainers==2.4.0",
    "click==8.3.1",
    "parse==1.20.2",
    "jinja2==3.1.6",
    "werkzeug==3.1.3",
    "sqlparse==0.5.3",
    "attrs==25.4.0",
    "requests==2.32.5",
    "rich==14.2.0",
    "networkx==3.4.2",
]

ROWS = ["qwertyuiop", "asdfghjkl", "zxcvbnm"]


def neighbours(letter):
    for row, keys in enumerate(ROWS):
        column = keys.find(letter.lower())
        if column >= 0:
            near = [keys[at] for at in (column - 1, column + 1) if 0 <= at < len(keys)]
            if row > 0:
                near += [ROWS[row - 1][at] for at in (column, column + 1) if at < len(ROWS[row - 1])]
            if row < 2:
                near += [ROWS[row + 1][at] for at in (column - 1, column) if 0 <= at < len(ROWS[row + 1])]
            return [key.upper() if letter.isupper() else key for key in near]
    return []


def slip(name, how, chance):
    """One slip of the hand in a name; None where this kind does not fit it."""
    letters = [at for at, letter in enumerate(name) if letter.isalpha()]
    if not letters:
        return None
    at = chance.choice(letters)
    match how:
        case "neighbour":
            near = neighbours(name[at])
            return name[:at] + chance.choice(near) + name[at + 1 :] if near else None
        case "transpose":
            pairs = [at for at in letters if at + 1 in letters and name[at] != name[at + 1]]
            if not pairs:
                return None
            at = chance.choice(pairs)
            return name[:at] + name[at + 1] + name[at] + name[at + 2 :]
        case "drop":
            return name[:at] + name[at + 1 :]
        case "double":
            return name[:at] + name[at] + name[at:]
        case _:
            if name.islower() and "_" in name.strip("_") and chance.random() < 0.3:
                at = name.index("_", len(name) - len(name.lstrip("_")))
                return name[:at] + name[at + 1 :]
            if name.islower():
                first = letters[0]
                return name[:first] + name[first].upper() + name[first + 1 :]
            return name.lower()


def unpacked(cache, package):
    """The released wheel, unpacked once: what users have, and nothing has to be built."""
    folder = cache / "wheels" / package
    if not folder.exists():
        with tempfile.TemporaryDirectory() as download:
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", download, package], check=True)
            with zipfile.ZipFile(next(Path(download).glob("*.whl"))) as content:
                content.extractall(folder)
    return folder


class Uses(ast.NodeVisitor):
    """The uses of names in a file: line, column in characters, name, category."""

    def __init__(self, text):
        self.lines = text.splitlines(keepends=True)
        self.found = []
        self.modules = set()
        self.stack = []
        self.where = []

    def add(self, line, byte, name, category):
        row = self.lines[line - 1]
        column = len(row.encode()[:byte].decode(errors="ignore"))
        if row[column : column + len(name)] == name:
            self.found.append((line, column, name, "/".join([category, *self.where])))

    def inside(self, what, nodes):
        self.where.append(what)
        for node in nodes:
            if node is not None:
                self.visit(node)
        self.where.pop()

    def visit_Import(self, node):
        for alias in node.names:
            self.modules.add((alias.asname or alias.name).split(".")[0])
            last = alias.name.rsplit(".", 1)
            self.add(alias.lineno, alias.col_offset + len(alias.name) - len(last[-1]), last[-1], "import")

    def visit_ImportFrom(self, node):
        for alias in node.names:
            if alias.name != "*":
                self.add(alias.lineno, alias.col_offset, alias.name, "import_from")

    def function(self, node):
        self.inside("decorator", node.decorator_list)
        arguments = node.args
        annotations = [argument.annotation for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]
        self.inside("annotation", [*annotations, node.returns])
        self.inside("default", [*arguments.defaults, *arguments.kw_defaults])
        names = {argument.arg for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg] if argument}
        stored = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)}
        self.stack.append((names, stored))
        for inner in node.body:
            self.visit(inner)
        self.stack.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = function

    def visit_ClassDef(self, node):
        self.inside("decorator", node.decorator_list)
        self.inside("base", node.bases)
        for inner in node.body:
            if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self.visit(inner)
            else:
                self.inside("class_body", [inner])

    def comprehension(self, node):
        self.inside("comprehension", ast.iter_child_nodes(node))

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension

    def visit_AnnAssign(self, node):
        self.inside("annotation", [node.annotation])
        self.visit(node.target)
        if node.value:
            self.visit(node.value)

    def visit_Raise(self, node):
        self.inside("exception", [node.exc, node.cause])

    def visit_ExceptHandler(self, node):
        self.inside("exception", [node.type])
        for inner in node.body:
            self.visit(inner)

    def visit_JoinedStr(self, node):
        # Places inside f-strings are not told by every Python; a name right after a brace is found in the text.
        for inner in node.values:
            if isinstance(inner, ast.FormattedValue) and isinstance(inner.value, ast.Name):
                for line in range(node.lineno, node.end_lineno + 1):
                    row = self.lines[line - 1]
                    for match in re.finditer(r"(?<!\{)\{(" + inner.value.id + r")[}!:=]", row):
                        self.add(line, len(row[: match.start(1)].encode()), inner.value.id, "f_string")

    def visit_Name(self, node):
        if not isinstance(node.ctx, ast.Load) or node.id in ("self", "cls"):
            return
        if any(node.id in names for names, _ in self.stack):
            category = "parameter"
        elif any(node.id in stored for _, stored in self.stack):
            category = "local_variable"
        elif node.id in self.modules:
            category = "module"
        elif hasattr(builtins, node.id):
            category = "builtin"
        else:
            category = "global"
        self.add(node.lineno, node.col_offset, node.id, category)

    def visit_Attribute(self, node):
        self.visit(node.value)
        if not isinstance(node.ctx, ast.Load) or not isinstance(node.value, ast.Name):
            return
        if node.value.id == "self":
            self.add(node.end_lineno, node.end_col_offset - len(node.attr.encode()), node.attr, "self_attribute")
        elif node.value.id in self.modules:
            self.add(node.end_lineno, node.end_col_offset - len(node.attr.encode()), node.attr, "module_attribute")

    def visit_keyword(self, node):
        if node.arg:
            self.add(node.lineno, node.col_offset, node.arg, "keyword_argument")
        self.visit(node.value)


def cases(folder, each, chance):
    """Random misspellings of a package, spread over the categories."""
    by_category = collections.defaultdict(list)
    for path in sorted(folder.rglob("*.py")):
        relative = path.relative_to(folder).as_posix()
        parts = relative.lower().split("/")
        if any(part in ("docs", "doc", "examples", "build", "benchmarks", "tools") for part in parts) or "test" in relative or relative == "setup.py":
            continue
        try:
            text = path.read_bytes().decode("utf-8")
            tree = ast.parse(text)
        except (SyntaxError, UnicodeDecodeError, ValueError):
            continue
        uses = Uses(text)
        uses.visit(tree)
        for line, column, name, category in uses.found:
            if len(name) > 2 and not (name.startswith("__") and name.endswith("__")):
                by_category[category].append((relative, line, column, name))
    made = []
    categories = sorted(by_category)
    while categories and len(made) < each:
        category = chance.choice(categories)
        path, line, column, name = chance.choice(by_category[category])
        how = chance.choice(["neighbour", "transpose", "drop", "double", "case"])
        wrong = slip(name, how, chance)
        text = (folder / path).read_bytes().decode("utf-8")
        if not wrong or wrong == name or not wrong.isidentifier() or keyword.iskeyword(wrong) or hasattr(builtins, wrong):
            continue
        if re.search(r"\b" + re.escape(wrong) + r"\b", text):
            continue
        made.append((path, line, column, name, wrong, how, category))
    return made


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("packages", nargs="*", default=PACKAGES)
    parser.add_argument("--program", default=str(HERE / "target" / "release" / "fixes"))
    parser.add_argument("--each", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "harness-fixes")
    parser.add_argument("--named", action="store_true", help="hand the wrong name over, as an error message would")
    parser.add_argument("--whole", action="store_true", help="name no file: search the whole package")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    engine = Engine(options.program)
    totals = collections.Counter()
    by_category = collections.defaultdict(collections.Counter)
    for package in options.packages:
        folder = unpacked(options.cache, package)
        counts = collections.Counter()
        for path, line, column, right, wrong, how, category in cases(folder, options.each, random.Random(f"{options.seed} {package}")):
            file = folder / path
            before = file.read_bytes().decode("utf-8")
            rows = before.splitlines(keepends=True)
            rows[line - 1] = rows[line - 1][:column] + wrong + rows[line - 1][column + len(right) :]
            file.write_bytes("".join(rows).encode())
            try:
                given = {"names": [wrong]} if options.named else {}
                answer = engine.ask(do="misspelled", root=str(folder), files=[] if options.whole else [path], installed=installed(), **given)
            finally:
                file.write_bytes(before.encode())
            result = {"ask": "asked", "refuse": "refused", "nothing": "nothing"}.get(answer["answer"])
            if result is None:
                result = "exact" if answer["files"] == {path: before} else "wrong"
            counts[result] += 1
            by_category[category][result] += 1
            if result == "wrong" or (options.verbose and result != "exact"):
                print(f"  {result}: {package} {path}:{line} {category} {how} `{right}` -> `{wrong}` | {answer.get('summary') or answer.get('options') or answer.get('reason') or ''} | {before.splitlines()[line - 1].strip()[:90]}")
        print(f"{package}: {dict(counts)}", flush=True)
        totals.update(counts)
    for category in sorted(by_category):
        print(f"    {category}: {dict(by_category[category])}")
    print(f"all: {dict(totals)}")


if __name__ == "__main__":
    main()
