"""What earlier versions stored wrong with runs that change their scheduler is dropped, and nothing else."""

from importlib import import_module

import pytest
from django.apps import apps

from twin.models import Run

CHANGE = {"verb": "change_scheduler", "at_ms": 5, "scheduler": "harmony"}
OTHER = {"verb": "fail_servers", "at_ms": 5, "servers": "*", "for_ms": 5}
METRICS = {"jobs": 3, "groups": {"moves": 1}, "utilization": {"gpu": 0.6, "storage": None}}
SLOTTED = {"jobs": 3, "utilization": {"gpu": 0.6}}
UNDIVIDED, SPREAD = {"gangs": False, "bound": 9, "seq": 7}, {"gangs": True, "bound": 6, "seq": 7}


@pytest.mark.django_db
@pytest.mark.parametrize(("edits", "metrics", "certificate", "expected"), [
    ([], METRICS, UNDIVIDED, (METRICS, UNDIVIDED, 7)),
    ([OTHER], METRICS, UNDIVIDED, (METRICS, UNDIVIDED, 7)),
    ([OTHER, CHANGE], SLOTTED, SPREAD, (SLOTTED, SPREAD, 7)),
    ([CHANGE], METRICS, UNDIVIDED, (METRICS | {"utilization": {"gpu": None, "storage": None}}, {}, 0)),
    ([CHANGE], METRICS, {}, (METRICS | {"utilization": {"gpu": None, "storage": None}}, {}, 7)),
    ([CHANGE], {}, UNDIVIDED, ({}, {}, 0)),
])  # fmt: skip
def test_only_wrong_bounds_and_allocations_are_dropped(make_run, edits, metrics, certificate, expected):
    run = make_run()
    Run.objects.filter(pk=run.pk).update(edits=edits, metrics=metrics, certificate=certificate, certified_seq=7)
    import_module("twin.migrations.0043_metrics_of_mixed_runs").drop(apps, None)
    run.refresh_from_db()
    assert (run.metrics, run.certificate, run.certified_seq) == expected
