"""What may be in a list."""


def inside(value, some):
    """Say whether a value is one of some."""
    return sorted(some).index(value) >= 0


def outside(value, some):
    """Say whether a value is none of some."""
    return value not in sorted(some)
