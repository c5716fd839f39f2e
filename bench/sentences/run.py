"""How sentences are read: python run.py HARNESS REPOSITORIES [--rows OUT.jsonl] [--only commits|own] [NAME...]

Every sentence is given to `harness route` in the project that it is about. Right is the kind that we wrote down, and,
where the sentence says where, one of the right definitions among the first five. `own.tsv` holds sentences of our own,
asked in the newest state of a package; `commits.tsv` names commits, whose first line is asked in the state before them
and whose right definitions are those that they change (nothing of the repositories is kept here). REPOSITORIES holds
one folder a repository (`owner+name`) with a bare repository named `repo` in it.
"""

import argparse
import collections
import importlib.util
import io
import json
import pathlib
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


def judged(source, package, language, kinds, right, sentence, plan):
    shown = [one["name"] for one in plan["definitions"][:SHOWN]]
    # A rename that is found is not ranked; what it renames stands in the sentence.
    counts = bool(right) and plan["kind"] != "rename"
    last = {name.rpartition(".")[2] for name in right}
    hit = any(name in right or name.rpartition(".")[2] in last for name in shown)
    return {
        "source": source, "package": package, "language": language, "sentence": sentence, "kinds": kinds, "kind": plan["kind"],
        "right_kind": plan["kind"] in kinds, "right": sorted(right), "shown": shown, "found": hit if counts else None,
    }  # fmt: skip


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
                yield judged("own", package, language, kind.split("|"), names, sentence, asked(options.program, newest, sentence))
            for _, commit, kinds, vague in (row for row in rows("commits.tsv") if row[0] == repository and options.only != "own"):
                subject = commits.git(bare, "log", "-1", "--format=%s", commit).decode().strip()
                with tempfile.TemporaryDirectory() as folder:
                    lay_out(bare, f"{commit}~", folder)
                    plan = asked(options.program, folder, subject)
                yield judged("commit", package, "en", kinds.split("|"), set() if vague else changed(bare, commit), subject, plan)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("repositories", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rows", type=pathlib.Path)
    parser.add_argument("--only", choices=["commits", "own"])
    options = parser.parse_intermixed_args()
    found = list(measured(options))
    if options.rows:
        options.rows.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found), encoding="utf-8")
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
