#!/usr/bin/env python3
"""Tables and plots of the rows of bench/run.py, and what got worse.

    python bench/report.py [--rows bench/rows] [--out bench/report]      writes README.md and the plots
    python bench/report.py --check                                       only says what got worse; exit code 1 where something did

Tables show the last full row of each name; where there is only a quick one it is marked. Worse means: than the full row
before it, by more than the spread of both, and for seconds and megabytes on the same machine. Plots are SVG that follows
the light or dark setting of whoever looks. Nothing is written that is not in the rows. Standard library only.
"""

import argparse
import collections
import math
import pathlib
import re
import sys
from xml.sax.saxutils import escape

import parts
import rows

HERE = pathlib.Path(__file__).resolve().parent
WIDTH = 720
# Told apart by people who see few colours: blue, vermilion, green, purple, olive. Second the ones for dark grounds.
COLOURS = (("#0072b2", "#56b4e9"), ("#c24e00", "#ff9d5c"), ("#007a5a", "#3fd0a4"), ("#a34f83", "#e39bc6"), ("#7a6200", "#d9be3f"))


# What got worse


def compared(by_part):
    """A sentence for each name whose last full row is worse than the full row before it, and how many names have two such
    rows that can be compared."""
    pairs = []
    for part_rows in by_part.values():
        history = {}
        for row in part_rows:
            if not row["quick"] and row["value"] is not None:
                history.setdefault(row["name"], []).append(row)
        pairs += [(values[-1], values[-2]) for values in history.values() if len(values) > 1]
    return rows.comparison(pairs)


# Tables


def shown(part_rows):
    """The row of each name that a table shows: the last full one, else the last quick one, else why there is none."""
    measured = {**rows.latest(part_rows, is_quick=True), **rows.latest(part_rows, is_quick=False)}
    found = {row["name"]: row for row in part_rows if row["value"] is None and not was_measured(row["name"], measured)}
    return {**found, **measured}


def was_measured(piece, measured):
    """Whether what a row says of a piece that could not be measured is over: its measures are there, under their names."""
    return any(re.fullmatch(parts.PIECES.get(piece, re.escape(piece)), name) for name in measured)


def machines(part_rows):
    """A sentence that names the machine that the rows of a table were measured on, or the machines."""
    counted = collections.Counter(row["machine"] for row in shown(part_rows).values() if row["value"] is not None)
    named = [name for name, _ in counted.most_common()]
    others = "".join(f" {counted[name]} of these rows: {name}." for name in named[1:])
    return f" Measured on {named[0]}.{others}" if named else ""


def figure(value):
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def part_table(part, part_rows):
    lines = [f"## {part.name}", "", f"{part.about[0].upper()}{part.about[1:]}.{cell(machines(part_rows))}{f' [How to read it](../{part.page}).' if part.page else ''}", ""]
    if not part_rows:
        return [*lines, "Not measured.", ""]
    lines += ["| what | value | unit | spread | cases | measured |", "|---|---:|---|---:|---:|---|"]
    for name, row in shown(part_rows).items():
        mark = ", quick" if row["quick"] else ""
        value = "not measured" if row["value"] is None else figure(row["value"])
        spread = "" if row["spread"] is None else figure(row["spread"])
        note = f"{row['date']}, {row['versions']['harness']}{mark}" if row["value"] is not None else row.get("why", "")
        lines.append(f"| {cell(name)} | {value} | {row['unit']} | {spread} | {row.get('cases', '')} | {cell(note)} |")
    return [*lines, ""]


def page(by_part, pictures):
    lines = ["# What was measured", "", "Made by `python bench/report.py` from the rows in [bench/rows](../rows); `python bench/run.py` makes the rows. Rows marked quick come from few cases and are no claim.", ""]
    notes, count = compared(by_part)
    lines += ["## Worse than before", "", *([f"- {cell(note)}" for note in notes] or [rows.verdict(count)]), ""]
    for part in parts.PARTS:
        table = part_table(part, by_part.get(part.name, []))
        images = [line for name, (_, title) in pictures.items() if name.split("-")[0] == part.name for line in (f"![{title}]({name}.svg)", "")]
        lines += [*table[:4], *images, *table[4:]]
    others = sorted({versions for part_rows in by_part.values() for row in shown(part_rows).values() for versions in (f"{name} {value}" for name, value in row["versions"].items() if name not in ("harness",) and value)})
    return "\n".join([*lines, "## With", "", ", ".join(others) + ".", ""])


# Plots


STYLE = "text{font:13px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#1f2328}.soft{fill:#59636e;font-size:12px}.title{font-weight:600;font-size:15px}.grid{stroke:#d1d9e0;stroke-width:1}.ours{fill:#0072b2}.other{fill:#9aa4ad}.line{fill:none;stroke-width:2}"
DARK = "text{fill:#e6edf3}.soft{fill:#9198a1}.grid{stroke:#3d444d}.ours{fill:#56b4e9}.other{fill:#656c76}"


def svg(title, about, height, body):
    """A picture with its words for those who do not see it."""
    light = "".join(f".c{at}{{stroke:{one}}}.t{at}{{fill:{one}}}" for at, (one, _) in enumerate(COLOURS))
    dark = "".join(f".c{at}{{stroke:{one}}}.t{at}{{fill:{one}}}" for at, (_, one) in enumerate(COLOURS))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.0f}" viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-labelledby="title about">'
    words = f'<title id="title">{escape(title)}</title><desc id="about">{escape(about)}</desc>'
    style = f"<style>{STYLE}{light}@media (prefers-color-scheme:dark){{{DARK}{dark}}}</style>"
    return "\n".join([head, words, style, f'<text class="title" x="12" y="24">{escape(title)}</text>', *body, "</svg>", ""])


def bars(title, values):
    """Horizontal bars: label, value with its unit as text, whether it is ours."""
    left, right, step = 310, 110, 28
    most = max(value for _, value, _, _ in values) or 1
    body = []
    for at, (label, value, unit, ours) in enumerate(values):
        y = 44 + at * step
        width = max(2.0, (WIDTH - left - right) * value / most)
        body.append(f'<text x="{left - 10}" y="{y + 14}" text-anchor="end">{escape(label)}</text>')
        body.append(f'<rect class="{"ours" if ours else "other"}" x="{left}" y="{y}" width="{width:.1f}" height="18" rx="2"/>')
        body.append(f'<text class="soft" x="{left + width + 8:.1f}" y="{y + 14}">{figure(value)} {escape(unit)}</text>')
    about = ", ".join(f"{label} {figure(value)} {unit}" for label, value, unit, _ in values)
    return svg(title, about, 44 + len(values) * step + 12, body)


def ticks(least, most):
    """The powers of ten around the values."""
    return [10.0**power for power in range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)]


def curves(title, lines, unit):
    """Lines over two logarithmic axes: name -> points (files, value)."""
    top, bottom, left, right, height = 44, 40, 70, 190, 380
    xs, ys = ([point[at] for points in lines.values() for point in points] for at in (0, 1))
    x_ticks, y_ticks = ticks(min(xs), max(xs)), ticks(min(ys), max(ys))

    def place(value, least, most, first, last):
        return first + (last - first) * (math.log10(value) - math.log10(least)) / ((math.log10(most) - math.log10(least)) or 1)

    def x(value):
        return place(value, x_ticks[0], x_ticks[-1], left, WIDTH - right)

    def y(value):
        return place(value, y_ticks[0], y_ticks[-1], height - bottom, top)

    body = []
    for tick in x_ticks:
        body.append(f'<line class="grid" x1="{x(tick):.1f}" y1="{top}" x2="{x(tick):.1f}" y2="{height - bottom}"/><text class="soft" x="{x(tick):.1f}" y="{height - bottom + 18}" text-anchor="middle">{tick:,.0f}</text>')
    for tick in y_ticks:
        body.append(f'<line class="grid" x1="{left}" y1="{y(tick):.1f}" x2="{WIDTH - right}" y2="{y(tick):.1f}"/><text class="soft" x="{left - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g} {escape(unit)}</text>')
    body.append(f'<text class="soft" x="{(left + WIDTH - right) / 2:.0f}" y="{height - 6}" text-anchor="middle">files</text>')
    # Names stand at the ends of their lines, moved apart where they would meet.
    heights = spread_out({name: y(points[-1][1]) for name, points in lines.items()}, 17)
    for at, (name, points) in enumerate(lines.items()):
        path = " ".join(f"{'M' if number == 0 else 'L'}{x(a):.1f} {y(b):.1f}" for number, (a, b) in enumerate(points))
        body.append(f'<path class="line c{at % len(COLOURS)}" d="{path}"/>')
        body += [f'<circle class="t{at % len(COLOURS)}" cx="{x(a):.1f}" cy="{y(b):.1f}" r="3"/>' for a, b in points]
        body.append(f'<text class="t{at % len(COLOURS)}" x="{x(points[-1][0]) + 10:.1f}" y="{heights[name] + 4:.1f}">{escape(name)}</text>')
    about = "; ".join(f"{name}: " + ", ".join(f"{figure(value)} {unit} at {files:,} files" for files, value in points) for name, points in lines.items())
    return svg(title, about, height, body)


def spread_out(wanted, least):
    """Heights at which labels do not meet, in the order that they had."""
    found, last = {}, -math.inf
    for name, height in sorted(wanted.items(), key=lambda item: item[1]):
        last = found[name] = max(height, last + least)
    return found


def bar_values(part_rows, pattern, unit_shown=None):
    """Label, value, unit and whether it is ours, of every shown row whose name fits."""
    found = []
    for name, row in shown(part_rows).items():
        fits = re.fullmatch(pattern, name)
        if fits and row["value"] is not None:
            found.append((fits[1] + (" (quick)" if row["quick"] else ""), row["value"], unit_shown or row["unit"], row["better"] is not None))
    return sorted(found, key=lambda value: value[1])


# A plot: file, part, title, and the rows that it takes (the group is the label).
BARS = (
    ("startup-cpu", "startup", "CPU of one start", r"(harness|python -c pass|python -m harness|py-harness \(peer\)): CPU"),
    ("overhead-prompt", "overhead", "Tokens of the first request, one fix", r"(.+): first request"),
    ("overhead-cpu", "overhead", "CPU of one fix beside the model", r"(harness, .+|py-harness|codex|aider|mini-swe-agent|opencode): CPU"),
    ("overhead-memory", "overhead", "Memory of the largest process, one fix", r"(harness, .+|py-harness|codex|aider|mini-swe-agent|opencode): memory"),
    ("understanding-django", "understanding", "Reading django", r"django, (.+): CPU"),
)
CURVES = (("scaling-cpu", "scaling", "CPU seconds over the size of the project", r"(.+), ([\d,]+) files: CPU", "s"), ("scaling-memory", "scaling", "Memory over the size of the project", r"(.+), ([\d,]+) files: memory", "MB"))


def plots(by_part):
    """Every plot that there are rows for: name -> picture and title."""
    found = {}
    for name, part, title, pattern in BARS:
        values = bar_values(by_part.get(part, []), pattern)
        if len(values) > 1:
            found[name] = (bars(title, values), title)
    for name, part, title, pattern, unit in CURVES:
        lines = {}
        for row_name, row in shown(by_part.get(part, [])).items():
            fits = re.fullmatch(pattern, row_name)
            if fits and row["value"]:
                lines.setdefault(fits[1], []).append((int(fits[2].replace(",", "")), row["value"]))
        lines = {label: sorted(points) for label, points in lines.items() if len(points) > 1}
        if lines:
            found[name] = (curves(title, lines, unit), title)
    return found


def main(words):
    parser = argparse.ArgumentParser(description="Tables and plots of the rows, and what got worse.")
    parser.add_argument("--rows", type=pathlib.Path, default=rows.COMMITTED)
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "report")
    parser.add_argument("--check", action="store_true", help="only say what got worse")
    arguments = parser.parse_args(words)
    by_part = rows.read(arguments.rows)
    notes, count = compared(by_part)
    print("\n".join(["worse than before:", *notes]) if notes else rows.verdict(count))
    if arguments.check:
        return 1 if notes else 0
    pictures = plots(by_part)
    arguments.out.mkdir(parents=True, exist_ok=True)
    # A plot whose rows are gone would stand beside the tables as if it were theirs.
    for file in arguments.out.glob("*.svg"):
        if file.stem not in pictures:
            file.unlink()
    for name, (picture, _) in pictures.items():
        (arguments.out / f"{name}.svg").write_text(picture, encoding="utf-8")
    (arguments.out / "README.md").write_text(page(by_part, pictures), encoding="utf-8")
    print(f"{len(pictures)} plots and the tables of {len(by_part)} parts are in {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
