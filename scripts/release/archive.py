#!/usr/bin/env python3
"""Packs a program for the release page: python3 scripts/release/archive.py PROGRAM TARGET [--output FOLDER]

harness-VERSION-TARGET.tar.gz (.zip for Windows) holds the program, licence, README, changelog, completions and the manual
page, which the program prints itself. The same files always give the same archive.
"""

import argparse
import gzip
import io
import pathlib
import subprocess
import sys
import tarfile
import zipfile

from check_version import ROOT, version

# Completions by where packages put them.
COMPLETIONS = {"bash": "harness.bash", "zsh": "_harness", "fish": "harness.fish", "powershell": "harness.ps1", "nushell": "harness.nu"}
# The beginning of what zip can tell: one time for every file, so that an archive does not depend on the clock.
LONG_AGO = (1980, 1, 1, 0, 0, 0)


def contents(program):
    """The files of the archive: name, bytes, mode."""
    yield program.name, program.read_bytes(), 0o755
    for name in ("LICENSE", "README.md", "CHANGELOG.md"):
        yield name, (ROOT / name).read_bytes(), 0o644
    for shell, name in COMPLETIONS.items():
        yield f"completions/{name}", said(program, "completions", shell), 0o644
    yield "man/harness.1", said(program, "man"), 0o644


def said(program, *words):
    return subprocess.run([str(program), *words], capture_output=True, check=True, timeout=60).stdout


def pack(program, target, folder):
    """Writes the archive and returns its path."""
    name = f"harness-{version()}-{target}"
    folder.mkdir(parents=True, exist_ok=True)
    if "windows" in target:
        file = folder / f"{name}.zip"
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for inside, data, mode in contents(program):
                about = zipfile.ZipInfo(f"{name}/{inside}", LONG_AGO)
                about.external_attr, about.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
                archive.writestr(about, data)
        return file
    file, packed = folder / f"{name}.tar.gz", io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as stream, tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for inside, data, mode in contents(program):
            about = tarfile.TarInfo(f"{name}/{inside}")
            about.size, about.mode = len(data), mode
            archive.addfile(about, io.BytesIO(data))
    file.write_bytes(packed.getvalue())
    return file


def main(words):
    parser = argparse.ArgumentParser(description="Packs a program for the release page.")
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("target", help="such as x86_64-unknown-linux-musl")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "dist", metavar="FOLDER")
    arguments = parser.parse_args(words)
    print(pack(arguments.program.resolve(), arguments.target, arguments.output))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
