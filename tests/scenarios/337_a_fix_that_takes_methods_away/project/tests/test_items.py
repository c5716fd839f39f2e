from items import Item, Items


def test_items():
    assert Items([1, 2])[1].shown() == "2"
    assert len(Items([1, 2])) == 2


def test_a_plain_item_is_no_sequence():
    assert not hasattr(Item(1), "__getitem__")
    assert not hasattr(Item(1), "__len__")
