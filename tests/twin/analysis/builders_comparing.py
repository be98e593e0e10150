"""Jobs, bars and events of runs that tests compare."""

from scheduling.model.bars import Placement
from scheduling.model.values import Cluster, Event, Job, Server, Utility

UNIT = (1000, 0, 0, 0, 0)
CLUSTER = Cluster("two", 100, (Server("a", "edge", UNIT), Server("b", "cloud", UNIT)))
IN_ORDER = {"workers": 1, "ps": 0, "waited_ms": 0}


def job(name, arrival_ms, model="m1", workers=1):
    return Job(name, arrival_ms, model, worker=UNIT, requested_workers=workers, utility=Utility(5, 0, 1))


def bar(index, server, start, end):
    return Placement(index, 0, server, start, end, 1)


def events_of(*happened):
    """Events numbered from 1: (at_ms, kind, data)."""
    return [Event(seq, *event) for seq, event in enumerate(happened, 1)]


def decided(at_ms, index, kind, code="in_order", values=IN_ORDER):
    return (at_ms, "decided", {"job": index, "kind": kind, "code": code, "values": values})


def planned(at_ms, index, finish_ms, *bars):
    start_ms = min((bar.start_ms for bar in bars), default=-1)
    jobs = [[index, start_ms, -1 if finish_ms is None else finish_ms]]
    return (at_ms, "plan_changed", {"scope": "job", "keys": [index], "jobs": jobs, "bars": list(bars)})
