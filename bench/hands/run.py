"""Measures what safety costs, beside the bare thing: python3 bench/hands/run.py [rounds] [python] [hands_cost]

Builds `hands_cost`, where no built one is given, as the tests are built (our code barely optimised, what it
stands on fully), runs it in a folder on the disk (not in memory)
and prints a table of wall and CPU seconds per round, with the ratio of the walls.
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS = [
    ("one unittest test: sandboxed run / bare `python -m unittest`", "sandboxed_test", "bare_test"),
    ("one test in 3,000 files: on a private version, one file changed / in place", "trial", "in_place"),
    ("one try of the reused test process / bare `python -m unittest`", "try", "bare_test"),
    ("edit of a 2 KB file: journal, .bak, fsync / plain write, fsync, rename", "small_edit", "small_plain"),
    ("edit of a 10 MB file: journal, .bak, fsync / plain write, fsync, rename", "large_edit", "large_plain"),
]


def main():
    rounds = sys.argv[1] if len(sys.argv) > 1 else "20"
    python = sys.argv[2] if len(sys.argv) > 2 else sys.executable
    program = sys.argv[3:4] or ["cargo", "run", "-q", "-p", "harness-bench", "--bin", "hands_cost", "--"]
    command = [*program, python, rounds]
    found = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    print("| what | ours: wall ms | ours: CPU ms | peer: wall ms | peer: CPU ms | CPU ratio |")
    print("|---|---|---|---|---|---|")
    for name, ours, peer in ROWS:
        (wall, cpu), (peer_wall, peer_cpu) = found[ours], found[peer]
        # The reused process ends with its process table, and its CPU time with it: see tries.py.
        seen = ours != "try" and peer_cpu
        shown, ratio = (f"{cpu * 1000:.1f}", f"{cpu / peer_cpu:.2f}") if seen else ("-", "-")
        print(f"| {name} | {wall * 1000:.1f} | {shown} | {peer_wall * 1000:.1f} | {peer_cpu * 1000:.1f} | {ratio} |")


if __name__ == "__main__":
    main()
