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


class LineTest(unittest.TestCase):
    pass


def case(price, quantity):
    return lambda self: self.assertEqual(line_total(price, quantity), price * quantity)


# A set of texts has another order in every process, unless somebody settles it.
for place, text in enumerate({"one 1", "two 2", "three 3", "four 4", "five 5", "six 6"}):
    word, number = text.split()
    setattr(LineTest, f"test_{place}_{word}", case(3, int(number)))
