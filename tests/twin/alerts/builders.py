"""What rules see, as plain values, and runs and clusters that are watched."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from scheduling.workloads import generate
from twin.alerts.base import Data
from twin.analysis.situation import Facts, Situation
from twin.models import Run, Scenario
from twin.runs import runner
from twin.scenarios import store

HOUR = 3_600_000
NOTHING = np.empty(0)


def situation(**changes) -> Situation:
    """A situation in which nothing is wrong, 12 h after the start, with these changes."""
    shown = {
        "sim_ms": 12 * HOUR, "window_ms": 12 * HOUR, "load": {"measure": "resources", "scale": ["gpu", "cpu"],
        "curve": {"at_ms": [0, 4 * HOUR, 8 * HOUR, 12 * HOUR]}},
        "queue": {"curve": {"waiting": [0, 0, 0, 0], "at_ms": [0, 4 * HOUR, 8 * HOUR, 12 * HOUR]}, "oldest": []},
        "rejected": {"total": 0, "recent": 0, "reasons": []},
    }  # fmt: skip
    facts = Facts([], NOTHING, np.empty((0, 2), dtype=np.int64), "", {}, None)
    own = {name: value for name, value in changes.items() if name in Facts._fields}
    shown |= {name: value for name, value in changes.items() if name not in Facts._fields}
    return Situation(shown, facts._replace(**own))


def seen(**changes) -> SimpleNamespace:
    """What a rule sees of a target with which nothing is wrong, with these changes."""
    fields = {
        "now": 1_000_000.0, "now_ms": 12 * HOUR, "situation": situation(),
        "data": Data("following", 1.0, 999_999.0, ""), "samples": {}, "forecasts": {}, "drift": {}, "activity": None,
    }  # fmt: skip
    return SimpleNamespace(**fields | changes)


def live_run(make_run) -> Run:
    """A live run that goes on, at its beginning."""
    run = make_run(mode=Run.LIVE)
    Run.objects.filter(pk=run.pk).update(status=Run.RUNNING, clock_speed=1.0)
    run.refresh_from_db()
    return run


def computed(scheduler: str, work, jobs: int = 20, servers: int = 8) -> Run:
    """A run under the scheduler, to its end."""
    spec, trace = store.store_generated("s", *generate("oasis", num_jobs=jobs, num_servers=servers, seed=3), 3)
    scenario = Scenario.objects.create(name="s", cluster=spec, trace=trace, scheduler=scheduler, seed=3)
    run = Run.objects.create(scenario=scenario)
    runner.enqueue(run.pk)
    work()
    run.refresh_from_db()
    return run
