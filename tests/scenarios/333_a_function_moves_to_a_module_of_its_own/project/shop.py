"""Shop."""


def vat_of(cents):
    return cents * 19 // 100


def total(cents):
    return cents + vat_of(cents)
