class Delta:
    """A span of time.

    >>> Delta(90).normalized()
    (1, 30)
    """

    def __init__(self, minutes):
        self.minutes = minutes

    def normalized(self):
        return divmod(self.minutes, 60)
