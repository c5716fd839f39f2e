"""Tools for iterators."""


def difference(iterable):
    """Yields the differences of neighbours."""
    last = None
    for item in iterable:
        if last is not None:
            yield item - last
        last = item


class peekable:
    """Lets one look at the next item."""

    def __init__(self, iterable):
        self.items = iter(iterable)


def spy(iterable, n=1):
    """Returns the first items and the whole."""
    items = list(iterable)
    return items[:n], items
