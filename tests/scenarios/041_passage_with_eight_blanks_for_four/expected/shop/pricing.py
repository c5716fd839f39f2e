"""Prices of an order."""


def apply_discount(total, percent):
    """Return the total less percent per cent."""
    if percent:
        return total * (100 - percent) / 100
    return total


def line_total(price, quantity):
    return price * quantity
