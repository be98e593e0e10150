"""What workers do: each task takes an id, calls one verb, ends. State lives in the database, never in a result."""

from celery import shared_task

from twin import certifying, importing, runner


@shared_task(name="twin.tasks.advance_run")
def advance_run(run_id: int) -> None:
    """One slice of a run."""
    runner.advance(run_id)


@shared_task(name="twin.tasks.step_run")
def step_run(run_id: int) -> None:
    """The next step of a paused live run."""
    runner.step(run_id)


@shared_task(name="twin.tasks.import_trace")
def import_trace(trace_id: int) -> None:
    """Parses an upload."""
    importing.run(trace_id)


@shared_task(name="twin.tasks.certify_run")
def certify_run(run_id: int) -> None:
    """The certificate of a run as its log stands."""
    certifying.run(run_id)
