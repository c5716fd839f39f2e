"""What the rows of run.py come to.

python bench/suites/table.py ROWS.jsonl…

A package counts as mended when its tests pass after the printed commands, or when at least 99 of 100 pass that pass with its
own command, set up by hand.
"""

import json
import pathlib
import sys

KEYS = ("passed", "failed", "skipped")


def counts(told: dict) -> str:
    return "/".join(str(told[key]) for key in KEYS)


def ready(rows: list[dict]) -> None:
    ran = [row for row in rows if row["ours"]["passed"]]
    print(f"ready: {len(rows)}; ran: {len(ran)}; the same counts: {sum(row['same'] for row in rows)}")
    for row in rows:
        if not row["same"] or row not in ran:
            print(f"  {row['name']}: theirs {counts(row['theirs'])}, ours {counts(row['ours'])}; {row['ours']['failures'][:1]}")


def unprepared(state: str, rows: list[dict], set_up: dict[str, dict]) -> None:
    at_once = [row for row in rows if row.get("runs")]
    rest = [row for row in rows if not row.get("runs")]

    def is_mended(row: dict) -> bool:
        known, then = set_up.get(row["name"], {}).get("passed", 0), row["then"]
        return then["exit"] == 0 or 0 < 0.99 * known <= then["passed"]

    print(f"{state}: {len(rows)}; at once: {len(at_once)}; a true reason: {sum(row['true'] for row in rest)} of {len(rest)}; mended: {sum(map(is_mended, rest))}")
    for row in rest:
        if not row["true"] or not is_mended(row):
            print(f"  {row['name']}: true {row['true']}; {counts(row['then'])}; {row['then']['said'][:150]} {row['then']['failures'][:1]}")


def main() -> None:
    rows = [json.loads(line) for name in sys.argv[1:] for line in pathlib.Path(name).read_text().splitlines()]
    latest = {(row["state"], row["name"]): row for row in rows}
    of = {state: [row for (known, _), row in latest.items() if known == state and len(row) > 3] for state in ("ready", "bare", "own")}
    set_up = {row["name"]: row["theirs"] for row in of["ready"] if "theirs" in row}
    ready([row for row in of["ready"] if "theirs" in row])
    for state in ("bare", "own"):
        unprepared(state, [row for row in of[state] if "first" in row], set_up)


if __name__ == "__main__":
    main()
