from shop import pricing

print(pricing.total([1, 2]))
