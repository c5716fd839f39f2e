def words(name):
    return name.split()


def initials(name):
    return ".".join(words(name))
