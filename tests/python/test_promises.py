"""The rows of bench/promises fit the source: each promise and each entry of SPEC has one, and what it changes is there."""

import json
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


# What is said of a README without tables.
STALE = [f"the table of {name} in bench/promises/README.md is stale: run `python3 bench/promises/run.py --table`" for name in ("security", "spec")]

NOTHING = "SENTENCES, POINTERS, SECTIONS, FIGURES, OTHERS = {}, (), {}, [], ()\n"


def lay_out(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def checked(root=ROOT, option="--check"):
    command = [sys.executable, str(root / "bench" / "promises" / "run.py"), option]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_rows_fit_the_source():
    done = checked()
    assert done.returncode == 0, done.stdout + done.stderr


def test_rows_that_do_not_fit_are_told(tmp_path):
    wrong = (
        "ROWS = [(1, 'nothing', [('a.rs', 'one', 'two')], 'harness-hands --lib lock::tests'), (9, 'less', [('a.rs', 'x', 'y')], 'test_x.py test_y')]\n"
    )
    spec = "ENTRIES = ['-v', '--json']\nROWS = [('-v', 'quiet', [('a.rs', 'x', 'y')], 'test_x.py test_y')]\n"
    files = {
        "bench/promises/run.py": (ROOT / "bench" / "promises" / "run.py").read_text(encoding="utf-8"),
        "bench/promises/rows.py": wrong,
        "bench/promises/spec_rows.py": spec,
        "bench/promises/claim_rows.py": (ROOT / "bench" / "promises" / "claim_rows.py").read_text(encoding="utf-8").split("SENTENCES = ")[0] + NOTHING,
        "SECURITY.md": "| # | promise | held by |\n|---|---|---|\n| 1 | a | `t` |\n| 2 | b | `t` |\n",
        "a.rs": "one one x\n",
    }
    lay_out(tmp_path, files)
    done = checked(tmp_path)
    assert done.returncode == 1, done.stdout
    assert done.stdout.splitlines() == [
        "promise 2 has no row",
        "there is no promise 9: less",
        "entry --json has no row",
        "1, nothing: 'one' stands 2 times in a.rs",
        "1, nothing: there is no test `harness-hands --lib lock::tests`",
        "9, less: there is no test `test_x.py test_y`",
        "-v, quiet: there is no test `test_x.py test_y`",
        "promise 1: there is no test `t`",
        "promise 2: there is no test `t`",
        "SECURITY.md: nothing is behind the section 'at its beginning'",
        *STALE,
    ]


def test_a_claim_without_anything_behind_it_is_told(tmp_path):
    rows = (
        "SENTENCES = {'Every run can be undone.': ('test_undo.py test_it',), 'It is light.': ('bench/x.md', ('bench/x.md', '| 14 |'), ('bench/x.md', '')), 'It is quick.': (), 'gone': ()}\n"
        "POINTERS = ('More is there.', 'gone too')\n"
        "SECTIONS = {'docs/guide/a.md#': 'test_undo.py test_it', 'docs/guide/a.md#Old': 'test_undo.py test_no', 'docs/guide/a.md#Other': ['bench/x.md', 'test_undo.py test_it'], 'docs/guide/b.md#': 'test_undo.py test_it', 'docs/guide/b.md#*': 'test_undo.py test_it'}\n"
        "FIGURES = [('12 MB', 'bench/x.md', '| 12 |')]\n"
        "OTHERS = ()\n"
    )
    files = {
        "bench/promises/run.py": (ROOT / "bench" / "promises" / "run.py").read_text(encoding="utf-8"),
        "bench/promises/rows.py": "ROWS = []\n",
        "bench/promises/spec_rows.py": "ENTRIES, ROWS = [], []\n",
        "bench/promises/claim_rows.py": rows,
        "bench/x.md": "| 13 |\n",
        "tests/python/test_undo.py": "def test_it(): pass\n",
        "SECURITY.md": "## Not promised\nMuch.\n",
        # What is added to a sentence that has a row makes it another one.
        "README.md": "# A\nEvery run can be undone. Every run can be undone on Mars. It paints, and weighs 12 MB.\n\n- It is light. It is quick.\n- [More](b.md) is there.\n\n```sh\nnothing is a claim here: 40 MB\n```\n",
        "docs/guide/a.md": "# A\nIn 3 seconds.\n\n## New\nWords.\n\n## Other\nWords.\n",
        # All sections of a page may rest on its blocks, but not one that shows no block which is run.
        "docs/guide/b.md": "# B\nIt runs.\n\n## Run\n```console\n## no heading\n```\n\n## Told\nWords.\n\n## Shown\n<!-- not run: it would wait -->\n```console\n$ wait\n```\n\n## Set up\n```sh\nset\n```\n",
    }
    lay_out(tmp_path, files)
    done = checked(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.splitlines() == [
        "README: nothing is behind 'Every run can be undone on Mars.'",
        "README: nothing is behind 'It paints, and weighs 12 MB.'",
        "README does not say 'gone' any more",
        "README does not say 'gone too' any more",
        "README, 'It is light.': `bench/x.md` names nothing in the file",
        "README, 'It is light.': bench/x.md does not say '| 14 |'",
        "README, 'It is light.': bench/x.md does not say ''",
        "README, 'It is quick.': nothing is named",
        "README, 'gone': nothing is named",
        "SECURITY.md: nothing is behind the section 'Not promised'",
        "docs/guide/a.md: nothing is behind the section 'New'",
        "docs/guide/b.md: nothing is behind the section 'Told'",
        "docs/guide/b.md: nothing is behind the section 'Shown'",
        "docs/guide/b.md: nothing is behind the section 'Set up'",
        "there is no section docs/guide/a.md#Old",
        "docs/guide/a.md#Old: there is no `test_undo.py test_no`",
        "docs/guide/a.md#Other: `bench/x.md` names nothing in the file",
        "docs/guide/a.md: nothing is behind the figure '3 seconds'",
        "the figure '12 MB': bench/x.md does not say '| 12 |'",
        *STALE,
    ]


def test_a_name_that_nothing_has_is_told(tmp_path):
    pages = {
        "docs/reference/commands.md": "## harness run\n- `--dry-run`\n- `GET /v1/route`\n- `HARNESS_TOKEN`\n",
        "scripts/run/install.py": 'parser.add_argument("--wheel")\n# --compiler\n',
        "docs/guide/a.md": "# A\n`harness run --dry-run`, `--dry`, `install.py --wheel X`, `--compiler`, `HARNESS_TOKEN`, `HARNESS_TOK`, `/v1/route`, `/v1/rout`, `harness jump`, `--theirs`. --not in code.\n",
    }
    claims(tmp_path, sections={"docs/guide/a.md#": "test_x.py test_y"}, others=("--theirs",), **pages, **{"tests/python/test_x.py": "def test_y(): pass\n"})
    assert checked(tmp_path).stdout.splitlines() == [f"docs/guide/a.md: nothing has {name!r}" for name in ("--dry", "--compiler", "HARNESS_TOK", "/v1/rout", "harness jump")] + STALE


def claims(folder, readme="# A\nIt goes.\n", figures=(), sections=None, others=(), **more):
    """Lays out a check with nothing in it but figures and names; README is one sentence that leads on."""
    pointer = readme.split("\n")[1]
    lay_out(
        folder,
        {
            "bench/promises/run.py": (ROOT / "bench" / "promises" / "run.py").read_text(encoding="utf-8"),
            "bench/promises/rows.py": "ROWS = []\n",
            "bench/promises/spec_rows.py": "ENTRIES, ROWS = [], []\n",
            "bench/promises/claim_rows.py": f"SENTENCES, POINTERS, SECTIONS, FIGURES, OTHERS = {{}}, {(pointer,)!r}, {sections or {}!r}, {list(figures)!r}, {others!r}\n",
            "SECURITY.md": "",
            "README.md": readme,
            **more,
        },
    )


def measured(value, name="own: first request", quick=False):
    return json.dumps({"name": name, "value": value, "quick": quick}) + "\n"


@pytest.mark.parametrize(
    "figure, rows, fault",
    [
        ("292 tokens", measured(291.6), ""),
        ("3.5 ms", measured(3.4512), ""),
        ("732 to 9,448 tokens", measured(9448), ""),
        ("9448 tokens", measured(9448.0), ""),
        # The last full row counts; what is quick, not measured or of another name is passed over.
        ("292 tokens", measured(300) + measured(292) + measured(310, quick=True) + measured(None) + measured(9, name="other"), ""),
        ("292 tokens", measured(292) + measured(300), "the last full row 'own: first request' of bench/rows/x.jsonl says 300"),
        ("292 tokens", measured(29.2), "the last full row 'own: first request' of bench/rows/x.jsonl says 29.2"),
        ("292 tokens", measured(292, quick=True), "bench/rows/x.jsonl has no full row 'own: first request'"),
        ("292 tokens", measured(None), "bench/rows/x.jsonl has no full row 'own: first request'"),
        ("292 tokens", measured(292, name="other"), "bench/rows/x.jsonl has no full row 'own: first request'"),
    ],
)
def test_a_figure_is_what_the_last_full_row_says(tmp_path, figure, rows, fault):
    claims(tmp_path, f"# A\nIt takes {figure}.\n", [(figure, "bench/rows/x.jsonl", "own: first request")], **{"bench/rows/x.jsonl": rows})
    assert checked(tmp_path).stdout.splitlines() == ([f"the figure {figure!r}: {fault}"] if fault else []) + STALE


def test_a_figure_of_rows_that_are_not_there_is_told(tmp_path):
    claims(tmp_path, "# A\nIt takes 292 tokens.\n", [("292 tokens", "bench/rows/x.jsonl", "own: first request")])
    assert checked(tmp_path).stdout.splitlines() == ["the figure '292 tokens': bench/rows/x.jsonl has no full row 'own: first request'", *STALE]


def test_figures_are_looked_for_on_every_page_and_in_every_unit(tmp_path):
    pages = {
        "SECURITY.md": "Files over 64 MB, within 200 ms.\n",
        "docs/concept/a.md": "# A\nA body over 1 MiB or 64 KiB, 60 % of it, 10 s, 4,096 connections, 200 messages, 0.08 seconds, 9 of 10, `v1.2 s`, 10 sets.\n\n```sh\n40 MB\n```\n",
    }
    claims(tmp_path, figures=[("10 s", "bench/x.py", "LIMIT = 10"), ("7 s", "bench/x.py", "LIMIT = 10")], **pages, **{"bench/x.py": "LIMIT = 10\n"})
    figures = ["1 MiB", "64 KiB", "60 %", "4,096 connections", "200 messages", "0.08 seconds", "9 of 10"]
    assert checked(tmp_path).stdout.splitlines() == [
        "SECURITY.md: nothing is behind the section 'at its beginning'",
        "docs/concept/a.md: nothing is behind the section 'at its beginning'",
        "SECURITY.md: nothing is behind the figure '64 MB'",
        "SECURITY.md: nothing is behind the figure '200 ms'",
        *(f"docs/concept/a.md: nothing is behind the figure {figure!r}" for figure in figures),
        "no page says '7 s' any more",
        *STALE,
    ]


def test_a_table_that_does_not_say_what_came_of_the_rows_is_told(tmp_path):
    table = "words\n\n<!-- measured: {} -->\n| old |\n<!-- end -->\n\nmore words\n"
    claims(tmp_path, **{"bench/promises/README.md": table.format("security") + table.format("spec")})
    assert checked(tmp_path).stdout.splitlines() == STALE
    # What is stale keeps nobody from writing it anew.
    assert checked(tmp_path, "--table").returncode == 0
    assert checked(tmp_path).stdout == "0 rows fit the source\n"
    assert (tmp_path / "bench/promises/README.md").read_text(encoding="utf-8").count("0 of 0 changes were seen.\n<!-- end -->\n\nmore words\n") == 2
    # A row that was changed since it was measured was not run.
    row = "ROWS = [('-v', 'quiet', [('a.rs', 'x', 'y')], 'test_x.py test_y')]\n"
    lay_out(tmp_path, {"bench/promises/spec_rows.py": f"ENTRIES = ['-v']\n{row}", "a.rs": "x", "tests/python/test_x.py": "def test_y(): pass\n"})
    assert checked(tmp_path).stdout.splitlines() == STALE[1:]
    assert checked(tmp_path, "--table").returncode == 0
    assert "| -v | quiet | `test_x.py::test_y` | not run |\n\n0 of 1 changes were seen, 1 not run.\n" in (tmp_path / "bench/promises/README.md").read_text(encoding="utf-8")
    assert checked(tmp_path).returncode == 0
