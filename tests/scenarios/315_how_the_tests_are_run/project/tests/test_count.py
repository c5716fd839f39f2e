import unittest

from tally.count import count_words


class CountTest(unittest.TestCase):
    def test_words(self):
        self.assertEqual(count_words("a b"), 2)
