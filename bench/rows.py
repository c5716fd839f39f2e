"""What was measured, as rows: JSON lines that say what, how much, how steady, with which versions, and when.

    {"part": "startup", "name": "harness", "value": 4.1, "unit": "ms", "spread": 0.3, "better": "lower", "quick": false,
     "date": "2026-11-17", "machine": "2 cores, x86_64, Intel(R) Xeon(R) Processor @ 2.50GHz", "versions": {"harness": "0.1.0 (1a2b3c4, release)", ...}}

`value` is null where something could not be measured; then `why` says so. `cases` is there where a figure is a share of so
many cases. `spread` is the largest less the smallest of the
repeats, null where nothing was repeated. `better` is `lower`, `higher`, or null where neither is. The commit is that of the
clone; a program whose file is older than the sources there was not built from them, and `older than its sources` says so.
The oldest rows do not name the processor, and their times are compared with no row that does.
"""

import datetime
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMMITTED = ROOT / "bench" / "rows"
FIELDS = ("part", "name", "value", "unit", "spread", "better", "quick", "date", "machine", "versions")
# Units that another machine gives another figure for.
OF_THE_MACHINE = ("s", "ms", "MB", "a second")
# Units that a development build gives another figure for than a release.
OF_THE_BUILD = (*OF_THE_MACHINE, "times")


class Measure:
    """One figure: a name, the repeats (or the one value), its unit, and which way is better."""

    def __init__(self, name, values, unit, better=None, why=None, peer=None, cases=None):
        values = list(values) if isinstance(values, (list, tuple)) else [] if values is None else [values]
        self.name, self.unit, self.better, self.why, self.peer, self.cases = name, unit, better, why, peer, cases
        self.value = rounded(statistics.median(values)) if values else None
        self.spread = rounded(max(values) - min(values)) if len(values) > 1 else None


def rounded(value):
    """Four digits that count: more would say that the machine was quieter than it was."""
    return value if isinstance(value, int) else float(f"{value:.4g}")


def not_measured(name, why):
    return Measure(name, None, "", why=why)


def row(part, measure, quick, versions):
    """The row of a measure, as it is written down. What has no version was not there."""
    known = {name: version for name, version in {**versions, **(measure.peer or {})}.items() if version}
    found = {
        "part": part, "name": measure.name, "value": measure.value, "unit": measure.unit, "spread": measure.spread, "better": measure.better,
        "quick": quick, "date": datetime.date.today().isoformat(), "machine": machine(), "versions": known,
    }  # fmt: skip
    return {**found, **({"why": measure.why} if measure.why else {}), **({"cases": measure.cases} if measure.cases else {})}


def faults(found):
    """What is wrong with a row, one sentence each."""
    wrong = [f"`{field}` is missing" for field in FIELDS if field not in found]
    wrong += [f"`{field}` is unknown" for field in found if field not in (*FIELDS, "why", "cases")]
    if wrong:
        return wrong
    if not isinstance(found["value"], (int, float, type(None))) or isinstance(found["value"], bool):
        wrong.append("`value` is no number")
    if found["value"] is None and not found.get("why"):
        wrong.append("nothing was measured and `why` does not say why")
    if found["better"] not in ("lower", "higher", None):
        wrong.append("`better` is neither lower nor higher")
    if not isinstance(found["quick"], bool) or not isinstance(found["versions"], dict) or "harness" not in found["versions"]:
        wrong.append("`quick` or `versions` is not what it should be")
    return wrong


def read(folder):
    """Every row of a folder, in the order in which they were written, by part."""
    found = {}
    for file in sorted(pathlib.Path(folder).glob("*.jsonl")):
        found[file.stem] = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]
    return found


def append(folder, part, new):
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / f"{part}.jsonl", "a", encoding="utf-8") as file:
        file.writelines(json.dumps(one, ensure_ascii=False) + "\n" for one in new)


def latest(all_rows, is_quick=None):
    """The last row of each name that has a value; of full or quick runs only where that is asked for."""
    return {one["name"]: one for one in all_rows if one["value"] is not None and is_quick in (None, one["quick"])}


def comparable(new, old):
    """Whether two rows of one name can be compared: same unit, a better direction, and machine and build where they matter."""
    if None in (new["value"], old["value"]) or new["better"] is None or new["unit"] != old["unit"]:
        return False
    same_machine = new["unit"] not in OF_THE_MACHINE or new["machine"] == old["machine"]
    return same_machine and (new["unit"] not in OF_THE_BUILD or built(new) == built(old))


def worse(new, old):
    """Says how a row is worse than an earlier one by more than the spread of both; nothing where it is not."""
    if not comparable(new, old):
        return ""
    lost = (new["value"] - old["value"]) * (1 if new["better"] == "lower" else -1)
    spread = max(new["spread"] or 0, old["spread"] or 0)
    if lost <= spread:
        return ""
    return f"{new['part']}: {new['name']}: {old['value']:g} {old['unit']} ({old['date']}) -> {new['value']:g} {new['unit']}, spread {spread:g}"


def comparison(pairs):
    """What got worse among pairs of a row and an earlier one, and how many of them could be compared at all."""
    could = [(new, old) for new, old in pairs if comparable(new, old)]
    return [note for new, old in could if (note := worse(new, old))], len(could)


def verdict(compared):
    """What is said where nothing got worse: of nothing compared, that is no news."""
    if not compared:
        return "No row has an earlier full one to compare with."
    return f"Nothing got worse; {compared} {'name was' if compared == 1 else 'names were'} compared."


def built(found):
    """How the program of a row was built."""
    return found["versions"]["harness"].rstrip(")").rpartition(", ")[2]


# Versions


def machine():
    model = processor()
    return f"{os.cpu_count()} cores, {platform.machine()}{', ' + model if model else ''}"


def processor(listed=pathlib.Path("/proc/cpuinfo")):
    """The name of the processor's model, or nothing where the system does not tell it."""
    try:
        named = re.search(r"^model name\s*:\s*(.+)$", listed.read_text(encoding="utf-8", errors="replace"), re.M)
    except OSError:
        named = None
    return " ".join((named[1] if named else platform.processor()).split())


def versions(program):
    """What was measured, and with what."""
    return {"harness": harness_version(program), "python": platform.python_version(), "os": f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}"}


def harness_version(program):
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30).stdout
    except OSError:
        said = ""
    number = re.search(r"\d[\w.+-]*", said)
    older = ", older than its sources" if is_older(program, sources()) else ""
    return f"{number[0] if number else 'unknown'} ({commit()}{older}, {build(program)})"


def sources():
    """The tracked files that a program is built from; tests and the Python module are not among them."""
    try:
        listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", "--", "crates"], capture_output=True, text=True).stdout
    except OSError:
        return []
    return [ROOT / name for name in listed.split("\0") if name and not re.search(r"tests(/|\.rs$)|/examples/|/harness-python/", name)]


def is_older(program, files):
    """Whether a program was there before the newest of these files was written: it cannot have been built from them."""
    newest = max((file.stat().st_mtime for file in files if file.exists()), default=0)
    return os.path.exists(program) and os.stat(program).st_mtime < newest


def commit():
    """The commit of this clone, with a mark where files differ from it."""
    git = lambda *words: subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True).stdout.strip()
    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", "crates", "Cargo.lock")
        return (git("rev-parse", "--short", "HEAD") or "no clone") + (" and changes" if changed else "")
    except OSError:
        return "no git"


def build(program):
    """How the program was built, as far as its place tells."""
    parts = pathlib.Path(program).resolve().parts
    return "release" if "release" in parts else "development" if "debug" in parts else "installed"
