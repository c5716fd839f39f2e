from names import initials


def test_initials():
    assert initials("ada augusta king") == "A. A. K."


def test_one_word():
    assert initials("ada") == "A."
