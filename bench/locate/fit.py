"""Fit the weights of locate's two tables, and measure them on repositories that they were not fitted on.

    python bench/locate/lay_out.py CASES.jsonl MIRROR TREES
    cargo run --release -p harness-bench --bin locate_signals CASES.jsonl TREES > SIGNALS
    python bench/locate/fit.py CASES.jsonl SIGNALS [--alone] [--without]

Prints recall at 1, 3, 5, 10 and 20 by cross-validation over repositories, then the weights fitted on all cases as rows for
`crates/harness-code/src/locate/weights.rs`, whose names and scales it reads. `--alone` measures each signal by itself,
`--without` leaves each out in turn. Needs numpy.

What is made likely is that the first of a softmax over the candidates of a case is right; each case counts the same; weights
are held small by a square penalty.
"""

import collections
import json
import pathlib
import re
import sys

import numpy as np

WEIGHTS = pathlib.Path(__file__).parents[2] / "crates/harness-code/src/locate/weights.rs"
DEPTHS = (1, 3, 5, 10, 20)
FOLDS = 6
PENALTY = 0.01


def tables():
    """The names and scales of both tables, as the program has them."""
    text = WEIGHTS.read_text()
    found = {}
    for name in ("FILES", "DEFINITIONS"):
        body = re.search(rf"const {name}: .*?= &\[(.*?)\n\];", text, re.S).group(1)
        rows = re.findall(r'\("(\w+)", (Share|Log|Plain), (-?[\d.]+)\)', body)
        found[name.lower()] = [(row[0], row[1]) for row in rows]
    return found["files"], found["definitions"]


def read(path):
    """The signals of each case: kind -> id -> (candidates, column names, values)."""
    found, current = {"files": {}, "definitions": {}}, None
    for line in open(path, encoding="utf-8"):
        if line.startswith("#"):
            kind, case, *names = line[1:].rstrip("\n").split("\t")
            current = found[kind][case] = ([], names, [])
            continue
        name, *values = line.rstrip("\n").split("\t")
        current[0].append(name)
        current[2].append([float(value) for value in values])
    return {kind: {case: (names, {column: np.array([row[at] for row in rows]) for at, column in enumerate(columns)}) for case, (names, columns, rows) in cases.items()} for kind, cases in found.items()}


def scaled(columns, table, extra=None):
    rows = []
    for name, scale in table:
        values = (extra or {}).get(name, columns.get(name))
        if scale == "Share":
            values = values / max(values.max(), 1e-6)
        elif scale == "Log":
            values = np.log1p(values)
        rows.append(values)
    return np.array(rows, dtype=np.float64).T


def fit(groups, steps=100):
    groups = [(values, right) for values, right, _ in groups if right.any() and not right.all()]
    weights = np.zeros(groups[0][0].shape[1])
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, steps + 1):
        gradient = np.zeros_like(weights)
        for values, right in groups:
            scores = values @ weights
            odds = np.exp(scores - scores.max())
            best = np.where(right, odds, 0)
            gradient += values.T @ (best / max(best.sum(), 1e-300) - odds / odds.sum())
        gradient = gradient / len(groups) - PENALTY * weights
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.99 * square + 0.01 * gradient**2
        weights += 0.05 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return weights


def folds(cases):
    """Repositories dealt to folds, the largest first, each to the fold that has fewest cases."""
    sizes = collections.Counter(case["repo"] for case in cases.values())
    filled, fold = [0] * FOLDS, {}
    for repo, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        fold[repo] = min(range(FOLDS), key=lambda at: filled[at])
        filled[fold[repo]] += size
    return {name: fold[case["repo"]] for name, case in cases.items()}


def crossed(groups, fold):
    """Scores of each case by weights that were fitted on other repositories."""
    scores = {}
    for number in range(FOLDS):
        weights = fit([group for case, group in groups.items() if fold[case] != number])
        for case, (values, _, _) in groups.items():
            if fold[case] == number:
                scores[case] = values @ weights
    return scores


def recall(groups, scores):
    found = []
    for case, (_, right, wanted) in groups.items():
        order = np.argsort(-scores[case], kind="stable")
        found.append([right[order[:depth]].sum() / wanted for depth in DEPTHS])
    return " ".join(f"{100 * value:5.1f}" for value in np.mean(found, axis=0))


def show(what, figures):
    print(f"{what:24} {figures}", flush=True)


def main():
    cases = {case["id"]: case for case in map(json.loads, open(sys.argv[1], encoding="utf-8"))}
    signals, fold = read(sys.argv[2]), folds(cases)
    file_table, definition_table = tables()

    def file_groups(table):
        groups = {}
        for case, (names, columns) in signals["files"].items():
            paths = [name.split("::")[0] for name in names]
            wanted = set(cases[case]["gold_files"]) & set(paths)
            if wanted:
                groups[case] = (scaled(columns, table), np.array([path in wanted for path in paths]), len(wanted))
        return groups

    groups = file_groups(file_table)
    file_scores = crossed(groups, fold)
    show(f"files ({len(groups)})", recall(groups, file_scores))

    def definition_groups(table):
        groups = {}
        for case, (names, columns) in signals["definitions"].items():
            wanted = set(cases[case]["gold_functions"])
            if not wanted or not names or case not in file_scores:
                continue
            own = dict(zip((name.split("::")[0] for name in signals["files"][case][0]), file_scores[case]))
            best = max(own.values())
            gap = np.array([own[name.split("::")[0]] - best for name in names])
            groups[case] = (scaled(columns, table, {"file_gap": gap}), np.array([name in wanted for name in names]), len(wanted))
        return groups

    within = definition_groups(definition_table)
    show(f"definitions ({len(within)})", recall(within, crossed(within, fold)))
    for kind, table, make, all_groups in (("files", file_table, file_groups, groups), ("definitions", definition_table, definition_groups, within)):
        for at, (name, _) in enumerate(table):
            if "--alone" in sys.argv:
                alone = {case: group[0][:, at] for case, group in all_groups.items()}
                show(f"{kind}: {name} alone", recall(all_groups, alone))
            if "--without" in sys.argv:
                rest = make(table[:at] + table[at + 1 :])
                show(f"{kind}: without {name}", recall(rest, crossed(rest, fold)))
        print(f"\n{kind}, fitted on all cases:")
        for (name, scale), weight in zip(table, fit(list(all_groups.values()))):
            print(f'    ("{name}", {scale}, {weight:.2f}),')


if __name__ == "__main__":
    main()
