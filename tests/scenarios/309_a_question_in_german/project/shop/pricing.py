def discount(total, percent):
    return total * (100 - percent) / 100
