"""What a very small model makes of one-line bugs, by the form it is asked in.

    python forms.py PYTHON [--only 1,5]

PYTHON is an interpreter with what `tests/requirements-model.txt` lists. The bugs are those of `tuning.py`, never the ten
that `run.py` measures. Each is asked for directly, likeliest reply, with the system prompt of a rewrite; its tests decide.
`again` is asked after a first reply that failed, in the same conversation.
"""

import argparse
import json
import os
import pathlib
import re
import urllib.request

from run import llama, weights
from tuning import BUGS

PROMPTS = pathlib.Path(__file__).resolve().parents[2] / "crates" / "harness-agent" / "prompts"


def prompt(name):
    return (PROMPTS / f"{name}.md").read_text(encoding="utf-8").rstrip()


GUARDED = {
    "code": 'def last_item(items):\n    """Return the last item, or None for an empty list."""\n    if not items:\n        return None\n    return items[0]\n',
    "tests": ["last_item([1, 2, 3]) == 3"],
    "task": "fix last_item: it returns the first item",
    "reply": prompt("example_reply"),
}
ONE_LINE = {
    "code": 'def is_short(text):\n    """Return whether a text has fewer than five letters."""\n    return len(text) > 5\n',
    "tests": ['is_short("abc") == True'],
    "task": "fix is_short: it says that abc is not short",
    "reply": prompt("blank_reply"),
}


def name_of(code):
    return re.match(r"def (\w+)", code).group(1)


def holds(code, tests):
    space = {}
    try:
        exec(code, space)
        return all(eval(test, space) for test in tests)
    except Exception:
        return False


def sentence(code, tests):
    """What must be and what is, of the first test that fails."""
    test = next((test for test in tests if not holds(code, [test])), tests[0])
    call, _, wanted = test.partition(" == ")
    space = {}
    try:
        exec(code, space)
        return f"{call} must be {wanted}, but it is {eval(call, space)!r}."
    except Exception as error:
        return f"{call} must be {wanted}, but it fails: {type(error).__name__}: {error}."


def shown(code, place):
    return f"{place}```python\n{code.rstrip()}\n```"


def blank(code, place):
    head = "\n".join(code.split("\n")[:2])
    return f"{place}```python\n{head}\n    ...\n```"


def told(bug, file):
    task = bug["task"].replace(f"fix {name_of(bug['code'])}", f"fix {name_of(bug['code'])} in {file}", 1)
    return f"{sentence(bug['code'], bug['tests'])}\n\nTask: {task}"


def form(body, words, example):
    """A form: what is shown of the code, whether anything is said beside it, and the worked example before it."""

    def one(bug, file):
        place = f"{file}, line 1:\n" if words else ""
        return body(bug["code"], place) + (f"\n\n{told(bug, file)}" if words else "")

    def messages(bug, file):
        return [
            {"role": "system", "content": prompt("rewrite")},
            {"role": "user", "content": one(example, "box.py")},
            {"role": "assistant", "content": example["reply"]},
            {"role": "user", "content": one(bug, file)},
        ]

    return messages


FORMS = {
    "code, failure and task": form(shown, True, GUARDED),
    "code, failure and task; the example is one line": form(shown, True, ONE_LINE),
    "first line and documentation, failure and task": form(blank, True, GUARDED),
    "first line and documentation, failure and task; the example is one line": form(blank, True, ONE_LINE),
    "first line and documentation alone; the example is one line": form(blank, False, ONE_LINE),
}
USED = "first line and documentation alone; the example is one line"


def ask(address, messages):
    body = json.dumps({"model": "smollm2", "messages": messages, "max_tokens": 220, "temperature": 0.0, "seed": 1, "stop": ["\n```\n"]}).encode()
    request = urllib.request.Request(f"{address}/chat/completions", body, {"content-type": "application/json", "authorization": "Bearer the-key"})
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["choices"][0]["message"]["content"]


def code_of(reply):
    found = re.search(r"```(?:python)?\n(.*?)(?:\n```|$)", reply, re.S)
    return (found.group(1) if found else reply) + "\n"


def again(address, messages, reply, bug, file):
    """The same conversation with what failed, the code as it was, and the task."""
    words = f"{sentence(code_of(reply), bug['tests'])}\n\n" + shown(bug["code"], f"{file}, line 1:\n") + f"\n\n{told(bug, file)}"
    return ask(address, [*messages, {"role": "assistant", "content": reply}, {"role": "user", "content": words}])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("python")
    parser.add_argument("--only", default="", help="numbers of forms, in the order of FORMS")
    options = parser.parse_args()
    python = os.path.abspath(options.python)
    bugs = [dict(zip(("code", "tests", "task"), bug)) for bug in BUGS]
    print(f"| form | fixed of {len(bugs)} | with one more reply |\n|---|---|---|")
    with llama(python, weights(python)) as address:
        only = [int(number) - 1 for number in options.only.split(",") if number]
        for name in [list(FORMS)[at] for at in only] or FORMS:
            first = second = 0
            for bug in bugs:
                file = f"{name_of(bug['code'])}.py"
                messages = FORMS[name](bug, file)
                reply = ask(address, messages)
                if holds(code_of(reply), bug["tests"]):
                    first += 1
                elif name == USED:
                    second += holds(code_of(again(address, messages, reply, bug, file)), bug["tests"])
            print(f"| {name} | {first} | {first + second if name == USED else ''} |", flush=True)


if __name__ == "__main__":
    main()
