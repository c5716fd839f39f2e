from items import Item


def test_an_item_is_shown():
    assert Item(1).shown() == "1"
