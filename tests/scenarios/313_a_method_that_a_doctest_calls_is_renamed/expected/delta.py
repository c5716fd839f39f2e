class Delta:
    """A span of time.

    >>> Delta(90).normal()
    (1, 30)
    """

    def __init__(self, minutes):
        self.minutes = minutes

    def normal(self):
        return divmod(self.minutes, 60)
