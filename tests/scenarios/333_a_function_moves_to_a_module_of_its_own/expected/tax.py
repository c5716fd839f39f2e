"""Taxes."""


def vat_of(cents):
    return cents * 19 // 100
