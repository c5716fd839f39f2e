#!/usr/bin/env python3
"""How the secret table does on real source: python3 bench/engines/secrets.py FOLDER...

Runs `cargo run --release -p harness-bench --bin secrets` over every text file of the folders (one popular package
each), counts what it would refuse to send, and times 1 MB of them. Prints one row a folder.
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main(folders):
    command = ["cargo", "run", "--release", "-q", "-p", "harness-bench", "--bin", "secrets", "--", *folders]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return 1
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    print("| package | files | MB | found | ms for 1 MB |\n|---|---|---|---|---|")
    for row in rows:
        print(f"| {row['folder']} | {row['files']} | {row['bytes'] / 1e6:.1f} | {row['found']} | {row['ms_per_mb']:.2f} |")
    for row in rows:
        for place in row["places"]:
            print(f"- {place}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
