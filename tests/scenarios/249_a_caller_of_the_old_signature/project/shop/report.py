from shop.pricing import line_total


def report(lines):
    return [line_total(price, quantity) for price, quantity in lines]
