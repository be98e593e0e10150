"""Refusal of a command whose database is missing or not prepared."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import CommandError
from django.db import OperationalError, ProgrammingError


@contextmanager
def refused() -> Iterator[None]:
    """Errors of the database in the block as a CommandError with the remedy."""
    try:
        yield
    except (OperationalError, ProgrammingError) as error:
        reason = str(error).strip().split("\n")[0]
        raise CommandError(
            f"the database cannot be used ({reason}); `manage.py migrate` prepares it, as bin/up does"
        ) from error
