"""Every scenario folder, through all four doors: the Rust API, the command line, HTTP and Python.

A folder is `tests/scenarios/NNN_name/`:

    project/        the files before
    task.txt        what is asked for
    options.json    optional: {"command": "run" | "ask", "steps": 3, "dry_run": true, "scope": "src", "files": {...}}
    replies/*.txt   what the model says, in order; the last one repeats
    expected/       the files that differ afterwards, whole; all others must be as before
    result.json     the fields of the result that must hold (`refusals` lists the rules)

All doors must give the same result and the same files. A new behaviour is a new folder, not a new function.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "tests" / "scenarios"
sys.path.insert(0, str(ROOT / "tests" / "model_server"))

from scripted import ScriptedServer, read_replies  # noqa: E402

DOORS = ("rust", "command", "http", "python")
# What differs between two runs of the same thing.
FLEETING = ("run_id", "seconds", "hint")


def folders():
    return sorted(folder for folder in SCENARIOS.iterdir() if (folder / "task.txt").is_file())


class Scenario:
    def __init__(self, folder):
        self.folder = folder
        self.task = (folder / "task.txt").read_text(encoding="utf-8").rstrip("\n")
        options = folder / "options.json"
        self.options = json.loads(options.read_text(encoding="utf-8")) if options.exists() else {}
        self.command = self.options.pop("command", "run")
        self.dry_run = self.options.pop("dry_run", False)
        self.replies = read_replies(folder / "replies")
        self.result = json.loads((folder / "result.json").read_text(encoding="utf-8"))

    def lay_out(self, place):
        project = place / "project"
        shutil.copytree(self.folder / "project", project)
        return project

    def expected_files(self):
        files = contents(self.folder / "project")
        for name, data in contents(self.folder / "expected").items():
            files[name] = data
        for name in self.result.get("gone", []):
            files.pop(name, None)
        return files


def contents(folder):
    """Every file below a folder with its bytes, but for what belongs to tools."""
    skipped = {".harness", "__pycache__"}
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not skipped & set(file.relative_to(folder).parts) and file.name != ".keep"
    }


def without_backups(files):
    return {name: data for name, data in files.items() if not re.search(r"\.bak(\.\d+)?$", name)}


def environment(server, place):
    dropped = ("HARNESS", "OLLAMA", "HF_", "HUGGING", "XDG_", "CLICOLOR")
    env = {name: value for name, value in os.environ.items() if not name.startswith(dropped) and not name.lower().endswith("_proxy")}
    home = place / "home"
    home.mkdir(exist_ok=True)
    return {**env, "HOME": str(home), "USERPROFILE": str(home), "APPDATA": str(home), "OLLAMA_HOST": server.host, "NO_COLOR": "1"}


def start(words, env, place, **more):
    return subprocess.run([str(word) for word in words], env=env, cwd=place, capture_output=True, text=True, encoding="utf-8", timeout=120, stdin=subprocess.DEVNULL, **more)


def program(name):
    return name + (".exe" if os.name == "nt" else "")


def through_rust(scenario, project, env, place):
    asked = {"project": str(project), "command": scenario.command, "task": scenario.task, "dry_run": scenario.dry_run, **scenario.options}
    done = start([ROOT / "target" / "debug" / "examples" / program("scenario"), json.dumps(asked)], env, place)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def through_command(scenario, project, env, place):
    words = [scenario.command, scenario.task, "--project", project, "--json"]
    words += ["--dry-run"] if scenario.dry_run else []
    for name, value in scenario.options.items():
        for one in value if isinstance(value, list) else [value]:
            words += ["--" + {"skills": "skill"}.get(name, name.replace("_", "-"))] + ([] if one is True else [one])
    done = start([harness_program(), *words], env, place)
    assert "panicked" not in done.stderr and done.stdout, done.stderr
    return json.loads(done.stdout)


def through_http(scenario, project, env, place):
    words = [harness_program(), "serve", "--project", str(project), "--port", "0", "--allow-writes"]
    server = subprocess.Popen(words, env=env, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        address = re.search(r"http://\S+", server.stdout.readline()).group()
        threading.Thread(target=server.stdout.read, daemon=True).start()
        body = {"task": scenario.task, **scenario.options, **({"dry_run": True} if scenario.dry_run else {})}
        request = urllib.request.Request(f"{address}/v1/{scenario.command}", json.dumps(body).encode(), method="POST")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=120) as reply:
            return json.loads(reply.read())
    finally:
        server.terminate()
        server.wait(15)
        server.stdout.close()


def through_python(scenario, project, env, place):
    code = (
        "import json, sys\nfrom harness import Agent, AgentOptions\nasked = json.loads(sys.argv[1])\n"
        "agent = Agent(AgentOptions(project=asked['project'], **asked['options']))\n"
        "print(json.dumps(getattr(agent, asked['command'])(asked['task']).as_dict()))\n"
    )
    options = {**scenario.options, **({"allow_writes": False} if scenario.dry_run else {})}
    asked = {"project": str(project), "command": scenario.command, "task": scenario.task, "options": options}
    done = start([sys.executable, "-c", code, json.dumps(asked)], env, place)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def harness_program():
    found = shutil.which("harness", path=str(pathlib.Path(sys.executable).parent))
    assert found, "the harness program is not beside this Python: run scripts/run/test.py"
    return found


THROUGH = {"rust": through_rust, "command": through_command, "http": through_http, "python": through_python}


def lasting(value):
    """A result without what differs between two runs of the same thing."""
    if isinstance(value, dict):
        return {name: lasting(part) for name, part in value.items() if name not in FLEETING}
    if isinstance(value, list):
        return [lasting(part) for part in value]
    return value


def settled(result, project, server, place):
    text = json.dumps(lasting(result))
    for fleeting, name in ((str(project), "PROJECT"), (server.host, "HOST"), (result["run_id"] or "RUN", "RUN"), (str(place), "PLACE")):
        text = text.replace(json.dumps(fleeting)[1:-1], name)
    # Seconds and temporary names in what tests print.
    text = re.sub(r"\d+\.\d+ ?s\b", "0.0s", text)
    return json.loads(text)


def held(result, expected):
    """The fields of the result that the scenario speaks of, in the scenario's own shape."""
    seen = {}
    for name in expected:
        if name == "refusals":
            seen[name] = [refusal["rule"] for refusal in result["refusals"]]
        elif name == "summary":
            seen[name] = expected[name] if expected[name] in result["summary"] else result["summary"]
        elif name == "model_calls":
            seen[name] = result["usage"]["model_calls"]
        elif name == "tests_after":
            seen[name] = result["tests"] and result["tests"]["after"]
        elif name == "gone":
            seen[name] = expected[name]
        else:
            seen[name] = result[name]
    return seen


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)
def test_scenario(folder, tmp_path):
    scenario = Scenario(folder)
    results, files, prompts = {}, {}, {}
    for door in DOORS:
        place = tmp_path / door
        place.mkdir()
        project = scenario.lay_out(place)
        with ScriptedServer(scenario.replies) as server:
            result = THROUGH[door](scenario, project, environment(server, place), place)
            results[door] = settled(result, project, server, place)
            prompts[door] = server.requests
        files[door] = contents(project)
        assert held(result, scenario.result) == scenario.result, (door, result)
        assert without_backups(files[door]) == without_backups(scenario.expected_files()), door
        for name in result["writes"]:
            before = scenario.folder / "project" / name
            if before.exists():
                assert files[door][name + ".bak"] == before.read_bytes(), (door, name)
        if not result["writes"]:
            assert set(files[door]) == set(contents(scenario.folder / "project")), door
        growing(prompts[door])
    check_again(scenario, result, project, tmp_path)
    for door in DOORS[1:]:
        assert results[door] == results["rust"], f"{door} differs from the Rust API"
        assert files[door] == files["rust"], f"{door} left other files than the Rust API"


def growing(requests):
    """Every prompt begins with the one before it, so that a server's prefix cache holds."""
    for earlier, later in zip(requests, requests[1:]):
        assert later["messages"][: len(earlier["messages"])] == earlier["messages"]


# Which runs were looked at again, and what did not hold.
CHECKED, VIOLATIONS = [], []

# Runs every test that unittest finds and prints which passed; it knows nothing of the program under test.
PROBE = """
import json, sys, unittest
sys.path.insert(0, '.')
class Seen(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.passed = []
    def addSuccess(self, test):
        self.passed.append(test.id())
seen = Seen()
unittest.defaultTestLoader.discover('.', top_level_dir='.').run(seen)
print(json.dumps({'ran': seen.testsRun, 'passed': seen.passed, 'broken': len(seen.errors) + len(seen.failures), 'skipped': len(seen.skipped)}))
"""


def probed(folder):
    done = subprocess.run([sys.executable, "-B", "-c", PROBE], cwd=folder, capture_output=True, text=True, encoding="utf-8", timeout=60)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 and done.stdout else None


def check_again(scenario, result, project, place):
    """The finish rule once more, from a clean copy: what was there before with only the written files laid over it."""
    if not result["ok"] or not result["writes"]:
        return
    clean = place / "clean"
    shutil.copytree(scenario.folder / "project", clean)
    before = probed(clean)
    for name in result["writes"]:
        source, target = project / name, clean / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.exists():
            shutil.copyfile(source, target)
        elif target.exists():
            target.unlink()
    after = probed(clean)
    faults = []
    about_tests = "test" in scenario.task or "rename" in scenario.task.lower()
    if before and before["ran"]:
        if not after or not after["ran"]:
            faults.append("no test ran")
        elif not about_tests and set(before["passed"]) - set(after["passed"]):
            faults.append(f"passed before and does not now: {sorted(set(before['passed']) - set(after['passed']))}")
        elif after["broken"] > before["broken"] or after["skipped"] > before["skipped"]:
            faults.append("more tests fail or are skipped than before")
    changed_tests = [name for name in result["writes"] if "test" in name and (scenario.folder / "project" / name).exists()]
    if changed_tests and not about_tests:
        faults.append(f"existing tests were changed: {changed_tests}")
    CHECKED.append(scenario.folder.name)
    VIOLATIONS.extend(f"{scenario.folder.name}: {fault}" for fault in faults)


def test_no_run_was_ok_without_proof(capsys):
    """Runs after all scenarios: how many said `ok` though the finish rule does not hold in a clean copy."""
    with capsys.disabled():
        print(f"\n{len(CHECKED)} runs that ended ok were checked again from a clean copy: {len(VIOLATIONS)} violations")
    assert not VIOLATIONS, VIOLATIONS
