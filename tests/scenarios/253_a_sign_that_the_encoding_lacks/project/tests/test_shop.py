import unittest

from shop.pricing import apply_discount, line_total


class PricingTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(line_total(2, 3), 6)

    def test_discount(self):
        self.assertEqual(apply_discount(200, 10), 190)
