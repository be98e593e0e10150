"""Reports of imports by earlier versions have the words of this one."""

from importlib import import_module

import pytest
from django.apps import apps

from twin.models import Trace

OLD = {"rows": 3, "machines": 1, "outside_window": 2, "clamped": {"epochs": 1}}
NEW = {"rows": 3, "servers": 1, "not_selected": 2, "outside_range": {"epochs": 1}}


@pytest.mark.django_db
@pytest.mark.parametrize(("scan", "expected"), [
    ({}, {}),
    ({"jobs": 1, "machines": 1, "gpus_in_machines": 8.0, "report": OLD},
     {"jobs": 1, "servers": 1, "gpus_of_servers": 8.0, "report": NEW}),
])  # fmt: skip
def test_stored_reports_are_renamed_once(scan, expected):
    trace = Trace.objects.create(name="t", report=OLD, scan=scan)
    for _ in range(2):
        import_module("twin.migrations.0040_words_of_import_reports").rename(apps, None)
        trace.refresh_from_db()
        assert (trace.report, trace.scan) == (NEW, expected)
