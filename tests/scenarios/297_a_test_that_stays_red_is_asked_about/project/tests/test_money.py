import unittest

from shop.money import amount


class MoneyTest(unittest.TestCase):
    def test_plain(self):
        self.assertEqual(amount(150, "USD"), "1.50 USD")
