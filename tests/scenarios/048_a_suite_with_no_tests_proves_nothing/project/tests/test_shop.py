import unittest


class PricingTest(unittest.TestCase):
    pass
