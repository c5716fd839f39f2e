"""Words for more than one."""

RULES = [
    ("mouse", "mice"),
    ("ox", "oxen"),
    ("goose", "geese"),
    ("", "s"),
]


def plural(word):
    """The word for more than one."""
    for end, ending in RULES:
        if word.endswith(end):
            return word[: len(word) - len(end)] + ending
    return word


def one_or_more(count, word):
    """A count and its word."""
    return f"{count:d} {word if count == 1 else plural(word)}"
