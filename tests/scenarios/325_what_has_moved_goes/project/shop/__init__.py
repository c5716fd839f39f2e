"""A small shop."""


def total(prices):
    return sum(prices)


def _rate():
    return 19


def _euros(cents):
    return f"{cents / 100:.2f}"


def _line(name, cents):
    return f"{name}: {_euros(cents)}"
