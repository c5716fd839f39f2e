"""A cart."""


class Cart:
    """Lines of an order."""

    def __init__(self):
        self.lines = []

    def add(self, price, quantity):
        self.lines.append((price, quantity))

    def clear(self):
        """Remove all lines."""
        self.lines.clear()


def empty(cart):
    return not cart.lines
