"""What is in a cart."""

import operator


def names(lines):
    return sorted(map(operator.itemgetter(0), lines))


def total(lines):
    return sum(price * count for _, price, count in lines)
