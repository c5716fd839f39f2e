def less(total, percent):
    return total * (100 - percent) / 100
