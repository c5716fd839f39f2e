def total(prices):
    return sum(prices)


print(total([1]))
