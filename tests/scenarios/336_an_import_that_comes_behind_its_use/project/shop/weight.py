def rounded(amount):
    return -(-amount // 100) * 100
