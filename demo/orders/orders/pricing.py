"""What an order costs, in whole cents."""

from orders.discounts import best_percent

FREE_SHIPPING_FROM = 5000
SHIPPING = 490


def line_total(line):
    """The price of one line."""
    return line.quantity * line.unit_price


def subtotal(order):
    """The price of all lines before discount and shipping."""
    return sum(line_total(line) for line in order.lines)


def apply_discount(amount, percent):
    """The amount less percent per cent, rounded down to whole cents."""
    return amount * (100 - percent) // 100


def shipping(amount):
    """What shipping costs for goods of this price."""
    return 0 if amount >= FREE_SHIPPING_FROM else SHIPPING


def order_total(order):
    """What the customer pays: the discounted goods and the shipping."""
    percent = best_percent(order.quantity(), order.coupon)
    goods = apply_discount(subtotal(order), percent)
    return goods + shipping(goods)
