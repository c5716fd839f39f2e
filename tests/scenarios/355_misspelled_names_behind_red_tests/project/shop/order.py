"""Orders."""

from shop import price


class Order:
    """What somebody buys."""

    def __init__(self, cents):
        self.cents = cents

    def total(self):
        """What is to pay."""
        return price.rounded(self.cens)
