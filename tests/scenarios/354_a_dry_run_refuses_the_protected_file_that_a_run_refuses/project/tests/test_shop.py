import unittest

from shop.pricing import apply_discount, line_total
from shop.report import report


class PricingTest(unittest.TestCase):
    def test_discount(self):
        self.assertEqual(apply_discount(200, 10), 180)

    def test_line(self):
        self.assertEqual(line_total(3, 4), 12)

    def test_report(self):
        self.assertEqual(report([(1, 2), (3, 4)]), 14)
