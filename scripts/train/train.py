#!/usr/bin/env python3
"""From a clone: `python scripts/train/train.py` is `python -m harness.train` with the environment that install.py made.

    python scripts/train/train.py dataset PROJECT... --output FOLDER
    python scripts/train/train.py lora FOLDER --model NAME
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main(words):
    own = [ROOT / ".venv" / place for place in ("bin/python", "Scripts/python.exe")]
    python = next((path for path in own if path.exists()), sys.executable)
    return subprocess.run([str(python), "-m", "harness.train", *words], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
