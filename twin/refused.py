"""What an operator asked for and cannot have."""


class Refused(ValueError):
    """The verb does not apply; the message says why and what would."""
