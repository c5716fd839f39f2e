"""Prices in cents."""


def net(cents, percent):
    """The price without a percentage of it."""
    return cents - cents * percent // 100


def rounded(cents, step):
    """The price in whole steps."""
    return cents // step * step
