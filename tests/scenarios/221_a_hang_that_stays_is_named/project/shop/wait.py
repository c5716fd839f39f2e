"""Waits."""


def wait(clock):
    """Return what the clock says once it says something."""
    while clock.get("now") is None:
        clock.tick()
    return clock["now"]
