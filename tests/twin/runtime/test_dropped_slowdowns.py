"""Slowdowns that earlier versions stored with edited runs are dropped."""

from importlib import import_module

import pytest
from django.apps import apps

from twin.models import Run

KEPT = {"mean_busy": 0.5}
STORED = {"jobs": 3, "lanes": KEPT | {"mean_slowdown": 0.4, "median_slowdown": 0.4, "p95_slowdown": 0.9}}
EDIT = {"kind": "remove_server", "at_ms": 0, "server": "server-0"}


@pytest.mark.django_db
@pytest.mark.parametrize(("edits", "expected"), [
    ([], STORED),
    ([EDIT], {"jobs": 3, "lanes": KEPT}),
])  # fmt: skip
def test_an_edited_run_keeps_its_other_metrics(make_run, edits, expected):
    run = make_run()
    Run.objects.filter(pk=run.pk).update(edits=edits, metrics=STORED)
    import_module("twin.migrations.0042_slowdowns_of_edited_runs").drop(apps, None)
    run.refresh_from_db()
    assert run.metrics == expected
