class OrderError(ValueError):
    """An order that cannot be taken."""
