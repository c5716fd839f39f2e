from shop.money import amount


def bill(cents, code):
    """The last line of a bill."""
    return "sum " + amount(sum(cents), code)
