"""Prices of an order."""


class Pricing:
    rate = 100

    def discounted(self, total, percent):
        """Return the total less percent per cent."""
        return total * (self.rate - percent) / self.rate

    def line(self, price, quantity):
        return price * quantity


def apply_discount(total, percent):
    return Pricing().discounted(total, percent)


def line_total(price, quantity):
    return Pricing().line(price, quantity)
