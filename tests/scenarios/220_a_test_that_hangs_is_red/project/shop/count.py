"""Counts."""


def count(n):
    """Return n, counted one by one."""
    total = 0
    while n:
        total += 1
    return total
