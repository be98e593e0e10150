"""Tasks of workers: each takes an id and calls one function. State is in the database, never in a result."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from celery import shared_task
from django.db import InterfaceError, OperationalError

from twin.acting import planning_task
from twin.alerts import evaluation_task
from twin.alerts.webhook import delivery_task
from twin.analysis import certificate_task, closing_metrics, state_task
from twin.mirror import drift_task
from twin.mirror.forecasts import forecast_task
from twin.operation import cleanup_task
from twin.processes.heartbeat import doing
from twin.runs import runner
from twin.studies.experiments import task as experiment_task
from twin.studies.shadows import task as shadow_task
from twin.traces import import_task

log = logging.getLogger(__name__)


@contextmanager
def task(what: str) -> Iterator[None]:
    """The present work of this process. The ticker requests work again for which the database did not answer."""
    try:
        with doing(what):
            yield
    except (OperationalError, InterfaceError) as error:
        log.warning("%s waits: %s", what, str(error).strip())


@shared_task(name="twin.tasks.advance_run")
def advance_run(run_id: int) -> None:
    """Slice of a run."""
    with task(f"run {run_id}"):
        runner.advance(run_id)


@shared_task(name="twin.tasks.step_run")
def step_run(run_id: int) -> None:
    """The next step of a paused live run."""
    with task(f"run {run_id}"):
        runner.step(run_id)


@shared_task(name="twin.tasks.import_trace")
def import_trace(trace_id: int) -> None:
    """Import of an upload."""
    with task(f"import of trace {trace_id}"):
        import_task.work(trace_id)


@shared_task(name="twin.tasks.certify_run")
def certify_run(run_id: int) -> None:
    """The certificate of a run up to now, then those of other runs that are due."""
    with task("certificates"):
        certificate_task.work_off(run_id)


@shared_task(name="twin.tasks.store_state")
def store_state(run_id: int) -> None:
    """The folded state of a run up to now, then those of other runs that are due."""
    with task("folded states of runs"):
        state_task.work_off(run_id)


@shared_task(name="twin.tasks.audit_mirror")
def audit_mirror(connection_id: int) -> None:
    """Comparison of a live cluster with its log."""
    with task("an audit of a live cluster"):
        drift_task.work(connection_id)


@shared_task(name="twin.tasks.forecast_mirror")
def forecast_mirror(connection_id: int) -> None:
    """Forecast of the waiting jobs of a live cluster."""
    with task("a forecast of a live cluster"):
        forecast_task.work(connection_id)


@shared_task(name="twin.tasks.plan_proposal")
def plan_proposal(proposal_id: int) -> None:
    """Plan of a proposal whose run has ended."""
    with task(f"plan {proposal_id}"):
        planning_task.work(proposal_id)


@shared_task(name="twin.tasks.shadow_set")
def shadow_set(set_id: int) -> None:
    """A turn of a set of shadows."""
    with task("shadows of a live cluster"):
        shadow_task.work(set_id)


@shared_task(name="twin.tasks.experiment_part")
def experiment_part(part_id: int) -> None:
    """A part of an experiment, then others for some seconds."""
    with task("an experiment"):
        experiment_task.work(part_id)


@shared_task(name="twin.tasks.measure_mirror")
def measure_mirror(run_id: int) -> None:
    """Metrics of an ended run of a live cluster."""
    with task(f"metrics of run {run_id}"):
        closing_metrics.work(run_id)


@shared_task(
    name="twin.tasks.evaluate_alerts",
    soft_time_limit=evaluation_task.MAX_SOFT_S,
    time_limit=evaluation_task.MAX_S,
)
def evaluate_alerts(_: int) -> None:
    """Evaluation of the rules of alerts."""
    with task("the evaluation of alerts"):
        evaluation_task.work()


@shared_task(name="twin.tasks.apply_retention")
def apply_retention(_: int) -> None:
    """Removal of what is older than its setting allows; packing of the logs that stay."""
    with task("retention and the packing of logs"):
        cleanup_task.work()


@shared_task(name="twin.tasks.deliver_alerts")
def deliver_alerts(_: int) -> None:
    """Delivery of notices of alerts."""
    with task("the delivery of alerts"):
        delivery_task.work()
