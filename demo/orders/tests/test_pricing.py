import unittest

from orders.lines import Order, OrderLine
from orders.pricing import apply_discount, line_total, order_total, shipping, subtotal


class PricingTest(unittest.TestCase):
    def test_a_line_costs_its_quantity_times_its_price(self):
        self.assertEqual(line_total(OrderLine("Cup", 3, 1200)), 3600)

    def test_the_subtotal_is_that_of_all_lines(self):
        order = Order("Ada", (OrderLine("Cup", 1, 1200), OrderLine("House blend", 2, 890)))
        self.assertEqual(subtotal(order), 2980)

    def test_a_discount_is_a_percentage(self):
        self.assertEqual(apply_discount(2000, 10), 1800)
        self.assertEqual(apply_discount(999, 5), 949)

    def test_shipping_is_free_from_fifty_euros(self):
        self.assertEqual(shipping(4999), 490)
        self.assertEqual(shipping(5000), 0)

    def test_a_small_order_pays_shipping(self):
        self.assertEqual(order_total(Order("Ada", (OrderLine("Cup", 1, 1200),))), 1690)

    def test_a_large_order_pays_less(self):
        self.assertEqual(order_total(Order("Ada", (OrderLine("Cup", 12, 1200),))), 13680)


if __name__ == "__main__":
    unittest.main()
