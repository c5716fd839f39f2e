import unittest

from tax import vat_of


class TaxTest(unittest.TestCase):
    def test_vat(self):
        self.assertEqual(vat_of(100), 19)
