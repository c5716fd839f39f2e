import unittest

from convert import halved, repeated


class ConvertTest(unittest.TestCase):
    def test_repeated(self):
        self.assertEqual(repeated("a"), "aa")

    def test_times(self):
        self.assertEqual(repeated("a", times=3), "aaa")

    def test_halved(self):
        self.assertEqual(halved(2), 1)
