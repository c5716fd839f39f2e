import unittest

from text import lines


class TextTest(unittest.TestCase):
    def test_lines(self):
        self.assertEqual(lines(" a "), ["a"])
