import unittest

from bag import Bag


class Shelf(Bag):
    pass


class BagTest(unittest.TestCase):
    def test_value(self):
        shelf = Shelf()
        shelf.a = 1
        self.assertEqual(shelf["a"], 1)

    def test_child(self):
        self.assertIs(type(Shelf()["a"]), Shelf)

    def test_hook(self):
        self.assertNotIn("__getitem__", vars(Bag))
