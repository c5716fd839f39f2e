import unittest

from shop.lists import inside, outside


class ListTest(unittest.TestCase):
    def test_inside(self):
        self.assertTrue(inside(1, [2, 1]))

    def test_inside_mixed(self):
        self.assertTrue(inside(1, ["a", 1]))

    def test_outside_mixed(self):
        self.assertTrue(outside(2, ["a", 1]))
