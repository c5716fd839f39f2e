"""Shows a change before it is made, asks, and only then makes it.

    python examples/review.py PROJECT "rename best_percent to discount_percent"
"""

import sys

from harness import Agent, AgentOptions


def main() -> int:
    project, task = sys.argv[1:]
    shown = Agent(AgentOptions(project=project, allow_writes=False)).run(task)
    print(shown.diff or shown.summary)
    if not shown.ok:
        return 1
    if input("Make this change? [y/N] ").strip().lower() != "y":
        print("nothing was changed")
        return 0
    result = Agent(AgentOptions(project=project)).run(task)
    print(result.summary)
    return 0 if result.ok else 1


if __name__ == "__main__":
    sys.exit(main())
