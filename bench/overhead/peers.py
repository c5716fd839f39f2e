"""What other programs cost beside the model, on the project and the task of run.py, with a model that answers at once.

    python peers.py [--rounds 3] [--harness PATH] [--aider PATH] [--py-harness PATH] [--mini PATH] [--codex PATH] [--json FILE]

The model is a server on loopback with the three APIs that they speak. It gives each program the reply that lets it end
soonest: aider and py-harness the right code, mini-swe-agent and codex a last word without any work, so that what they
would do in more turns is not in the figures. CPU is that of the program and all it started, memory the largest of any
one of its processes, tokens the characters of the first request (tools included) divided by four.
"""

import argparse
import http.server
import json
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile
import threading
import time

from run import FILES, REPLY, TASK

WHOLE = "shop/pricing.py\n```\n" + FILES["shop/pricing.py"].replace("total - percent", "total * (100 - percent) / 100") + "```\n"
SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def answer(self, body, kind="application/json"):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        models = [{"name": "scripted", "model": "scripted", "id": "scripted", "object": "model", "size": 1, "details": {}}]
        self.answer(json.dumps({"models": models, "data": models, "object": "list", "version": "0.12.0"}).encode())

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        path = self.path.split("?")[0]
        server = self.server
        if path.endswith(("/api/chat", "/chat/completions", "/responses", "/api/generate")):
            server.requests.append(request)
        if path.endswith("/api/chat") or path.endswith("/api/generate"):
            message = {"role": "assistant", "content": server.reply}
            self.answer(json.dumps({"model": "scripted", "message": message, "response": server.reply, "done": True, "done_reason": "stop", "prompt_eval_count": 1, "eval_count": 1}).encode() + b"\n")
        elif path.endswith("/chat/completions"):
            message = {"role": "assistant", "content": server.reply}
            if server.call:
                message = {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "bash", "arguments": json.dumps({"command": SUBMIT})}}]}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            end = "tool_calls" if server.call else "stop"
            choice = {"index": 0, "message": message, "finish_reason": end}
            self.answer(json.dumps({"id": "1", "object": "chat.completion", "created": 1, "model": "scripted", "choices": [choice], "usage": usage}).encode())
        elif path.endswith("/responses"):
            item = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}
            usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None, "total_tokens": 2}
            events = [
                {"type": "response.created", "response": {"id": "r"}},
                {"type": "response.output_item.done", "item": item},
                {"type": "response.completed", "response": {"id": "r", "usage": usage}},
            ]
            body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
            self.answer(body.encode(), "text/event-stream")
        else:
            self.answer(b'{"model_info": {}, "details": {}, "capabilities": ["completion"]}')


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


def one(command, variables, reply, call):
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
        for name, text in FILES.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
        server.requests, server.reply, server.call = [], reply, call
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host = f"127.0.0.1:{server.server_address[1]}"
        fill = lambda text: text.replace("{host}", host).replace("{folder}", folder).replace("{home}", home)
        environment = {"PATH": os.environ["PATH"], "HOME": home, **{name: fill(value) for name, value in variables.items()}}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen([fill(word) for word in command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        words = []
        threading.Thread(target=lambda: words.append(process.stdout.read()), daemon=True).start()
        memory = largest(process)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        server.shutdown()
        if not server.requests:
            raise SystemExit(f"{command[0]} asked nothing:\n{''.join(words)[-2000:]}")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        fixed = "(100 - percent)" in pathlib.Path(folder, "shop/pricing.py").read_text()
        return cpu, memory, characters(server.requests[0]) / 4, fixed


def peers(options):
    if options.harness:
        yield "harness, its test runs included", [options.harness, "run", "{folder}", TASK], {"OLLAMA_HOST": "{host}"}, REPLY, False
    if options.py_harness:
        yield "py-harness", [options.py_harness, "run", "{folder}", TASK, "--model", "scripted"], {"OLLAMA_HOST": "http://{host}"}, REPLY, False
    if options.codex:
        settings = 'model_providers.scripted={name="scripted",base_url="http://{host}/v1",wire_api="responses"}'
        command = [options.codex, "exec", "--skip-git-repo-check", "-c", "model_provider=scripted", "-c", settings, "-m", "scripted", TASK]
        yield "codex", command, {}, "", False
    if options.aider:
        command = [options.aider, "--model", "openai/scripted", "--openai-api-base", "http://{host}/v1", "--openai-api-key", "x", "--no-git", "--yes-always"]
        command += ["--no-check-update", "--no-show-model-warnings", "--no-stream", "--edit-format", "whole", "--analytics-disable", "--message", TASK, "shop/pricing.py"]
        yield "aider", command, {}, WHOLE, False
    if options.mini:
        command = [options.mini, "-y", "--exit-immediately", "-m", "openai/scripted", "-t", TASK]
        variables = {"OPENAI_API_BASE": "http://{host}/v1", "OPENAI_API_KEY": "x", "MSWEA_CONFIGURED": "true", "MSWEA_COST_TRACKING": "ignore_errors"}
        yield "mini-swe-agent", command, variables, f"Done.\n```bash\n{SUBMIT}\n```\n", True


def main():
    parser = argparse.ArgumentParser()
    for name in ("harness", "py-harness", "codex", "aider", "mini"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path, help="also write every round to this file")
    options = parser.parse_args()
    found = {}
    print("| program | CPU s | memory MB | first request, tokens | fixed it |\n|---|---|---|---|---|")
    for name, *how in peers(options):
        try:
            rows = [one(*how) for _ in range(options.rounds)]
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
