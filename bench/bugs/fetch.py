"""Fetches the source distributions of packages.txt from the index that pip is set up with.

    python fetch.py FOLDER
`pip download --no-binary` would build each of them; the files alone are enough here.
"""

import html
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse
import urllib.request

from pip._internal.models.index import PyPI

HERE = pathlib.Path(__file__).parent


def index():
    for name in ("global.index-url", "install.index-url"):
        found = subprocess.run([sys.executable, "-m", "pip", "config", "get", name], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.strip().rstrip("/")
    return os.environ.get("PIP_INDEX_URL", PyPI.simple_url).rstrip("/")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    base = index()
    for line in (HERE / "packages.txt").read_text().split():
        name, version = line.split("==")
        page_address = f"{base}/{name}/"
        page = urllib.request.urlopen(page_address).read().decode()
        wanted = re.compile("[-_.]".join(map(re.escape, re.split("[-_.]", name))) + "-" + re.escape(version) + r"\.tar\.gz", re.I)
        for link in re.findall(r'href="([^"]+)"', page):
            address = urllib.parse.urljoin(page_address, html.unescape(link)).split("#")[0]
            file = urllib.parse.unquote(address.rsplit("/", 1)[-1])
            if wanted.fullmatch(file):
                (folder / file).write_bytes(urllib.request.urlopen(address).read())
                print(file)
                break
        else:
            print(f"{line}: no source distribution", file=sys.stderr)


if __name__ == "__main__":
    main()
