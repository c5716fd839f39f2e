"""Names of people."""


def initials(name):
    """Return the first letter of each word, each with a full stop."""
    return name


def greeting(name):
    return "Hello, " + name
