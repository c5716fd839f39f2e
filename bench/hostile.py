#!/usr/bin/env python3
"""How long each command takes in a folder of hostile things, and its greatest memory: python bench/hostile.py PROGRAM"""

import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "python"))

import hostile

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
COMMANDS = (
    ["brief"],
    ["layout"],
    ["route", "fix total in shop/cart.py"],
    ["ask", "what does total in shop/cart.py do?"],
    ["run", "fix total in shop/cart.py"],
)

with tempfile.TemporaryDirectory() as place:
    folder = hostile.lay_out(pathlib.Path(place) / "project")
    print(f"{len(hostile.THINGS)} hostile things, and somebody who changes files meanwhile\n")
    print("| command | exit | seconds | MB |\n|---|---|---|---|")
    for words in COMMANDS:
        variables = {**os.environ, "OLLAMA_HOST": "127.0.0.1:9"}
        code, _, seconds, megabytes = hostile.peak_of([PROGRAM, *words], folder, variables)
        print(f"| `{words[0]}` | {code} | {seconds:.1f} | {megabytes:.0f} |")
    hostile.clear_away(folder)
