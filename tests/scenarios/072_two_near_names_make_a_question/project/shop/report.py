"""A report of an order."""


def report(rates, dates):
    return sum(fates)
