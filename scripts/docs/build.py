#!/usr/bin/env python3
"""Builds the documentation site: python3 scripts/docs/build.py [--source-only] [--repository URL]

Gathers the pages of docs/ and the documents of the repository's root in target/docs/source, with links that fit there,
and has mdBook make target/docs/book of them (`cargo install mdbook`). A link to a file that is no page leads to the
repository where --repository names it (by default the one of the hosted workflow), and is plain text elsewhere.
"""

import argparse
import os
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys

from pages import FENCE, ROOT

SOURCE = ROOT / "target" / "docs" / "source"
BOOK = ROOT / "target" / "docs" / "book"
# Documents of the root that are pages of the site too.
DOCUMENTS = ("README.md", "ARCHITECTURE.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


def gather(repository=None):
    """Lays the sources of the site out anew. Returns their folder."""
    if SOURCE.exists():
        shutil.rmtree(SOURCE)
    shutil.copytree(ROOT / "docs", SOURCE)
    titles = {target: words for _, words, target in LINK.findall((SOURCE / "SUMMARY.md").read_text(encoding="utf-8"))}
    for page in SOURCE.rglob("*.md"):
        name = page.relative_to(SOURCE).as_posix()
        text = page.read_text(encoding="utf-8")
        # Pages that the reference takes in have no title of their own.
        if not text.startswith("# "):
            text = f"# {titles[name]}\n\n{text}"
        page.write_text(with_links(text, f"docs/{name}", repository), encoding="utf-8", newline="\n")
    for name in DOCUMENTS:
        (SOURCE / name).write_text(with_links((ROOT / name).read_text(encoding="utf-8"), name, repository), encoding="utf-8", newline="\n")
    return SOURCE


def with_links(text, here, repository):
    """A page with links that lead to where things are in the site."""
    lines, fence = [], None
    for line in text.split("\n"):
        opened = FENCE.match(line)
        if opened and fence is None:
            fence = opened[2]
        elif fence is not None and line.strip() == fence:
            fence = None
        elif fence is None:
            line = LINK.sub(lambda found: moved(found, here, repository), line)
        lines.append(line)
    return "\n".join(lines)


def moved(found, here, repository):
    """One link of a page, as it is in the site."""
    picture, words, target = found.groups()
    if re.match(r"[a-z]+:|#", target):
        return found[0]
    path, _, anchor = target.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(here), path))
    place = place_of(path)
    if place is None:
        return f"[{words}]({repository}/blob/HEAD/{path})" if repository else words
    base = posixpath.dirname(place_of(here) or here)
    there = posixpath.relpath(place, base or ".")
    return f"{picture}[{words}]({there}{'#' + anchor if anchor else ''})"


def place_of(path):
    """Where a file of the repository is in the site; nowhere for most."""
    if path in DOCUMENTS:
        return path
    if path.startswith("docs/") and (ROOT / path).is_file():
        return path[len("docs/") :]
    return None


def main(words):
    hosted = os.environ.get("GITHUB_REPOSITORY")
    parser = argparse.ArgumentParser(description="Builds the documentation site.")
    parser.add_argument("--source-only", action="store_true", help="gather the pages and stop")
    parser.add_argument("--repository", default=f"https://github.com/{hosted}" if hosted else None, metavar="URL", help="where files that are no pages are")
    arguments = parser.parse_args(words)
    source = gather(arguments.repository)
    print(f"{source.relative_to(ROOT)}: {len(list(source.rglob('*.md')))} pages")
    if arguments.source_only:
        return 0
    program = shutil.which("mdbook")
    if program is None:
        print("mdbook is not on the PATH\nhint: cargo install mdbook", file=sys.stderr)
        return 1
    return subprocess.run([program, "build", "--dest-dir", str(BOOK), str(source)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
