import pytest

from cart import total


@pytest.mark.parametrize("more, wanted", [(0, 3), (4, 7)], ids=["none", "four more"])
def test_total(prices, more, wanted):
    assert total([*prices, more]) == wanted


def test_empty():
    assert total([1]) == 1
