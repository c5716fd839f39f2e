def total(prices):
    return sum(_cents(price) for price in prices)


def _cents(price):
    """The cents of a price."""
    return round(float(price) * 100)
