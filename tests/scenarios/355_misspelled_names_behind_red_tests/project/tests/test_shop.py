import unittest

from shop.order import Order
from shop.price import net


class ShopTest(unittest.TestCase):
    def test_net(self):
        self.assertEqual(net(119, 19), 100)

    def test_total(self):
        self.assertEqual(Order(124).total(), 120)
