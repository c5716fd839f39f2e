import importlib

from shop import pricing

TOTAL = getattr(pricing, "line_total")
