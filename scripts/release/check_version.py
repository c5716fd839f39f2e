#!/usr/bin/env python3
"""Holds the version in its places together: python3 scripts/release/check_version.py [--tag TAG] [--notes]

The version is the workspace's, in Cargo.toml. Cargo.lock, the newest section of CHANGELOG.md and the examples of the
documentation must say the same. With --tag (`v0.1.0`) the tag must too, the section must have a date, and the repository
must be named. --notes prints the section, for the release page.
"""

import argparse
import datetime
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What stands for the repository until it has a place.
PLACEHOLDER = "OWNER/REPOSITORY"
# Where the documentation names a version of ours.
EXAMPLES = re.compile(r"\blocal[-_]harness(?:==|-)(\d+\.\d+\.\d+\w*)")


def version(root=ROOT):
    return re.search(r'^version = "([^"]+)"', (root / "Cargo.toml").read_text(encoding="utf-8"), re.M)[1]


def newest_section(root=ROOT):
    """The heading and the text of the newest section of the changelog."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(r"^## (.+)\n((?:(?!## ).*\n?)*)", text, re.M)
    return found[1].strip(), found[2].strip()


def faults(root=ROOT, tag=None):
    """What does not fit together, a sentence each."""
    ours, found = version(root), []
    locked = dict(re.findall(r'^name = "(harness[\w-]*)"\nversion = "([^"]+)"\n(?!source)', (root / "Cargo.lock").read_text(encoding="utf-8"), re.M))
    found += [f"Cargo.lock has {name} {other}, and Cargo.toml {ours}" for name, other in sorted(locked.items()) if other != ours]
    heading = re.fullmatch(r"(\S+) \((\d{4}-\d{2}-\d{2}|unreleased)\)", newest_section(root)[0])
    if not heading or heading[1] != ours:
        found.append(f"the newest section of CHANGELOG.md is `{newest_section(root)[0]}`, not `{ours} (unreleased)` or `{ours} (a date)`")
    elif heading[2] != "unreleased" and not is_date(heading[2]):
        found.append(f"`{heading[2]}` in CHANGELOG.md is no date")
    for page in sorted([root / "README.md", *(root / "docs").rglob("*.md")]):
        others = set(EXAMPLES.findall(page.read_text(encoding="utf-8"))) - {ours} if page.exists() else ()
        found += [f"{page.relative_to(root).as_posix()} names version {other}, and Cargo.toml {ours}" for other in sorted(others)]
    if tag is None:
        return found
    if tag != f"v{ours}":
        found.append(f"the tag is `{tag}`, and the version {ours} is tagged `v{ours}`")
    if heading and heading[2] == "unreleased":
        found.append(f"the section {ours} of CHANGELOG.md has no date yet")
    if PLACEHOLDER in (root / "Cargo.toml").read_text(encoding="utf-8"):
        found.append(f"Cargo.toml still says {PLACEHOLDER} for the repository")
    return found


def is_date(text):
    try:
        return bool(datetime.date.fromisoformat(text))
    except ValueError:
        return False


def main(words):
    parser = argparse.ArgumentParser(description="Holds the version in its places together.")
    parser.add_argument("--tag", help="the tag that is released, such as v0.1.0")
    parser.add_argument("--notes", action="store_true", help="print the newest section of the changelog")
    arguments = parser.parse_args(words)
    wrong = faults(tag=arguments.tag)
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        return 1
    print(newest_section()[1] if arguments.notes else f"{version()} everywhere")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
