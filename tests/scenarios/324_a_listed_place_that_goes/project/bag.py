"""A dictionary that makes what is missing."""


class Bag(dict):
    def __getitem__(self, name):
        if name not in self:
            return Bag()
        return super().__getitem__(name)

    def __setattr__(self, name, value):
        self[name] = value
