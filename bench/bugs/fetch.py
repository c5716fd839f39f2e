"""Fetches source distributions from the index that pip is set up with: those of packages.txt, or those that are named.

    python fetch.py FOLDER [NAME==VERSION...]
`pip download --no-binary` would build each of them; the files alone are enough here.
"""

import hashlib
import html
import os
import pathlib
import re
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).parent
PUBLIC = "https://pypi.org/simple"


def index():
    for name in ("global.index-url", "install.index-url"):
        found = subprocess.run([sys.executable, "-m", "pip", "config", "get", name], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.strip().rstrip("/")
    return os.environ.get("PIP_INDEX_URL", PUBLIC).rstrip("/")


def fetch(line, folder, base):
    """The source distribution of `name==version` in this folder; nothing where the index has none."""
    name, version = line.split("==")
    wanted = re.compile("[-_.]".join(map(re.escape, re.split("[-_.]", name))) + "-" + re.escape(version) + r"\.tar\.gz", re.I)
    known = [file for file in folder.iterdir() if wanted.fullmatch(file.name)]
    if known:
        return known[0]
    page_address = f"{base}/{name}/"
    try:
        page = urllib.request.urlopen(page_address, timeout=60).read().decode()
    except urllib.error.HTTPError:
        return None
    for link in re.findall(r'href="([^"]+)"', page):
        address, _, digest = urllib.parse.urljoin(page_address, html.unescape(link)).partition("#")
        file = urllib.parse.unquote(address.rsplit("/", 1)[-1])
        if wanted.fullmatch(file):
            data = urllib.request.urlopen(address, timeout=120).read()
            if digest.startswith("sha256=") and hashlib.sha256(data).hexdigest() != digest.removeprefix("sha256="):
                raise OSError(f"{file} is not what the index says it is")
            # Under its own name only when it is whole.
            half = folder / f"{file}.part"
            half.write_bytes(data)
            return half.replace(folder / file)
    return None


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    base = index()
    for line in sys.argv[2:] or (HERE / "packages.txt").read_text().split():
        found = fetch(line, folder, base)
        print(found.name if found else f"{line}: no source distribution", file=sys.stdout if found else sys.stderr)


if __name__ == "__main__":
    main()
