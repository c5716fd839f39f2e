import unittest

from shapes import UNIT


class ShapesTest(unittest.TestCase):
    def test_area(self):
        self.assertEqual(UNIT.area(), 4)

    def test_kind(self):
        self.assertEqual(UNIT.kind(), "shape")
