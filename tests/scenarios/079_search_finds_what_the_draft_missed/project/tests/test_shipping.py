import unittest

from shop.shipping import shipping


class ShippingTest(unittest.TestCase):
    def test_free_from_fifty(self):
        self.assertEqual(shipping(50, 3), 0)

    def test_free_above(self):
        self.assertEqual(shipping(80, 3), 0)

    def test_by_weight(self):
        self.assertEqual(shipping(20, 3), 10)
        self.assertEqual(shipping(49, 1), 6)
