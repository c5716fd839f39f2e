"""What starting costs: `harness` and `python -m harness`, beside bare Python and the peer `py-harness`, in one run.

    python bench/startup.py [--runs 40] [--program PATH] [--python PATH] [--peer PATH|none] [--json FILE]

CPU time (user and system, of the child alone) and the greatest memory, the median of many starts that take turns, so
that a busy machine slows all of them alike. The peer is PyPI's `py-harness-cli`; where it is not given, it is installed
into a virtualenv of its own under target/. Where Python does not have the module, its rows are left out. Build with `pip install .` first: an editable install is a dev build.
"""

import argparse
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPTS = "Scripts" if os.name == "nt" else "bin"
# What is promised: a native start in milliseconds of CPU and in megabytes, and the module against bare Python.
MOST_MILLISECONDS = 5.0
MOST_MEGABYTES = 10.0
MOST_TIMES_PYTHON = 2.0


def main():
    arguments = read_arguments()
    if os.name == "nt":
        sys.exit("this measures with wait4, which Windows does not have")
    peer = "" if arguments.peer == "none" else arguments.peer or install_peer()
    python = arguments.python
    commands = {
        "python -c pass": [python, "-c", "pass"],
        "harness": [arguments.program],
        "harness --version": [arguments.program, "--version"],
    }
    if subprocess.run([python, "-c", "import harness"], capture_output=True).returncode == 0:
        commands["python -m harness"] = [python, "-m", "harness"]
        commands["python -m harness --version"] = [python, "-m", "harness", "--version"]
        commands["import harness"] = [python, "-c", "import harness"]
        commands["from harness import Agent"] = [python, "-c", "from harness import Agent, AgentOptions"]
    if peer:
        commands["py-harness (peer)"] = [peer]
        commands["py-harness --help (peer)"] = [peer, "--help"]
    measured = measure(commands, arguments.runs)
    print_table(measured)
    if arguments.json:
        arguments.json.write_text(json.dumps({name: {"milliseconds": cost.samples, "memory": cost.memory} for name, cost in measured.items()}), encoding="utf-8")
    broken = promises(measured)
    print("\n" + "\n".join(broken or ["every promise holds"]))
    return 1 if broken else 0


def read_arguments():
    beside = pathlib.Path(sys.executable).parent
    parser = argparse.ArgumentParser(description="What starting costs, beside the peer.")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--program", default=shutil.which("harness", path=str(beside)) or "harness")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--peer", default="")
    parser.add_argument("--json", type=pathlib.Path, help="also write the samples to this file")
    return parser.parse_args()


def install_peer():
    folder = ROOT / "target" / "peer-venv"
    program = folder / SCRIPTS / ("py-harness.exe" if os.name == "nt" else "py-harness")
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        done = subprocess.run([str(folder / SCRIPTS / "python"), "-m", "pip", "install", "-q", "py-harness-cli"])
        if done.returncode != 0:
            print("the peer could not be installed; measured without it", file=sys.stderr)
            return ""
    return str(program)


class Start:
    """What starting one command costs."""

    def __init__(self, samples, memory):
        self.samples, self.milliseconds, self.lowest, self.memory = samples, statistics.median(samples), min(samples), memory


def measure(commands, runs):
    """Starts the commands in turns. Returns what each costs."""
    measured = {name: [] for name in commands}
    for _ in range(runs + 1):
        for name, command in commands.items():
            measured[name].append(start(command))
    # The first start of each only warms the caches.
    return {name: Start(samples[1:], peak_memory(commands[name])) for name, samples in measured.items()}


def start(command):
    """Returns the milliseconds of CPU, user and system, of one start."""
    quiet = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, quiet, number) for number in (0, 1, 2)]
    process = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    _, _, used = os.wait4(process, 0)
    os.close(quiet)
    return (used.ru_utime + used.ru_stime) * 1000


def peak_memory(command):
    """Returns the greatest memory of one start in megabytes, or None where it cannot be told.

    What the kernel reports to a parent counts the parent's own memory from before the exec. So the program is stopped
    at its very end, and its own count is read then (Linux only).
    """
    if not sys.platform.startswith("linux"):
        return None
    trace_me, go_on, set_options, stop_at_exit, exit_event = 0, 7, 0x4200, 0x40, 6 << 8 | signal.SIGTRAP
    ptrace = ctypes.CDLL(None).ptrace
    ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    process = os.fork()
    if process == 0:
        ptrace(trace_me, 0, None, None)
        quiet = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(quiet, number)
        os.execv(command[0], command)
    os.waitpid(process, 0)
    ptrace(set_options, process, None, stop_at_exit)
    memory, pending = None, 0
    while True:
        ptrace(go_on, process, None, pending)
        _, status = os.waitpid(process, 0)
        if not os.WIFSTOPPED(status):
            return memory
        if status >> 8 == exit_event:
            text = pathlib.Path(f"/proc/{process}/status").read_text()
            memory = int(re.search(r"VmHWM:\s+(\d+)", text).group(1)) / 1024
        pending = 0 if os.WSTOPSIG(status) == signal.SIGTRAP else os.WSTOPSIG(status)


def print_table(measured):
    bare = measured["python -c pass"].milliseconds
    print("| start | CPU ms (median) | lowest | MB at most | times bare Python |\n|---|---:|---:|---:|---:|")
    for name, cost in measured.items():
        memory = "-" if cost.memory is None else f"{cost.memory:.1f}"
        print(f"| `{name}` | {cost.milliseconds:.1f} | {cost.lowest:.1f} | {memory} | {cost.milliseconds / bare:.2f} |")


def promises(measured):
    native = measured["harness"]
    module = measured.get("python -m harness --version")
    times = module.milliseconds / measured["python -c pass"].milliseconds if module else 0
    broken = []
    if native.milliseconds > MOST_MILLISECONDS:
        broken.append(f"broken: `harness` takes {native.milliseconds:.1f} ms of CPU, promised are {MOST_MILLISECONDS}")
    if native.memory is not None and native.memory > MOST_MEGABYTES:
        broken.append(f"broken: `harness` takes {native.memory:.1f} MB, promised are {MOST_MEGABYTES}")
    if times > MOST_TIMES_PYTHON:
        broken.append(f"broken: `python -m harness` takes {times:.2f} times bare Python, promised are {MOST_TIMES_PYTHON}")
    return broken


if __name__ == "__main__":
    sys.exit(main())
