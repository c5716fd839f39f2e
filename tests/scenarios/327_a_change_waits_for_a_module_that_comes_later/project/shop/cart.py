def total(prices, country):
    rate = {"de": 19, "fr": 20}[country]
    return sum(prices) * (100 + rate) // 100
