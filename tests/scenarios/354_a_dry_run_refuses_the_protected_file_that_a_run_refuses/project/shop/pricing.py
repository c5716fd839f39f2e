"""Prices of an order."""


def apply_discount(total, percent):
    """Return the total less percent per cent."""
    return total - percent


def line_total(price, quantity):
    return price * quantity
