"""Orders of a small coffee shop: lines, prices, discounts and a report."""
