import unittest

from client.sessions import Session


class SessionTest(unittest.TestCase):
    def test_cookies_are_sent_again(self):
        session = Session()
        session.jar["a"] = "1"
        again = session.follow_redirect({}, {"location": "/b"})
        self.assertEqual(again["cookies"], {"a": "1"})
