"""Prices in cents."""


def net(cents, percent):
    """The price without a percentage of it."""
    return cents - percent


def rounded(cents):
    """The price in whole tens."""
    return cents // 10
