"""Prices."""

from rates import FEE, RATE


def total(amount):
    return round(amount * RATE + FEE)
