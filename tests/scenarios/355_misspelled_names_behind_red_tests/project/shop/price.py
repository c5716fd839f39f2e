"""Prices in cents."""


def net(cents, percent):
    """The price without the tax."""
    return round(cents * 100 / (100 + precent))


def rounded(cents):
    """The price to the next ten."""
    return round(cents / 10) * 10
