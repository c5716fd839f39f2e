"""Reports."""


def report(orders):
    """Returns all lines of a report, with a head line, one line for each order and the sum."""
    lines = ["report"]
    for name, cents in orders:
        lines.append(f"{name}: {cents / 100:.2f}")
    lines.append(f"sum: {sum(cents for _, cents in orders) / 100:.2f}")
    return lines
