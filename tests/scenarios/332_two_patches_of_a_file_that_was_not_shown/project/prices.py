"""Prices."""

from rates import FEE, RATE


def total(amount):
    return amount * RATE + FEE
