import unittest

from shop.count import count


class CountTest(unittest.TestCase):
    def test_count(self):
        self.assertEqual(count(3), 3)

    def test_nothing(self):
        self.assertEqual(count(0), 0)
