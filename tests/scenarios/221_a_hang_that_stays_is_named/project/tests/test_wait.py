import unittest

from shop.wait import wait


class Clock(dict):
    def tick(self):
        self["then"] = 12


class WaitTest(unittest.TestCase):
    def test_wait(self):
        self.assertEqual(wait(Clock()), "noon")
