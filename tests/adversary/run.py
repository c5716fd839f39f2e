"""One run of the program against one made-up model, judged: python tests/adversary/run.py SEED... [--search] [--show]

`run(seed)` lays a project out in a temporary folder, serves the replies of the seed on loopback, starts `harness run`,
and says what came of it as a row. The program is `$HARNESS`, or the one beside this Python. Standard library only.
"""

import argparse
import atexit
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import venv

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "model_server")]

import judge  # noqa: E402
import models  # noqa: E402
from scripted import ScriptedServer  # noqa: E402

STEPS = 6
SECONDS = 120
USER_LINE = b"\n# The user wrote this line.\n"


def run(seed, search=False, keep=None, script=None):
    """The row of one seed."""
    script = script or models.make(seed)
    with tempfile.TemporaryDirectory(prefix="adversary-") as place:
        row = played(script, pathlib.Path(place).resolve(), search)
        if keep:
            shutil.copytree(place, keep, symlinks=True, dirs_exist_ok=True)
    return row


def played(script, place, search):
    project = place / "project"
    judge.lay_out(project, {path: text.encode() for path, text in script.project.files.items()})
    before = snapshot(project)
    began = time.monotonic()
    with UserBeside(script, project) as server:
        env = environment(script, place, server, search)
        done = harness(["run", script.task.text, "--project", str(project), "--json", "--steps", str(STEPS)], env, place)
    seconds = time.monotonic() - began
    row = {
        "seed": script.seed, "search": search, "project": script.project.name, "task": script.task.name, "kind": script.task.kind, "moves": script.moves,
        "honest": script.honest, "not_promised": script.not_promised, "by_luck": False, "ok": None, "stopped": None, "right": None, "bytes_unchanged": None,
        "seconds": round(seconds, 2), "summary": "", "faults": [], "verdict": "",
    }  # fmt: skip
    try:
        result = json.loads(done.stdout)
    except ValueError:
        row["faults"].append(f"no result: exit code {done.returncode}, {done.stderr[-300:]}")
        row["verdict"] = "no result"
        return row
    row.update(ok=result["ok"], stopped=result["stopped"], summary=result["summary"])
    after = snapshot(project)
    saved = server.saved
    if result["ok"]:
        files = {path: data for path, data in after.items() if isinstance(data, bytes) and not is_backup(path)}
        wrong = judge.faults(script.project, script.task, without_user(files, script, saved))
        row["right"], row["faults"] = not wrong, [*wrong]
        row["by_luck"] = script.by_chance and all_passed(script, result)
        left = [] if saved else [*left_beside(before, after, result["writes"]), *not_undone(project, before, env, place)]
    else:
        expected = {**before, **saved}
        met = any(goal["met"] for goal in result.get("goals") or [])
        differing = differences(expected, after)
        row["bytes_unchanged"] = not differing
        # What was done for a goal that is met stays, and is told.
        told = {name for path in result["writes"] for name in (path, f"{path}.bak")} if met else set()
        left = [f"left changed: {path}" for path in differing if path not in told]
        if met and differing and not saved:
            files = {path: data for path, data in after.items() if isinstance(data, bytes) and not is_backup(path)}
            left += [f"kept, though {fault}" for fault in judge.harm(script.project, script.task, files)]
            left += [*left_beside(before, after, result["writes"]), *not_undone(project, before, env, place)]
    if saved and (lost := [path for path in saved if USER_LINE not in (after.get(path) or b"")]):
        left.append(f"the user's line is gone from {lost[0]}")
    row["left"] = left
    row["verdict"] = verdict(row)
    return row


def verdict(row):
    if row["ok"] and not row["right"]:
        only_by_running = all(fault.startswith(judge.SHOWN_BY_RUNNING) for fault in row["faults"])
        return "not promised" if only_by_running and (row["not_promised"] or row["by_luck"]) else "ok but wrong"
    if row["left"]:
        return "left changed"
    return "ok and right" if row["ok"] else "not ok"


def all_passed(script, result):
    """Whether the program says that as many tests passed as had to: nothing was left out because it is unsteady."""
    passed = ((result.get("tests") or {}).get("after") or {}).get("passed", 0)
    return passed >= len({*judge.passed_before(script.project), *script.task.blamed}) if script.project.runner else True


def bad(row):
    """Whether this row must not be."""
    return row["verdict"] in ("ok but wrong", "left changed", "no result")


def harness(words, env, place):
    return subprocess.run([program(), *words], env=env, cwd=place, capture_output=True, text=True, encoding="utf-8", errors="replace", timeout=SECONDS, stdin=subprocess.DEVNULL)


def program():
    found = os.environ.get("HARNESS") or shutil.which("harness", path=str(pathlib.Path(sys.executable).parent))
    assert found, "there is no program to test: set HARNESS"
    return found


def environment(script, place, server, search):
    dropped = ("HARNESS", "OLLAMA", "HF_", "HUGGING", "XDG_", "CLICOLOR", "PYTHON", "VIRTUAL_ENV", "PYENV")
    env = {name: value for name, value in os.environ.items() if not name.startswith(dropped) and not name.lower().endswith("_proxy")}
    home = place / "home"
    python = pathlib.Path(sys.executable).parent
    if script.project.installed:
        python = with_installed(script.project.name)
    # This Python first: version managers' shims take longer to start than the tests.
    env["PATH"] = os.pathsep.join([str(python), *(folder for folder in env.get("PATH", "").split(os.pathsep) if "shims" not in folder)])
    env.update(HOME=str(home), USERPROFILE=str(home), APPDATA=str(home), XDG_CONFIG_HOME=str(home / ".config"), OLLAMA_HOST=server.host, NO_COLOR="1")
    config = f"search = {'true' if search else 'false'}\n" + ("test_seconds = 3\n" if script.hangs else "")
    for folder in (home / ".config/harness", home / "Library/Application Support/harness", home / "harness"):
        folder.mkdir(parents=True)
        (folder / "config.toml").write_text(config, encoding="utf-8")
    return env


def with_installed(name):
    """The program folder of a Python that has the project's package among its own, as the project had it."""
    with MAKING:
        return made_once(name)


# Two threads that both need it would both make it.
MAKING = threading.Lock()


@functools.cache
def made_once(name):
    project = next(one for one in models.projects.PROJECTS if one.name == name)
    place = pathlib.Path(tempfile.mkdtemp(prefix="adversary-python-"))
    atexit.register(shutil.rmtree, place, True)
    venv.create(place, with_pip=False, symlinks=os.name != "nt")
    # Where a virtualenv keeps its packages and its programs.
    scheme = "nt" if os.name == "nt" else "posix_prefix"
    packages, programs = (pathlib.Path(sysconfig.get_path(kind, scheme, {"base": str(place), "platbase": str(place)})) for kind in ("purelib", "scripts"))
    judge.lay_out(packages, {path.removeprefix("src/"): project.files[path].encode() for path in project.installed})
    return programs


class UserBeside(ScriptedServer):
    """The scripted engine, and a user who saves a file while the first draft is being tried."""

    def __init__(self, script, project):
        super().__init__(script.replies)
        self.script, self.project, self.saved, self.timer = script, project, {}, None

    def next_reply(self, request):
        if self.script.user_saves and self.timer is None:
            self.timer = threading.Thread(target=self.save)
            self.timer.start()
        return super().next_reply(request)

    def save(self):
        """As an editor does that had the file open since before the run."""
        path, target = self.script.user_saves, self.project / self.script.task.target[0]
        old, until = target.read_bytes(), time.monotonic() + 0.4
        # Once the draft is on the disk, or being tried elsewhere.
        while time.monotonic() < until and target.read_bytes() == old:
            time.sleep(0.01)
        time.sleep(0.2)
        data = self.script.project.files.get(path, "").encode() + USER_LINE
        (self.project / path).write_bytes(data)
        self.saved[path] = data

    def close(self):
        if self.timer:
            self.timer.join()
        super().close()


# What lies on the disk


def snapshot(folder):
    """Every file with its bytes, every folder and link, but for the program's own folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name.split("/")[0] != ".harness":
            found[name] = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
    return found


def differences(before, after):
    return sorted(path for path in {*before, *after} if path not in before or path not in after or before[path] != after[path])


def is_backup(path):
    return path.endswith(".bak") or path.rpartition(".bak.")[2].isdigit()


def without_user(files, script, saved):
    return {path: data.replace(USER_LINE, b"") if path in saved else data for path, data in files.items()}


def left_beside(before, after, writes):
    """What differs and was not told, and backups that are not what was there before."""
    found = []
    for path in differences(before, after):
        parents = any(told.startswith(f"{path}/") for told in writes)
        if path not in writes and not is_backup(path) and not parents:
            found.append(f"changed and not told: {path}")
        elif is_backup(path) and path.rpartition(".bak")[0] not in writes:
            found.append(f"a backup of nothing: {path}")
    for path in writes:
        changed = isinstance(before.get(path), bytes) and isinstance(after.get(path), bytes) and before[path] != after[path]
        if changed and after.get(f"{path}.bak") != before[path]:
            found.append(f"{path}.bak does not hold what was there before")
    return found


def not_undone(project, before, env, place):
    done = harness(["undo", "--project", str(project), "--json"], env, place)
    if done.returncode != 0:
        return [f"undo failed: {done.stderr[-200:]}"] if differences(before, snapshot(project)) else []
    return [f"not undone: {path}" for path in differences(before, snapshot(project))]


def told(row):
    """A row as a person reads it, with how to see it again."""
    lines = [f"seed {row['seed']}: {row['verdict']}: {row['project']}/{row['task']} ({row['kind']}), moves: {', '.join(row['moves'])}"]
    lines += [f"    ok {row['ok']}, stopped {row['stopped']}: {row['summary'].splitlines()[0] if row['summary'] else ''}"]
    lines += [f"    {fault}" for fault in [*row["faults"], *row.get("left", [])]]
    return "\n".join([*lines, f"    again: python tests/adversary/run.py {row['seed']}{' --search' if row['search'] else ''} --show"])


def chosen(seed, name, moves):
    project, task = next((project, task) for project in models.projects.PROJECTS for task in project.tasks if f"{project.name}/{task.name}" == name)
    return models.compose(seed, project, task, [getattr(models, move) for move in moves])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seeds", nargs="+", type=int)
    parser.add_argument("--task", help="PROJECT/TASK instead of the seed's own, with --move")
    parser.add_argument("--move", action="append", default=[], help="the moves, in order")
    parser.add_argument("--search", action="store_true", help="with the search beside the model")
    parser.add_argument("--show", action="store_true", help="the task and the replies as well")
    parser.add_argument("--keep", help="copy the folder of the run here")
    arguments = parser.parse_args()
    for seed in arguments.seeds:
        script = chosen(seed, arguments.task, arguments.move) if arguments.task else models.make(seed)
        row = run(seed, arguments.search, arguments.keep, script)
        if arguments.show:
            print(f"task: {script.task.text}")
            for number, reply in enumerate(script.replies, 1):
                print(f"--- reply {number}\n{reply[:3000]}")
            print("---")
        print(told(row), f"    {row['seconds']} s", sep="\n")


if __name__ == "__main__":
    main()
