def foo():
    return 1


def baz():
    return foo()
