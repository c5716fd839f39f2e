"""Prints the report of an order: python -m orders data/june.csv [coupon]"""

import sys

from orders.lines import Order, read_lines
from orders.report import report


def main(arguments):
    """Reads the order named by the arguments and prints its report."""
    if not arguments:
        print("usage: python -m orders FILE [COUPON]", file=sys.stderr)
        return 2
    coupon = arguments[1] if len(arguments) > 1 else ""
    print(report(Order("June", read_lines(arguments[0]), coupon)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
