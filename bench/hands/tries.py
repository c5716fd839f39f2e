"""CPU seconds of one try in a reused test process: python3 bench/hands/tries.py unittest|pytest [tries] [python]

`quick.py` has collected the tests and exchanges the code of the changed function: once with a change that
passes and once with one that fails. It runs without the sandbox, so that the kernel counts what its children
used. The start is taken out by a second run with a tenth of the tries.
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
TEST = {"pytest": "tests/test_app.py::T::test_low", "unittest": "tests.test_app.T.test_low"}


def quick(folder, mode, passes):
    """Yields each request as a dictionary, and checks each answer."""
    app = pathlib.Path(folder, "app.py")
    old, number = app.read_text(), 0
    try:
        while True:
            # Another limit each time: nothing may be remembered from the try before.
            app.write_text(old.replace("LIMIT)", "%d)" % (10 + number if passes else -number)))
            request = {
                "kind": "try", "first": [TEST[mode]], "red": [], "near": [], "rest": False,
                "cpu": 5, "seconds": 20, "rest_seconds": 5, "path": str(app), "old": old if not number else None,
            }
            end = (yield request)["lines"][-1]
            assert end["kind"] == "end" and end["passed"] is passes, end
            number += 1
    finally:
        app.write_text(old)


def seconds(folder, mode, python, tries, passes):
    arguments = {
        "pytest": ["-q", "--color=no", "--tb=short", "-o", "cache_dir=%s/cache" % folder, "tests/test_app.py"],
        "unittest": [],
    }[mode]
    config = {
        "mode": mode,
        "arguments": arguments,
        "selection": [TEST["unittest"]],
        "folder": folder,
        "root": folder,
        "limits": {"each": 10, "again": 10, "tests": {}, "hung": [], "stack": None},
    }
    settings = pathlib.Path(folder, "config.json")
    settings.write_text(json.dumps(config))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {"PYTHONDONTWRITEBYTECODE": "1", "PATH": "/usr/bin:/bin"}
    process = subprocess.Popen(
        [python, str(SUITE / "quick.py"), str(settings)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, env=environment,
    )
    process.stdout.readline()
    requests = quick(folder, mode, passes)
    request = next(requests)
    for _ in range(tries):
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        request = requests.send(json.loads(process.stdout.readline()))
    requests.close()
    process.stdin.close()
    process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    mode = sys.argv[1]
    tries = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    python = sys.argv[3] if len(sys.argv) > 3 else sys.executable
    kinds = [
        ("a changed function, passes", True),
        ("a changed function, fails", False),
    ]
    for words, passes in kinds:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in FILES.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
            few, many = (seconds(folder, mode, python, count, passes) for count in (tries // 10, tries))
        each = (many - few) / (tries - tries // 10)
        print("%s, %s: %.1f ms CPU a try, %.0f tries a CPU second" % (mode, words, each * 1000, 1 / each))


if __name__ == "__main__":
    main()
