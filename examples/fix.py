"""Performs a task, shows what happens while it happens, and ends with what was changed and which tests prove it.

    python examples/fix.py PROJECT "fix the NameError in orders/report.py"
"""

import sys

from harness import Agent, AgentOptions, Event


def show(event: Event) -> None:
    print(f"{event.seconds:6.2f} s  {event}")


def main() -> int:
    project, task = sys.argv[1:]
    result = Agent(AgentOptions(project=project, on_event=show)).run(task)
    print(result.diff)
    print(result.summary)
    if result.tests and result.tests.after:
        print("tests:", result.tests.command, "-", result.tests.after.passed, "passed,", result.tests.after.failed, "failed")
    return 0 if result.ok else 1


if __name__ == "__main__":
    sys.exit(main())
