class Basket:
    def __init__(self, orders):
        self.orders = orders

    def report_sums(self):
        return len(self.orders)
