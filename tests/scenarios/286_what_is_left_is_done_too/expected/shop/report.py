from shop.price import rounded


def report(prices):
    """All prices, rounded to tens."""
    return [rounded(price, 10) for price in prices]
