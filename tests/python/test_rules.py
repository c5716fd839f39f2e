"""Every rule by which something is refused is named by a test: a rule that nobody trips over may be gone unseen."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULE = re.compile(r'"((?:draft|finish|fix|patch|path|read|repeat|search|write)\.[a-z_]+)"')


def test_every_rule_is_named_by_a_test():
    rules, tests = set(), ""
    for file in ROOT.glob("crates/*/**/*.rs"):
        text = file.read_text(encoding="utf-8")
        if "tests" in file.relative_to(ROOT).parts or file.name.endswith("tests.rs"):
            tests += text
            continue
        code, _, inner = text.partition("#[cfg(test)]")
        rules |= set(RULE.findall(code))
        tests += inner
    for file in (*ROOT.glob("tests/scenarios/*/result.json"), *ROOT.glob("tests/python/*.py")):
        if file.name != "test_rules.py":
            tests += file.read_text(encoding="utf-8")
    assert len(rules) > 40
    assert {rule for rule in rules if rule not in tests} == set()
