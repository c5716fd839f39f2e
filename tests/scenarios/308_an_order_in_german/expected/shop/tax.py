"""Taxes."""

RATE = 19


def vat(cents, percent):
    return cents * percent // 100
