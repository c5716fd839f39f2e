"""Performs several tasks one after the other and stops at the first that is not proven.

    python examples/many.py PROJECT TASKS.txt          one task a line

Each task is a run of its own: what was proven stays, and `harness undo` takes the last one back.
"""

import pathlib
import sys

from harness import Agent, AgentOptions


def main() -> int:
    project, tasks = sys.argv[1:]
    agent = Agent(AgentOptions(project=project))
    for task in pathlib.Path(tasks).read_text(encoding="utf-8").splitlines():
        result = agent.run(task)
        print("done" if result.ok else result.stopped, "-", task)
        print("   ", result.summary)
        if not result.ok:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
