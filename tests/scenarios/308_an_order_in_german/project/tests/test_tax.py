import unittest

from shop import tax


class TaxTest(unittest.TestCase):
    def test_rate(self):
        self.assertEqual(tax.RATE, 19)
