RATES = {"de": 19, "fr": 20}


def rate_of(country):
    return RATES[country]
