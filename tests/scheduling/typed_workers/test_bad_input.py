"""Clusters and jobs at the edge of sense, for every scheduler of typed workers.

What becomes of each job is defined, and verified.
"""

import pytest

from scheduling.model.values import Server
from scheduling.verification.verify import verify
from tests.scheduling.builders import output_of
from tests.scheduling.builders_typed_workers import job, machine, run, world

EDGE = ("a_online_edge", "srtf", "tiresias_l")  # never use the cloud
ALL = ("a_online", "batch_sche", *EDGE)


def fates(cluster, jobs, name, **parameters):
    """{job: its last verdict, or when it completed}, of a run that the verifier accepts."""
    assert verify(**output_of(cluster, jobs, name, 0, parameters)) == []
    out = {}
    for event in run(cluster, jobs, name, **parameters):
        if event.kind == "decided":
            out[event.data["job"]] = f"{event.data['kind']}: {event.data['code']}"
        elif event.kind == "job_completed":
            out[event.data["job"]] = event.at_ms
    return out


@pytest.mark.parametrize("name", ALL)
def test_no_worker_of_a_type(name):
    """At the edge the job is refused; with the cloud it goes there, 7 ms of upload and 5 of work."""
    jobs = [job("a", 0, 5, kind="b", cloud=7), job("b", 0, 5, cloud=100)]
    assert fates(world(machine()), jobs, name) == {0: "rejected: no_worker_of_type", 1: 5}
    found = fates(world(machine(), cloud=True), jobs, name)
    assert found[0] == ("rejected: no_worker_of_type" if name in EDGE else 12)


@pytest.mark.parametrize("name", ALL)
def test_no_worker_at_all_and_no_server(name):
    """`ps_lanes` alone keep the workers declared; a cluster of no servers is the cloud or nothing."""
    jobs = [job("a", 0, 5, cloud=7)]
    for cluster in (world(machine(workers=0), cloud=True), world(Server("s", "edge", (0, 0, 0, 0, 0)), cloud=True)):
        assert fates(cluster, jobs, name) == {0: "rejected: no_worker_of_type" if name in EDGE else 12}
    assert fates(world(machine(workers=0)), jobs, name) == {0: "rejected: no_worker_of_type"}
    assert fates(world(machine()), [], name) == {}


@pytest.mark.parametrize("name", ALL)
def test_uploads_that_end_after_the_horizon(name):
    """A horizon of 30 ms and uploads of 100: nothing runs, nothing is refused, every job is reported as unfinished."""
    jobs = [job(f"j{i}", i, 5, upload=(100,), cloud=100) for i in range(4)]
    for cloud in (False, True):
        found = fates(world(machine(workers=2), cloud=cloud, horizon=3), jobs, name)
        assert set(found.values()) == {"unfinished: horizon"}
        assert len(found) == 4


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("cloud", [False, True])
def test_ties_everywhere(name, cloud):
    """Twelve equal jobs at once: all complete, in the order of the file, and twice alike."""
    cluster = world(machine("s0", 2), machine("s1", 2), cloud=cloud)
    jobs = [job(f"j{i}", 0, 5, chunks=4, upload=(0, 0), cloud=0, requested_workers=2) for i in range(12)]
    found = fates(cluster, jobs, name)
    assert [*found.values()] == sorted(found.values())
    assert found == fates(cluster, jobs, name)


@pytest.mark.parametrize("storage", ["job", "chunk"])
def test_chunks_that_no_storage_holds(storage):
    """Without the cloud they are refused with what would fit; with it they go there."""
    jobs = [job("a", 0, 5, chunks=2, chunk_mb=3.0, cloud=7)]
    assert fates(world(machine(storage_mb=2)), jobs, "a_online", storage=storage) == {0: "rejected: storage_too_small"}
    assert fates(world(machine(storage_mb=2)), jobs, "a_online_edge", storage=storage) == {
        0: "rejected: storage_too_small"
    }
    assert fates(world(machine(storage_mb=2), cloud=True), jobs, "a_online", storage=storage) == {0: 12}


@pytest.mark.parametrize("name", ALL)
def test_servers_that_leave_with_everything_on_them(name):
    """Away from 3 to 20 ms: what was begun waits, and everything is done afterwards, or in the cloud."""
    cluster = world(machine("s0", away=((3, 20),)), machine("s1", 0, 8), cloud=True)
    found = fates(cluster, [job("a", 0, 5, upload=(0, 0), cloud=500), job("b", 4, 5, upload=(0, 0), cloud=500)], name)
    assert all(isinstance(at, int) and at <= 2 * 505 for at in found.values()), (
        "at worst one after the other in the cloud"
    )
