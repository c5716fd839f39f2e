"""Money in words."""


def sign(code):
    """The sign of a currency."""
    return {"EUR": "E"}.get(code, code)


def amount(cents, code):
    """Cents with the sign behind."""
    return f"{cents / 100:.2f} {sign(code)}"
