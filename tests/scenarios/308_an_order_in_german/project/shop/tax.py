"""Taxes."""

RATE = 19
