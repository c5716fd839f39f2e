import unittest

from plural import one_or_more, plural


class PluralTest(unittest.TestCase):
    def test_mouse(self):
        self.assertEqual(plural("mouse"), "mice")

    def test_goose(self):
        self.assertEqual(plural("goose"), "geese")

    def test_count(self):
        self.assertRaises(ValueError, one_or_more, 1.5, "cat")
