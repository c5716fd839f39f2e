"""What it costs to send an order."""

FREE_FROM = 50


def shipping(total, weight):
    """Return the cost of sending: nothing from FREE_FROM on, else by weight."""
    if total >= FREE_FROM:
        return 0
    return 4 + weight * 2
