from shop import baz


def test_baz():
    assert baz() == 1
