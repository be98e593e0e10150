"""The situation of a run, as the overview shows it, with what needs attention.

GET /api/runs/<id>/situation/ answers with it about once a second.
"""

from __future__ import annotations

from typing import Any

from dashboard.readmodels.alerts import attention
from twin.analysis.situation import situation as of_run
from twin.mirror.connecting.condition import condition_of
from twin.models import Run


def situation(run: Run) -> dict[str, Any]:
    """{sim_ms, window_ms, jobs, load, queue, next, rejected, attention, began_at, following, ...}; times in ms of the
    run's log.

    began_at: time at which the log of a live cluster begins, by the clock of the cluster; null for other runs.
    following: {state, message} of the cluster that the run mirrors now; null for other runs.
    """
    began_at = run.clock_wall if run.mode == Run.MIRROR else None
    found = condition_of(run)
    following = None if found is None else {"state": found.state, "message": found.message}
    return of_run(run).shown | {"attention": attention(run), "began_at": began_at, "following": following}
