from shop.rates import rate_of


def total(prices, country):
    return sum(prices) * (100 + rate_of(country)) // 100
