"""Rates."""

RATE = 12300

NAME = "rates"

FEE = 456
