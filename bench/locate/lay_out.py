"""Lay out the projects of all cases, each at the commit its issue was written against, source files only.

    python lay_out.py CASES.jsonl MIRROR DEST

MIRROR holds bare copies of the repositories as owner+name/repo. A file that several commits share is
written once and linked, so that hundreds of trees need little room. Needs git; nothing else.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys

SOURCE = set("py pyi pyx pxd js ts c h cpp hpp rs go java rb sh toml cfg ini md in rst txt yml yaml json html".split())
# Of text that is no code only what lies near the top is laid out: manifests and the README, not the manual.
PROSE = set("rst txt yml yaml json html md".split())


def wanted(path):
    name = path.rsplit("/", 1)[-1]
    extension = name.rsplit(".", 1)[-1] if "." in name else ""
    if name == ".gitignore":
        return True
    return extension in SOURCE and not (extension in PROSE and path.count("/") > 1)


def blob(reader, sha):
    reader.stdin.write(sha.encode() + b"\n")
    reader.stdin.flush()
    head = reader.stdout.readline().split()
    if len(head) < 3 or head[1] == b"missing":
        return None
    content = reader.stdout.read(int(head[2]))
    reader.stdout.read(1)
    return content


def lay_out(bare, cases, dest):
    reader = subprocess.Popen(["git", "-C", bare, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    written = {}
    for case in cases:
        folder = dest / case["id"]
        done = dest / (case["id"] + ".ok")
        if done.exists():
            continue
        listing = subprocess.check_output(["git", "-C", bare, "ls-tree", "-r", "-z", case["base_commit"]])
        missing = 0
        for line in filter(None, listing.decode("utf-8", "surrogateescape").split("\0")):
            about, path = line.split("\t", 1)
            mode, kind, sha = about.split()
            if kind != "blob" or mode == "120000" or not wanted(path):
                continue
            target = folder / path
            if target.exists():
                written.setdefault(sha, target)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            if sha in written:
                os.link(written[sha], target)
                continue
            content = blob(reader, sha)
            if content is None:
                missing += 1
                continue
            target.write_bytes(content)
            written[sha] = target
        done.write_text(str(missing))
    reader.stdin.close()
    reader.wait()


def main():
    cases_file, mirror, dest = (pathlib.Path(arg) for arg in sys.argv[1:4])
    by_repository = collections.defaultdict(list)
    with open(cases_file, encoding="utf-8") as cases:
        for line in cases:
            case = json.loads(line)
            by_repository[case["repo"]].append(case)
    dest.mkdir(parents=True, exist_ok=True)
    for repository, cases in sorted(by_repository.items()):
        bare = mirror / repository.replace("/", "+") / "repo"
        if not bare.is_dir():
            sys.exit(f"no copy of {repository} at {bare}")
        lay_out(bare, cases, dest)
        print(repository, len(cases), flush=True)


if __name__ == "__main__":
    main()
