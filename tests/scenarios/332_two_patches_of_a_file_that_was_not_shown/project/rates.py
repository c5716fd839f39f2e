"""Rates."""

RATE = 7

NAME = "rates"

FEE = 3
