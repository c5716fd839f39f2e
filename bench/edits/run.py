#!/usr/bin/env python3
"""How well imperfect edits are placed: ours, and the appliers of aider, codex and opencode beside it when they are given.

    cargo build -p harness-bench --bin edits
    python3 bench/edits/run.py --cases FOLDER [--mirror FOLDER] [--aider PYTHON] [--codex PROGRAM] [--opencode MODULE]

`--codex` is the program of the npm package `@openai/codex` under the name `apply_patch` (a link is enough). `--opencode`
is the part of opencode's `packages/opencode/src/tool/edit.ts` from `export type Replacer` on, its types taken away:

    sed -n '/^export type Replacer/,$p' edit.ts | npx esbuild --loader=ts > replace.mjs

`suites.jsonl`: cases of other agents' own suites, with what they expect. `real.jsonl`: edits that models wrote
against files of public repositories; the files come from bare copies, one folder `<owner>+<name>/repo` each.
Nothing of the cases is kept here. README.md has the figures that were measured.
"""

import argparse
import collections
import difflib
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = next((place for place in (ROOT / "target" / kind / "edits" for kind in ("release", "debug")) if place.exists()), ROOT / "target" / "debug" / "edits")


class Applier:
    """Our applier, asked one question a line."""

    def __init__(self):
        self.process = subprocess.Popen([str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def ask(self, **question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def replace(self, path, content, old, new):
        """Placing alone, as the others do it."""
        return self.ask(do="replace", path="file", content=content, old=old, new=new).get("text")

    def replace_if_it_parses(self, path, content, old, new):
        """As a run does it: what parsed and would not parse any more is refused."""
        return self.ask(do="replace", path=path, content=content, old=old, new=new).get("text")


class Aider:
    """aider's search/replace applier, in an interpreter that has it."""

    # Only the module that places blocks is loaded; what it imports for talking to models is not needed.
    CODE = """
import importlib.util, json, sys, types
folder = importlib.util.find_spec("aider").submodule_search_locations[0]
def module(name, **names):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(names)
module("aider", __path__=[folder])
module("aider.coders", __path__=[folder + "/coders"])
module("aider.utils")
sys.modules["aider"].utils = sys.modules["aider.utils"]
module("aider.dump", dump=print)
module("aider.coders.base_coder", Coder=object)
from aider.coders.editblock_coder import replace_most_similar_chunk as place
for line in sys.stdin:
    question = json.loads(line)
    try:
        done = place(question["content"], question["old"], question["new"])
    except Exception:
        done = None
    print(json.dumps({"text": done}), flush=True)
"""

    def __init__(self, python):
        self.process = subprocess.Popen([python, "-c", self.CODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def replace(self, path, content, old, new):
        self.process.stdin.write(json.dumps({"content": content, "old": old, "new": new}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["text"]


# The answer of an applier whose form cannot say the edit.
LEFT_OUT = object()


class Codex:
    """codex's `apply_patch`: the passage becomes one hunk of a patch, its lines taken away and the new ones put in."""

    def __init__(self, program):
        self.program = pathlib.Path(program).absolute()

    def replace(self, path, content, old, new):
        # A patch without a line to find adds at the end of the file, and a hunk is made of whole lines: a passage that
        # begins or ends inside a line cannot be said in one.
        inside_lines = old in content and f"\n{old}" not in f"\n{content}"
        if not old.strip() or inside_lines:
            return LEFT_OUT
        lines = lambda text: text.removesuffix("\n").split("\n") if text else []
        hunk = [f"-{line}" for line in lines(old)] + [f"+{line}" for line in lines(new)]
        patch = "\n".join(["*** Begin Patch", "*** Update File: file", "@@", *hunk, "*** End Patch"])
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "file"
            file.write_bytes(content.encode("utf-8", "surrogateescape"))
            done = subprocess.run([str(self.program), patch], cwd=folder, capture_output=True)
            return file.read_bytes().decode("utf-8", "surrogateescape") if done.returncode == 0 else None


class OpenCode:
    """opencode's `replace`, with the line ends of the file put into both texts as its tool does."""

    CODE = """
import readline from "node:readline"
const { replace } = await import("file://" + process.argv[1])
const ends = (text, crlf) => { const bare = text.replaceAll("\\r\\n", "\\n"); return crlf ? bare.replaceAll("\\n", "\\r\\n") : bare }
for await (const line of readline.createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line)
  const crlf = asked.content.includes("\\r\\n")
  let text = null
  try {
    if (asked.old !== "") text = replace(asked.content, ends(asked.old, crlf), ends(asked.new, crlf))
  } catch {}
  console.log(JSON.stringify({ text }))
}
"""

    def __init__(self, module):
        module = str(pathlib.Path(module).absolute())
        self.process = subprocess.Popen(["node", "--input-type=module", "-e", self.CODE, module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def ask(self, content, old, new):
        self.process.stdin.write(json.dumps({"content": content, "old": old, "new": new}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["text"]

    def replace(self, path, content, old, new):
        return self.ask(content, old, new)

    def replace_without_last_end(self, path, content, old, new):
        """The same edit as its own models write it: without the last line end of both texts."""
        if old.endswith("\n") and new.endswith("\n"):
            old, new = old[:-1], new[:-1]
        return self.ask(content, old, new)


# ---------------------------------------------------------------------------------------------------------- suites

def utf16(text, at):
    """The byte offset `at` as other tools count it: in UTF-16 units."""
    return len(text.encode()[:at].decode().encode("utf-16-le")) // 2


def spans(applier, case):
    content = case["original"]
    return [[utf16(content, a), utf16(content, b)] for a, b in applier.ask(do="places", content=content, old=case["edit"]["search"])["places"]]


def find_span(applier, case):
    found = spans(applier, case)
    return (found[0] if found else None) == case["expected"]


def find_spans(applier, case):
    found = spans(applier, case)
    for expect in case["raw_expects"]:
        path, value = expect["path"], expect["value"]
        if expect["op"] == "toHaveLength":
            held = len(found) == value
        elif not path:
            held = found == value
        else:
            at = int(path[0])
            if path[1:] == ["strategyName"]:
                continue  # How it was found is the other tool's own word.
            seen = found[at] if at < len(found) else [None, None]
            held = seen == [value["startIndex"], value["endIndex"]] if len(path) == 1 else seen[path[1] == "endIndex"] == value
        if not held:
            return False
    return True


def as_expected(case, text):
    if case["expect_error"]:
        return text is None
    if text is None:
        return False
    if case["expected"] is not None:
        return text == case["expected"]
    wanted = case.get("expected_contains")
    if wanted:
        # Their tests look for the new lines; where the file stands deeper, so do its new lines.
        bare = lambda block: [line.strip() for line in block.splitlines()]
        return "\n".join(bare(wanted)) in "\n".join(bare(text))
    raw = next((expect["value"] for expect in case.get("raw_expects", []) if expect["op"] == "toEqual"), None)
    if raw and isinstance(raw[0], dict):
        return text.splitlines() == [line["line"] for line in raw if line["type"] != "old"]
    return True


def search_replace(applier, case):
    edit = case["edit"]
    if not edit["search"].strip():
        hunk = {"files": {"*": case["original"]}, "reply": json.dumps({"tool": "patch", "path": "file", "old": edit["search"], "new": edit["replace"]})}
        return as_expected(case, only(applier.ask(do="reply", **hunk)))
    answer = applier.ask(do="replace", path="file", content=case["original"], old=edit["search"], new=edit["replace"], all=bool(edit.get("replace_all")))
    return as_expected(case, answer.get("text"))


def multi_search_replace(applier, case):
    text = case["original"]
    for edit in case["edit"]:
        if text is None:
            break
        one = {"original": text, "edit": {"search": edit["old_string"], "replace": edit["new_string"]}}
        if not edit["old_string"]:
            call = json.dumps({"tool": "patch", "path": "file", "old": "", "new": edit["new_string"]})
            text = only(applier.ask(do="reply", files={"*": one["original"]}, reply=call))
        else:
            text = applier.ask(do="replace", path="file", content=text, old=edit["old_string"], new=edit["new_string"], all=bool(edit.get("replace_all"))).get("text")
    return as_expected(case, text)


def only(answer):
    after = answer.get("after")
    return next(iter(after.values())) if after else None


def whole_reply(applier, case):
    answer = applier.ask(do="reply", files={"*": case["original"]}, reply=case["edit"])
    return as_expected(case, only(answer))


def apply_patch(applier, case):
    answer = applier.ask(do="reply", files=case["original"], reply=case["edit"])
    files = dict(case["original"])
    for path, text in (answer.get("after") or {}).items():
        files[path] = text
    files = {path: text for path, text in files.items() if text is not None}
    return files == case["expected"] and ("error" in answer) == case["expect_error"]


def find_filename(applier, case):
    lines, _fences, known = case["edit"]
    # The lines were recorded after the tool under test had turned them round in place.
    lines = [line.rstrip("\n") for line in reversed(lines)]
    return applier.ask(do="path", lines=lines, known=known or [])["path"] == case["expected"]


def parsed_reply(applier, case):
    answer = applier.ask(do="reply", files={}, reply=case["edit"])
    if case["expect_error"]:
        return "hunks" not in answer
    return answer.get("hunks") == case["expected"]


def parsed_diff(applier, case):
    hunks = applier.ask(do="reply", files={}, reply=case["edit"]).get("hunks")
    wanted = [[path, "".join(l[1:] for l in lines if l[0] != "+"), "".join(l[1:] for l in lines if l[0] != "-")] for path, lines in case["expected"]]
    return hunks == wanted


def marker_check(applier, case):
    answer = applier.ask(do="reply", files={}, reply=case["edit"])
    return ("hunks" in answer) == case["expected"]


FORMATS = {
    "find_span": find_span, "find_spans": find_spans, "search_replace": search_replace,
    "multi_search_replace": multi_search_replace, "roo_search_replace": whole_reply, "unified_diff": whole_reply,
    "apply_patch": apply_patch, "find_filename": find_filename, "parse_search_replace_reply": parsed_reply,
    "parse_udiff_reply": parsed_diff, "roo_marker_check": marker_check,
}


def suites(applier, cases):
    right, total, missed = collections.Counter(), collections.Counter(), []
    for case in cases:
        total[case["format"]] += 1
        if FORMATS[case["format"]](applier, case):
            right[case["format"]] += 1
        else:
            missed.append(case["id"])
    print("\nCases of other agents' suites, as expected:")
    for name in sorted(total):
        print(f"  {right[name]:4} of {total[name]:4}  {name}")
    print(f"  {sum(right.values()):4} of {sum(total.values()):4}  = {100 * sum(right.values()) / sum(total.values()):.1f} %")
    print("  not as expected:", ", ".join(missed) or "none")


# ------------------------------------------------------------------------------------------------------------ real

def digest(text):
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def without_blank(text):
    return "\n".join(line for line in text.splitlines() if line.strip())


def changed_lines(before, after):
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    ops = [op for op in matcher.get_opcodes() if op[0] != "equal"]
    return (min(op[1] for op in ops) + 1, max(op[2] for op in ops)) if ops else None


def judged(case, content, text):
    """right, asked (refused where that is accepted too), refused, wrong, or unknown."""
    truth = case["truth"]
    if truth in ("none", "noop"):
        return "unknown"
    if text is LEFT_OUT:
        return "left out"
    if text is None or text == content:
        return "asked" if truth in ("reject", "first_or_ask") else "refused"
    if truth == "content":
        alike = digest(text) == case["expected_sha"] or digest(without_blank(text)) == case.get("expected_nb_sha")
        return "right" if alike else "wrong"
    if truth == "content_ws":
        return "right" if digest("".join(text.split())) == case["expected_ws_sha"] else "wrong"
    if truth == "span":
        seen, (first, last) = changed_lines(content, text), case["span"]
        return "right" if seen and seen[0] >= first - 1 and seen[1] <= last + 1 else "wrong"
    if truth == "first_or_ask":
        return "right" if text == content.replace(case["search"], case["replace"], 1) else "wrong"
    return "wrong"


def real(appliers, cases, mirror):
    files, absent = {}, collections.Counter()
    tables = {name: collections.Counter() for name in appliers}
    faults = collections.defaultdict(list)
    for case in cases:
        key = (case["repo"], case["blob"])
        if key not in files:
            repository = mirror / case["repo"].replace("/", "+") / "repo"
            shown = subprocess.run(["git", "-C", str(repository), "show", case["blob"]], capture_output=True)
            files[key] = shown.stdout.decode("utf-8", "replace") if shown.returncode == 0 else None
        content = files[key]
        if content is None:
            absent[case["repo"]] += 1
            continue
        for name, applier in appliers.items():
            text = applier(case["path"], content, case["search"], case["replace"])
            verdict = judged(case, content, text)
            tables[name][(case["class"], verdict)] += 1
            if verdict == "wrong":
                faults[name].append(case["id"])
    print("\nEdits that models wrote against real files:")
    for name, table in tables.items():
        kinds = sorted({kind for kind, _ in table})
        total = collections.Counter()
        print(f"  {name}")
        for kind in kinds:
            row = {verdict: count for (k, verdict), count in sorted(table.items()) if k == kind}
            total.update(row)
            print(f"    {kind:13} {row}")
        known = sum(count for verdict, count in total.items() if verdict not in ("unknown", "left out"))
        print(f"    as the truth says {total['right'] + total['asked']} of {known}, left out {total['left out']}")
        print(f"    placed right {total['right']}, asked where that is right too {total['asked']}, refused {total['refused']}, WRONG {total['wrong']} {faults[name]}")
    if absent:
        print("  not measured, no copy of:", dict(absent))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=pathlib.Path, required=True, help="the folder of the cases")
    parser.add_argument("--mirror", type=pathlib.Path, default=pathlib.Path("repositories"))
    parser.add_argument("--aider", help="a Python that has aider-chat")
    parser.add_argument("--codex", help="codex's program, named apply_patch")
    parser.add_argument("--opencode", help="opencode's replacers as a module of JavaScript")
    asked = parser.parse_args()
    if not (asked.cases / "suites.jsonl").exists():
        print(f"no cases at {asked.cases}: nothing was measured")
        return 0
    if not PROGRAM.exists():
        sys.exit("build it first: cargo build -p harness-bench --bin edits")
    applier = Applier()
    read = lambda name: [json.loads(line) for line in (asked.cases / name).open(encoding="utf-8")]
    suites(applier, read("suites.jsonl"))
    appliers = {"harness, placing alone": applier.replace, "harness, refusing what would not parse": applier.replace_if_it_parses}
    if asked.aider:
        appliers["aider"] = Aider(asked.aider).replace
    if asked.codex:
        appliers["codex"] = Codex(asked.codex).replace
    if asked.opencode:
        opencode = OpenCode(asked.opencode)
        appliers["opencode"] = opencode.replace
        appliers["opencode, without the last line end"] = opencode.replace_without_last_end
    real(appliers, read("real.jsonl"), asked.mirror)
    return 0


if __name__ == "__main__":
    sys.exit(main())
