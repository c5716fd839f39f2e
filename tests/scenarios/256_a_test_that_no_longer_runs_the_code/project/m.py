CASES = [1, 2, 3]


def f(i):
    return i if i < 3 else 0
