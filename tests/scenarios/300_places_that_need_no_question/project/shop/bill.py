def old_tax(cents):
    return cents // 10


def total(prices):
    return sum(prices)
