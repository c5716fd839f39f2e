import unittest

from orders.discounts import best_percent, coupon_percent, volume_percent


class DiscountsTest(unittest.TestCase):
    def test_a_small_order_has_no_volume_discount(self):
        self.assertEqual(volume_percent(9), 0)

    def test_ten_items_get_the_volume_discount(self):
        self.assertEqual(volume_percent(10), 5)

    def test_more_than_ten_items_get_the_volume_discount(self):
        self.assertEqual(volume_percent(11), 5)

    def test_a_coupon_is_read_in_any_case(self):
        self.assertEqual(coupon_percent(" welcome "), 10)

    def test_an_unknown_coupon_gives_nothing(self):
        self.assertEqual(coupon_percent("FRIEND"), 0)

    def test_the_better_discount_wins(self):
        self.assertEqual(best_percent(12, "WELCOME"), 10)
        self.assertEqual(best_percent(12, ""), 5)


if __name__ == "__main__":
    unittest.main()
