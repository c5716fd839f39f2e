"""CPU seconds of one try of the reused test process: python3 bench/hands/tries.py unittest|pytest [tries] [python]

Starts worker.py without the sandbox, so that the kernel counts what its children used. The start is
taken out by a second run with a tenth of the tries.
"""

import json
import pathlib
import resource
import subprocess
import sys
import tempfile

SUITE = pathlib.Path(__file__).resolve().parents[2] / "crates/harness-hands/src/suite"
FILES = {
    "base.py": "LIMIT = 10\n",
    "app.py": "from base import LIMIT\n\ndef clamp(n):\n    return min(n, LIMIT)\n",
    "tests/__init__.py": "",
    "tests/test_app.py": "import unittest\nfrom app import clamp\n\nclass T(unittest.TestCase):\n"
    "    def test_low(self):\n        self.assertEqual(clamp(1), 1)\n",
}


def seconds(folder, mode, python, tries):
    arguments = {
        "pytest": ["-q", "--color=no", "--tb=short", "-o", "cache_dir=%s/cache" % folder, "tests/test_app.py"],
        "unittest": [],
    }[mode]
    config = {
        "mode": mode,
        "arguments": arguments,
        "selection": ["tests.test_app.T.test_low"],
        "folder": folder,
        "root": folder,
        "changed": folder + "/app.py",
        "learn_seconds": 60,
    }
    settings = pathlib.Path(folder, "config.json")
    settings.write_text(json.dumps(config))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {"PYTHONDONTWRITEBYTECODE": "1", "PATH": "/usr/bin:/bin"}
    worker = subprocess.Popen(
        [python, str(SUITE / "worker.py"), str(settings)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, env=environment,
    )
    worker.stdout.readline()
    for _ in range(tries):
        worker.stdin.write(b'{"seconds": 60}\n')
        worker.stdin.flush()
        lines = json.loads(worker.stdout.readline())["lines"]
        assert any('"outcome": "passed"' in line for line in lines), lines
    worker.stdin.close()
    worker.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    mode = sys.argv[1]
    tries = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    python = sys.argv[3] if len(sys.argv) > 3 else sys.executable
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        few, many = (seconds(folder, mode, python, count) for count in (tries // 10, tries))
    each = (many - few) / (tries - tries // 10)
    print("%s: %.1f ms CPU a try, %.0f tries a CPU second" % (mode, each * 1000, 1 / each))


if __name__ == "__main__":
    main()
