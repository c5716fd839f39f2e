"""The types of the arguments."""


class Arguments:
    cookies: dict
    proxies: dict
    timeout: float
