"""Commands of operators on runs; each adds an entry to the audit list, and raises Refused where it is not allowed."""

from twin.infra.errors import Refused
from twin.runs.commands.audit import audit
from twin.runs.commands.certificate import cancel_certificate, request_certificate
from twin.runs.commands.control import clock_of, now_ms, pause, resume, set_speed, step
from twin.runs.commands.end import cancel, cancel_all, end_quietly
from twin.runs.commands.fork import Conflict, discard, edit, fork, fork_and_start, promote
from twin.runs.commands.remove import delete, delete_all
from twin.runs.commands.start import start_run, start_runs

__all__ = [
    "Conflict",
    "Refused",
    "audit",
    "cancel",
    "cancel_all",
    "cancel_certificate",
    "clock_of",
    "delete",
    "delete_all",
    "discard",
    "edit",
    "end_quietly",
    "fork",
    "fork_and_start",
    "now_ms",
    "pause",
    "promote",
    "request_certificate",
    "resume",
    "set_speed",
    "start_run",
    "start_runs",
    "step",
]
