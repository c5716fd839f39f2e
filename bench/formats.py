#!/usr/bin/env python3
"""Holds what `harness` writes for other tools against what they read: SARIF of `layout` against the published schema of
2.1.0, JUnit with a reader that CI tools use, the files of `editors` with the reader that Continue publishes (its own
files, and the servers of Cursor and Junie, which it reads too) and, for VS Code, with the schemas and the JSON service
of the editor itself.

    python3 bench/formats.py [PROGRAM] [PROJECT...]

Needs npm, pip and a package index; everything is installed into a folder that goes again. Exits with 1 on a difference."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import venv

ROOT = pathlib.Path(__file__).resolve().parents[1]
# The package in which the schema is published, and its place there.
SCHEMA_PACKAGE, SCHEMA = "@microsoft/jest-sarif@1.0.0-beta.0", "node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"
CONTINUE = "@continuedev/config-yaml@1.42.0"
READ_EDITORS = """
import { readFileSync } from "node:fs";
import { claudeDesktopLikeConfigFileSchema, parseBlock } from "@continuedev/config-yaml";
const read = (path) => (path.endsWith(".yaml") ? parseBlock : (text) => claudeDesktopLikeConfigFileSchema.parse(JSON.parse(text)))(readFileSync(path, "utf8"));
const servers = (found) => Array.isArray(found) ? found : Object.values(found);
console.log(JSON.stringify(process.argv.slice(2).map((path) => read(path)).map((found) => servers(found.mcpServers ?? found.models)[0])));
"""
# VS Code's own code as a package, and the part of it that marks errors in settings.
VSCODE = ["@codingame/monaco-vscode-task-service-override@37.6.1", "vscode-json-languageservice@5.7.2"]
READ_VSCODE = """
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import language from "vscode-json-languageservice";
const at = (path) => import(pathToFileURL(`node_modules/@codingame/${path}.js`).href);
const schemas = {
  "tasks.json": (await at("monaco-vscode-task-service-override/vscode/src/vs/workbench/contrib/tasks/common/jsonSchema_v2")).default,
  "mcp.json": (await at("monaco-vscode-api/vscode/src/vs/workbench/contrib/mcp/common/mcpConfiguration")).mcpServerSchema,
};
const service = language.getLanguageService({});
const marked = async (path, text) => {
  const document = language.TextDocument.create("file:///settings.json", "jsonc", 1, text);
  const found = await service.doValidation(document, service.parseJSONDocument(document), { comments: "ignore" }, schemas[basename(path)]);
  return found.map((one) => one.message);
};
const read = async (path, text) => ({ marked: await marked(path, text), misspelled: await marked(path, text.replaceAll('"args"', '"arguments"')) });
console.log(JSON.stringify(await Promise.all(process.argv.slice(2).map((path) => read(path, readFileSync(path, "utf8"))))));
"""
READERS = ["jsonschema>=4,<5", "junitparser>=3,<6"]
READ = """
import json, sys
import jsonschema, junitparser
schema, sarif, junit = sys.argv[1:]
schema = json.load(open(schema, encoding="utf-8"))
errors = [error.message[:200] for error in jsonschema.validators.validator_for(schema)(schema).iter_errors(json.load(open(sarif, encoding="utf-8")))]
suites = list(junitparser.JUnitXml.fromfile(junit))
cases = [case for suite in suites for case in suite]
print(json.dumps({"errors": errors, "cases": len(cases), "failures": sum(suite.failures for suite in suites), "failed": sum(not case.is_passed for case in cases)}))
"""


def said(command, **more):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def editors(program, folder):
    """Whether Continue's own reader finds our server and our entries in what is written."""
    said(["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", CONTINUE], cwd=folder)
    project = folder / "project"
    project.mkdir()
    for name in ("continue", "cursor", "jetbrains"):
        said([program, "editors", name, "--project", project])
    (folder / "editors.mjs").write_text(READ_EDITORS, encoding="utf-8")
    files = [".continue/mcpServers/harness.yaml", ".cursor/mcp.json", ".junie/mcp/mcp.json", ".continue/models/harness.yaml"]
    *entries, model = json.loads(said(["node", "editors.mjs", *(project / file for file in files)], cwd=folder))
    is_right = all(entry["args"] == ["mcp", str(project.resolve())] for entry in entries) and model["apiBase"].endswith("/v1/stream")
    print(f"editors: {len(entries)} entries and a model, {'as expected' if is_right else [entries, model]}")
    return is_right


def vscode(program, folder):
    """Whether VS Code marks nothing in what is written, and something where a field is misspelled."""
    said(["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", *VSCODE], cwd=folder)
    (folder / "vscode.mjs").write_text(READ_VSCODE, encoding="utf-8")
    files = []
    for number, words in enumerate(([], ["--allow-writes"])):
        project = folder / f"vscode {number}"
        project.mkdir()
        said([program, "editors", "vscode", "--project", project, *words])
        files += [project / ".vscode/tasks.json", project / ".vscode/mcp.json"]
    seen = json.loads(said(["node", "vscode.mjs", *files], cwd=folder))
    is_right = all(not one["marked"] and one["misspelled"] for one in seen)
    print(f"VS Code: {len(seen)} files, {'as expected' if is_right else seen}")
    return is_right


def main(words):
    program = shutil.which(words[0] if words else "harness")
    if not program or not shutil.which("npm"):
        sys.exit("formats.py needs harness and npm")
    projects = [pathlib.Path(word) for word in words[1:]] or [ROOT, ROOT / "demo" / "orders"]
    wrong = 0
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        said(["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", SCHEMA_PACKAGE], cwd=folder)
        venv.create(folder / "readers", with_pip=True)
        python = next(path for path in (folder / "readers/bin/python", folder / "readers/Scripts/python.exe") if path.exists())
        said([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *READERS])
        for project in projects:
            files = {name: folder / name for name in ("sarif", "junit")}
            for name, file in files.items():
                file.write_text(said([program, "layout", project, "--format", name]), encoding="utf-8")
            findings = len(json.loads(said([program, "layout", project, "--json"]))["findings"])
            seen = json.loads(said([python, "-c", READ, folder / SCHEMA, *files.values()]))
            expected = {"errors": [], "cases": max(1, findings), "failures": findings, "failed": findings}
            wrong += seen != expected
            print(f"{project.name}: {findings} findings, {'as expected' if seen == expected else seen}")
        wrong += not editors(program, folder)
        wrong += not vscode(program, folder)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
