"""Prices of an order."""

from shop.money import less


def apply_discount(total, percent):
    """Return the total less percent per cent."""
    return less(total, percent)


def line_total(price, quantity):
    return price * quantity
