"""Renames asked for in 720 generated sentences: how many are renamed as meant, asked about, or wrong.

    python3 bench/rename_sentences.py target/debug/harness [--seed 1] [--count 720] [--show]

Every sentence is put together from a form, a word of kind, quotes and a remark, drawn by a seeded generator. Half of
the new names are words of kind themselves (`name`, `helper`, `type`). The project is a small one in which every old
name stands once; each sentence is run with `run --dry-run --json`, and its diff must be the diff of exactly that
rename. Standard library only; one JSON row on stdout.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile

PROJECT = {
    "shop.py": '''\
LIMIT = 3


def alpha(count):
    return count + LIMIT


def compute_total(items, p):
    beta = alpha(len(items))
    return beta * p


class Cart:
    def __init__(self):
        self.size = 0

    def gamma(self):
        return self.size
''',
    "app.py": '''\
from shop import LIMIT, Cart, alpha, compute_total

cart = Cart()
print(alpha(LIMIT), compute_total([], p=1), cart.gamma(), cart.size)
''',
}
# What there is, which kinds of thing it may be called, and how it may be said where it is.
THINGS = [
    ("alpha", ["function", "helper"], ["", " in shop.py"]),
    ("compute_total", ["function", "helper"], [""]),
    ("LIMIT", ["constant", "variable", "name"], ["", " in shop.py"]),
    ("Cart", ["class", "type"], [""]),
    ("gamma", ["method"], ["", " of Cart", " in the class Cart"]),
    ("size", ["attribute", "field"], ["", " of Cart"]),
    ("p", ["parameter", "argument"], ["", " of compute_total"]),
    ("beta", ["variable", "local variable"], ["", " in compute_total"]),
]
NEW_NAMES = [
    "name", "helper", "type", "kind", "function", "method", "variable", "arg", "param", "field", "member", "symbol",
    "module", "constant", "attribute", "parameter",
    "total", "amount", "fetch", "first", "Basket", "new_name", "getAll", "entry", "payload", "x2",
]  # fmt: skip
QUOTES = [("", ""), ("", ""), ("", ""), ("`", "`"), ("'", "'"), ('"', '"'), ("“", "”"), ("(", ")"), ("[", "]"), ("", "()")]
REMARKS = [
    "", " everywhere", " please", " across the project", " in the whole code base", " throughout", ", please", ", thanks",
    " in all files", " wherever it is used", " and update all callers", " for me", " now", " project-wide", " instead",
    " (everywhere)", " - everywhere", " globally", " so that it is clear", " because it reads better", ".", "!",
    " across all modules", " in the entire repository", " as discussed", " too", " when you can", " with all its uses",
]  # fmt: skip
FORMS = [
    "rename {old}{where} to {new}{remark}",
    "rename the {kind} {old}{where} to {new}{remark}",
    "rename {kind} {old}{where} to {new}{remark}",
    "rename the {old} {kind}{where} to {new}{remark}",
    "please rename {old}{where} to {new}{remark}",
    "can you rename the {kind} {old}{where} to {new}{remark}",
    "Rename {old} to {new}{where}{remark}",
    "rename the {kind} {old} to {new}{where}{remark}",
    "rename {old} into {new}{remark}",
    "rename {old} -> {new}{remark}",
    "change the name of {old}{where} to {new}{remark}",
    "change the name of the {kind} {old}{where} to {new}{remark}",
    "the {kind} {old}{where} should be renamed to {new}{remark}",
    "{old} should be called {new}{remark}",
    "I want the {kind} {old} to be called {new}{remark}",
    "everywhere in the project, rename {old}{where} to {new}{remark}",
    "across the code base rename the {kind} {old} to {new}{remark}",
    "rename all uses of {old}{where} to {new}{remark}",
    "call it {new} instead of {old}{remark}",
    "let's rename {old}{where} to {new}{remark}",
]


def sentences(count, seed):
    """Returns (sentence, old, new), no sentence twice."""
    random_ = random.Random(seed)
    made = {}
    while len(made) < count:
        old, kinds, places = random_.choice(THINGS)
        new = random_.choice(NEW_NAMES)
        (left, right), (old_left, old_right) = random_.choice(QUOTES), random_.choice(QUOTES)
        form = random_.choice(FORMS)
        text = form.format(
            old=old_left + old + old_right,
            new=left + new + right,
            kind=random_.choice(kinds),
            where=random_.choice(places),
            remark=random_.choice(REMARKS),
        )
        made.setdefault(text, (text, old, new))
    return list(made.values())


def expected(old, new):
    """Returns the lines that a right diff adds: every word that is the old name, in all files."""
    added = []
    for text in PROJECT.values():
        for line in text.splitlines():
            changed = re.sub(rf"\b{old}\b", new, line)
            if changed != line:
                added.append(changed)
    return sorted(added)


def judge(program, project, env, sentence, old, new):
    words = [program, "run", "--dry-run", "--json", "--project", project, sentence]
    done = subprocess.run(words, capture_output=True, text=True, env=env, timeout=120, stdin=subprocess.DEVNULL)
    try:
        result = json.loads(done.stdout)
    except ValueError:
        return "failed", done.stderr[-300:]
    diff = result.get("diff") or ""
    added = sorted(line[1:] for line in diff.splitlines() if line.startswith("+") and not line.startswith("+++"))
    if not diff:
        return "asked" if result.get("stopped") == "question" else "not renamed", result.get("summary", "")
    return ("right", "") if added == expected(old, new) else ("wrong", diff)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=720)
    parser.add_argument("--show", action="store_true", help="print every sentence that was not renamed right")
    given = parser.parse_args()
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        project = pathlib.Path(folder, "project")
        project.mkdir()
        for name, text in PROJECT.items():
            (project / name).write_text(text, encoding="utf-8")
        # No engine answers there: what is not renamed without a model is not renamed.
        env = {**os.environ, "HOME": folder, "OLLAMA_HOST": "127.0.0.1:9", "NO_COLOR": "1"}
        program = str(given.program.resolve())
        cases = sentences(given.count, given.seed)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            verdicts = pool.map(lambda case: judge(program, str(project), env, *case), cases)
            for (sentence, old, new), (verdict, why) in zip(cases, verdicts):
                counts[verdict] += 1
                if given.show and verdict != "right":
                    print(f"{verdict}: {sentence}  [{old} -> {new}]  {why}")
    total = sum(counts.values())
    row = {"sentences": total, "seed": given.seed, **{name: counts[name] for name in ("right", "wrong", "asked", "not renamed", "failed")}}
    print(json.dumps({**row, "right_share": round(counts["right"] / total, 4)}))


if __name__ == "__main__":
    main()
