from shop import prices

print(prices.total([1, 2]))
