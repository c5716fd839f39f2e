"""A report of an order."""

from shop.pricing import line_total


def report(lines):
    totals = [line_total(price, quantity) for price, quantity in lines]
    return sum(totals)
