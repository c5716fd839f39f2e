import unittest

from shop.bill import old_tax, total


class BillTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([100, 200]), 357)

    def test_old_tax(self):
        self.assertEqual(old_tax(100), 10)
