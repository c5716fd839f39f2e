"""Which discount an order gets. Percentages are whole numbers from 0 to 100."""

VOLUME_QUANTITY = 10
VOLUME_PERCENT = 5

COUPONS = {
    "WELCOME": 10,
    "STAFF": 25,
}


def volume_percent(quantity):
    """The discount for a large order: 5 per cent from ten items on."""
    if quantity > VOLUME_QUANTITY:
        return VOLUME_PERCENT
    return 0


def coupon_percent(coupon):
    """The discount of a coupon; an unknown coupon gives none."""
    return COUPONS.get(coupon.strip().upper(), 0)


def best_percent(quantity, coupon):
    """The larger of the two: discounts are never added up."""
    return max(volume_percent(quantity), coupon_percent(coupon))
