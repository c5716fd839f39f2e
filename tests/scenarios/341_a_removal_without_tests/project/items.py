"""Items of a document."""


class Item:
    def __init__(self, value):
        self.value = value

    def __len__(self):
        return len(self.value)

    def shown(self):
        return str(self.value)
