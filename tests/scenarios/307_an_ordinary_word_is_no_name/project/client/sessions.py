"""Sessions that follow redirects."""

from client.types import Arguments


class Session:
    """Sends requests and follows where they lead."""

    def __init__(self):
        self.jar = {}

    def send(self, request):
        """Sends a request."""
        return {"status": 200, "request": request}

    def follow_redirect(self, request, response):
        """Makes the request that a redirect asks for, with the cookies of the session."""
        return {"url": response["location"], "cookies": {}}
