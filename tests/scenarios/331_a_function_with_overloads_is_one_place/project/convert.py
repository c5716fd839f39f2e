"""Conversion."""

from typing import overload


@overload
def repeated(value: int) -> int: ...


@overload
def repeated(value: str) -> str: ...


def repeated(value):
    return value * 2


def halved(value):
    return value / 2
