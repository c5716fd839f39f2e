import unittest

from shop import total


class ShopTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total(100), 119)
