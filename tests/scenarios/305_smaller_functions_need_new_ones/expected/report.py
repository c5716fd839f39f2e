"""Reports."""


def report(orders):
    """Returns all lines of a report, with a head line, one line for each order and the sum."""
    lines = ["report"]
    lines.extend(line(name, cents) for name, cents in orders)
    lines.append(line("sum", sum(cents for _, cents in orders)))
    return lines


def line(name, cents):
    return f"{name}: {cents / 100:.2f}"
