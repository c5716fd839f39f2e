class Order:
    def __init__(self, lines):
        self.lines = lines

    def report_lines(self):
        return "\n".join(self.lines)
