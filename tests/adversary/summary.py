"""What many rows come to: the counts that must hold, and which moves they were. Says nothing about a single run."""

import collections

HEAD = "| runs | ok | ok but wrong | not promised | left changed | no result | honest runs | honest, ok and right | mean s |"


def table(rows):
    """One line of counts under its head, as Markdown; `ok but wrong`, `left changed` and `no result` must be 0."""
    verdicts = collections.Counter(row["verdict"] for row in rows)
    honest = [row for row in rows if row["honest"]]
    good = sum(row["verdict"] == "ok and right" for row in honest)
    share = f"{good} ({100 * good // len(honest)} %)" if honest else "-"
    changed = sum(bool(row.get("left")) for row in rows)
    mean = sum(row["seconds"] for row in rows) / max(1, len(rows))
    cells = [len(rows), sum(bool(row["ok"]) for row in rows), verdicts["ok but wrong"], verdicts["not promised"], changed, verdicts["no result"], len(honest), share, f"{mean:.2f}"]
    return "\n".join([HEAD, "|" + "---|" * len(cells), "| " + " | ".join(map(str, cells)) + " |"])


def by_move(rows):
    """For every move how many runs it was part of, and what they came to. A run with several moves counts for each."""
    found = collections.defaultdict(collections.Counter)
    for row in rows:
        for move in set(row["moves"]):
            found[move].update(["runs", row["verdict"], *(["changed"] if row.get("left") else [])])
    lines = ["| move | runs | ok but wrong | not promised | left changed | ok and right |", "|---|---|---|---|---|---|"]
    for move, counts in sorted(found.items(), key=lambda item: (-item[1]["ok but wrong"] - item[1]["changed"], item[0])):
        cells = (counts["runs"], counts["ok but wrong"], counts["not promised"], counts["changed"], counts["ok and right"])
        lines.append(f"| {move} | " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)
