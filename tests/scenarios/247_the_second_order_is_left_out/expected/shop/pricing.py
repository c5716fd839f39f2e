def line_total(price, quantity):
    return price * quantity


def apply_discount(total, percent):
    """The total less percent per cent."""
    return total - percent


def log_call(name):
    print(name)
