from shop.price import rounded
from shop.steps import tens


def report(prices):
    """All prices, rounded."""
    return [rounded(price, tens()) for price in prices]
