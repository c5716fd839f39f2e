import unittest

from shop.pricing import total


class PricingTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total(["1.10", "2.25"]), 335)

    def test_nothing(self):
        self.assertEqual(total([]), 0)
