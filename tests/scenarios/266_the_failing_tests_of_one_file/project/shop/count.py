def count(items):
    return 0
