import unittest

from shop.names import name


class NamesTest(unittest.TestCase):
    def test_known(self):
        self.assertEqual(name(" 003 "), "name of item number 003")

    def test_article(self):
        self.assertEqual(name("art-007"), "name of item number 007")

    def test_unknown(self):
        self.assertEqual(name("x"), "unknown")
