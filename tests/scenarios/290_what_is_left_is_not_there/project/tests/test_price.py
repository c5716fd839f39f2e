import unittest

from shop.price import net
from shop.report import report


class PriceTest(unittest.TestCase):
    def test_net(self):
        self.assertEqual(net(200, 10), 180)

    def test_report(self):
        self.assertEqual(report([187, 21]), [180, 20])
