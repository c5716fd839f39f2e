"""Makes single-definition bugs in small functions of real packages that have tests.

    python make.py SDISTS OUT [--seed 1] [--each 6] [--python PYTHON]

SDISTS is a folder of source distributions (`pip download --no-deps --no-binary :all: NAME==VERSION`; packages.txt
has the list). A bug is a random change of the words of one function: a word replaced by another word of the same
file, a word too many or too few, a line doubled, lost, moved or indented otherwise. There is no list of operators
here, on purpose: what the search suspects must not decide what it is measured with.
A bug counts when the file still parses, some test fails, and at most a third of the tests do.
One JSON object a bug goes to OUT/bugs.jsonl; half of the tests are held back (`held`) to judge what a fix is worth.
"""

import argparse
import ast
import io
import json
import keyword
import os
import pathlib
import random
import subprocess
import sys
import tarfile
import tempfile
import tokenize

import lab

# A suite that is run dozens of times for one bug should take seconds.
SLOWEST = 20


def unpack(sdist, to):
    with tarfile.open(sdist) as archive:
        archive.extractall(to, filter="data")
    return next(path for path in pathlib.Path(to).iterdir() if path.is_dir())


def small_functions(root, called):
    """Functions of 3 to 40 lines that the tests call."""
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if lab.is_test(name) or name in ("setup.py", "conftest.py") or name.startswith(("docs/", "examples/", "benchmarks/")):
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if 3 <= node.end_lineno - node.lineno + 1 <= 40 and (name, node.name) in called:
                    yield path, node


def words_of(source):
    """The words of a file, with where they stand."""
    found = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME:
            kind = "keyword" if keyword.iskeyword(token.string) else "name"
        elif token.type == tokenize.NUMBER:
            kind = "number"
        elif token.type == tokenize.STRING and "\n" not in token.string:
            kind = "string"
        elif token.type == tokenize.OP:
            kind = "sign"
        else:
            continue
        found.append((kind, token.string, token.start, token.end))
    return found


def changed(source, node, rng):
    """One random change inside of a function."""
    lines = source.splitlines(keepends=True)
    body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
    first, last = body[0].lineno, node.end_lineno
    everything = words_of(source)
    words = [word for word in everything if first <= word[2][0] <= last]
    near = [word for word in words]
    way = rng.choice(["replace"] * 10 + ["lose", "add", "lose line", "double line", "swap lines", "indent"])
    if way in ("replace", "lose", "add"):
        kind, text, (row, start), (_, end) = rng.choice(words)
        pool = near if rng.random() < 0.7 else everything
        same = [word[1] for word in pool if word[0] == kind and word[1] != text]
        if way == "replace":
            if kind == "number" and rng.random() < 0.5:
                new = str(rng.randint(0, 9))
            elif same:
                new = rng.choice(same)
            else:
                return None
        elif way == "lose":
            new = ""
        else:
            new = text + " " + rng.choice(pool)[1]
        line = lines[row - 1]
        lines[row - 1] = line[:start] + new + line[end:]
    else:
        row = rng.randint(first, last)
        line = lines[row - 1]
        if way == "lose line":
            lines[row - 1] = ""
        elif way == "double line":
            lines[row - 1] = line + line
        elif way == "swap lines":
            if row >= last:
                return None
            lines[row - 1], lines[row] = lines[row], line
        else:
            lines[row - 1] = line[4:] if line.startswith("        ") and rng.random() < 0.5 else "    " + line
    return "".join(lines)


def same_program(one, other):
    try:
        return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))
    except (SyntaxError, ValueError):
        return None


def definition_changed(before, after, name):
    """The change stays inside of the function."""

    def others(source):
        tree = ast.parse(source)
        for node in ast.walk(tree):
            for child in getattr(node, "body", []) if isinstance(getattr(node, "body", None), list) else []:
                if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) and child.name == name:
                    child.body = [ast.Pass()]
        return ast.dump(tree)

    return others(before) == others(after)


def bugs_of(sdist, out, each, rng, python):
    with tempfile.TemporaryDirectory() as folder:
        root = unpack(sdist, folder)
        lab.prepare(root)
        report = lab.run_tests(root, python, limit=60)
        if report is None or report.failed or report.collect_errors or len(report.passed) < 8:
            found = report and (len(report.passed), len(report.failed), report.collect_errors)
            print(f"{sdist.name}: not usable (passed, failed, files with errors: {found})", flush=True)
            return
        if report.seconds > SLOWEST:
            print(f"{sdist.name}: not usable (its tests take {report.seconds:.0f} s)", flush=True)
            return
        called = lab.called_functions(root, python)
        functions = list(small_functions(root, called))
        rng.shuffle(functions)
        made = 0
        for path, node in functions:
            if made >= each:
                break
            source = path.read_text(encoding="utf-8")
            for _ in range(6):
                try:
                    text = changed(source, node, rng)
                except (IndexError, tokenize.TokenError):
                    continue
                if text is None or same_program(source, text) is not False or not definition_changed(source, text, node.name):
                    continue
                path.write_text(text, encoding="utf-8")
                after = lab.run_tests(root, python, limit=max(10, report.seconds * 4))
                path.write_text(source, encoding="utf-8")
                if after is None or not after.failed or len(after.failed) > max(3, len(report.passed) // 3):
                    continue
                if after.collect_errors:
                    continue
                # Cases of one test stay together.
                base = lambda test: test.split("[")[0]
                failing = sorted({base(test) for test in after.failed})
                rng.shuffle(failing)
                seen = set(failing[: (len(failing) + 1) // 2])
                passing = sorted({base(test) for test in report.passed} - set(failing))
                held = sorted(set(failing) - seen) + rng.sample(passing, len(passing) // 2)
                seen = sorted(test for test in after.failed if base(test) in seen)
                bug = {
                    "id": f"{sdist.name.rsplit('-', 1)[0]}-{made}",
                    "sdist": sdist.name,
                    "path": path.relative_to(root).as_posix(),
                    "name": node.name,
                    "line": node.lineno,
                    "source": text,
                    "failing": seen,
                    "held_failing": sorted(set(failing) - {base(test) for test in seen}),
                    "held": held,
                    "suite_seconds": report.seconds,
                }
                with open(out / "bugs.jsonl", "a", encoding="utf-8") as file:
                    file.write(json.dumps(bug) + "\n")
                made += 1
                break
        print(f"{sdist.name}: {made} bugs, {len(report.passed)} tests in {report.seconds:.1f} s", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sdists", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=6)
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    # The tests run elsewhere; the virtualenv's own link must stay what it is.
    options.python = os.path.abspath(options.python)
    options.out.mkdir(parents=True, exist_ok=True)
    for sdist in sorted(options.sdists.glob("*.tar.gz")):
        try:
            bugs_of(sdist, options.out, options.each, random.Random(f"{options.seed} {sdist.name}"), options.python)
        except (OSError, subprocess.SubprocessError, StopIteration) as error:
            print(f"{sdist.name}: {error}", flush=True)


if __name__ == "__main__":
    main()
