"""Error for a request of an operator that is refused."""


class Refused(ValueError):
    """Error: the request does not apply; the message states why and what would."""
