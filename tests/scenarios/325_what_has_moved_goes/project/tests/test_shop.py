import unittest

import shop


class ShopTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(shop.total([1, 2]), 3)

    def test_line(self):
        from shop.text import _line

        self.assertEqual(_line("tea", 250), "tea: 2.50")
