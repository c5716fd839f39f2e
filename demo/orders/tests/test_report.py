import unittest

from orders.lines import Order, OrderLine
from orders.report import euros, report


class ReportTest(unittest.TestCase):
    def test_euros_have_two_digits_after_the_point(self):
        self.assertEqual(euros(1205), "12.05")

    def test_a_report_ends_with_what_is_to_be_paid(self):
        text = report(Order("Ada", (OrderLine("Cup", 1, 1200),)))
        self.assertTrue(text.endswith("16.90"), text)
        self.assertNotIn("Discount", text)

    def test_a_report_names_the_discount(self):
        text = report(Order("Ada", (OrderLine("Cup", 2, 1200),), coupon="WELCOME"))
        self.assertIn("Discount of 10 per cent", text)


if __name__ == "__main__":
    unittest.main()
