#!/usr/bin/env python3
"""Lists what the program and the module are made of: python3 scripts/release/sbom.py FILE

CycloneDX 1.6 as JSON, from Cargo.lock: every crate that `harness` and `harness-python` are built from, with its version,
its checksum and what it depends on. What only tests use is left out. The same lock always gives the same file.
"""

import json
import pathlib
import re
import sys
import uuid

from check_version import ROOT, version

SHIPPED = ("harness", "harness-python")


def packages():
    """The packages of Cargo.lock: (name, version) with checksum, dependencies, and whether it is ours."""
    found = {}
    for block in (ROOT / "Cargo.lock").read_text(encoding="utf-8").split("[[package]]\n")[1:]:
        fields = dict(re.findall(r'^(\w+) = "([^"]*)"$', block, re.M))
        listed = re.search(r"^dependencies = \[\n(.*?)^\]", block, re.M | re.S)
        needed = re.findall(r'"([^"]+)"', listed[1]) if listed else []
        found[fields["name"], fields["version"]] = (fields.get("checksum"), [tuple(word.split()[:2]) for word in needed], "source" not in fields)
    return found


def only_tested(name):
    """What a crate of ours names for its tests and for nothing else."""
    text = (ROOT / "crates" / name / "Cargo.toml").read_text(encoding="utf-8")
    kinds = {"dev": set(), "other": set()}
    for heading, body in re.findall(r"^\[([^\]]*dependencies[^\]]*)\]\n((?:(?!\[).*\n?)*)", text, re.M):
        kinds["dev" if "dev-dependencies" in heading else "other"].update(re.findall(r"^([\w-]+)", body, re.M))
    # A feature that no release turns on.
    as_tested = re.search(r"^as-tested = \[(.*)\]", text, re.M)
    optional = set(re.findall(r'"dep:([\w-]+)"', as_tested[1])) if as_tested else set()
    return (kinds["dev"] - kinds["other"]) | optional


def shipped(known):
    """The packages that the shipped ones are built from, each with its dependencies."""
    by_name = {}
    for name, number in known:
        by_name.setdefault(name, []).append(number)
    waiting, reached = [(name, version()) for name in SHIPPED], {}
    while waiting:
        package = waiting.pop()
        if package in reached:
            continue
        _, needed, ours = known[package]
        left_out = only_tested(package[0]) if ours else ()
        wanted = [word for word in needed if word[0] not in left_out]
        # Cargo writes the version only where there are several.
        reached[package] = sorted((word[0], word[1] if len(word) > 1 else by_name[word[0]][0]) for word in wanted)
        waiting += reached[package]
    return reached


def made():
    known = packages()
    reached = shipped(known)
    components = []
    for name, number in sorted(reached):
        checksum, _, ours = known[name, number]
        component = {"type": "library", "bom-ref": reference(name, number), "name": name, "version": number}
        if not ours:
            component |= {"purl": reference(name, number), "hashes": [{"alg": "SHA-256", "content": checksum}]}
        components.append(component)
    text = json.dumps(components)
    root = {"type": "application", "bom-ref": f"local-harness@{version()}", "name": "local-harness", "version": version(), "licenses": [{"license": {"id": "MIT"}}]}
    links = [{"ref": root["bom-ref"], "dependsOn": [reference(name, version()) for name in SHIPPED]}]
    links += [{"ref": reference(*package), "dependsOn": [reference(*needed) for needed in needs]} for package, needs in sorted(reached.items())]
    serial = uuid.uuid5(uuid.NAMESPACE_URL, text)
    return {"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": f"urn:uuid:{serial}", "version": 1, "metadata": {"component": root}, "components": components, "dependencies": links}


def reference(name, number):
    return f"pkg:cargo/{name}@{number}"


def main(words):
    list_of_parts = made()
    pathlib.Path(words[0]).write_text(json.dumps(list_of_parts, indent=1) + "\n", encoding="utf-8", newline="\n")
    print(f"{words[0]}: {len(list_of_parts['components'])} crates")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
