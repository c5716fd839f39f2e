"""Finds real bug-fix commits that change one small function by a line or two, in bare repositories.

    python commits.py REPOSITORIES OUT.jsonl [--most 3000] [NAME...]

REPOSITORIES holds one folder a repository, with a bare repository named `repo` in it. A commit counts when its first
line speaks of a fix, it changes one Python file besides tests and notes, and there one function of 3 to 60 lines by at
most three lines out and three lines in. One JSON object a commit: where, the function before, the function after.
"""

import argparse
import ast
import json
import pathlib
import re
import subprocess

FIX = re.compile(r"\b(fix|bug|correct|wrong|regression|crash|handle|prevent|typo|off.by|issue|#\d+)", re.I)


def git(repository, *words):
    done = subprocess.run(["git", "-C", str(repository), *words], capture_output=True)
    return done.stdout.decode("utf-8", "replace")


def is_aside(path):
    parts = path.lower().split("/")
    return not path.endswith(".py") or any(part.startswith(("test", "doc", "example", "bench")) or part.endswith("_test.py") for part in parts)


def function_around(source, first, last):
    """The outermost function that holds these lines, as text with its own indentation."""
    found = None
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            start = min([node.lineno] + [decorator.lineno for decorator in node.decorator_list])
            if start <= first and last <= node.end_lineno and (found is None or start < found[1]):
                found = (node.name, start, node.end_lineno)
    return found


def bugs_of(repository, most):
    log = git(repository, "log", "--no-merges", f"-{most}", "--format=%x01%H %s", "--numstat", "HEAD")
    for block in log.split("\x01")[1:]:
        head, *rows = block.strip().split("\n")
        commit, _, subject = head.partition(" ")
        if not FIX.search(subject):
            continue
        changed = [row.split("\t") for row in rows if row.count("\t") == 2]
        code = [row for row in changed if not is_aside(row[2])]
        tests = [row for row in changed if "test" in row[2]]
        if len(code) != 1 or not tests or not (code[0][0].isdigit() and code[0][1].isdigit()):
            continue
        added, gone, path = int(code[0][0]), int(code[0][1]), code[0][2]
        if not 1 <= added + gone <= 6 or added > 3 or gone > 3:
            continue
        before, after = git(repository, "show", f"{commit}~:{path}"), git(repository, "show", f"{commit}:{path}")
        hunks = re.findall(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", git(repository, "show", "-U0", "--format=", commit, "--", path), re.M)
        if not hunks or not before or not after:
            continue
        old = [(int(a), int(b or 1)) for a, b, _, _ in hunks]
        new = [(int(c), int(d or 1)) for _, _, c, d in hunks]
        span = lambda pairs: (min(start for start, _ in pairs), max(start + max(count, 1) - 1 for start, count in pairs))
        try:
            one, other = function_around(before, *span(old)), function_around(after, *span(new))
            if not one or not other or one[0] != other[0] or not 3 <= one[2] - one[1] + 1 <= 60:
                continue
            if ast.dump(ast.parse(before)) == ast.dump(ast.parse(after)):
                continue
        except (SyntaxError, ValueError):
            continue
        yield {
            "commit": commit, "subject": subject, "path": path, "name": one[0], "line": one[1],
            "tests": [row[2] for row in tests], "before": before, "after": after,
        }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("repositories", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--most", type=int, default=3000)
    options = parser.parse_intermixed_args()
    with open(options.out, "w", encoding="utf-8") as file:
        for folder in sorted(options.repositories.iterdir()):
            if not (folder / "repo").is_dir() or (options.names and not any(name in folder.name for name in options.names)):
                continue
            count = 0
            for bug in bugs_of(folder / "repo", options.most):
                file.write(json.dumps({"repository": folder.name.replace("+", "/"), **bug}) + "\n")
                count += 1
            print(f"{folder.name}: {count}", flush=True)


if __name__ == "__main__":
    main()
