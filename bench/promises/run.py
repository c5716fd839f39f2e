#!/usr/bin/env python3
"""Breaks what SECURITY.md and SPEC promise, one thing at a time, and looks whether the test that holds it sees that.

    python3 bench/promises/run.py                  every row that was not measured yet
    python3 bench/promises/run.py --of spec        the rows of one list: `security` or `spec`
    python3 bench/promises/run.py --only 15        the rows of one promise or entry; repeatable
    python3 bench/promises/run.py --again          also those that were measured
    python3 bench/promises/run.py --check          only look whether the rows fit the source, and the claims of the
                                                   documentation what is behind them, and the tables the rows
    python3 bench/promises/run.py --table          write the tables of README.md anew

Works in a copy of the tracked files below target/promises. The tests of all rows have to pass there first; then, with a
row's change, its test has to fail as a test: a change that does not compile shows nothing. What came of it is kept in
measured.json.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import venv

import claim_rows
import rows
import spec_rows

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PLACE = ROOT / "target" / "promises"
TREE = PLACE / "tree"
MEASURED = HERE / "measured.json"
README = HERE / "README.md"
# The slowest test takes a minute when nothing has to be built.
PATIENCE = 1200
# Where the end of a table stands in README.md; its beginning says which one it is.
END = "<!-- end -->"
# A build serves one test: quick to make counts for more than quick to run.
QUICK_BUILDS = {"CARGO_PROFILE_DEV_OPT_LEVEL": "0", "CARGO_PROFILE_DEV_DEBUG": "0"}
# The folders that a test of Python lies in.
PYTHON_TESTS = ("tests/python", "tests/accept")


def promises():
    """The numbers of the promises in SECURITY.md, as the rows write them."""
    return [int(number) for number in re.findall(r"^\| (\d+) \|", (ROOT / "SECURITY.md").read_text(encoding="utf-8"), re.M)]


class List:
    """A list of what is promised: what one of it is called, all of them, and the rows that break them."""

    def __init__(self, noun, entries, rows):
        self.noun, self.entries, self.rows = noun, entries, rows

    def faults(self):
        """Entries without a row, and rows without an entry."""
        entries, known = self.entries(), {row[0] for row in self.rows}
        faults = [f"{self.noun} {entry} has no row" for entry in entries if entry not in known]
        return faults + [f"there is no {self.noun} {row[0]}: {row[1]}" for row in self.rows if row[0] not in entries]


LISTS = {
    "security": List("promise", promises, rows.ROWS),
    "spec": List("entry", lambda: spec_rows.ENTRIES, spec_rows.ROWS),
}
ROWS = [row for one in LISTS.values() for row in one.rows]


class Unfit(Exception):
    """A row that shows nothing: its text is not in the source, its test does not pass by itself, it does not compile."""


def main(words):
    arguments = read_arguments(words)
    faults = check() + (stale_tables() if arguments.check else [])
    if faults or arguments.check:
        print("\n".join(faults) or f"{len(ROWS)} rows fit the source")
        return 1 if faults else 0
    if arguments.table:
        write_tables()
        return 0
    listed = LISTS[arguments.of].rows if arguments.of else ROWS
    chosen = [row for row in listed if not arguments.only or str(row[0]) in arguments.only]
    measured = read_measured()
    commit = lay_out()
    wanted = sorted((row for row in chosen if arguments.again or digest(row) not in measured), key=build_order)
    unchanged = run_unchanged(wanted)
    for row in wanted:
        measured[digest(row)] = measure(row, commit, unchanged[row[3]])
        MEASURED.write_text(json.dumps(measured, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    write_tables()
    bad = [row for row in chosen if measured[digest(row)]["verdict"] != "seen"]
    print(f"{len(chosen) - len(bad)} of {len(chosen)} changes were seen")
    return 1 if bad else 0


def read_arguments(words):
    parser = argparse.ArgumentParser(description="Breaks what is promised and looks whether its test sees it.")
    parser.add_argument("--of", choices=sorted(LISTS), help="the rows of this list only")
    parser.add_argument("--only", action="append", metavar="ENTRY", help="the rows of this promise or entry; repeatable")
    parser.add_argument("--again", action="store_true", help="also rows that were measured")
    parser.add_argument("--check", action="store_true", help="only look whether the rows fit the source")
    parser.add_argument("--table", action="store_true", help="only write the tables of README.md")
    return parser.parse_args(words)


def check():
    """What is wrong with the rows: a promise without one, a text that is not there exactly once, a test that nothing names."""
    faults = [fault for one in LISTS.values() for fault in one.faults()]
    for number, what, edits, test in ROWS:
        for file, old, new in edits:
            count = (ROOT / file).read_text(encoding="utf-8").count(old) if (ROOT / file).exists() else 0
            if count != 1 or old == new:
                faults.append(f"{number}, {what}: {old.strip()!r} stands {count} times in {file}")
        if not is_test(test):
            faults.append(f"{number}, {what}: there is no test `{test}`")
    return faults + unheld_promises() + unheld_sentences() + unheld_sections() + unknown_names() + unfounded_figures()


# What the documentation claims. Nothing is broken for it: each claim has to name what holds it, and that has to be there.

# What a page says that the program or a script of ours has, in spans of code: an option, a variable, a route, a command.
NAME = re.compile(r"(?<![\w-])--[a-z][a-z-]+|\bHARNESS_[A-Z_]+\b|(?<![\w.])/v1/[\w/]+|(?<!\S)harness [a-z]+(?![\w./])")
# A number with a unit, and one of several.
UNITS = r"(?: (?:[kKMG]i?B|ms|s|seconds?|minutes?|hours?|tokens|characters|bytes|connections|messages|headers|runs|million parameters|of \d+)(?!\w)| ?%)"
FIGURE = re.compile(rf"(?<![\w.,])\d[\d,.]*(?: to \d[\d,.]*)?{UNITS}")


def unheld_promises():
    """Promises of SECURITY.md that name a test which is not there."""
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \|.*\| ([^|]+) \|$", text, re.M)
    return [f"promise {number}: there is no test `{name}`" for number, cell in rows for name in re.findall(r"`([^`]+)`", cell) if not is_named_test(name)]


def is_named_test(name):
    """Whether a test is there that SECURITY.md names: `module::tests::name`, `file.py::name`, or a file."""
    file, _, function = name.partition("::")
    if file.endswith((".py", ".rs")):
        place = ROOT / file if "/" in file else python_file(ROOT, file)
        return place.exists() and (not function or f"def {function}(" in place.read_text(encoding="utf-8"))
    parts = name.split("::")
    wanted = f"mod {parts[-1]}" if parts[-1] == "tests" else f"fn {parts[-1]}("
    # A module of tests may lie in a file of its own, named after it.
    beside = "_tests" if parts[-1] == "tests" else ""
    for path in ROOT.glob("crates/*/src/**/*.rs"):
        inside = {*path.relative_to(ROOT).with_suffix("").parts} | {path.stem.replace("_tests", "")}
        if parts[0] in inside and wanted in path.read_text(encoding="utf-8"):
            return True
        if beside and path.stem == "tests" and parts[-2] in inside:
            return True
    return any(wanted in path.read_text(encoding="utf-8") for path in ROOT.glob(f"crates/*/tests/{parts[0]}.rs"))


def missing(what):
    """What is wrong with what stands behind a claim: a test that is not there, a file that does not say what it should."""
    if isinstance(what, str):
        return f"`{what}` names nothing in the file" if "/" in what and " " not in what else "" if is_test(what) else f"there is no `{what}`"
    file, text = what
    if file.endswith(".jsonl"):
        return "" if last_full_row(file, text) else f"{file} has no full row {text!r}"
    return "" if text and says(file, text) else f"{file} does not say {text!r}"


def says(file, text):
    return (ROOT / file).is_file() and text in (ROOT / file).read_text(encoding="utf-8")


def prose(text):
    """A page without its blocks and comments."""
    return re.sub(r"<!--.*?-->", "", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), flags=re.S)


def sentences(text):
    """The sentences of a page; an entry of a list and a row of a table are others than those around them."""
    found = []
    for block in re.split(r"\n\s*\n|\n(?=[-|])", re.sub(r"^#.*$", "\n", prose(text), flags=re.M)):
        line = " ".join(block.split())
        found += [] if line.startswith("|--") else re.split(r"(?<=[.:])\s+(?=[A-Z`\[*])", line)
    return [sentence for sentence in found if sentence]


def plain(sentence):
    """A sentence without the marks of the list, table or picture that it stands in."""
    return re.sub(r"^(- |\| |!)", "", sentence)


def unheld_sentences():
    """Sentences of README that no row has word for word, and rows that no sentence is."""
    text = (ROOT / "README.md").read_text(encoding="utf-8") if (ROOT / "README.md").exists() else ""
    there = [plain(sentence) for sentence in sentences(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text))]
    known = [*claim_rows.SENTENCES, *claim_rows.POINTERS]
    faults = [f"README: nothing is behind {sentence!r}" for sentence in there if sentence not in known]
    faults += [f"README does not say {sentence!r} any more" for sentence in known if sentence not in there]
    for sentence, behind in claim_rows.SENTENCES.items():
        faults += [f"README, {sentence!r}: {fault}" for fault in map(missing, behind) if fault] or ([] if behind else [f"README, {sentence!r}: nothing is named"])
    return faults


def sections_of(text):
    """The sections of a page with what stands in them; the first is its beginning, and blocks have no headings."""
    headings = [found for found in re.finditer(r"^## ([^\n]+)$|^```.*?^```$", text, re.M | re.S) if found[1]]
    starts = [("", 0), *((found[1], found.end()) for found in headings)]
    ends = [*(found.start() for found in headings), len(text)]
    return [(section, text[start:end]) for (section, start), end in zip(starts, ends)]


def shows_a_run(text):
    """Whether a section has a block that the tests of the pages run, as scripts/docs/pages.py tells them."""
    return any(before.startswith("<!-- run") or not before.startswith("<!--") for before in re.findall(r"([^\n]*)\n```(?:console|python)\b", text))


def unheld_sections():
    """Sections of SECURITY.md, the guide and the concept without anything behind them. `PAGE#*` is for the sections of a page
    that show what is run and have no row of their own."""
    there, faults = set(), []
    for page in sorted([*ROOT.glob("SECURITY.md"), *ROOT.glob("docs/guide/*.md"), *ROOT.glob("docs/concept/*.md")]):
        name = page.relative_to(ROOT).as_posix()
        for section, text in sections_of(page.read_text(encoding="utf-8")):
            place = f"{name}#{section}"
            if not (section or text.strip()):
                continue
            there.add(place)
            if place not in claim_rows.SECTIONS and not (section and f"{name}#*" in claim_rows.SECTIONS and shows_a_run(text)):
                faults.append(f"{name}: nothing is behind the section {section or 'at its beginning'!r}")
        there.add(f"{name}#*")
    faults += [f"there is no section {section}" for section in claim_rows.SECTIONS if section not in there]
    behind = {section: what if isinstance(what, list) else [what] for section, what in claim_rows.SECTIONS.items()}
    return faults + [f"{section}: {fault}" for section, all_of_it in behind.items() for fault in map(missing, all_of_it) if fault]


def claiming_pages():
    """The pages whose words and figures are looked at one by one."""
    return [ROOT / "README.md", ROOT / "SECURITY.md", *sorted(ROOT.glob("docs/guide/*.md")), *sorted(ROOT.glob("docs/concept/*.md"))]


def unknown_names():
    """Options, variables, routes and commands that a page speaks of and nothing has: the reference is made from the code, and
    scripts say what they take."""
    known = "".join(page.read_text(encoding="utf-8") for page in sorted(ROOT.glob("docs/reference/*.md")))
    for pattern in ("scripts/**/*.py", "examples/*.py", "python/harness/*.py"):
        for script in sorted(ROOT.glob(pattern)):
            known += " ".join(re.findall(r"add_argument\(\"(--[a-z-]+)\"", script.read_text(encoding="utf-8"))) + " "
    faults = []
    for page in claiming_pages():
        spans = re.findall(r"`([^`]+)`", prose(page.read_text(encoding="utf-8"))) if page.exists() else []
        found = dict.fromkeys(name for span in spans for name in NAME.findall(span))
        faults += [f"{page.relative_to(ROOT).as_posix()}: nothing has {name!r}" for name in found if name not in claim_rows.OTHERS and not re.search(rf"{re.escape(name)}(?![\w-])", known)]
    return faults


def last_full_row(file, name):
    """The last full row of this name that has a value, or nothing: rows of `--quick` are no claim."""
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines() if (ROOT / file).is_file() else []
    full = [row for row in map(json.loads, filter(None, lines)) if row["name"] == name and not row["quick"] and row["value"] is not None]
    return full[-1] if full else None


def row_fault(piece, file, name):
    """What is wrong with a figure that names a measurement: it shows the value of the last full row, rounded as it likes."""
    row = last_full_row(file, name)
    if not row:
        return f"{file} has no full row {name!r}"
    value = row["value"]
    shown = re.findall(r"\d[\d,]*(?:\.\d+)?", piece)
    fits = any(number.replace(",", "") == f"{value:.{len(number.partition('.')[2])}f}" for number in shown)
    return "" if fits else f"the last full row {name!r} of {file} says {value:,}"


def unfounded_figures():
    """Numbers of README, SECURITY.md, the guide and the concept that come from nowhere, and rows whose number is not where it is said to be."""
    known, faults, said = {piece for piece, _, _ in claim_rows.FIGURES}, [], ""
    for page in claiming_pages():
        text = prose(page.read_text(encoding="utf-8")) if page.exists() else ""
        found, said = FIGURE.findall(text), said + text
        faults += [f"{page.relative_to(ROOT).as_posix()}: nothing is behind the figure {figure!r}" for figure in found if figure not in known]
    faults += [f"no page says {piece!r} any more" for piece in sorted(known) if piece not in said]
    for piece, file, text in claim_rows.FIGURES:
        if file.endswith(".jsonl"):
            fault = row_fault(piece, file, text)
            faults += [f"the figure {piece!r}: {fault}"] if fault else []
        elif not says(file, text):
            faults.append(f"the figure {piece!r}: {file} does not say {text!r}")
    return faults


def is_test(test):
    """Whether a function of the test's name is there; that it runs is seen when it has to pass."""
    words = test.split()
    if words[0].endswith(".py"):
        file, (name, _, case) = python_file(ROOT, words[0]), words[1].split("::")[-1].partition("[")
        is_case = not case or (ROOT / "tests" / "scenarios" / case[:-1]).is_dir()
        return file.exists() and is_case and f"def {name}(" in file.read_text(encoding="utf-8")
    crate, target, path = words
    folder = ROOT / "crates" / crate
    files = [folder / "tests" / f"{target[7:]}.rs"] if target.startswith("--test=") else folder.glob("src/**/*.rs")
    last = path.rsplit("::", 1)[-1]
    name = "mod tests" if last == "tests" else f"fn {last}("
    return any(name in file.read_text(encoding="utf-8") for file in files if file.exists())


def python_file(root, name):
    """Where a test of Python lies."""
    places = [root / folder / name for folder in PYTHON_TESTS]
    return next((place for place in places if place.exists()), places[0])


def digest(row):
    return hashlib.sha256(json.dumps(row).encode()).hexdigest()[:16]


def read_measured():
    """What came of the rows as they are now; a row that was changed is measured anew."""
    measured = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    return {digest(row): measured[digest(row)] for row in ROWS if digest(row) in measured}


def lay_out():
    """Copies the tracked files as they are now. Files that have not changed keep their time, so little is built anew.
    Returns the commit they belong to."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    names = {name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()}
    for name in names:
        source, target = ROOT / name, TREE / name
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    for file in TREE.glob("crates/**/*.rs"):
        if str(file.relative_to(TREE)) not in names:
            file.unlink()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    return commit.stdout.strip()


def build_order(row):
    """Rows that are built alike and change the same file go one after another: what was put back is built with the next."""
    _, _, edits, test = row
    is_python = test.split()[0].endswith(".py")
    return is_python, "" if is_python else test.split()[:2], edits[0][0]


def run_unchanged(wanted):
    """What each test says of the unchanged source."""
    said = {}
    for test in dict.fromkeys(row[3] for row in wanted):
        print(f"unchanged: {test} ... ", end="", flush=True)
        try:
            said[test] = run(test)
        except Unfit as unfit:
            said[test] = str(unfit)
        print(said[test], flush=True)
    return said


def measure(row, commit, unchanged):
    number, what, edits, test = row
    print(f"{number}: {what} ... ", end="", flush=True)
    started = time.monotonic()
    try:
        if unchanged != "passes":
            raise Unfit(f"the test does not pass by itself: {unchanged}")
        before = {file: (TREE / file).read_text(encoding="utf-8") for file, _, _ in edits}
        try:
            for file, old, new in edits:
                text = (TREE / file).read_text(encoding="utf-8")
                (TREE / file).write_text(text.replace(old, new), encoding="utf-8")
            # Twice: a test that fails by chance sees nothing.
            verdict = "seen" if run(test) == run(test) == "fails" else "NOT SEEN"
        finally:
            for file, text in before.items():
                (TREE / file).write_text(text, encoding="utf-8")
    except Unfit as unfit:
        verdict = f"unfit: {unfit}"
    seconds = round(time.monotonic() - started)
    print(f"{verdict} ({seconds} s)", flush=True)
    return {"verdict": verdict, "seconds": seconds, "commit": commit}


def run(test):
    """Runs one test in the copy, as CI would: `passes` or `fails`."""
    words = test.split()
    if words[0].endswith(".py"):
        return run_pytest(*words)
    crate, target, name = words
    exact = [] if name.endswith("::tests") else ["--exact"]
    output = heard(["cargo", "test", "-p", crate, target, "--", *exact, name])
    result = re.search(r"^test result: (\w+)\. (\d+) passed; (\d+) failed", output, re.M)
    if not result:
        raise Unfit("it does not compile:\n" + output[-3000:])
    if result[1] == "ok" and result[2] == "0":
        raise Unfit(f"no test is called {name}")
    return "passes" if result[1] == "ok" else "fails"


def run_pytest(file, name):
    """Builds the program, the module and the Rust door of the scenarios, and runs a test of Python with them."""
    crates = ["-p", "harness", "-p", "harness-python", "-p", "harness-agent", "--features", "harness-python/extension-module"]
    output = heard(["cargo", "build", *crates, "--lib", "--bin", "harness", "--example", "scenario", "--message-format", "json"])
    if '"success":true' not in output:
        raise Unfit("it does not compile:\n" + "\n".join(re.findall(r'"rendered":"(error.*?)"[,}]', output))[-3000:])
    python = environment()
    shutil.copy(built(output, "harness"), python.parent / "harness")
    shutil.copy(built(output, "lib_harness.so", "lib_harness.dylib"), TREE / "python" / "harness" / "_harness.abi3.so")
    door = TREE / "target" / "debug" / "examples" / "scenario"
    door.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(built(output, "scenario"), door)
    output = heard([str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", f"{python_file(TREE, file)}::{name}"])
    result = re.search(r"^\d+ (passed|failed|errors?)\b.* in [\d.]+s", output, re.M)
    if not result or re.search(r"errors? during collection", output):
        raise Unfit("pytest says nothing:\n" + output[-3000:])
    return "fails" if re.search(r"\d+ (failed|errors?)\b", result[0]) else "passes"


def built(output, *names):
    """Where cargo says that it put a file of one of these names."""
    files = [pathlib.Path(file) for files in re.findall(r'"filenames":\[([^\]]*)\]', output) for file in re.findall(r'"([^"]+)"', files)]
    return [file for file in files if file.name in names][-1]


def environment():
    """A virtualenv of its own, for the program lies in it, with the package of the copy and the packages of the virtualenv
    that the test command makes."""
    folder, tools = PLACE / "venv", ROOT / "target" / "test-venv"
    if not tools.exists():
        raise Unfit("target/test-venv is not there: run `python3 scripts/run/test.py --only tools`")
    if not folder.exists():
        venv.create(str(folder), with_pip=False)
    python = folder / "bin" / "python"
    for site in folder.glob("lib/python*/site-packages"):
        paths = [TREE / "python", *tools.glob("lib/python*/site-packages")]
        (site / "tools.pth").write_text("".join(f"{path}\n" for path in paths), encoding="utf-8")
    return python


def heard(command):
    """What a command says, under CI's rule: a test that has to skip something fails."""
    # Never a folder that the clone builds in: cargo tells two checkouts apart by the time of their files only, and what
    # was built with a change in it would be taken for the clone's own.
    places = {"CARGO_TARGET_DIR": str(PLACE / "build"), "HARNESS": str(PLACE / "venv/bin/harness"), "HARNESS_PYTHON": str(PLACE / "venv/bin/python")}
    variables = {**os.environ, **QUICK_BUILDS, **places, "CI": "1"}
    try:
        done = subprocess.run(
            command, cwd=TREE, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, encoding="utf-8", errors="replace"
        )
    except subprocess.TimeoutExpired:
        raise Unfit(f"no end after {PATIENCE} s") from None
    return done.stdout


def table(one):
    measured = read_measured()
    lines = [f"| {one.noun} | what the change does | the test that sees it | came of it |", "|---|---|---|---|"]
    for row in one.rows:
        found = measured.get(digest(row))
        verdict = f"{found['verdict'].splitlines()[0]} ({found['commit']})" if found else "not run"
        name = row[3].replace(".py ", ".py::").split()[-1]
        lines.append(f"| {row[0]} | {row[1]} | `{name}` | {verdict} |")
    seen = sum(1 for row in one.rows if measured.get(digest(row), {}).get("verdict") == "seen")
    left = sum(1 for row in one.rows if digest(row) not in measured)
    return "\n".join(lines) + f"\n\n{seen} of {len(one.rows)} changes were seen{f', {left} not run' if left else ''}.\n"


def stale_tables():
    """Tables of README.md that do not say what came of the rows as they are now."""
    text = README.read_text(encoding="utf-8") if README.exists() else ""
    place = README.relative_to(ROOT).as_posix()
    return [f"the table of {name} in {place} is stale: run `python3 bench/promises/run.py --table`" for name, one in LISTS.items() if f"<!-- measured: {name} -->\n{table(one)}{END}" not in text]


def write_tables():
    text = README.read_text(encoding="utf-8")
    for name, one in LISTS.items():
        before, begin, rest = text.partition(f"<!-- measured: {name} -->\n")
        text = before + begin + table(one) + END + rest.split(END, 1)[1]
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
