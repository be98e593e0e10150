"""Errors of settings."""

from scheduling.model.values import ModelError


class FieldError(ModelError):
    """A setting that cannot be; `field` names it.

    It is one of name, connector, interval_ms, parameters.KEY, sites.KEY, sampler and sampler_parameters.KEY.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
