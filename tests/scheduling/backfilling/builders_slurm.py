"""Small clusters and jobs for the model of Slurm, and where its runs placed them."""

from scheduling.model.values import Server, Utility
from tests.scheduling.builders_slotted import cluster, job, ps_server

NO_PS = (0, 0, 0, 0, 0)
ALWAYS = {"main_ms": 0, "backfill_ms": 1_000, "resolution_ms": 1_000}


def node(name, *queues, gpus=4, cpus=8):
    return Server(name, "edge", (gpus * 1_000, cpus * 1_000, 0, 0, 0), ("worker",), queues=queues)


def machines(*nodes):
    return cluster(*nodes, ps_server("s", 1_000), horizon=None)


def request(name, at_ms=0, *, gpus=1, cpus=1, slots=1, limit=None, priority=1.0, **changes):
    fields = {"worker": (gpus * 1_000, cpus * 1_000, 0, 0, 0), "ps": NO_PS, "utility": Utility(priority, 0.0, 1.0)}
    return job(name, at_ms, slots=slots, limit_ms=(limit or slots) * 1_000, **(fields | changes))


def places(events):
    """{job: (slot, servers)}"""
    return {
        e.data["keys"][0]: (
            e.data["bars"][0].start_ms // 1_000, sorted({bar.server for bar in e.data["bars"] if bar.role == 0}),
        )
        for e in events
        if e.kind == "plan_changed"
    }  # fmt: skip
