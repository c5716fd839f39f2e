"""Steps of rounding."""


def tens():
    """The usual step."""
    return 10
