import unittest

from shop.count import count


class CountTest(unittest.TestCase):
    def test_count(self):
        self.assertEqual(count([1]), 1)
