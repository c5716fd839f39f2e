"""Shapes."""


class Square:
    def area(self):
        return 4


UNIT = Square()
