"""An order as text that a person reads."""

from orders.discounts import best_percent
from orders.pricing import line_total, order_total, subtotal


def euros(cents):
    """Cents as an amount in euros: 1250 is 12.50."""
    return f"{cents // 100}.{cents % 100:02d}"


def line_text(line):
    """One line of the report."""
    return f"{line.quantity:>3} x {line.article:<20} {euros(line_total(line)):>8}"


def report(order):
    """The whole report: the lines, the discount and what is to be paid."""
    percent = best_percent(order.quantity(), order.coupon)
    rows = [f"Order of {order.customer}"]
    rows.extend(line_text(line) for line in order.lines)
    rows.append(f"{'Subtotal':<26} {euros(subtotal(order)):>8}")
    if percent:
        rows.append(f"Discount of {precent} per cent")
    rows.append(f"{'To pay':<26} {euros(order_total(order)):>8}")
    return "\n".join(rows)
