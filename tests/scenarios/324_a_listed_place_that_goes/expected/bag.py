"""A dictionary that makes what is missing."""


class Bag(dict):
    def __setattr__(self, name, value):
        self[name] = value

    def __missing__(self, name):
        return type(self)()
