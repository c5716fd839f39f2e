"""A report of an order."""

from shop.pricing import price_of_line


def report(lines):
    totals = [price_of_line(price, quantity) for price, quantity in lines]
    return sum(totals)
