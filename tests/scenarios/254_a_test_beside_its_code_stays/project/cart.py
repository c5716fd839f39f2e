def total(prices):
    return sum(prices) - 1


def test_total():
    assert total([1]) == 1


def test_other():
    assert True
