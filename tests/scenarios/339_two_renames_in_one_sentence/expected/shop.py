def amount(prices):
    return sum(prices)


def vat(prices):
    return amount(prices) * 0.19
