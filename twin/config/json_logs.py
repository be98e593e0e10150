"""Log lines as JSON objects, one per line, with the request, the task, the work and the trace that they belong to."""

from __future__ import annotations

import logging
import os
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

import orjson

request_id: ContextVar[str] = ContextVar("request_id", default="")
task_id: ContextVar[str] = ContextVar("task_id", default="")


class JsonLines(logging.Formatter):
    """{time, level, logger, process, message}; where they are known request, task, doing, trace, span, exception."""

    def format(self, record: logging.LogRecord) -> str:
        from twin.infra import tracing
        from twin.processes import heartbeat

        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "process": os.getpid(),
            "message": record.getMessage(),
        }
        known = {"request": request_id.get(), "task": task_id.get(), "doing": heartbeat.work(), **tracing.ids()}
        if record.exc_info:
            known["exception"] = self.formatException(record.exc_info)
        return orjson.dumps(line | {name: value for name, value in known.items() if value}, default=str).decode()
