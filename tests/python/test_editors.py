"""`harness editors` as a person meets it; the merging itself is tested beside its code."""

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from xml.etree import ElementTree

import pytest
import yaml

from serving import PROGRAM, Served, tree

NAMES = ["vscode", "cursor", "continue", "zed", "cline", "windsurf", "neovim", "emacs", "jetbrains", "helix"]
# Where the entry for the Model Context Protocol is written, and in which object.
ENTRIES = {
    "vscode": (".vscode/mcp.json", "servers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "zed": (".zed/settings.json", "context_servers"),
    "jetbrains": (".junie/mcp/mcp.json", "mcpServers"),
    "continue": (".continue/mcpServers/harness.yaml", "mcpServers"),
}


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    """A home folder without settings: whoever runs the tests may use harness in their editor."""
    folder = str(tmp_path_factory.mktemp("home"))
    for name in ("HOME", "USERPROFILE", "XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.setenv(name, folder)


def editors(*words):
    return subprocess.run([PROGRAM, "editors", *map(str, words)], capture_output=True, text=True, encoding="utf-8", timeout=60)


def bytes_of(folder):
    return {name: about[2] for name, about in tree(folder).items() if about[2] is not None}


def test_the_list():
    shown = editors()
    assert shown.returncode == 0 and all(name in shown.stdout for name in NAMES)
    listed = json.loads(editors("--json").stdout)["editors"]
    assert [one["name"] for one in listed] == NAMES and all(one["files"] and one["about"] for one in listed)


@pytest.mark.parametrize("name", NAMES)
def test_there_and_away(project, name):
    before = bytes_of(project)
    dry = editors(name, "--project", project, "--dry-run")
    assert dry.returncode == 0 and "would be written" in dry.stdout and "+++ b/" in dry.stdout
    assert bytes_of(project) == before
    done = editors(name, "--project", project, "--allow-writes")
    assert done.returncode == 0 and "next:" in done.stdout, done.stderr
    assert set(bytes_of(project)) > set(before) and not (project / ".harness").exists()
    again = bytes_of(project)
    assert "nothing to do" in editors(name, "--project", project, "--allow-writes").stdout and bytes_of(project) == again
    report = json.loads(editors(name, "--project", project, "--remove", "--json").stdout)
    assert {file["action"] for file in report["files"]} == {"removed"} and report["steps"] == []
    assert bytes_of(project) == before
    assert not [folder for folder in project.rglob("*") if folder.is_dir() and not any(folder.iterdir())]
    assert editors(name, "--project", project, "--remove").returncode == 0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("change", [lambda raw: raw.replace(b"\n", b"\r\n"), lambda raw: raw + b"\n"], ids=["CRLF", "one more newline"])
def test_what_a_checkout_or_an_editor_does_to_line_ends_is_no_change(project, name, change):
    before = bytes_of(project)
    assert editors(name, "--project", str(project)).returncode == 0
    for path in set(bytes_of(project)) - set(before):
        (project / path).write_bytes(change((project / path).read_bytes()))
    done = editors(name, "--project", str(project), "--remove")
    assert done.returncode == 0 and bytes_of(project) == before, done.stdout + done.stderr


def test_what_is_written_permits_changes_only_where_that_is_asked_for(project):
    for words, look_only in (([], True), (["--allow-writes"], False)):
        assert editors("vscode", "--project", project, *words).returncode == 0
        tasks = (project / ".vscode" / "tasks.json").read_text(encoding="utf-8")
        assert ("--dry-run" in tasks, "--allow-writes" in tasks) == (look_only, not look_only), words
        assert editors("vscode", "--project", project, "--remove").returncode == 0


def written_entry(project, name):
    file, holder = ENTRIES[name]
    held = yaml.safe_load((project / file).read_text(encoding="utf-8"))[holder]
    return held[0] if isinstance(held, list) else held["harness"]


@pytest.mark.parametrize("name", ENTRIES)
def test_the_entry_that_is_written_starts_this_very_program(project, name):
    """An editor knows no virtualenv, and starts the server in whatever folder it likes."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "brief", "arguments": {}}},
    ]
    for words, has_run in (([], False), (["--allow-writes"], True)):
        assert editors(name, "--project", project, *words).returncode == 0
        entry = written_entry(project, name)
        assert os.path.isabs(entry["command"]), entry
        text = "".join(json.dumps(line) + "\n" for line in lines)
        done = subprocess.run([entry["command"], *entry["args"]], input=text, cwd="/", capture_output=True, text=True, timeout=30)
        answers = {answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines())}
        assert ("run" in {tool["name"] for tool in answers[2]["tools"]}) == has_run
        assert answers[3]["structuredContent"]["files"] == 4


@pytest.mark.parametrize("name", ["zed", "cline", "windsurf", "jetbrains"])
def test_the_entries_for_protocols_that_are_printed_start_this_very_program(project, name):
    """What is printed is typed into settings as it stands."""
    report = json.loads(editors(name, "--project", project, "--dry-run", "--json").stdout)
    entries = [json.loads(step.split('"harness": ', 1)[1]) for step in report["steps"] if '"harness": ' in step]
    assert {entry["args"][0] for entry in entries} == {"zed": {"acp"}, "jetbrains": {"mcp", "acp"}}.get(name, {"mcp"})
    for entry in entries:
        assert os.path.isabs(entry["command"]) and "--allow-writes" not in entry["args"]
        done = subprocess.run([entry["command"], *entry["args"]], input="", capture_output=True, text=True, timeout=30)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
    steps = json.loads(editors(name, "--project", project, "--dry-run", "--json", "--allow-writes").stdout)["steps"]
    assert all("--allow-writes" in step for step in steps if '["mcp"' in step)


@pytest.mark.parametrize("name", ["vscode", "continue", "zed", "jetbrains", "neovim", "emacs"])
def test_the_chat_address_that_is_given_streams(project, engine, name):
    """VS Code 1.122 (its language models as JSON), AI Assistant 2026.1 and the rest take the address of a server that streams."""
    engine("It returns the total.")
    report = json.loads(editors(name, "--project", project, "--json").stdout)
    told = " ".join(report["steps"]) + "".join((project / file["path"]).read_text(encoding="utf-8") for file in report["files"])
    paths = set(re.findall(r"/v1/stream(?:/chat/completions)?", told))
    assert paths and f":{8090}" in told and "qwen3" in told
    if name == "vscode":
        (step,) = [step for step in report["steps"] if "Language Models" in step]
        (model,) = json.loads(step[step.index("{") : step.rindex("}") + 1])["models"]
        assert model["url"] == "http://127.0.0.1:8090/v1/stream/chat/completions" and model["id"] == "qwen3:8b"
    with Served(project) as server:
        for path in paths:
            path = path if path.endswith("completions") else f"{path}/chat/completions"
            body = {"model": "qwen3:8b", "stream": True, "messages": [{"role": "user", "content": "what does discount in shop/pricing.py return?"}]}
            request = urllib.request.Request(server.base + path, json.dumps(body).encode(), {"content-type": "application/json", "authorization": "Bearer harness"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                assert answer.read().rstrip().endswith(b"data: [DONE]"), path


@pytest.mark.parametrize("name", ENTRIES)
def test_a_set_up_that_no_longer_works_is_told(project, tmp_path, name):
    file = project / ENTRIES[name][0]

    def checked():
        shown = editors(name, "--check", "--project", project, "--json")
        (found,) = [one for one in json.loads(shown.stdout)["files"] if one["path"] == ENTRIES[name][0]]
        return shown.returncode, found["state"], found["found"]

    assert checked()[1] == "not_set_up"
    editors(name, "--project", project)
    code, state, _ = checked()
    # The server of Continue's chat model does not run here.
    assert (code, state) == (int(name == "continue"), "works")
    good, program = file.read_text(encoding="utf-8"), written_entry(project, name)["command"]
    started = tmp_path / "started"
    other = tmp_path / "harness"
    other.write_text(f"#!/bin/sh\ntouch '{started}'\n")
    other.chmod(0o755)
    for was, now, words in ((program, "/nosuch/harness", "not there"), (program, str(other), "not this program"), (str(project), str(tmp_path), "another project")):
        file.write_text(good.replace(f'"{was}"', f'"{now}"'), encoding="utf-8")
        code, state, found = checked()
        assert (code, state) == (1, "broken") and words in found, found
    assert not started.exists(), "what a project names was started"
    # Written again it works, and is taken out all the same.
    editors(name, "--project", project)
    assert checked()[1] == "works" and file.read_text(encoding="utf-8") == good
    editors(name, "--project", project, "--remove")
    assert not file.exists()


# Files that start the program themselves, beside the entries above.
STARTING = [
    ("vscode", ".vscode/tasks.json"),
    ("zed", ".zed/tasks.json"),
    ("jetbrains", ".run/harness-brief.run.xml"),
    ("jetbrains", ".run/harness-serve.run.xml"),
    ("helix", ".helix/config.toml"),
    ("neovim", ".nvim.lua"),
    ("emacs", ".dir-locals-2.el"),
    ("cursor", ".cursor/rules/harness.mdc"),
    ("cline", ".clinerules/harness.md"),
    ("windsurf", ".windsurf/rules/harness.md"),
]


@pytest.mark.parametrize(("name", "path"), STARTING)
@pytest.mark.parametrize("words", [[], ["--allow-writes"]])
def test_commands_start_this_very_program_and_one_that_is_gone_is_told(project, name, path, words):
    before = bytes_of(project)
    assert editors(name, "--project", project, *words).returncode == 0
    file = project / path
    good = file.read_text(encoding="utf-8")

    def checked():
        shown = editors(name, "--project", project, "--check", "--json")
        (found,) = [one for one in json.loads(shown.stdout)["files"] if one["path"] == path]
        return shown.returncode, found["state"], found["found"]

    assert PROGRAM in good and checked()[:2] == (0, "works")
    gone = good.replace(PROGRAM, "/nosuch/harness")
    file.write_text(gone, encoding="utf-8")
    code, state, found = checked()
    assert (code, state) == (1, "broken") and "/nosuch/harness" in found
    assert editors(name, "--project", project, *words).returncode == 0 and file.read_text(encoding="utf-8") == good
    file.write_text(gone, encoding="utf-8")
    assert editors(name, "--project", project, "--remove").returncode == 0 and bytes_of(project) == before


# What Zed reads of a task, from the published source of its task template; it ignores what it does not know.
ZED_TASK = {"label", "command", "args", "env", "cwd", "use_new_terminal", "allow_concurrent_runs", "reveal", "reveal_target", "hide", "tags", "shell"}


@pytest.mark.parametrize("words", [[], ["--allow-writes"]])
def test_zed_knows_every_field_of_a_task(project, words):
    """VS Code's files are held against its schemas in bench/formats.py; Zed publishes none."""
    editors("zed", "--project", project, *words)
    lines = (project / ".zed" / "tasks.json").read_text(encoding="utf-8").splitlines(True)
    tasks = json.loads("".join(line for line in lines if not line.startswith("//")))
    assert all(set(task) <= ZED_TASK and isinstance(task["cwd"], str) and task["reveal"] in ("always", "no_focus", "never") for task in tasks)
    assert {name for task in tasks for name, value in task.items() if isinstance(value, bool)} == {"use_new_terminal", "allow_concurrent_runs"}
    assert all(isinstance(word, str) for task in tasks for word in [task["label"], task["command"], *task["args"]])


def task_lines(project):
    """What each editor would start for `brief`, as a list of words or a line for a shell."""
    lines = (project / ".helix/config.toml").read_text(encoding="utf-8").splitlines()
    # A string of TOML with these escapes is one of JSON.
    helix = json.loads(next(line for line in lines if line.startswith("b = ")).removeprefix("b = "))
    jetbrains = ElementTree.parse(project / ".run/harness-brief.run.xml").find(".//option[@name='SCRIPT_TEXT']").get("value")
    yield "helix", helix.removeprefix(":sh ").replace("%%", "%")
    yield "jetbrains", jetbrains
    tasks = {"vscode": ".vscode/tasks.json", "zed": ".zed/tasks.json"}
    for name, path in tasks.items():
        read = json.loads("".join(line for line in (project / path).read_text(encoding="utf-8").splitlines(True) if not line.startswith("//")))
        task = (read if name == "zed" else read["tasks"])[0]
        yield name, [task["command"], *task["args"]]


@pytest.mark.skipif(sys.platform == "win32", reason="such names are not allowed there")
def test_tasks_start_a_program_in_a_folder_with_an_odd_name(project, tmp_path):
    """A shell, XML, TOML and Helix each read some of these characters as their own."""
    folder = tmp_path / """it's 100% "a" & <b> $(touch planted)"""
    folder.mkdir()
    before = bytes_of(project)
    program = shutil.copy(PROGRAM, folder / "harness")
    for name in ("helix", "jetbrains", "vscode", "zed"):
        subprocess.run([program, "editors", name, "--project", str(project)], check=True, capture_output=True)
    for name, command in task_lines(project):
        done = subprocess.run(command, shell=isinstance(command, str), cwd=project, env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and "shop" in done.stdout, (name, command, done.stderr)
    assert not (project / "planted").exists()
    for name in ("helix", "jetbrains", "vscode", "zed"):
        shown = subprocess.run([program, "editors", name, "--check", "--project", str(project)], capture_output=True, text=True, timeout=60)
        assert shown.returncode == 0, shown.stdout
        # This program is another one, which finds and removes what that one wrote.
        assert editors(name, "--check", "--project", project).returncode == 1
        assert editors(name, "--project", project, "--remove").returncode == 0
    assert bytes_of(project) == before


def test_all_editors_are_checked_at_once_and_the_doctor_tells_of_them(project):
    shown = editors("--check", "--project", project)
    assert shown.returncode == 0 and "no editor is connected" in shown.stdout
    editors("cursor", "--project", project)
    shown = editors("--check", "--project", project)
    assert shown.returncode == 0 and ".cursor/mcp.json" in shown.stdout and ".zed" not in shown.stdout
    (project / ".cursor" / "mcp.json").write_text('{"mcpServers": {"harness": {"command": "/nosuch/harness", "args": ["mcp", "."]}}}')
    shown = editors("--check", "--project", project)
    assert shown.returncode == 1 and "BAD   cursor .cursor/mcp.json" in shown.stdout and "hint: `harness editors cursor`" in shown.stdout
    doctor = subprocess.run([PROGRAM, "doctor", "--project", str(project), "--json"], capture_output=True, text=True, timeout=60)
    rows = [check for check in json.loads(doctor.stdout)["checks"] if check["name"] == "editor cursor"]
    assert {row["health"] for row in rows} == {"good", "weak"} and any("/nosuch/harness" in row["found"] for row in rows)


def doctor(project, **variables):
    done = subprocess.run([PROGRAM, "doctor", "--project", str(project), "--json"], env={**os.environ, **variables}, capture_output=True, text=True, timeout=60)
    return [(check["name"], check["health"], check["found"]) for check in json.loads(done.stdout)["checks"]]


def test_the_doctor_greets_both_servers(project):
    before = bytes_of(project)
    rows = {name: (health, found) for name, health, found in doctor(project)}
    assert rows["mcp"] == ("good", "answers (protocol 2025-06-18, 4 read-only tools)") and rows["acp"] == ("good", "answers (protocol version 1)")
    assert bytes_of(project) == before


@pytest.mark.parametrize("name", ENTRIES)
def test_the_doctor_tells_of_each_editor_whether_it_is_answered(project, tmp_path, name):
    (tmp_path / "harness").mkdir()
    settings = {"XDG_CONFIG_HOME": str(tmp_path), "HOME": str(tmp_path), "APPDATA": str(tmp_path)}
    editors(name, "--project", project)
    place = f"{ENTRIES[name][0]}: "
    ((_, health, found),) = [row for row in doctor(project, **settings) if row[2].startswith(place)]
    assert health == "good" and found.endswith(", which answers")
    # The entry is right, and what it starts ends at once: its settings cannot be read.
    (tmp_path / "harness" / "config.toml").write_text("steps = [\n")
    rows = doctor(project, **settings)
    ((_, health, found),) = [row for row in rows if row[2].startswith(place)]
    assert health == "weak" and "`harness mcp` does not answer: " in found
    assert {health for name, health, _ in rows if name in ("mcp", "acp")} == {"bad"}


# Settings in the home folder, from the published sources and manuals of: Zed 1.18 (its documentation on external agents;
# the settings of a project are not asked for agents), AI Assistant 2026.1 (on ACP), Windsurf (on MCP), Cline (on its
# configuration, and where it had it before).
AT_HOME = {
    "zed": (".config/zed/settings.json", "agent_servers", "acp"),
    "jetbrains": (".jetbrains/acp.json", "agent_servers", "acp"),
    "windsurf": (".codeium/windsurf/mcp_config.json", "mcpServers", "mcp"),
    "cline": (".cline/data/settings/cline_mcp_settings.json", "mcpServers", "mcp"),
    "older cline": (".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json", "mcpServers", "mcp"),
}


@pytest.mark.skipif(sys.platform != "linux", reason="the folders are those of Linux")
@pytest.mark.parametrize("name", AT_HOME)
def test_an_entry_in_the_home_folder_is_checked_and_never_written(project, tmp_path, name):
    path, holder, protocol = AT_HOME[name]
    name = name.split()[-1]
    home = tmp_path / "home"
    file = home / path
    file.parent.mkdir(parents=True)
    settings = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config")}
    printed = json.loads(subprocess.run([PROGRAM, "editors", name, "--project", str(project), "--json"], env={**os.environ, **settings}, capture_output=True, text=True, timeout=60).stdout)["steps"]
    entries = [json.loads(step.split('"harness": ', 1)[1]) for step in printed if f"under `{holder}`: " in step]
    (entry,) = [entry for entry in entries if entry["args"][0] == protocol][:1]

    def found_with(text):
        file.write_text(text, encoding="utf-8")
        found = [row for row in doctor(project, **settings) if row[0] == f"editor {name}" and str(file) in row[2]]
        assert file.read_text(encoding="utf-8") == text
        return found

    def pasted(**changes):
        return "// mine\n" + json.dumps({"other": 1, holder: {"harness": {**entry, **changes}}}, indent=2) + "\n"

    ((_, health, found),) = found_with(pasted())
    assert health == "good" and found.endswith(", which answers")
    ((_, health, found),) = found_with(pasted(command="/nosuch/harness"))
    assert health == "weak" and "/nosuch/harness" in found
    for nothing in ("", "{", "[]", '{"%s": {"harness": {"command": "npx", "args": ["other"]}}}' % holder, pasted(args=[protocol, str(tmp_path)])):
        assert found_with(nothing) == []


def test_wrong_calls(project, tmp_path):
    for words, what in ((["nano"], "no editor `nano`"), (["--remove"], "editor is missing"), (["nano", "--check"], "no editor `nano`"), (["vscode", "--check", "--remove"], "--check"), (["vscode", "--project", tmp_path / "nosuch"], "nosuch")):
        shown = editors(*words)
        assert shown.returncode == 2 and what in shown.stderr and "hint: " in shown.stderr and shown.stdout == ""
    error = json.loads(editors("nano", "--json").stdout)["error"]
    assert error["param"] == "name" and "vscode" in error["hint"]


def test_a_file_that_cannot_be_read_is_left_alone(project):
    (project / ".vscode").mkdir()
    broken = project / ".vscode" / "tasks.json"
    broken.write_text("{ oh no")
    shown = editors("vscode", "--project", project)
    assert shown.returncode == 1 and "left alone" in shown.stdout and '"harness: ask"' in shown.stdout
    assert broken.read_text() == "{ oh no" and {path.name for path in broken.parent.iterdir()} == {"tasks.json", "mcp.json"}


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege")
def test_nothing_is_written_through_a_link(project, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    os.symlink(elsewhere, project / ".zed")
    os.symlink(elsewhere / "lua", project / ".nvim.lua")
    for name in ("zed", "neovim"):
        shown = editors(name, "--project", project)
        assert shown.returncode == 1 and "left alone" in shown.stdout
    assert list(elsewhere.iterdir()) == []


# Settings as they are found

# Every file that ours is put into: the editor, the file, and settings of somebody else's in it.
MERGED = {
    ".vscode/tasks.json": ("vscode", '"version": "2.0.0",\n  "tasks": [\n    {"label": "build", "type": "shell", "command": "make"}\n  ]'),
    ".vscode/mcp.json": ("vscode", '"servers": {\n    "other": {"type": "stdio", "command": "npx", "args": ["-y", "a-server"]}\n  },\n  "inputs": []'),
    ".cursor/mcp.json": ("cursor", '"mcpServers": {\n    "other": {"url": "http://127.0.0.1:1/sse"}\n  }'),
    ".zed/settings.json": ("zed", '"tab_size": 2,\n  "context_servers": {\n    "other": {"command": "npx", "args": []}\n  }'),
    ".zed/tasks.json": ("zed", None),
    ".junie/mcp/mcp.json": ("jetbrains", '"mcpServers": {\n    "other": {"command": "npx", "args": ["-y"], "env": {"KEY": "value"}}\n  }'),
}


def found_in_the_wild(inside):
    """One file in many spellings, each with whether ours can be put into it."""
    plain = f"{{\n  {inside}\n}}\n" if inside else '[\n  {"label": "build", "command": "make", "args": ["-j 2"]}\n]\n'
    last = plain.rindex("}" if inside else "]")
    comments = "// Ours, not yours: {[\n" + plain[:last] + "  /* the end \\ */\n" + plain[last:] + "// \u00e4\u6f22 \U0001f600\n"
    comma = plain[:last].rstrip() + ",\n" + plain[last:]
    repeated = plain.replace("{\n", '{\n  "z": 1,\n  "z": 2,\n', 1) if inside else plain.replace('"command"', '"command": "cc", "command"')
    return {
        "plain": (plain, True),
        "comments": (comments, True),
        "a comma at the end": (comma, True),
        "tabs": (plain.replace("  ", "\t"), True),
        "CRLF": (plain.replace("\n", "\r\n"), True),
        "a byte order mark": ("\ufeff" + plain, True),
        "comments, CRLF, tabs and a byte order mark": ("\ufeff" + comments.replace("\n", "\r\n").replace("  ", "\t"), True),
        "one line": (" ".join(plain.split()), True),
        "no line end": (plain.rstrip(), True),
        "blank lines": ("\n\n" + plain.replace("\n", "\n\n") + "\n \n", True),
        "a name twice": (repeated, None),
        "one of our name": (plain.replace('"other"', '"harness"').replace('"build"', '"harness: brief"'), False),
        "brackets in a text": (plain.replace('"other"', f'"{"[" * 300}"').replace('"build"', f'"{"{" * 300}"'), True),
        "nothing but a bracket pair": ("{}" if inside else "[]", True),
        "empty": ("", True),
        "blanks": (" \n\t\n", True),
        "only a comment": ("// nothing yet\n", None),
        "broken off": (plain[: len(plain) * 2 // 3], False),
        "two documents": (plain + plain, False),
        "the wrong kind": ("[]\n" if inside else "{}\n", False),
        "a text": ('"settings"\n', False),
        "UTF-16": (plain.encode("utf-16"), False),
        "no text": (b"\x00\xff\xfe\x80{}", False),
    }


@pytest.mark.parametrize("path", MERGED)
def test_settings_from_the_wild_are_as_they_were_or_left_alone(project, path):
    name, inside = MERGED[path]
    file = project / path
    file.parent.mkdir(parents=True)
    for spelling, (before, is_merged) in found_in_the_wild(inside).items():
        before = before if isinstance(before, bytes) else before.encode()
        for words in ([], ["--allow-writes"]):
            file.write_bytes(before)
            put = editors(name, "--project", project, *words)
            merged = file.read_bytes() != before
            assert is_merged is None or merged == is_merged, (spelling, put.stdout, put.stderr)
            if merged:
                assert b"harness" in file.read_bytes() and put.returncode == 0, spelling
                once = file.read_bytes()
                editors(name, "--project", project, *words)
                assert file.read_bytes() == once, spelling
            else:
                # Told with what to put there by hand.
                assert path in put.stdout + put.stderr and "harness" in put.stdout, (spelling, put.stdout, put.stderr)
            editors(name, "--project", project, "--remove")
            assert file.read_bytes() == before, spelling
            assert [other.name for other in file.parent.iterdir()] == [file.name], spelling


def edits_of(written, path):
    """What a person makes of the settings that we wrote, without another name for anything."""
    entry = {"tasks.json": '"args": ["brief"]', "mcp.json": '"args": [', "settings.json": '"args": ['}[path.rsplit("/", 1)[1]]
    yield "a field more", written.replace(entry, f'"env": {{"KEY": "value"}}, {entry}', 1)
    yield "another program", written.replace(json.dumps(PROGRAM), '"./my-wiring-harness.sh"', 1)
    yield "a word more", written.replace('["brief"', '["brief", "--json"').replace('["mcp", ', '["mcp", "--quiet", ')
    yield "a comment", written.replace(entry, f"// why\n{entry}", 1)


@pytest.mark.parametrize("path", MERGED)
def test_what_a_person_wrote_or_edited_under_our_name_stays(project, path):
    name = MERGED[path][0]
    file = project / path
    editors(name, "--project", project)
    for what, edited in edits_of(file.read_text(encoding="utf-8"), path):
        file.write_text(edited, encoding="utf-8")
        beside = sorted(file.parent.iterdir())
        for words in ([], ["--allow-writes"]):
            put = editors(name, "--project", project, *words)
            assert put.returncode == 1 and file.read_text(encoding="utf-8") == edited, what
            assert "put this there by hand" in put.stdout and re.search(rf"{re.escape(path)}: left alone, `harness[^`]*` in .* (changed since|not ours)", put.stdout), (what, put.stdout)
        checked = editors(name, "--check", "--project", project)
        assert re.search(rf"{re.escape(path)}: .*(changed since|not ours)", checked.stdout), (what, checked.stdout)
        editors(name, "--project", project, "--remove")
        assert file.read_text(encoding="utf-8") == edited and sorted(file.parent.iterdir()) == [other for other in beside if other.exists()], what
        editors(name, "--project", project)


def test_a_task_of_somebody_else_s_is_not_removed(project):
    """The project never had anything of ours."""
    text = '{"version":"2.0.0","tasks":[{"label":"harness: brief","type":"shell","command":"./my-wiring-harness.sh"}],"inputs":[{"id":"harness-task","type":"pickString","options":["a"]}]}'
    file = project / ".vscode" / "tasks.json"
    file.parent.mkdir()
    file.write_text(text)
    for words in (["--remove"], [], ["--remove"]):
        done = editors("vscode", "--project", project, *words)
        assert file.read_text() == text and "not ours" in done.stdout and "as it was before" not in done.stdout
        assert done.returncode == int(not words)
    assert [path.name for path in file.parent.iterdir()] == ["tasks.json"]


@pytest.mark.parametrize(("first", "other"), [("cursor", "vscode"), ("vscode", "cursor")])
def test_tasks_that_two_editors_read_stay_for_the_other(project, first, other):
    before = bytes_of(project)
    for name in (first, other):
        editors(name, "--project", project)
    tasks = project / ".vscode" / "tasks.json"
    written = tasks.read_bytes()
    done = editors(first, "--project", project, "--remove")
    assert done.returncode == 0 and tasks.read_bytes() == written and f"tasks.json: nothing to do, it is kept for {other}" in done.stdout
    assert not (project / f".{first}" / "mcp.json").exists()
    editors(other, "--project", project, "--remove")
    assert bytes_of(project) == before


@pytest.mark.skipif(sys.platform == "win32", reason="such names are not allowed there")
@pytest.mark.parametrize("folder", ["{model}", "a{program}b", "{port} {serve}", '"{program}"', "{mcp}"])
def test_a_folder_that_is_named_like_a_placeholder_is_written_as_it_is(project, tmp_path, folder):
    place = tmp_path / folder
    shutil.copytree(project, place)
    for name in ENTRIES:
        report = json.loads(editors(name, "--project", place, "--json").stdout)
        assert written_entry(place, name)["args"][1] == str(place), name
        pasted = [json.loads(step.split('"harness": ', 1)[1]) for step in report["steps"] if '"harness": ' in step]
        assert all(entry["args"][1:] in ([], [str(place)]) for entry in pasted), name
    pasted = [step for step in json.loads(editors("cline", "--project", place, "--json").stdout)["steps"] if '"harness": ' in step]
    assert json.loads(pasted[0].split('"harness": ', 1)[1])["args"] == ["mcp", str(place)]


@pytest.mark.skipif(sys.platform == "win32", reason="a name without an ending starts nothing there")
def test_a_renamed_program_writes_its_own_path(project, tmp_path):
    program = shutil.copy(PROGRAM, tmp_path / "hns")
    before = bytes_of(project)
    for name, state in (("cursor", 0), ("jetbrains", 0)):
        words = [program, "editors", name, "--project", str(project)]
        environment = {**os.environ, "PATH": str(tmp_path)}
        subprocess.run(words, check=True, capture_output=True, env=environment)
        assert written_entry(project, name)["command"] == str(program)
        assert subprocess.run([*words, "--check"], capture_output=True, env=environment).returncode == state
        subprocess.run([*words, "--remove"], check=True, capture_output=True, env=environment)
    assert bytes_of(project) == before


@pytest.mark.skipif(sys.platform != "linux", reason="the folders are those of Linux")
def test_an_entry_in_the_home_folder_is_enough(project, tmp_path):
    steps = json.loads(editors("zed", "--project", project, "--dry-run", "--json").stdout)["steps"]
    (entry,) = [json.loads(step.split('"harness": ', 1)[1]) for step in steps if '"harness": ' in step]
    file = tmp_path / "zed" / "settings.json"
    file.parent.mkdir()

    def check(text):
        file.write_text(text)
        environment = {**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
        return subprocess.run([PROGRAM, "editors", "zed", "--check", "--project", str(project)], env=environment, capture_output=True, text=True, timeout=60)

    good = json.dumps({"agent_servers": {"harness": entry}})
    assert check(good).returncode == 0
    assert check(good.replace(entry["command"], "/nosuch/harness")).returncode == 1
    for nothing in ("", "{}"):
        shown = check(nothing)
        assert shown.returncode == 1 and str(file) not in shown.stdout
    shown = check('{"agent_servers": {')
    assert shown.returncode == 1 and shown.stdout.count(f"none  zed {file}: it cannot be read") == 1
    editors("zed", "--project", project)
    shown = check('{"agent_servers": {')
    assert shown.returncode == 0 and str(file) in shown.stdout


@pytest.mark.parametrize("path", MERGED)
def test_what_is_no_file_is_left_alone(project, tmp_path, path):
    name = MERGED[path][0]
    file = project / path
    file.mkdir(parents=True)
    (file / "mine").write_text("mine")
    for words in ([], ["--remove"]):
        done = editors(name, "--project", project, *words)
        assert "Traceback" not in done.stderr and "panicked" not in done.stderr and (file / "mine").read_text() == "mine"
    assert path in editors(name, "--project", project).stdout + editors(name, "--project", project).stderr
    (file / "mine").unlink()
    file.rmdir()
    if sys.platform == "win32":
        return
    elsewhere = tmp_path / "elsewhere.json"
    for target, text in ((elsewhere, "{}\n"), (tmp_path / "nosuch.json", None)):
        if text:
            target.write_text(text)
        file.unlink(missing_ok=True)
        os.symlink(target, file)
        for words in ([], ["--remove"]):
            editors(name, "--project", project, *words)
            assert file.is_symlink() and (target.read_text() == text if text else not target.exists()), words
