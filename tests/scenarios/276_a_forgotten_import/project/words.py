"""Words."""


def slug(text):
    """The text in small letters, with a dash for each run of blanks."""
    return text.lower().replace(" ", "-")
