"""Start of runs, in batch or against a clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from twin.infra.errors import Refused
from twin.models import Run, Scenario
from twin.models.run_modes import MODES, modes_where
from twin.runs import runner, scheduler_history
from twin.runs.commands.allowed import check_speed
from twin.runs.commands.announce import announce_all
from twin.runs.commands.audit import audit
from twin.scenarios import forks, store


def start_run(scenario: Scenario, mode: str = Run.BATCH, speed: float = 3600.0, user: Any = None) -> Run:
    """Start of a run, which is queued. `speed` (live): ms of the cluster's time in each ms."""
    with transaction.atomic():
        run = new_run(scenario, scenario.edits, mode, speed, user)
        transaction.on_commit(lambda: _begin(run))
    return run


def start_runs(entered: Sequence[Scenario], user: Any = None) -> list[Run]:
    """Start of a batch run of each scenario, all queued at once: the workers share them."""
    with transaction.atomic():
        runs = [new_run(scenario, scenario.edits, Run.BATCH, 0, user) for scenario in entered]
        transaction.on_commit(lambda: runner.enqueue_all([run.pk for run in runs]))
        transaction.on_commit(lambda: announce_all(runs))
    return runs


def _begin(run: Run) -> None:
    """Announcement of a stored run, before its worker announces it: whoever hears of it can read it."""
    runner.announce(run)
    runner.enqueue(run.pk)


def new_run(scenario: Scenario, edits: Sequence[Any], mode: str, speed: float, user: Any) -> Run:
    if mode not in (startable := modes_where(simulated=True)):
        raise Refused(f"mode must be {' or '.join(startable)}, got {mode!r}")
    if MODES[mode].paced:
        check_speed(speed)
    if why := scenario.trace.not_ready_text:
        raise Refused(why)
    # An unknown name, a value out of range or a cluster too large for the scheduler fails here.
    store.check(scenario, edits)
    run = Run.objects.create(
        scenario=scenario,
        edits=edits,
        mode=mode,
        created_by=user,
        clock_wall=timezone.now(),
        clock_speed=speed if MODES[mode].paced else 0,
    )
    if scenario.fork_ms is not None:
        _inherit(run, scenario)
    scheduler = scheduler_history.words(scheduler_history.in_order(scenario.scheduler, edits), run.epoch_ms)
    audit(user, "run.start", f"run {run.pk}", {"scenario": scenario.name, "scheduler": scheduler, "mode": mode})
    return run


def _inherit(run: Run, scenario: Scenario) -> None:
    """Start of a fork with its parent's log; without a parent its past is computed again."""
    parent = scenario.parent
    assert scenario.fork_ms is not None
    if parent is not None:
        forks.inherit(run, parent, scenario.fork_ms)
    if run.mode_rules.paced:
        Run.objects.filter(pk=run.pk).update(clock_sim_ms=scenario.fork_ms)
        run.clock_sim_ms = scenario.fork_ms
