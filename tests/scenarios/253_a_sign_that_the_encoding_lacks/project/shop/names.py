# -*- coding: latin-1 -*-
NAME = "Straße"


def greet():
    return NAME
