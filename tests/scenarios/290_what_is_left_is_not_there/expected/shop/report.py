from shop.price import rounded


def report(prices):
    """All prices, rounded."""
    return [rounded(price, 10) for price in prices]
