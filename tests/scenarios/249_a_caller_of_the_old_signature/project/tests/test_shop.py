import unittest

from shop.pricing import apply_discount


class PricingTest(unittest.TestCase):
    def test_discount(self):
        self.assertEqual(apply_discount(200, 10), 190)
