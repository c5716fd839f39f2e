#!/usr/bin/env python3
"""Runs black-box acceptance files and holds them against the list of checks whose part is not built yet.

    accept.py PENDING_LIST ACCEPT_FILE...

A check that fails and is not on the list is a failure; so is one that passes and is still on it, and a name on the list
that no check has: the list only shrinks. The last line is a JSON object with the counts.
"""

import importlib.util
import json
import pathlib
import sys
import unittest


def main(words):
    pending, *files = map(pathlib.Path, words)
    checks = [check for file in files for check in flat(unittest.defaultTestLoader.loadTestsFromModule(load(file)))]
    waiting = read_list(pending)
    passed = failed = 0
    for check in checks:
        name = short(check)
        result = unittest.TestResult()
        check.run(result)
        # A part that says it is not for this platform is neither.
        if result.skipped:
            continue
        good, expected = result.wasSuccessful(), name not in waiting
        if good and expected:
            passed += 1
            print(f"ok       {name}", flush=True)
        elif not good and not expected:
            print(f"pending  {name}", flush=True)
        elif good:
            failed += 1
            print(f"FAILED   {name}: it passes, so take it off {pending.name}", flush=True)
        else:
            failed += 1
            print(f"FAILED   {name}", flush=True)
            for _, trace in [*result.failures, *result.errors]:
                print("    " + "\n    ".join(trace.rstrip().splitlines()))
    for name in sorted(waiting - {short(check) for check in checks}):
        failed += 1
        print(f"FAILED   {name}: no check has this name, so take it off {pending.name}")
    print(json.dumps({"passed": passed, "failed": failed, "pending": len(waiting)}))
    return 0 if failed == 0 else 1


def load(path):
    """Imports the file under its own name, as its tests expect."""
    specification = importlib.util.spec_from_file_location(path.stem, str(path))
    module = importlib.util.module_from_spec(specification)
    sys.modules[path.stem] = module
    sys.dont_write_bytecode = True
    specification.loader.exec_module(module)
    return module


def flat(suite):
    for member in suite:
        if isinstance(member, unittest.TestSuite):
            yield from flat(member)
        else:
            yield member


def short(check):
    return ".".join(check.id().split(".")[-2:])


def read_list(path):
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
