"""Ten one-line bugs of the kind that a small model should fix: one function, its tests, and what a person would say."""

BUGS = [
    {
        "file": "numbers_tools.py",
        "code": 'def largest(values):\n    """Return the largest of the values."""\n    best = values[0]\n    for value in values:\n        if value < best:\n            best = value\n    return best\n',
        "tests": ["self.assertEqual(largest([3, 9, 2]), 9)", "self.assertEqual(largest([5]), 5)"],
        "task": "fix largest in numbers_tools.py: it returns the smallest value",
    },
    {
        "file": "greet.py",
        "code": 'def greeting(name):\n    """Return a greeting such as Hello, Ann!"""\n    return "Hello, " + "name" + "!"\n',
        "tests": ['self.assertEqual(greeting("Ann"), "Hello, Ann!")'],
        "task": "fix greeting in greet.py: it says the word name instead of the name",
    },
    {
        "file": "mean.py",
        "code": 'def average(values):\n    """Return the arithmetic mean of the values."""\n    return sum(values) / 2\n',
        "tests": ["self.assertEqual(average([2, 4, 9]), 5)", "self.assertEqual(average([7]), 7)"],
        "task": "fix average in mean.py: it is only right for two values",
    },
    {
        "file": "even.py",
        "code": 'def is_even(number):\n    """Return whether the number is even."""\n    return number % 2 == 1\n',
        "tests": ["self.assertTrue(is_even(4))", "self.assertFalse(is_even(7))"],
        "task": "fix is_even in even.py: it says that 4 is not even",
    },
    {
        "file": "area.py",
        "code": 'def rectangle_area(width, height):\n    """Return the area of a rectangle."""\n    return width + height\n',
        "tests": ["self.assertEqual(rectangle_area(3, 5), 15)", "self.assertEqual(rectangle_area(2, 2), 4)"],
        "task": "fix rectangle_area in area.py: it adds instead of multiplying",
    },
    {
        "file": "words.py",
        "code": 'def count_words(text):\n    """Return how many words a text has."""\n    return len(text)\n',
        "tests": ['self.assertEqual(count_words("one two three"), 3)', 'self.assertEqual(count_words("one"), 1)'],
        "task": "fix count_words in words.py: it counts letters, it should split the text into words",
    },
    {
        "file": "temperature.py",
        "code": 'def to_fahrenheit(celsius):\n    """Return degrees Fahrenheit for degrees Celsius."""\n    return celsius * 9 / 5 - 32\n',
        "tests": ["self.assertEqual(to_fahrenheit(100), 212)", "self.assertEqual(to_fahrenheit(0), 32)"],
        "task": "fix to_fahrenheit in temperature.py: it should add 32",
    },
    {
        "file": "grown.py",
        "code": 'def is_adult(age):\n    """Return whether somebody of this age is an adult; adults are 18 or older."""\n    return age > 18\n',
        "tests": ["self.assertTrue(is_adult(18))", "self.assertFalse(is_adult(17))"],
        "task": "fix is_adult in grown.py: somebody of 18 is an adult",
    },
    {
        "file": "total.py",
        "code": 'def total(prices):\n    """Return the sum of all prices."""\n    result = 0\n    for price in prices:\n        result = price\n    return result\n',
        "tests": ["self.assertEqual(total([1, 2, 3]), 6)", "self.assertEqual(total([]), 0)"],
        "task": "fix total in total.py: it returns the last price instead of the sum",
    },
    {
        "file": "initial.py",
        "code": 'def first_letter(word):\n    """Return the first letter of a word in upper case."""\n    return word[0].lower()\n',
        "tests": ['self.assertEqual(first_letter("ann"), "A")', 'self.assertEqual(first_letter("Bob"), "B")'],
        "task": "fix first_letter in initial.py: the letter should be in upper case",
    },
]


def files(bug):
    """The project of one bug: the module and its tests."""
    module = bug["file"].removesuffix(".py")
    name = bug["code"].split("(")[0].removeprefix("def ")
    tests = "\n\n".join(f"    def test_{number}(self):\n        {line}" for number, line in enumerate(bug["tests"], 1))
    text = f"import unittest\n\nfrom {module} import {name}\n\n\nclass TheTest(unittest.TestCase):\n{tests}\n"
    return {bug["file"]: bug["code"], f"test_{module}.py": text}
