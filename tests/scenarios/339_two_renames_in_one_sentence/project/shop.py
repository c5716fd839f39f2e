def total(prices):
    return sum(prices)


def tax(prices):
    return total(prices) * 0.19
