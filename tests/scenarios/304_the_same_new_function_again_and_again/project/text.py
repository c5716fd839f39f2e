def lines(text):
    return [line.strip() for line in text.splitlines()]
