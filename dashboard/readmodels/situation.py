"""The situation of a run, as the overview shows it, with what needs attention.

GET /api/runs/<id>/situation/ answers with it about once a second.
"""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from dashboard.readmodels.alerts import attention, elsewhere
from twin.analysis.situation import situation as of_run
from twin.mirror.connecting.condition import condition_of
from twin.models import Alert, Run


def situation(run: Run, alerts: QuerySet[Alert]) -> dict[str, Any]:
    """{sim_ms, window_ms, jobs, load, queue, next, rejected, attention, elsewhere, began_at, following, ...}.

    Times are in ms of the run's log.

    alerts: those that the user sees; elsewhere has the open ones of other live clusters.
    began_at: time at which the log of a live cluster begins, by the clock of the cluster, also of a cut of it;
    null for other runs.
    following: {state, message, event_ms} of the cluster that the run mirrors now; null for other runs.
    """
    found = condition_of(run)
    following = None
    if found is not None:
        following = {"state": found.state, "message": found.message, "event_ms": found.event_ms}
    points = {"attention": attention(run), "elsewhere": elsewhere(run, alerts)}
    return of_run(run).shown | points | {"began_at": run.began_at, "following": following}
