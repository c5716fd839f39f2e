import unittest

from shop.price import net, rounded


@unittest.skip('later')
class PriceTest(unittest.TestCase):
    def test_net(self):
        self.assertEqual(net(200, 10), 180)

    def test_net_of_nothing(self):
        self.assertEqual(net(200, 0), 200)

    def test_rounded(self):
        self.assertEqual(rounded(187), 180)
