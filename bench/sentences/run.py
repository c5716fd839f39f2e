"""How sentences are read: python run.py HARNESS REPOSITORIES [--rows OUT.jsonl] [--only commits|own] [--configured] [NAME...]

Every sentence is given to `harness route` in the project that it is about. Right is the kind that we wrote down, and,
where the sentence says where, one of the right definitions among the first five. `own.tsv` holds sentences of our own,
asked in the newest state of a package; `commits.tsv` names commits, whose first line is asked in the state before them
and whose right definitions are those that they change (nothing of the repositories is kept here). REPOSITORIES holds
one folder a repository (`owner+name`) with a bare repository named `repo` in it.

With `--configured` the model that the user has set up takes part: `harness run SENTENCE --dry-run` is asked instead, for the
sentences that ask for a change in a place that we know. Right is a proposed change in one of the right definitions; a
member that is new counts for its class. No test is run, so that nothing is said of whether the change does what was asked.
Sentences that ended without a call of the model (a question back, what code does by itself) are kept apart and credit
no model.
"""

import argparse
import collections
import importlib.util
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "oracle"), str(HERE.parent / "bugs")]
import units  # noqa: E402

spec = importlib.util.spec_from_file_location("oracle_commits", HERE.parent / "oracle" / "commits.py")
commits = importlib.util.module_from_spec(spec)
spec.loader.exec_module(commits)

PACKAGES = {
    "click": "pallets/click", "itsdangerous": "pallets/itsdangerous", "humanize": "python-humanize/humanize", "toolz": "pytoolz/toolz",
    "parse": "r1chardj0n3s/parse", "cachetools": "tkem/cachetools", "slugify": "un33k/python-slugify", "sqlparse": "andialbrecht/sqlparse",
    "tabulate": "astanin/python-tabulate", "boltons": "mahmoud/boltons",
}  # fmt: skip
SHOWN = 5


def rows(name):
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def lay_out(repository, commit, folder):
    packed = commits.git(repository, "archive", commit)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")


def changed(repository, commit):
    """The definitions that a commit changes or removes, by their names."""
    listed = commits.git(repository, "show", "--format=", "--name-status", "--no-renames", commit).decode()
    found = set()
    for state, path in (line.split("\t")[:2] for line in listed.splitlines() if "\t" in line):
        if state == "M" and commits.is_code(path):
            before, after = commits.text(repository, f"{commit}~", path), commits.text(repository, commit, path)
            found |= {place.name for place in units.places(path, before, after) if place.name and place.state != "new"}
    return found


def asked(program, folder, sentence):
    words = [program, "route", "--json", "--no-record", "--project", str(folder), sentence]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    return json.loads(done.stdout)


def definitions_in(diff, folder):
    """The definitions that a diff changes or removes, by their names, and the classes that it adds members to."""
    paths = sorted({line[6:] for line in diff.splitlines() if line.startswith(("--- a/", "+++ b/"))})
    found = set()
    with tempfile.TemporaryDirectory() as place:
        for path in paths:
            pathlib.Path(place, path).parent.mkdir(parents=True, exist_ok=True)
            if (folder / path).exists():
                shutil.copyfile(folder / path, pathlib.Path(place, path))
        if paths:
            subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], cwd=place, input=diff.encode(), check=True, capture_output=True)
        for path in filter(commits.is_code, paths):
            before, after = (file.read_bytes().decode("utf-8") if file.exists() else None for file in (folder / path, pathlib.Path(place, path)))
            for one in units.places(path, before, after):
                found.add(one.name.rpartition(".")[0] if one.state == "new" else one.name)
    return found - {""}


def proposed(options, folder, sentence):
    """What the configured model makes of a sentence: how the run ended, how often it was asked, and what it would change."""
    words = [options.program, "run", "--dry-run", "--json", "--no-record", "--project", str(folder), sentence]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=options.limit, stdin=subprocess.DEVNULL)
        result = json.loads(done.stdout)
        calls = result["usage"]["model_calls"]
        # An engine that fails was to be asked, and is left out no more than what broke.
        calls = None if result["stopped"] == "engine" and not calls else calls
        return {"stopped": result["stopped"], "calls": calls, "changed": sorted(definitions_in(result["diff"], folder))}
    except (subprocess.SubprocessError, ValueError, KeyError, SyntaxError) as error:
        # What broke or took too long is no change in the right place, whoever is to blame.
        return {"stopped": type(error).__name__, "calls": None, "changed": []}


def is_right(names, right):
    last = {name.rpartition(".")[2] for name in right}
    return any(name in right or name.rpartition(".")[2] in last for name in names)


def judged(source, package, language, kinds, right, sentence, plan):
    shown = [one["name"] for one in plan["definitions"][:SHOWN]]
    # A rename that is found is not ranked; what it renames stands in the sentence.
    counts = bool(right) and plan["kind"] != "rename"
    hit = is_right(shown, right)
    return {
        "source": source, "package": package, "language": language, "sentence": sentence, "kinds": kinds, "kind": plan["kind"],
        "right_kind": plan["kind"] in kinds, "right": sorted(right), "shown": shown, "found": hit if counts else None,
    }  # fmt: skip


def with_model(options, source, package, kinds, right, sentence, folder):
    """The row of a sentence that was done with the model, or nothing where it asks for no change in a place that we know."""
    if not right or not {"fix", "change", "add"} & set(kinds):
        return None
    row = {"source": source, "package": package, "sentence": sentence, "kinds": kinds, "right": sorted(right), **proposed(options, folder, sentence)}
    return {**row, "placed": is_right(row["changed"], right)}


def measured(options):
    with tempfile.TemporaryDirectory() as place:
        for package, repository in PACKAGES.items():
            bare = options.repositories / repository.replace("/", "+") / "repo"
            if options.names and package not in options.names or not bare.is_dir():
                continue
            newest = pathlib.Path(place, package)
            lay_out(bare, "HEAD", newest)
            for _, language, kind, right, sentence in (row for row in rows("own.tsv") if row[0] == package and options.only != "commits"):
                names = set() if right == "-" else set(right.split("|"))
                if options.configured:
                    yield with_model(options, "own", package, kind.split("|"), names, sentence, newest)
                else:
                    yield judged("own", package, language, kind.split("|"), names, sentence, asked(options.program, newest, sentence))
            for _, commit, kinds, vague in (row for row in rows("commits.tsv") if row[0] == repository and options.only != "own"):
                subject = commits.git(bare, "log", "-1", "--format=%s", commit).decode().strip()
                with tempfile.TemporaryDirectory() as folder:
                    lay_out(bare, f"{commit}~", folder)
                    names = set() if vague else changed(bare, commit)
                    if options.configured:
                        yield with_model(options, "commit", package, kinds.split("|"), names, subject, pathlib.Path(folder))
                    else:
                        yield judged("commit", package, "en", kinds.split("|"), names, subject, asked(options.program, folder, subject))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("repositories", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rows", type=pathlib.Path)
    parser.add_argument("--only", choices=["commits", "own"])
    parser.add_argument("--configured", action="store_true", help="let the model take part that the user has set up")
    parser.add_argument("--limit", type=float, default=600, help="the most seconds for a sentence with --configured")
    options = parser.parse_intermixed_args()
    found = []
    for row in filter(None, measured(options)):
        found.append(row)
        if options.rows:
            # A line at a time: what hours have brought is there when somebody stops it.
            with open(options.rows, "a" if len(found) > 1 else "w", encoding="utf-8") as out:
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
    (show_models if options.configured else show)(found)


def show_models(found):
    for row in found:
        verdict = "without the model" if row["calls"] == 0 else "right" if row["placed"] else "elsewhere" if row["changed"] else "no change"
        print(f"{row['package']}: {row['sentence']}\n    {verdict} ({row['stopped']}): {', '.join(row['changed']) or 'nothing'}, is {'|'.join(row['right'])}")
    by_model = [row for row in found if row["calls"] != 0]
    print(f"\nin a right definition: {sum(row['placed'] for row in by_model)} of {len(by_model)}, {len(found) - len(by_model)} more ended without the model")


def show(found):
    for row in found:
        if not row["right_kind"] or row["found"] is False:
            what = [] if row["right_kind"] else [f"read as {row['kind']}, is {'|'.join(row['kinds'])}"]
            what += [f"shown {', '.join(row['shown']) or 'nothing'}, is {'|'.join(row['right'])}"] if row["found"] is False else []
            print(f"{row['package']}: {row['sentence']}\n    {'; '.join(what)}")
    groups = collections.defaultdict(list)
    for row in found:
        for group in ("all", row["source"], "other languages" if row["language"] != "en" else "English"):
            groups[group].append(row)
    print(f"\n{'':<16} sentences  kind right        among five")
    for group, of in groups.items():
        placed = [row["found"] for row in of if row["found"] is not None]
        kind = sum(row["right_kind"] for row in of)
        print(f"{group:<16} {len(of):>9}  {kind:>4} ({100 * kind / len(of):.1f} %)  {sum(placed):>4} of {len(placed)} ({100 * sum(placed) / max(len(placed), 1):.1f} %)")


if __name__ == "__main__":
    main()
