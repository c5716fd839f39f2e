def rounded(amount):
    return -(-amount // 5) * 5
