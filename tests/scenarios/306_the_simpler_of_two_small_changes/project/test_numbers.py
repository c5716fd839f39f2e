import unittest

from numbers_ import count


class CountTest(unittest.TestCase):
    def test_count(self):
        self.assertEqual(count([1, 2]), 2)
        self.assertEqual(count([]), 0)
