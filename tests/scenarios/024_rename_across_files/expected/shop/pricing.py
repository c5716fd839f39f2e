"""Prices of an order."""


def apply_discount(total, percent):
    """Return the total less percent per cent."""
    return total * (100 - percent) / 100


def price_of_line(price, quantity):
    return price * quantity
