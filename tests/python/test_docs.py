"""The documentation: what it shows is what happens, its links lead somewhere, and its recording is that of a real run."""

import difflib
import json
import math
import os
import re
import subprocess
import sys

import pytest
import yaml
from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts" / "docs"))

import build  # noqa: E402
import pages  # noqa: E402
import paste  # noqa: E402
import record  # noqa: E402

ON_LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the pages show a Unix shell and the walls of Linux")
NAMES = [page.relative_to(ROOT).as_posix() for page in pages.pages()]
TRACKED = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True).stdout.split()
# Written by others, or to be read by a program: test projects and what models and editors are given.
FOREIGN = ("tests/", "crates/", "editors/", "demo/")


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


# What is shown


@ON_LINUX
@pytest.mark.parametrize("name", NAMES)
def test_a_page_shows_what_happens(name):
    wanted = paste.stale_lines(ROOT / name)
    if wanted is not None and os.environ.get("UPDATE_DOCS"):
        (ROOT / name).write_text(wanted, encoding="utf-8", newline="\n")
        return
    change = "\n".join(difflib.unified_diff(read(name).splitlines(), (wanted or "").splitlines(), lineterm="", n=1)) if wanted else ""
    assert wanted is None, f"{name} is stale; scripts/docs/paste.py {name} pastes it anew:\n{change}"


@ON_LINUX
def test_a_page_that_lies_is_told(tmp_path):
    page = "# A page\n\n<!-- run: lines=2 -->\n```console\n$ harness layout\n  .             12 lines in 1 files\n```\n\n```python\nprint('so')\n```\n\n<!-- output -->\n```text\n```\n"
    wanted = paste.made(page)
    assert not paste.same(page, wanted)
    assert "  .             253 lines in 11 files\n    orders" in wanted and "…\n```" in wanted and "```text\nso\n```" in wanted
    assert paste.same(wanted, paste.made(wanted))
    with pytest.raises(paste.Stale, match="ended with 2"):
        paste.made("```console\n$ harness nosuch\n```\n")


def test_every_block_is_run_or_says_why():
    for name in NAMES:
        for block in pages.blocks(read(name)):
            where = f"{name}:{block.first}"
            is_told = block.is_run or block.kind in ("output", "config") or (block.kind == "not run" and block.words)
            assert is_told or block.language in ("json", "yaml"), f"{where} is neither run nor says why"
            if block.language == "json":
                json.loads(block.text)
            if block.language == "yaml":
                yaml.safe_load(block.text)


def test_every_command_has_a_transcript():
    listed = re.findall(r"^## harness (\w+)$", read("docs/reference/commands.md"), re.M)
    told = re.split(r"^## ", read("docs/guide/commands.md"), flags=re.M)[1:]
    assert [section.split("\n")[0] for section in told] == listed
    for section in told:
        name = section.split("\n")[0]
        assert re.search(rf"^\$ .*harness {name}|not run|127\.0\.0\.1:8090", section, re.M), name


def yaml_blocks(name):
    return [yaml.safe_load(block.text) for block in pages.blocks(read(name)) if block.language == "yaml"]


def test_the_two_pages_on_ci_show_the_same_steps():
    workflow, hook = yaml_blocks("docs/guide/ci.md")
    assert [workflow["jobs"]["harness"]["steps"], hook] == yaml_blocks("docs/concept/ci.md")


# Where messages come from.
SPOKEN = ("crates/*/src/**/*.rs", "crates/*/src/**/*.py", "scripts/run/*.py")


def unspoken(page, sources):
    """Pieces of a page's headings that no message has. A heading is what messages say unless it begins with a capital."""
    headings = [heading for heading in re.findall(r"^## (.+)$", page, re.M) if not heading[0].isupper()]
    pieces = [piece for heading in headings for piece in re.split(r", | … ", heading)]
    # A string of Rust may go on in the next line.
    said = re.sub(r"\\\n\s*", "", sources)
    return [piece for piece in pieces if piece not in said]


def test_troubleshooting_has_the_words_of_messages():
    sources = "\n".join(path.read_text(encoding="utf-8") for pattern in SPOKEN for path in sorted(ROOT.glob(pattern)))
    page = read("docs/guide/troubleshooting.md")
    assert len(re.findall(r"^## [a-z]", page, re.M)) > 15 and unspoken(page, sources) == []
    assert unspoken("## is gone, said … there\n## The sandbox\n", 'format!("it said \\\n    it was there")') == ["is gone"]


def test_every_rule_about_a_draft_is_told():
    sources = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("crates/harness-agent/src/**/*.rs"))
    rules = set(re.findall(r'"(draft\.[a-z_]+)"', sources))
    assert len(rules) > 20 and {rule for rule in rules if f"`{rule}`" not in read("docs/concept/edits.md")} == set()


def test_no_page_names_a_machine():
    for name in [*NAMES, "docs/recording.svg"]:
        assert not re.search(r"/(root|tmp/harness|work|home/(?!you))\b", read(name)), name


# What a line of a page is when it is rendered, in pixels and characters, and how many of them a screen shows.
LINE_HEIGHT, LINE_LENGTH, SCREEN = 24, 100, 50


def rendered_lines(folder, text):
    """About how many lines of a screen a page takes: pictures by their height, paragraphs and entries by their letters, rows
    of a table one and a half each, headings two."""
    lines = 0.0
    for block in pages.blocks(text):
        lines += len(block.lines) + 1
    for line in filter(None, map(str.strip, pages.prose(text).splitlines())):
        shown = build.LINK.sub(lambda found: "" if found[1] else found[2], line)
        heights = [re.search(r'<svg [^>]*height="(\d+)"', (folder / target).read_text(encoding="utf-8"))[1] for mark, _, target in build.LINK.findall(line) if mark]
        lines += sum(int(height) / LINE_HEIGHT for height in heights)
        if line.startswith("#"):
            lines += 2
        elif line.startswith("|"):
            lines += 0 if line.startswith("|--") else 1.5
        else:
            lines += math.ceil(len(re.sub(r"[*`]", "", shown)) / LINE_LENGTH)
    return lines


def test_the_readme_is_two_screens_with_two_commands():
    text = read("README.md")
    assert rendered_lines(ROOT, text) <= 2 * SCREEN
    for command in ("python3 scripts/run/install.py --demo", "python3 scripts/run/test.py"):
        assert command in text
    assert text.index("docs/recording.svg") < text.index("## Two commands")


def test_a_page_is_as_long_as_it_is_when_rendered(tmp_path):
    (tmp_path / "a.svg").write_text('<svg width="9" height="48"/>', encoding="utf-8")
    assert rendered_lines(tmp_path, "# A\n\n![x](a.svg)\n") == 2 + 2
    assert rendered_lines(tmp_path, f"{'x' * 101}\n\n- [x]({'y' * 200})\n") == 2 + 1
    assert rendered_lines(tmp_path, "| a | b |\n|---|---|\n| c | d |\n\n<!-- run: -->\n```sh\nls\nls\n```\n") == 3 + 3


# Links


def anchors(text):
    """What headings are called in links, as GitHub and mdBook make it."""
    found = re.findall(r"^#+ (.+)$", pages.prose(text), re.M)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in found]
    return {re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-") for heading in plain}


def dead_links(folder, names):
    dead = []
    for name in names:
        file = folder / name
        for _, _, target in build.LINK.findall(pages.prose(file.read_text(encoding="utf-8"))):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            there = (file.parent / path).resolve() if path else file.resolve()
            if not there.exists() or (anchor and anchor not in anchors(there.read_text(encoding="utf-8"))):
                dead.append(f"{name}: {target}")
    return dead


def test_no_link_is_dead():
    names = [name for name in TRACKED if not name.startswith(FOREIGN) or name == "demo/orders/README.md"]
    assert len(names) > 30 and dead_links(ROOT, names) == []


def test_a_dead_link_is_seen(tmp_path):
    (tmp_path / "a.md").write_text("# A b\n[x](b.md) [y](#a-b) [z](#c) [o](https://x.test)\n```\n[no](c.md)\n```\n", encoding="utf-8")
    assert dead_links(tmp_path, ["a.md"]) == ["a.md: b.md", "a.md: #c"]


def test_every_page_is_in_the_site_once():
    listed = [target for _, _, target in build.LINK.findall(read("docs/SUMMARY.md"))]
    there = sorted(path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md") if path.name != "SUMMARY.md")
    assert sorted(target for target in listed if not target.startswith("../")) == there
    assert sorted(target[3:] for target in listed if target.startswith("../")) == sorted(build.DOCUMENTS)


def test_the_site_has_no_dead_links(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "SOURCE", tmp_path / "source")
    source = build.gather("https://example.test/repository")
    names = [path.relative_to(source).as_posix() for path in source.rglob("*.md")]
    assert len(names) > 30 and dead_links(source, names) == []
    assert all((source / name).read_text(encoding="utf-8").startswith("# ") for name in names)
    assert "](https://example.test/repository/blob/HEAD/demo/orders/README.md)" in (source / "guide" / "first-hour.md").read_text(encoding="utf-8")
    assert "](recording.svg)" in (source / "README.md").read_text(encoding="utf-8")


# The recording


@ON_LINUX
def test_the_recording_is_that_of_this_program(tmp_path):
    assert record.main([str(tmp_path / "again.svg")]) == 0
    assert (tmp_path / "again.svg").read_text(encoding="utf-8") == read("docs/recording.svg"), f"{sys.executable} scripts/docs/record.py makes it anew"


def test_the_recording_is_light_and_can_stand_still():
    picture = read("docs/recording.svg")
    assert len(picture.encode()) < 200_000
    assert "animation-duration:40s" in picture and "@media (prefers-reduced-motion:reduce)" in picture
    assert "<script" not in picture and not re.search(r"(href|src|url)\s*[=(]\s*[\"']?(?!#)(https?:|data:)", picture)
    import xml.etree.ElementTree

    root = xml.etree.ElementTree.fromstring(picture)
    assert root.get("aria-label") and len(list(root.iter("{http://www.w3.org/2000/svg}text"))) > 40
