"""Runs that are handed from one scheduler to another."""

from itertools import permutations

from tests.twin.runtime.queues import work
from twin.models import Run
from twin.runs import runner

H = 3_600_000


EDIT_MS = 9 * H


BY_MODEL = {"slotted": "fifo", "priced": "oasis", "typed workers": "srtf", "chunks": "a_online", "groups": "harmony"}


PAIRS = [(BY_MODEL[a], BY_MODEL[b]) for a, b in permutations(BY_MODEL, 2)]


def change(scheduler: str, at_ms: int = 3 * H, **more) -> dict:
    return {"verb": "change_scheduler", "scheduler": scheduler, "at_ms": at_ms, **more}


def handed(make_scenario, first: str, *edits: dict, jobs: int = 12) -> Run:
    """A finished run with these edits."""
    run = Run.objects.create(scenario=make_scenario(scheduler=first, jobs=jobs), edits=list(edits))
    runner.enqueue(run.pk)
    work()
    run.refresh_from_db()
    assert run.status == Run.FINISHED, run.message
    return run
