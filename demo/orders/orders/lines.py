"""What a customer ordered: one line for each article."""

import csv
from dataclasses import dataclass


@dataclass(frozen=True)
class OrderLine:
    """One article of an order. Prices are whole cents."""

    article: str
    quantity: int
    unit_price: int

    def __post_init__(self):
        if self.quantity < 1:
            raise ValueError(f"{self.article}: the quantity must be at least 1")
        if self.unit_price < 0:
            raise ValueError(f"{self.article}: the price cannot be negative")


@dataclass(frozen=True)
class Order:
    """An order of one customer."""

    customer: str
    lines: tuple
    coupon: str = ""

    def quantity(self):
        """How many items the order has in all."""
        return sum(line.quantity for line in self.lines)


def read_lines(path):
    """Reads order lines from a CSV file with the columns article, quantity and unit_price."""
    with open(path, newline="", encoding="utf-8") as file:
        return tuple(
            OrderLine(row["article"], int(row["quantity"]), int(row["unit_price"]))
            for row in csv.DictReader(file)
        )
