"""Conversion."""

from typing import overload


@overload
def repeated(value: int, times: int = 2) -> int: ...


@overload
def repeated(value: str, times: int = 2) -> str: ...


def repeated(value, times=2):
    return value * times


def halved(value):
    return value / 2
