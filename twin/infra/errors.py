"""Error for a request of an operator that is refused."""


class Refused(ValueError):
    """The verb does not apply; the message says why and what would."""
