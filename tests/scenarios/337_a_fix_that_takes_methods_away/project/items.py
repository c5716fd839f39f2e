"""Items of a document."""


class Item:
    def __init__(self, value):
        self.value = value

    def __getitem__(self, at):
        return self.value[at]

    def __len__(self):
        return len(self.value)

    def shown(self):
        return str(self.value)


class Items(Item):
    def __getitem__(self, at):
        return Item(self.value[at])

    def __len__(self):
        return len(self.value)
