"""Prices as text."""


def _euros(cents):
    return f"{cents / 100:.2f}"


def _line(name, cents):
    return f"{name}: {_euros(cents)}"
