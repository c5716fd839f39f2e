import unittest

from shop.money import amount
from shop.bill import bill


class MoneyTest(unittest.TestCase):
    def test_plain(self):
        self.assertEqual(amount(150, "USD"), "1.50 USD")

    def test_bill(self):
        self.assertEqual(bill([100, 50], "EUR"), "total 1.50 €")
