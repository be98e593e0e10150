"""Filters for log lines."""

from __future__ import annotations

import logging


class Refused(logging.Filter):
    """A request that is refused (wrong host, too many fields) is the sender's fault: one warning, no traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 500) < 500:
            record.exc_info = None
            if record.levelno > logging.WARNING:
                record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True
