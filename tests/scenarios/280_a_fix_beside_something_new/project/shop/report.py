def report(prices):
    """All prices."""
    return prices
