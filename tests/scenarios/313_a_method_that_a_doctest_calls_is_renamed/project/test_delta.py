import unittest

from delta import Delta


class DeltaTest(unittest.TestCase):
    def test_normalized(self):
        self.assertEqual(Delta(90).normalized(), (1, 30))
