import pathlib
import unittest

from orders.lines import Order, OrderLine, read_lines

JUNE = pathlib.Path(__file__).parent.parent / "data" / "june.csv"


class LinesTest(unittest.TestCase):
    def test_the_quantity_of_an_order_is_that_of_its_lines(self):
        order = Order("Ada", (OrderLine("Cup", 2, 1200), OrderLine("House blend", 3, 890)))
        self.assertEqual(order.quantity(), 5)

    def test_a_line_has_at_least_one_item(self):
        with self.assertRaises(ValueError):
            OrderLine("Cup", 0, 1200)

    def test_lines_are_read_from_a_file(self):
        lines = read_lines(JUNE)
        self.assertEqual(lines[0], OrderLine("House blend", 4, 890))
        self.assertEqual(len(lines), 3)


if __name__ == "__main__":
    unittest.main()
