"""Counting."""


def count_words(text):
    """Counts the words of a text."""
    return len(text.split())


class Counter:
    """Counts several texts."""

    def __init__(self):
        self.total = 0

    def add(self, text):
        """Counts one more text."""
        self.total += count_words(text)
        return self.total
