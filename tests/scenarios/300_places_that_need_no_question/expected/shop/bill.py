def old_tax(cents):
    return cents // 10


def total(prices):
    return vat(sum(prices))


def rate():
    return 119


def vat(cents):
    return cents * rate() // 100
