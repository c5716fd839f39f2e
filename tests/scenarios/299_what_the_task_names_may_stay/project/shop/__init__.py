"""A shop."""

from shop.errors import OrderError

__all__ = ["OrderError"]
