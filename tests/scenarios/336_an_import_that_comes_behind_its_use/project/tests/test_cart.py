from shop.cart import names, total


def test_names():
    assert names([("pen", 3, 2), ("cup", 7, 1)]) == ["cup", "pen"]


def test_every_price_is_rounded():
    assert total([("pen", 3, 2), ("cup", 7, 1)]) == 20
