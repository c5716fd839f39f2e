def words(name):
    return name.split()


def initials(name):
    return " ".join(word[0].upper() + "." for word in words(name))
