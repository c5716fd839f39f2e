def vat(cents, percent):
    """The tax."""
    return cents * percent // 100
