import unittest

from people.names import greeting, initials


class NamesTest(unittest.TestCase):
    def test_initials(self):
        self.assertEqual(initials("Ada Lovelace"), "A.L.")

    def test_greeting(self):
        self.assertEqual(greeting("Ada"), "Hello, Ada")
