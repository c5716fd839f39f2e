"""Words."""

import re


def slug(text):
    """The text in small letters, with a dash for each run of blanks."""
    return re.sub(" +", "-", text.lower())
