"""What the package says of itself."""

import importlib.metadata
import pathlib

import harness

PACKAGE = pathlib.Path(harness.__file__).parent


def test_it_needs_no_other_package():
    needed = importlib.metadata.requires("local-harness") or []
    assert [line for line in needed if "extra ==" not in line] == []


def test_the_extras_are_declared():
    metadata = importlib.metadata.metadata("local-harness")
    assert set(metadata.get_all("Provides-Extra") or []) == {"train", "hub", "on-device"}
    needed = importlib.metadata.requires("local-harness") or []
    train = [line for line in needed if "extra == 'train'" in line]
    assert train and all("darwin" in line and "arm64" in line for line in train)


def test_version_and_python():
    metadata = importlib.metadata.metadata("local-harness")
    assert metadata["Version"] == harness.__version__
    assert metadata["Requires-Python"] == ">=3.10"


def test_it_is_typed():
    for name in ("py.typed", "_harness.pyi", "_types.py", "_values.py"):
        assert (PACKAGE / name).is_file()


def test_every_name_belongs_to_one_of_the_parts():
    from harness import _harness, _types, _values

    for name in harness.__all__:
        homes = [part for part in (_harness, _types, _values) if getattr(getattr(part, name, None), "__module__", "harness") == "harness" and hasattr(part, name)]
        assert homes, name
