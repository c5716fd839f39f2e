"""What is in a cart."""

import operator

from shop.money import rounded


def names(lines):
    return sorted(map(operator.itemgetter(0), lines))


def total(lines):
    return sum(rounded(price) * count for _, price, count in lines)
