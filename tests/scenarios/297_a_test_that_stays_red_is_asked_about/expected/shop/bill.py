from shop.money import amount


def bill(cents, code):
    """The last line of a bill."""
    return "total " + amount(sum(cents), code)
