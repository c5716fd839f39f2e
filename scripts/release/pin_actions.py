#!/usr/bin/env python3
"""Pins the actions of the workflows and of our own action by digest: python3 scripts/release/pin_actions.py [--check | --update]

Each `uses: OWNER/NAME@…` is a commit, with the version it has as a comment, so that nobody who moves a tag can change what
runs here. The documentation shows them so too. --check, which needs no network, ends with 1 where one is not, or where the workflows use an action in two versions.
--update asks GitHub (`git ls-remote`) which commit each version is, writes it, and tells what has changed; a version that
is not written yet (`@v5`) is pinned so too.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
USES = re.compile(r"^(\s*-?\s*uses: )([\w.-]+/[\w./-]+)@(\S+)(?:\s+# (\S+))?$", re.M)


# Where actions are used, and where they are shown.
USED = (".github/workflows/*.yml", ".github/workflows/*.yaml", "editors/github-action/action.yml", "editors/github-action/action.yaml")
SHOWN = ("docs/**/*.md",)
# Stands in the documentation for this repository, which has no digest that a page could name.
OURS = "OWNER/"


def files(root, patterns):
    return sorted(path for pattern in patterns for path in root.glob(pattern))


def faults(root=ROOT):
    """Uses that are not pinned, and actions in two versions."""
    found, known = [], {}
    used = files(root, USED)
    for file in [*used, *files(root, SHOWN)]:
        text = file.read_text(encoding="utf-8")
        for _, action, reference, comment in USES.findall(text):
            if action.startswith(OURS):
                continue
            where = f"{file.name}: {action}@{reference}"
            if not re.fullmatch(r"[0-9a-f]{40}", reference):
                found.append(f"{where} is no digest")
            elif not re.fullmatch(r"v\d+\.\d+\.\d+", comment):
                found.append(f"{where} does not say which version it is")
            elif file in used and known.setdefault(action, (reference, comment)) != (reference, comment):
                found.append(f"{where} is another version than elsewhere")
    return found


def look_up(action, tag):
    """The commit of a tag; that of an annotated tag is the one it points at."""
    repository = "/".join(action.split("/")[:2])
    command = ["git", "ls-remote", "--tags", f"https://github.com/{repository}", f"refs/tags/{tag}", f"refs/tags/{tag}^{{}}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    lines = dict(reversed(line.split("\t")) for line in done.stdout.splitlines())
    digest = lines.get(f"refs/tags/{tag}^{{}}") or lines.get(f"refs/tags/{tag}")
    if done.returncode != 0 or not digest:
        raise SystemExit(f"GitHub does not tell the commit of {repository} {tag}: {done.stderr.strip() or 'no such tag'}")
    return digest


def update(root=ROOT, ask=look_up):
    for file in files(root, USED + SHOWN):
        text = file.read_text(encoding="utf-8")

        def pinned(found, name=file.name):
            before, action, reference, comment = found.groups()
            if action.startswith(OURS):
                return found[0]
            tag = comment or reference
            digest = ask(action, tag)
            if digest != reference:
                print(f"{name}: {action} {tag}: {reference} -> {digest}")
            return f"{before}{action}@{digest} # {tag}"

        file.write_text(USES.sub(pinned, text), encoding="utf-8", newline="\n")


def main(words):
    parser = argparse.ArgumentParser(description="Pins the actions of the workflows by digest.")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--check", action="store_true", help="only look; the default")
    group.add_argument("--update", action="store_true", help="ask GitHub and write")
    if parser.parse_args(words).update:
        update()
    found = faults()
    print("\n".join(found) or "every action is pinned")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
