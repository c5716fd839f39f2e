"""What a perfect model, and a clumsy one, can finish through harness: real commits, with an oracle for the model.

    python run.py HARNESS FOLDER OUT.jsonl --python PYTHON [--clumsy SEED] [--without-tests] [--issue] [--configured] [NAME...]

FOLDER is what commits.py laid out. A commit counts as done when harness says `ok` and the tests that the commit mends
pass, judged again in a clean run of our own; `ok` without them is a false success. Questions are answered, and counted.
`--without-tests` leaves the commit's tests out of the project (they still judge), `--issue` gives the whole message.
`--configured` asks the engine and the model that the user has configured instead of the oracle, which then only answers
questions.
"""

import argparse
import collections
import http.server
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import threading
import time

import commits
import oracle

WINDOW, STEPS, REPLY = 8192, 20, 700


class Engine(http.server.ThreadingHTTPServer):
    """The chat API of a local engine, answered by the oracle of the case at hand."""

    daemon_threads = True
    model = None


class Answers(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def send(self, value):
        body = json.dumps(value).encode() + b"\n"
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.send({"models": [{"name": "oracle", "model": "oracle", "size": 1, "details": {}}], "version": "0.12.0"})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if self.path == "/api/show":
            return self.send({"details": {"parameter_size": "8B"}, "model_info": {"oracle.context_length": WINDOW}, "capabilities": ["completion"]})
        if self.path != "/api/chat":
            return self.send({})
        most = min(body.get("options", {}).get("num_predict") or REPLY, REPLY)
        text, cut = self.server.model.reply(body["messages"], most)
        tokens = sum(len(message["content"]) for message in body["messages"]) // 4
        self.send({
            "model": "oracle", "message": {"role": "assistant", "content": text}, "done": True, "done_reason": "length" if cut else "stop",
            "prompt_eval_count": tokens, "eval_count": len(text) // 4,
        })


def perform(case, kept, model, engine, options):
    engine.model = model
    task = case["subject"] if not options.issue else f"{case['subject']}\n\n{case['body']}".strip()
    row = {"id": case["id"], "language": case["language"], "places": len(model.listed()), "questions": 0}
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder, "project")
        shutil.copytree(kept / "project", root, symlinks=True)
        tests = {path: (root / path).read_bytes() for path in case["tests"]}
        if options.without_tests:
            for path in tests:
                (root / path).unlink()
        variables = dict(os.environ, VIRTUAL_ENV=str(pathlib.Path(options.python).parent.parent))
        variables.update(CARGO_HOME=os.environ.get("CARGO_HOME", str(pathlib.Path.home() / ".cargo")), RUSTUP_HOME=os.environ.get("RUSTUP_HOME", str(pathlib.Path.home() / ".rustup")))
        if not options.configured:
            variables.update(OLLAMA_HOST=f"127.0.0.1:{engine.server_port}", HOME=folder)
        begun = time.monotonic()
        for _ in range(3):
            command = [options.harness, "run", str(root), task, "--json", *([] if options.configured else ["--model", "oracle"]), "--steps", str(STEPS), "--max-tokens", str(REPLY)]
            try:
                done = subprocess.run(command, capture_output=True, text=True, env=variables, timeout=options.limit)
                result = json.loads(done.stdout)
            except (subprocess.TimeoutExpired, ValueError) as error:
                return {**row, "ok": False, "stopped": type(error).__name__, "seconds": time.monotonic() - begun}
            if result["stopped"] != "question":
                break
            row["questions"] += 1
            row.setdefault("asked", []).append(result["summary"])
            task = f"{task}\n{model.choose(result['summary'])}"
        row.update(ok=result["ok"], stopped=result["stopped"], seconds=time.monotonic() - begun, summary=result["summary"], diff=result.get("diff", ""), calls=result["usage"]["model_calls"] if options.configured else model.calls, longest=model.longest)
        row["refusals"] = [refusal if isinstance(refusal, str) else f"{refusal['rule']}: {refusal['reason']}" for refusal in result["refusals"]]
        for path, raw in tests.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(raw)
        report = commits.run_suite(root, case["language"], options.python, case["tests"]) if row["ok"] else None
        row["green"] = bool(report and set(case["failing"]) <= report[0] and not report[1])
    return row


def table(rows):
    kinds = collections.Counter(row["stopped"] for row in rows)
    for name, some in (("all", rows), ("Python", [row for row in rows if row["language"] == "python"]), ("others", [row for row in rows if row["language"] != "python"])):
        if some:
            done = [row for row in some if row["ok"] and row["green"]]
            false = [row for row in some if row["ok"] and not row["green"]]
            extra = [row.get("calls", 0) - 2 - 1.5 * row["places"] for row in done]
            print(f"{name}: {len(done)} of {len(some)} done ({100 * len(done) / len(some):.0f} %), false ok {len(false)}, asked {sum(row['questions'] for row in some)}, "
                  f"median calls {statistics.median([row.get('calls', 0) for row in done] or [0])}, over 2 + 1.5 a place {sum(one > 0 for one in extra)}, longest prompt {max(row.get('longest', 0) for row in some)}")
    print(dict(kinds))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("harness")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--python", required=True)
    parser.add_argument("--clumsy", type=int)
    parser.add_argument("--without-tests", action="store_true")
    parser.add_argument("--issue", action="store_true")
    parser.add_argument("--configured", action="store_true")
    parser.add_argument("--limit", type=float, default=300)
    parser.add_argument("--logs", type=pathlib.Path, help="a folder for what was said, a file a case")
    options = parser.parse_intermixed_args()
    options.python, options.harness = os.path.abspath(options.python), os.path.abspath(options.harness)
    rows = [json.loads(line) for line in open(options.out, encoding="utf-8")] if options.out.exists() else []
    known = {row["id"] for row in rows}
    engine = Engine(("127.0.0.1", 0), Answers)
    threading.Thread(target=engine.serve_forever, daemon=True).start()
    for file in sorted(options.folder.glob("*/case.json")):
        case = json.loads(file.read_text(encoding="utf-8"))
        if case["id"] in known or options.names and not any(name in case["id"] for name in options.names):
            continue
        model = oracle.Oracle(case) if options.clumsy is None else oracle.Clumsy(case, options.clumsy)
        row = perform(case, file.parent, model, engine, options)
        rows.append(row)
        with open(options.out, "a", encoding="utf-8") as out:
            out.write(json.dumps(row) + "\n")
        if options.logs:
            options.logs.mkdir(parents=True, exist_ok=True)
            (options.logs / f"{case['id']}.json").write_text(json.dumps({"subject": case["subject"], "places": case["places"], "row": row, "log": model.log}, indent=1))
        verdict = "done" if row["ok"] and row.get("green") else "FALSE OK" if row["ok"] else row["stopped"]
        print(f"{row['id']}: {verdict} {row['seconds']:.0f} s, {row.get('calls', 0)} calls, {row['places']} places: {case['subject'][:60]} | {row.get('summary', '')[:160]}", flush=True)
    table(rows)


if __name__ == "__main__":
    main()
