from shop.price import rounded


def report(prices, step=10):
    """All prices, rounded."""
    return [rounded(price, step) for price in prices]
