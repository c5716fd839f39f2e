"""Every scenario folder, through the Rust API and one more door in turn: the command line, HTTP or Python. Each tenth goes
through all of them, and with HARNESS_ALL_DOORS set every one.

A folder is `tests/scenarios/NNN_name/`:

    project/        the files before
    task.txt        what is asked for
    options.json    optional: {"command": "run" | "ask", "steps": 3, "dry_run": true, "scope": "src"}
    replies/*       what the model says, in order; the last one repeats. `NN.txt` is a reply, `NN.fail` an engine that
                    fails (`status 500`, `error`, `cut`), `NN.wait` one that says nothing: there the run is interrupted
    config.toml     optional: the user's config file
    expected/       the files that differ afterwards, whole; all others must be as before, those beside the project too
    result.json     the fields of the result that must hold (`refusals` lists the rules, `goals` the words of each and
                    whether it is met, `attempt` lines of the patch
                    that a run which takes its changes back leaves; no `attempt` means that there is none; `shown` and
                    `not_shown` are texts of the first request, `shown_later` of one behind it)

In every run at most three turns are wasted: refused, or not readable as an action.

The doors must give the same result and the same files. A new behaviour is a new folder, not a new function.
"""

import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "tests" / "scenarios"
sys.path.insert(0, str(ROOT / "tests" / "model_server"))

import finish  # noqa: E402
from scripted import ScriptedServer, Wait, read_replies  # noqa: E402

ALL_DOORS = bool(os.environ.get("HARNESS_ALL_DOORS"))
DOORS = ("rust", "command", "http", "python")
# What differs between two runs of the same thing.
FLEETING = ("run_id", "seconds", "hint")
# What the command line ends with; every other ending is 1.
EXIT_CODES = {"done": 0, "question": 3, "engine": 4, "refused": 5, "interrupted": 130}
# "At most 3 wasted turns", whatever the model does.
MOST_WASTED = 3


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

    def settle(self, place):
        """Puts the user's config file where each system has it."""
        config = self.folder / "config.toml"
        for folder in (".config", "Library/Application Support", "."):
            home = place / "home" / folder / "harness"
            if config.exists():
                home.mkdir(parents=True, exist_ok=True)
                shutil.copy(config, home)

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
    # Rust's tools live below the home folder.
    tools = {name: os.environ.get(name) or str(pathlib.Path.home() / folder) for name, folder in (("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup"))}
    # The tests of some scenarios need pytest, which this Python has.
    return {**env, **tools, "VIRTUAL_ENV": sys.prefix, "HOME": str(home), "USERPROFILE": str(home), "APPDATA": str(home), "OLLAMA_HOST": server.host, "NO_COLOR": "1"}


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
    result = json.loads(done.stdout)
    assert done.returncode == EXIT_CODES.get(result["stopped"], 1), (result["stopped"], done.returncode)
    return result


def through_http(scenario, project, env, place):
    words = [harness_program(), "serve", "--project", str(project), "--port", "0", "--allow-writes"]
    server = subprocess.Popen(words, env=env, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        address = re.search(r"http://\S+", server.stdout.readline()).group()
        threading.Thread(target=server.stdout.read, daemon=True).start()
        body = {"task": scenario.task, **scenario.options, **({"dry_run": True} if scenario.dry_run else {})}
        request = urllib.request.Request(f"{address}/v1/{scenario.command}", json.dumps(body).encode(), method="POST")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=120) as reply:
                return json.loads(reply.read())
        except urllib.error.HTTPError as problem:
            # An engine that failed is 502, with what the run found beside the error.
            with problem:
                return json.loads(problem.read())["harness"]
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
        elif name == "goals":
            seen[name] = [[goal["text"], goal["met"]] for goal in result["goals"]]
        elif name == "tests_after":
            seen[name] = result["tests"] and result["tests"]["after"]
        elif name in ("gone", "attempt", "shown", "not_shown", "shown_later"):
            seen[name] = expected[name]
        else:
            seen[name] = result[name]
    return seen


def wasted(result):
    """The turns that brought nothing: refused, or not readable as an action."""
    steps = result["steps"]
    answered = steps[-1:] if result["ok"] else []
    return [step for step in steps if step["refused"] or step["action"] == "reply" and step not in answered]


def check_attempt(scenario, project):
    """A run that takes its changes back leaves what it tried as a patch, and nothing leaves one otherwise."""
    found = [file.read_text(encoding="utf-8") for file in project.glob(".harness/runs/*/attempt.patch")]
    lines = scenario.result.get("attempt", [])
    assert bool(found) == bool(lines), found
    assert all(line in found[0].splitlines() for line in lines), (lines, found)


def check_diff(scenario, result):
    """The diff speaks of every file that is written, and of none in vain."""
    told = set(re.findall(r"^(?:\+\+\+ b|--- a)/(.+)$", result["diff"], re.MULTILINE))
    if scenario.command == "run" and result["ok"] and not scenario.dry_run:
        assert told == set(result["writes"]), (told, result["writes"])
    assert told or not result["writes"], result["writes"]


def check_shown(scenario, prompts):
    """What the model must see at first, what it must not, and what it must see later."""
    later = [prompt["messages"][-1]["content"] for prompt in prompts[1:]]
    unseen = [text for text in scenario.result.get("shown_later", []) if not any(text in words for words in later)]
    assert not unseen, (unseen, later)
    first = "\n".join(message["content"] for message in prompts[0]["messages"]) if prompts else ""
    missing = [text for text in scenario.result.get("shown", []) if text not in first]
    needless = [text for text in scenario.result.get("not_shown", []) if text in first]
    assert not missing and not needless, (missing, needless, first)


def beside(place):
    """Every file beside the project, but for the home folder, with its bytes."""
    return {name: data for name, data in contents(place).items() if name.split("/")[0] not in ("project", "home")}


def numbers():
    return [folder.name.split("_")[0] for folder in folders()]


def test_every_scenario_has_a_number_of_its_own():
    assert len(set(numbers())) == len(numbers()), sorted(number for number in numbers() if numbers().count(number) > 1)


@pytest.mark.parametrize("folder", [folder for folder in folders() if not any((folder / "replies").glob("*.wait"))], ids=lambda folder: folder.name)
def test_scenario(folder, tmp_path):
    scenario = Scenario(folder)
    doors = doors_of(folder)
    # Two at a time: each of them is mostly one program that waits for another.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        ended = list(pool.map(lambda door: through(door, scenario, tmp_path / door), doors))
    first, files = ended[0]
    for door, (result, left) in zip(doors[1:], ended[1:]):
        assert result == first, f"{door} differs from the Rust API"
        assert left == files, f"{door} left other files than the Rust API"


def doors_of(folder):
    """The doors that a scenario goes through: what differs between them is little, so each gets its share of the
    scenarios, and every tenth goes through all of them to be compared."""
    at = int(folder.name.split("_")[0])
    if ALL_DOORS or at % 10 == 0:
        return DOORS
    return (DOORS[at % len(DOORS)],)


def through(door, scenario, place):
    """Runs a scenario through one door, checks what it left, and returns its result and the files."""
    folder = scenario.folder
    place.mkdir()
    project = scenario.lay_out(place)
    scenario.settle(place)
    (place / "outside.py").write_text("OUTSIDE = 1\n", encoding="utf-8")
    with ScriptedServer(scenario.replies) as server:
        result = THROUGH[door](scenario, project, environment(server, place), place)
        lasting_result = settled(result, project, server, place)
        prompts = server.requests
    files = contents(project)
    assert held(result, scenario.result) == scenario.result, (door, result)
    assert len(wasted(result)) <= MOST_WASTED, (door, wasted(result))
    check_attempt(scenario, project)
    check_diff(scenario, result)
    check_shown(scenario, prompts)
    assert beside(place) == {"outside.py": b"OUTSIDE = 1\n"}, (door, beside(place))
    reads_only = scenario.dry_run or scenario.command == "ask"
    kept = {file.name for file in project.glob(".harness/*")} - {".gitignore", "traces.jsonl"}
    assert not (reads_only and kept), (door, kept)
    assert without_backups(files) == without_backups(scenario.expected_files()), door
    for name in result["writes"]:
        before = folder / "project" / name
        if before.exists():
            assert files[name + ".bak"] == before.read_bytes(), (door, name)
    if not result["writes"]:
        assert set(files) == set(contents(folder / "project")), door
    growing(prompts, result["goals"])
    if result["ok"] and result["writes"]:
        faults = finish.check(f"{folder.name} ({door})", scenario.task, folder / "project", project, result["writes"])
        assert not faults, faults
    return lasting_result, files


def interrupted_command(scenario, project, env, place, server):
    """Ctrl-C at the terminal: the result says so, and the exit code is the shell's for it."""
    words = [harness_program(), "run", scenario.task, "--project", str(project), "--json"]
    # A job in the background is started with Ctrl-C ignored; the program must hear it all the same.
    process = subprocess.Popen(words, env=env, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=hears_ctrl_c)
    assert server.waiting.wait(60)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 130 and "panicked" not in errors, errors
    return json.loads(output)


def interrupted_rust(scenario, project, env, place, server):
    """The cancel flag of the library."""
    asked = {"project": str(project), "command": "run", "task": scenario.task, "cancel_on_input": True, **scenario.options}
    words = [str(ROOT / "target" / "debug" / "examples" / program("scenario")), json.dumps(asked)]
    process = subprocess.Popen(words, env=env, cwd=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.waiting.wait(60)
    output, _ = process.communicate("stop\n", timeout=30)
    return json.loads(output)


def interrupted_python(scenario, project, env, place, server):
    """Ctrl-C in Python is KeyboardInterrupt."""
    code = (
        "import sys, signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from harness import Agent, AgentOptions\n"
        "try:\n    Agent(AgentOptions(project=sys.argv[1])).run(sys.argv[2])\n"
        "except KeyboardInterrupt:\n    sys.exit(130)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(project), scenario.task], env=env, cwd=place)
    assert server.waiting.wait(60)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    return None


def interrupted_http(scenario, project, env, place, server):
    """A client that goes away stops its run."""
    words = [harness_program(), "serve", "--project", str(project), "--port", "0", "--allow-writes"]
    process = subprocess.Popen(words, env=env, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        address = re.search(r"http://(\S+)", process.stdout.readline()).group(1)
        client = http.client.HTTPConnection(address, timeout=60)
        client.request("POST", "/v1/run", json.dumps({"task": scenario.task}))
        assert server.waiting.wait(60)
        client.close()
        until = time.monotonic() + 15
        while not list(project.glob(".harness/runs/*/attempt.patch")) and time.monotonic() < until:
            time.sleep(0.05)
    finally:
        process.terminate()
        process.wait(15)
        process.stdout.close()
    return None


def hears_ctrl_c():
    signal.signal(signal.SIGINT, signal.SIG_DFL)


INTERRUPTED = {"rust": interrupted_rust, "command": interrupted_command, "http": interrupted_http, "python": interrupted_python}


@pytest.mark.skipif(os.name == "nt", reason="a console event would reach the test itself")
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("folder", [folder for folder in folders() if any((folder / "replies").glob("*.wait"))], ids=lambda folder: folder.name)
def test_interrupted_scenario(folder, door, tmp_path):
    """A run that is stopped while the engine is silent: changes taken back, the attempt left as a patch, a true result."""
    scenario = Scenario(folder)
    assert any(isinstance(reply, Wait) for reply in scenario.replies)
    project = scenario.lay_out(tmp_path)
    with ScriptedServer(scenario.replies) as server:
        env = environment(server, tmp_path)
        result = INTERRUPTED[door](scenario, project, env, tmp_path, server)
        if result is not None:
            assert held(result, scenario.result) == scenario.result, result
        last = json.loads(start([harness_program(), "last", "--project", project, "--json"], env, tmp_path).stdout)
    assert last["runs"][0]["outcome"] == scenario.result["stopped"], last
    assert contents(project) == contents(folder / "project"), "a file was left changed"
    check_attempt(scenario, project)


def growing(requests, goals):
    """Every prompt begins with the one before it, so that a server's prefix cache holds. Each of several goals has a
    conversation of its own; what comes before the task stays there too."""
    fixed = requests[0]["messages"][:-1] if requests else []
    for earlier, later in zip(requests, requests[1:]):
        grows = later["messages"][: len(earlier["messages"])] == earlier["messages"]
        begins = len(goals) > 1 and later["messages"][:-1] == fixed
        assert grows or begins, later
