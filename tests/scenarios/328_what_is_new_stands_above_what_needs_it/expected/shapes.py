"""Shapes."""


class Base:
    def kind(self):
        return "shape"


class Square(Base):
    def area(self):
        return 4


UNIT = Square()
