"""What other programs cost beside the model, on the project and the task of run.py, with a model that answers at once.

    python peers.py [--rounds 3] [--harness PATH] [--aider PATH] [--py-harness PATH] [--mini PATH]
        [--codex PATH] [--opencode PATH] [--json FILE]

The model is a server on loopback with the three APIs that they speak. It gives each program the reply that lets it end
soonest: aider and py-harness the right code, mini-swe-agent, codex and opencode a last word without any work, so that what they
would do in more turns is not in the figures. CPU is that of the program and all it started, memory the largest of any
one of its processes, tokens the characters of the first request (tools included) divided by four; where a program asks for
something beside the task first, such as a title, it is the first request that offers tools.
"""

import argparse
import contextlib
import http.server
import json
import os
import pathlib
import resource
import signal
import statistics
import subprocess
import tempfile
import threading
import time

from run import FILES, REPLY, TASK

WHOLE = "shop/pricing.py\n```\n" + FILES["shop/pricing.py"].replace("total - percent", "total * (100 - percent) / 100") + "```\n"
SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


class Turn:
    """What the model says: words, or a command for the shell tool of programs that have one."""

    def __init__(self, text="", command=""):
        self.text, self.command = text, command


class Model(http.server.BaseHTTPRequestHandler):
    """The three APIs; `server.turns` are played in order, the last one repeats, and `server.requests` keeps what was asked."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def answer(self, body, kind="application/json"):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def do_GET(self):
        models = [{"name": "scripted", "model": "scripted", "id": "scripted", "object": "model", "size": 1, "details": {}}]
        self.answer(json.dumps({"models": models, "data": models, "object": "list", "version": "0.12.0"}).encode())

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        path = self.path.split("?")[0]
        for ending, say in (("/api/chat", self.ollama), ("/api/generate", self.ollama), ("/chat/completions", self.completion), ("/responses", self.response)):
            if path.endswith(ending):
                turns = self.server.turns
                self.server.requests.append(request)
                # What is asked beside the task, such as a title, has no tools and takes no turn from it.
                is_aside = turns[0].command and not request.get("tools")
                if is_aside:
                    return say(request, Turn("A title"))
                asked = [one for one in self.server.requests if one.get("tools") or not turns[0].command]
                return say(request, turns[min(len(asked), len(turns)) - 1])
        self.answer(b'{"model_info": {}, "details": {}, "capabilities": ["completion"]}')

    def ollama(self, request, turn):
        message = {"role": "assistant", "content": turn.text}
        self.answer(json.dumps({"model": "scripted", "message": message, "response": turn.text, "done": True, "done_reason": "stop", "prompt_eval_count": 1, "eval_count": 1}).encode() + b"\n")

    def completion(self, request, turn):
        message = {"role": "assistant", "content": turn.text}
        if turn.command and request.get("tools"):
            arguments = json.dumps({"command": turn.command, "description": "work"})
            message = {"role": "assistant", "content": "", "tool_calls": [{"index": 0, "id": f"call{len(self.server.requests)}", "type": "function", "function": {"name": "bash", "arguments": arguments}}]}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        end = "tool_calls" if "tool_calls" in message else "stop"
        head = {"id": "1", "created": 1, "model": "scripted"}
        if not request.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": end}
            return self.answer(json.dumps({**head, "object": "chat.completion", "choices": [choice], "usage": usage}).encode())
        pieces = [{"index": 0, "delta": message, "finish_reason": None}, {"index": 0, "delta": {}, "finish_reason": end}]
        events = [{**head, "object": "chat.completion.chunk", "choices": [piece]} for piece in pieces]
        events.append({**head, "object": "chat.completion.chunk", "choices": [], "usage": usage})
        return self.answer("".join(f"data: {json.dumps(event)}\n\n" for event in events).encode() + b"data: [DONE]\n\n", "text/event-stream")

    def response(self, request, turn):
        item = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": turn.text or "done"}]}
        tools = [tool.get("name") for tool in request.get("tools") or []]
        # The shell tool has had several names and forms.
        forms = {"exec_command": {"cmd": turn.command}, "shell_command": {"command": turn.command}, "shell": {"command": ["bash", "-lc", turn.command]}}
        known = next((name for name in forms if name in tools), None)
        if turn.command and known:
            item = {"type": "function_call", "id": "f", "call_id": f"call{len(self.server.requests)}", "name": known, "arguments": json.dumps(forms[known])}
        usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None, "total_tokens": 2}
        events = [
            {"type": "response.created", "response": {"id": "r"}},
            {"type": "response.output_item.done", "item": item},
            {"type": "response.completed", "response": {"id": "r", "usage": usage}},
        ]
        body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self.answer(body.encode(), "text/event-stream")


def characters(request):
    """Everything the model would read: words, instructions and descriptions of tools."""
    kept = {name: request.get(name) for name in ("messages", "instructions", "input", "tools", "prompt", "system") if request.get(name)}

    def length(value):
        if isinstance(value, str):
            return len(value)
        if isinstance(value, dict):
            return sum(length(inner) for inner in value.values())
        if isinstance(value, list):
            return sum(length(inner) for inner in value)
        return 0

    return sum(len(json.dumps(value)) if name == "tools" else length(value) for name, value in kept.items())


def first_of_task(requests):
    """The first request that is about the task."""
    return next((request for request in requests if request.get("tools")), requests[0])


def family(pid):
    """A process and all below it."""
    found = [pid]
    for at in found:
        try:
            for task in pathlib.Path(f"/proc/{at}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            pass
    return found


def largest(process):
    most = 0
    while process.poll() is None:
        for pid in family(process.pid):
            try:
                for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
                    if line.startswith("VmHWM"):
                        most = max(most, int(line.split()[1]))
            except OSError:
                pass
        time.sleep(0.02)
    return most / 1024


def lay_out(folder, files):
    for name, text in files.items():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class Played:
    """What a program left and cost: its exit code, what it said, CPU seconds, megabytes, and what it asked the model."""

    def __init__(self, code, words, cpu, memory, requests):
        self.code, self.words, self.cpu, self.memory, self.requests = code, words, cpu, memory, requests


def played(program, folder, home, turns, seconds=300):
    """Lets a program work in a folder with a model that plays these turns."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.requests, server.turns, server.handle_error = [], turns, lambda *_: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host = f"127.0.0.1:{server.server_address[1]}"
    fill = lambda text: text.replace("{host}", host).replace("{folder}", str(folder)).replace("{home}", str(home))
    lay_out(home, {name: fill(text) for name, text in program.settings.items()})
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), **{name: fill(value) for name, value in program.variables.items()}}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen([fill(word) for word in program.command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    words = []
    reading = threading.Thread(target=lambda: words.append(process.stdout.read()), daemon=True)
    reading.start()
    watch = threading.Timer(seconds, lambda: os.killpg(process.pid, signal.SIGKILL))
    watch.start()
    memory = largest(process)
    watch.cancel()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    reading.join(5)
    server.shutdown()
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Played(process.returncode, "".join(words), cpu, memory, server.requests)


def one(program):
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
        lay_out(folder, FILES)
        found = played(program, folder, home, program.turns)
        if not found.requests:
            raise SystemExit(f"{program.name} asked nothing: {found.words[-2000:]}")
        fixed = "(100 - percent)" in pathlib.Path(folder, "shop/pricing.py").read_text()
        return found.cpu, found.memory, characters(first_of_task(found.requests)) / 4, fixed


class Program:
    """A program to compare with: how it is started, its variables and settings (files of the home folder), and the turns
    that let it end soonest. `form` is how a change is told to it: text of its own, whole files, or a command."""

    def __init__(self, name, command, turns, form, variables=None, settings=None):
        self.name, self.command, self.turns, self.form = name, command, turns, form
        self.variables, self.settings = variables or {}, settings or {}


def programs(options, task=TASK):
    """Those that were given, each as a program."""
    if options.harness:
        yield Program("harness, its test runs included", [options.harness, "run", "{folder}", task], [Turn(REPLY)], "json", {"OLLAMA_HOST": "{host}"})
    if options.py_harness:
        yield Program("py-harness", [options.py_harness, "run", "{folder}", task, "--model", "scripted"], [Turn(REPLY)], "labels", {"OLLAMA_HOST": "http://{host}"})
    if options.codex:
        provider = 'model_providers.scripted={name="scripted",base_url="http://{host}/v1",wire_api="responses"}'
        command = [options.codex, "exec", "--skip-git-repo-check", "-c", "model_provider=scripted", "-c", provider, "-m", "scripted", task]
        yield Program("codex", command, [Turn("done")], "command")
    if options.aider:
        command = [options.aider, "--model", "openai/scripted", "--openai-api-base", "http://{host}/v1", "--openai-api-key", "x", "--no-git", "--yes-always"]
        command += ["--no-check-update", "--no-show-model-warnings", "--no-stream", "--edit-format", "whole", "--analytics-disable", "--message", task, "shop/pricing.py"]
        yield Program("aider", command, [Turn(WHOLE)], "whole")
    if options.mini:
        command = [options.mini, "-y", "--exit-immediately", "-m", "openai/scripted", "-t", task]
        variables = {"OPENAI_API_BASE": "http://{host}/v1", "OPENAI_API_KEY": "x", "MSWEA_CONFIGURED": "true", "MSWEA_COST_TRACKING": "ignore_errors"}
        yield Program("mini-swe-agent", command, [Turn(f"Done.\n```bash\n{SUBMIT}\n```\n", SUBMIT)], "command", variables)
    if options.opencode:
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": {"baseURL": "http://{host}/v1", "apiKey": "x"}, "models": {"scripted": {"name": "scripted"}}}
        settings = {".config/opencode/opencode.json": json.dumps({"provider": {"scripted": provider}, "autoupdate": False, "share": "disabled"})}
        yield Program("opencode", [options.opencode, "run", "--model", "scripted/scripted", task], [Turn("done")], "command", settings=settings)


def add_programs(parser):
    for name in ("harness", "py-harness", "codex", "aider", "mini", "opencode"):
        parser.add_argument(f"--{name}", metavar="PATH")


def main():
    parser = argparse.ArgumentParser()
    add_programs(parser)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path, help="also write every round to this file")
    options = parser.parse_args()
    found = {}
    print("| program | CPU s | memory MB | first request, tokens | fixed it |\n|---|---|---|---|---|")
    for program in programs(options):
        name = program.name
        try:
            rows = [one(program) for _ in range(options.rounds)]
        except SystemExit as trouble:
            print(f"| {name} | - | - | - | {str(trouble).splitlines()[0]} |", flush=True)
            found[name] = {"trouble": str(trouble)[:300]}
            continue
        found[name] = {"rounds": rows}
        cpu, memory, tokens = (statistics.median(row[at] for row in rows) for at in range(3))
        fixed = sum(row[3] for row in rows)
        print(f"| {name} | {cpu:.2f} | {memory:.0f} | {tokens:.0f} | {fixed} of {len(rows)} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
