#!/usr/bin/env python3
"""Writes SHA256SUMS and the recipes of package managers: python3 scripts/release/recipes.py FOLDER --repository OWNER/NAME

FOLDER holds the files of a release. SHA256SUMS names each with its digest; FOLDER/recipes gets what Homebrew, Scoop, the
AUR and Nix install from, filled from scripts/release/recipes with the version, the repository and the digests. An archive
that a recipe needs and that is not there is an error: a recipe without a digest is none.
"""

import argparse
import hashlib
import pathlib
import re
import sys

from check_version import ROOT, version

TEMPLATES = ROOT / "scripts" / "release" / "recipes"
SUMS = "SHA256SUMS"


class Missing(Exception):
    """A recipe names a file that the release does not have."""


def digests(folder):
    """The files of a release with their digests."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != SUMS)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def filled(template, repository, known):
    """A recipe: `{{version}}`, `{{repository}}`, and `{{sha256 FILE}}`, in which `{{version}}` stands too."""
    text = template.replace("{{version}}", version()).replace("{{repository}}", repository)

    def digest(found):
        if found[1] not in known:
            raise Missing(f"there is no file `{found[1]}` in the release")
        return known[found[1]]

    text = re.sub(r"\{\{sha256 ([^}]+)\}\}", digest, text)
    left = re.search(r"\{\{.*?\}\}", text)
    if left:
        raise Missing(f"nothing fills `{left[0]}`")
    return text


def write(folder, repository):
    known = digests(folder)
    (folder / SUMS).write_text("".join(f"{digest}  {name}\n" for name, digest in known.items()), encoding="utf-8", newline="\n")
    made = folder / "recipes"
    made.mkdir(exist_ok=True)
    for template in sorted(path for path in TEMPLATES.iterdir() if path.is_file() and path.name != "README.md"):
        (made / template.name).write_text(filled(template.read_text(encoding="utf-8"), repository, known), encoding="utf-8", newline="\n")
        print(made / template.name)


def main(words):
    parser = argparse.ArgumentParser(description="Writes SHA256SUMS and the recipes of package managers.")
    parser.add_argument("folder", type=pathlib.Path, help="the files of the release")
    parser.add_argument("--repository", required=True, metavar="OWNER/NAME", help="where the release page is")
    arguments = parser.parse_args(words)
    try:
        write(arguments.folder, arguments.repository)
    except Missing as missing:
        print(f"recipes: {missing}\nhint: pack the programs of every target first (scripts/release/archive.py)", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
