import unittest

from m import CASES, f


class T(unittest.TestCase):
    def test_cases(self):
        for case in CASES:
            with self.subTest(case=case):
                self.assertEqual(f(case), case)

    def test_other(self):
        self.assertTrue(CASES is not None)
