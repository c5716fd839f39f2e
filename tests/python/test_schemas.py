"""What `--json` prints is what the published schemas say."""

import json
import pathlib
import subprocess
import sys

import jsonschema
import pytest
from conftest import FIX, TASK

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = str(pathlib.Path(sys.executable).parent / "harness")
COMMANDS = {
    "brief": ["brief"],
    "layout": ["layout"],
    "route": ["route", TASK],
    "test": ["test"],
    "result": ["run", TASK],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_printed_fits_its_schema(project, engine, name):
    engine(FIX)
    schema = json.loads((ROOT / f"docs/reference/schemas/{name}.v1.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    done = subprocess.run([PROGRAM, *COMMANDS[name], "--json"], cwd=project, capture_output=True, text=True, timeout=60)
    printed = json.loads(done.stdout)
    jsonschema.validate(printed, schema)
    # Every field that is printed is described, and none that is described is missing.
    # Only a run that commits has one.
    assert set(printed) == set(schema["properties"]) - {"commit"} == set(schema["required"])


def test_a_field_of_another_type_is_seen():
    schema = json.loads((ROOT / "docs/reference/schemas/result.v1.json").read_text())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"ok": "yes"}, schema)
