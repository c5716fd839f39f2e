#!/usr/bin/env python3
"""Looks at the built site as a phone and a desktop show it: python3 scripts/docs/look.py [--pictures]

Every page of target/docs/book is laid out in a headless Chromium, 390 and 1,280 pixels wide. Something that sticks out at the
side, or a picture that does not load, is a fault. `--pictures` also leaves a picture of each page in target/docs/look, for a
person. Needs what build.py made and a Chromium on the PATH (Debian: chromium).
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from pages import ROOT

BOOK = ROOT / "target" / "docs" / "book"
PICTURES = ROOT / "target" / "docs" / "look"
WIDTHS = (390, 1280)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# A page on which there is nothing to see but mdBook's own form of all others, and the one for lost links.
NO_PAGES = ("print.html", "404.html", "toc.html")
# Takes one page after the other into a frame, measures it, and puts what it found into the title.
FRAME = """<!doctype html><title>working</title><iframe id=frame width=WIDTH height=800></iframe><script>
const pages = PAGES, found = {}, frame = document.getElementById("frame");
const next = () => { if (!pages.length) { document.title = JSON.stringify(found); return; } frame.src = pages[0]; };
frame.onload = () => {
  if (!pages.length) return;
  const page = pages.shift(), inside = frame.contentDocument;
  const broken = [...inside.images].filter(one => one.complete && !one.naturalWidth).map(one => one.getAttribute("src"));
  // What sticks out, but for what scrolls by itself: a long line of a block, a wide table.
  const scrolls = one => ["auto", "scroll"].includes(getComputedStyle(one).overflowX);
  const holds = one => one && one.tagName !== "MAIN" && (scrolls(one) || holds(one.parentElement));
  const wide = [...inside.querySelectorAll("main *")].filter(one => one.getBoundingClientRect().right > WIDTH + 1 && !holds(one));
  found[page] = [Math.max(inside.documentElement.scrollWidth, ...wide.map(one => Math.round(one.getBoundingClientRect().right))), broken];
  setTimeout(next, 0);
};
next();
</script>"""


def main(words):
    parser = argparse.ArgumentParser(description="Looks at the built site in a browser.")
    parser.add_argument("--pictures", action="store_true", help="leave a picture of each page")
    arguments = parser.parse_args(words)
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    pages = sorted(page for page in BOOK.rglob("*.html") if page.name not in NO_PAGES)
    if not browser or not pages:
        print(f"{'no Chromium is on the PATH' if not browser else 'there is no site'}\nhint: {'Debian: apt-get install chromium' if not browser else 'python3 scripts/docs/build.py'}", file=sys.stderr)
        return 1
    faults = [fault for width in WIDTHS for fault in faults_at(browser, pages, width)]
    if arguments.pictures:
        for width in WIDTHS:
            for page in pages:
                picture(browser, page, width)
        print(f"{2 * len(pages)} pictures in {PICTURES.relative_to(ROOT)}")
    print("\n".join(faults) or f"{len(pages)} pages, {' and '.join(map(str, WIDTHS))} pixels wide: nothing sticks out, all pictures are there")
    return 1 if faults else 0


def faults_at(browser, pages, width):
    """What is wrong with the pages at a width."""
    addresses = {page.as_uri(): page.relative_to(BOOK).as_posix() for page in pages}
    with tempfile.TemporaryDirectory() as folder:
        frame = pathlib.Path(folder, "frame.html")
        frame.write_text(FRAME.replace("WIDTH", str(width)).replace("PAGES", json.dumps(list(addresses))), encoding="utf-8")
        shown = asked(browser, folder, "--allow-file-access-from-files", "--virtual-time-budget=120000", "--dump-dom", frame.as_uri())
    title = re.search(r"<title>(.*?)</title>", shown, re.S)
    found = json.loads(title[1].replace("&amp;", "&")) if title and title[1].startswith("{") else {}
    faults = [f"{name}: was not shown at {width} pixels" for address, name in addresses.items() if address not in found]
    for address, (wide, broken) in found.items():
        faults += [f"{addresses[address]}: is {wide} pixels wide on {width}"] if wide > width else []
        faults += [f"{addresses[address]}: the picture {one} does not load" for one in broken]
    return faults


def picture(browser, page, width):
    file = PICTURES / str(width) / f"{page.relative_to(BOOK).with_suffix('').as_posix().replace('/', '-')}.png"
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        asked(browser, folder, f"--screenshot={file}", f"--window-size={width},1600", "--hide-scrollbars", page.as_uri())


def asked(browser, profile, *words):
    """What the browser says; it looks nothing up elsewhere."""
    quiet = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    return subprocess.run([browser, *quiet, f"--user-data-dir={profile}/profile", *words], capture_output=True, text=True, timeout=300).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
