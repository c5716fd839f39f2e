from shop.price import rounded


def report(prices):
    """All prices, rounded."""
    return [rounded(price) for price in prices]
