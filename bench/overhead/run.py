"""What a run costs beside the model: own processor time, memory, and the length of the first request.

    python run.py HARNESS [--rounds 5] [--json FILE]

A project of three files with one bug, a model that answers at once with the right definition. Own processor time and
memory are those of the program itself, read from /proc while it runs: the project's tests, which it starts, are not in
it. Tokens are characters divided by four.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "model_server"))
import finish  # noqa: E402
from scripted import ScriptedServer  # noqa: E402

FILES = {
    "shop/__init__.py": "",
    "shop/pricing.py": '"""Prices of an order."""\n\n\ndef apply_discount(total, percent):\n    """Return the total less percent per cent."""\n    return total - percent\n',
    "tests/__init__.py": "",
    "tests/test_pricing.py": "import unittest\n\nfrom shop.pricing import apply_discount\n\n\nclass PricingTest(unittest.TestCase):\n    def test_discount(self):\n        self.assertEqual(apply_discount(200, 10), 180)\n",
}
REPLY = '```python\ndef apply_discount(total, percent):\n    """Return the total less percent per cent."""\n    return total * (100 - percent) / 100\n```\n'
TASK = "fix apply_discount in shop/pricing.py: it subtracts the percentage"
TICK = os.sysconf("SC_CLK_TCK")


def watched(process):
    """Returns the program's own processor time and its largest memory, in seconds and megabytes."""
    cpu, memory = 0.0, 0
    while process.poll() is None:
        try:
            fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            cpu = max(cpu, (int(fields[11]) + int(fields[12])) / TICK)
            for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
                if line.startswith("VmHWM"):
                    memory = max(memory, int(line.split()[1]))
        except (OSError, IndexError):
            pass
        time.sleep(0.002)
    return cpu, memory / 1024


def one(harness):
    with tempfile.TemporaryDirectory() as folder, ScriptedServer([REPLY]) as server:
        for name, text in FILES.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        variables = dict(os.environ, OLLAMA_HOST=server.host)
        begun = time.monotonic()
        process = subprocess.Popen([harness, "run", folder, TASK, "--json"], env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        cpu, memory = watched(process)
        result = json.loads(process.stdout.read())
        asked = [request for request in server.requests if request.get("messages")]
        first = sum(len(message["content"]) for message in asked[0]["messages"]) / 4
        if result["ok"]:
            with tempfile.TemporaryDirectory() as before:
                for name, text in FILES.items():
                    path = pathlib.Path(before, name)
                    path.parent.mkdir(exist_ok=True)
                    path.write_text(text)
                finish.check("overhead", TASK, pathlib.Path(before), pathlib.Path(folder), result["writes"])
        return result["ok"], cpu, memory, first, time.monotonic() - begun


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("harness")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path, help="also write every round to this file")
    options = parser.parse_args()
    rows = [one(options.harness) for _ in range(options.rounds)]
    if options.json:
        options.json.write_text(json.dumps(rows), encoding="utf-8")
    print("| ok | own CPU s | memory MB | first request, tokens | wall s |\n|---|---|---|---|---|")
    middle = [statistics.median(row[at] for row in rows) for at in range(1, 5)]
    print(f"| {sum(row[0] for row in rows)} of {len(rows)} | {middle[0]:.2f} | {middle[1]:.1f} | {middle[2]:.0f} | {middle[3]:.1f} |")
    print(finish.report())


if __name__ == "__main__":
    main()
