import unittest

from shop.cart import total


class CartTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([100, 100], "de"), 238)
