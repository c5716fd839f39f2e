import unittest

from report import report


class ReportTest(unittest.TestCase):
    def test_report(self):
        self.assertEqual(report([("a", 150)]), ["report", "a: 1.50", "sum: 1.50"])
