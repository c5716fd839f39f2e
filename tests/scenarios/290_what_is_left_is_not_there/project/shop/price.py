"""Prices in cents."""


def net(cents, percent):
    """The price without a percentage of it."""
    return cents - cents * percent // 100


def rounded(cents):
    """The price in whole tens."""
    return cents // 10 * 10
