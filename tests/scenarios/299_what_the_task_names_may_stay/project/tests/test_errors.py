import unittest

from shop import OrderError


class ErrorsTest(unittest.TestCase):
    def test_is_a_value_error(self):
        self.assertTrue(issubclass(OrderError, ValueError))

    def test_module(self):
        self.assertEqual(OrderError.__module__, "shop")
