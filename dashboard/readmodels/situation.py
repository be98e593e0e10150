"""The situation of a run, as the overview shows it, with what needs attention.

GET /api/runs/<id>/situation/ answers with it about once a second.
"""

from __future__ import annotations

from typing import Any

from dashboard.readmodels.alerts import attention
from twin.analysis.situation import situation as of_run
from twin.models import Run


def situation(run: Run) -> dict[str, Any]:
    """{sim_ms, window_ms, jobs, load, queue, next, rejected, attention, ...}; times in ms of the run's log."""
    return of_run(run).shown | {"attention": attention(run)}
