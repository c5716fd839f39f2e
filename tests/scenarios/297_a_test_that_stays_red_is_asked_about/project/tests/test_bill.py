import unittest

from shop.bill import bill


class BillTest(unittest.TestCase):
    def test_bill(self):
        self.assertEqual(bill([100, 50], "EUR"), "total 1.50 €")
