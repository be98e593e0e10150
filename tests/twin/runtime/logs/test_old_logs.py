"""Logs that the version before wrote are converted to what this one writes."""

from importlib import import_module

import numpy as np
import pytest
from django.apps import apps

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.workloads import generate
from twin.eventlog import batch_codec, event_log
from twin.infra.columns import pack
from twin.models import Checkpoint, EventBatch

WORKLOADS = [("oasis", "oasis", {}), ("oasis", "drf", {}), ("a-online", "a_online", {"span_hours": 200})]


def old_payload(events) -> bytes:
    """As the version before wrote a batch: bars, lanes and jobs as matrices, `planned`, `lanes_planned` in lines."""
    rows = {"bars": [], "lanes": [], "jobs": []}
    lines = []
    for event in events:
        kind, data = event.kind, event.data
        if kind == "plan_changed":
            bars = np.array(data["bars"], dtype=np.int64).reshape(-1, 9).tolist()
            if data["scope"] == "job":
                ((job, _, finish_ms),) = data["jobs"]
                kind, given = "planned", {"bars": bars}
                data = {"job": job, "finish_ms": None if finish_ms == -1 else finish_ms}
            else:
                kind, given, data = "lanes_planned", {"bars": bars, "lanes": data["keys"], "jobs": data["jobs"]}, {}
            for name, some in given.items():
                data[name] = (len(rows[name]), len(some))
                rows[name] += some
        lines.append((event.seq, event.at_ms, kind, data))
    columns = {name: np.array(rows[name], dtype=np.int64).reshape(-1, 9 if name == "bars" else 3) for name in rows}
    return pack(lines, columns if rows["lanes"] else {"bars": columns["bars"]})


@pytest.mark.parametrize(("profile", "scheduler", "options"), WORKLOADS)
def test_a_log_of_the_version_before_becomes_the_one_that_this_version_writes(make_run, profile, scheduler, options):
    cluster, jobs = generate(profile, num_jobs=25, num_servers=10, seed=2, **options)
    events = list(Simulation(cluster, jobs, build(scheduler), 1).events())
    run = make_run()
    third = len(events) // 3
    for part in (events[:third], events[third:]):
        EventBatch.objects.create(
            run=run, first_seq=part[0].seq, last_seq=part[-1].seq, first_ms=part[0].at_ms, last_ms=part[-1].at_ms,
            payload=old_payload(part),
        )  # fmt: skip
    Checkpoint.objects.create(run=run, seq=third, payload=b"of the version before")
    with pytest.raises(batch_codec.OldLog):
        list(event_log.after(run.pk, 0))
    import_module("twin.migrations.0009_one_plan_event").convert_logs(apps, None)
    assert b"".join(event_log.canonical(run.pk)) == b"".join(map(event_log.event_line, events))
    assert not Checkpoint.objects.filter(run=run).exists()
