"""Every crate that goes into the program has a licence that lets anyone use it, and so has what builds and tests it."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys

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


# What is installed from PyPI and npm


def names(requirements):
    """The packages of requirements, without versions and conditions: `mcp>=2,<3`, `openai@>=5 <8`."""
    return {re.match(r"@?[\w./-]+", requirement)[0] for requirement in requirements}


def installed():
    """The packages that the build, the extras, the test command and the clients of the bench name."""
    sys.path.insert(0, str(ROOT / "scripts" / "run"))
    specification = importlib.util.spec_from_file_location("test_command_lists", ROOT / "scripts" / "run" / "test.py")
    command = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(command)
    model = (ROOT / "tests" / "requirements-model.txt").read_text(encoding="utf-8").splitlines()
    # tomllib is younger than the oldest Python of the tests.
    manifest = re.sub(r"^\s*#.*$", "", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), flags=re.M)
    extras = manifest.split("[project.optional-dependencies]")[1].split("\n[")[0]
    build = re.search(r"^requires = \[.*\]$", manifest, re.M)[0]
    clients = json.loads((ROOT / "bench" / "clients" / "package.json").read_text(encoding="utf-8"))["dependencies"]
    listed = [*command.TOOLS, *command.CHECKS, *command.SCRIPT_CLIENTS, *clients, *re.findall(r'"([^"]+)"', build + extras)]
    return names([*listed, *(line for line in model if not line.startswith("#"))])


def test_every_package_has_its_reason_and_a_permissive_licence():
    page = (ROOT / "docs" / "reference" / "dependencies.md").read_text(encoding="utf-8").split("\n## ")[1]
    rows = {name: (licence, reason) for name, licence, reason in re.findall(r"^\| `([^`]+)` \| [^|]+ \| ([^|]+) \| ([^|]+) \|$", page, re.M)}
    assert installed() - set(rows) == set(), "docs/reference/dependencies.md lacks these"
    assert set(rows) - installed() == set(), "nothing installs these any more"
    assert {name: licence for name, (licence, reason) in rows.items() if not allowed(licence) or not reason.strip()} == {}
