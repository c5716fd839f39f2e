"""Every crate that goes into the program has a licence that lets anyone use it."""

import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Permissive licences: keep the notice, do as you like.
ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
}


def packages():
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", env=os.environ)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["packages"]


def allowed(expression):
    """Whether a licence expression leaves a choice that we may take. `/` is the old way to write OR."""
    words = re.findall(r"\(|\)|[^\s()]+(?:\s+WITH\s+[^\s()]+)?", expression.replace("/", " OR "))
    python = {"OR": "or", "AND": "and", "(": "(", ")": ")"}
    # Only these four words and True or False are left, so Python may read it.
    sentence = " ".join(python.get(word) or str(re.sub(r"\s+", " ", word) in ALLOWED) for word in words)
    return bool(words) and bool(eval(sentence, {"__builtins__": {}}))


def test_every_crate_has_a_permissive_licence():
    wrong = {f"{package['name']} {package['version']}": package["license"] for package in packages() if not allowed(package["license"] or "")}
    assert wrong == {}


def test_an_expression_is_read_as_it_is_meant():
    assert allowed("MIT OR GPL-3.0-only")
    assert allowed("MIT/Apache-2.0")
    assert allowed("(MIT OR Apache-2.0) AND Unicode-3.0")
    assert allowed("Apache-2.0 WITH LLVM-exception OR MIT")
    assert not allowed("(MIT OR Apache-2.0) AND GPL-3.0-only")
    assert not allowed("MIT AND GPL-3.0-only")
    assert not allowed("")
