def count(xs):
    return len(xs)
