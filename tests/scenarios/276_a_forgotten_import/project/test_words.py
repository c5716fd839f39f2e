import unittest

from words import slug


class SlugTest(unittest.TestCase):
    def test_slug(self):
        self.assertEqual(slug("Big  World"), "big-world")

    def test_plain(self):
        self.assertEqual(slug("a"), "a")
