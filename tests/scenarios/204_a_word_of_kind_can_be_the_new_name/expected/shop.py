def helper(prices):
    return sum(prices)


print(helper([1]))
