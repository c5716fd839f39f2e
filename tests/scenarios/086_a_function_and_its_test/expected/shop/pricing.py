"""Prices of an order."""


def apply_discount(total, percent):
    """Return the total less percent per cent."""
    return total * (100 - percent) / 100


def line_total(price, quantity):
    return price * quantity


def subtotal(lines):
    """Return the sum of all lines."""
    return sum(line_total(price, quantity) for price, quantity in lines)
