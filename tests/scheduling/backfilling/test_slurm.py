"""The model of Slurm: worked by hand, against plain loops, and what its runs promise."""

import pytest

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from tests.cases import cases
from tests.scheduling.backfilling.builders_slurm import ALWAYS, machines, node, places, request
from tests.scheduling.backfilling.reference_backfill import INSTANCES
from tests.scheduling.backfilling.reference_slurm import PARAMETERS, as_jobs, instance, slurm_starts
from tests.scheduling.rivals import completed, cuts_of, decided, events_of, in_pieces, verified, workload


def test_a_blocked_job_ends_the_main_pass_for_its_queue_and_its_servers():
    """w0 is in both queues, w1 in `wide` only. a holds w0. b (`narrow`) waits for w0; c (`wide`) may take w1 only."""
    two = machines(node("w0", "narrow", "wide"), node("w1", "wide"))
    jobs = [
        request("a", gpus=3, slots=9, group="narrow"), request("b", 500, gpus=4, group="narrow"),
        request("c", 600, slots=2, limit=99, group="wide"), request("d", 700, slots=2, limit=99, group="narrow"),
    ]  # fmt: skip
    found = places(events_of(two, jobs, "slurm", **ALWAYS | {"backfill_ms": 86_400_000}))
    assert found == {0: (0, [0]), 2: (1, [1]), 1: (9, [0]), 3: (10, [0])}


def test_a_queue_without_servers_rejects_and_a_job_without_a_queue_runs_anywhere():
    one = machines(node("w0", "batch"))
    events = events_of(one, [request("a", group="other"), request("b")], "slurm", **ALWAYS)
    assert decided(events)[0] == (0, 0, "rejected", "gang_fits_nowhere")
    assert places(events) == {1: (0, [0])}


def test_backfill_reserves_whole_servers():
    """a holds 3 of 4 GPUs until slot 9. b (2 GPUs) is reserved the server from slot 9 on. c (1 GPU, 10 slots) would
    leave b its GPUs, but not the whole server; d (1 GPU, 5 slots) ends before."""
    jobs = [
        request("a", gpus=3, slots=9), request("b", 500, gpus=2, slots=5), request("c", 600, slots=10),
        request("d", 700, slots=5),
    ]  # fmt: skip
    found = places(events_of(machines(node("w0")), jobs, "slurm", **ALWAYS))
    assert found == {0: (0, [0]), 3: (1, [0]), 1: (9, [0]), 2: (9, [0])}


def test_times_of_reservations_are_rounded_down():
    """With 60 s, b's reservation from slot 59 on begins at slot 0: d (5 slots) cannot pass it, on another server."""
    jobs = [request("a", gpus=3, slots=59), request("b", 500, gpus=2, slots=5), request("d", 700, slots=5)]
    assert places(events_of(machines(node("w0")), jobs, "slurm", **ALWAYS))[2] == (1, [0])
    rounded = events_of(machines(node("w0")), jobs, "slurm", **ALWAYS | {"resolution_ms": 60_000})
    assert places(rounded)[2] == (59, [0])


def test_passes_have_their_intervals():
    """The main scheduler runs in slots 0, 3, 6, ...; a backfill pass in slots 0, 4, 8, ..."""
    jobs = [request("a"), request("b", 1_000), request("c", 1_500, gpus=4, slots=9), request("d", 3_500, slots=9)]
    own = {"main_ms": 3_000, "backfill_ms": 4_000, "resolution_ms": 1_000}
    found = places(events_of(machines(node("w0"), node("w1")), jobs, "slurm", **own))
    assert found == {0: (0, [0]), 1: (3, [0]), 2: (3, [1]), 3: (4, [0])}


def test_the_tightest_server_is_taken():
    """Free CPUs: 8 on w0, 2 on w1. A worker of 2 CPUs goes to w1; workers on servers of their own take both."""
    two = machines(node("w0"), node("w1", cpus=2))
    assert places(events_of(two, [request("a", cpus=2)], "slurm", **ALWAYS)) == {0: (0, [1])}
    gang = request("a", cpus=2, workers=2)
    assert places(events_of(two, [gang], "slurm", **ALWAYS)) == {0: (0, [0])}
    assert places(events_of(two, [gang], "slurm", spread=True, **ALWAYS)) == {0: (0, [0, 1])}


@INSTANCES
def test_starts_and_places_equal_plain_loops(first):
    for seed in range(first, first + cases(100, 20)):
        servers, queues, requests = instance(seed)
        found = {}
        for event in Simulation(*as_jobs(servers, queues, requests), build("slurm", PARAMETERS), 0).events():
            if event.kind == "plan_changed":
                bars = [bar for bar in event.data["bars"] if bar.role == 0]
                found[event.data["keys"][0]] = bars[0].start_ms // 10_000, sorted(bar.server for bar in bars)
        assert found == slurm_starts(servers, queues, requests), seed


@pytest.mark.parametrize("training", ["oasis", "pd-ors"])
@pytest.mark.parametrize("order", ["arrival", "fair-share"])
def test_a_run_verifies_and_goes_on_the_same_after_a_restart(training, order):
    parameters = {"order": order, "user_percent": 60, "backfill_ms": 5_000, "resolution_ms": 2_000}
    events = events_of(*workload(training, seed=5), "slurm", **parameters)
    assert completed(events)
    assert in_pieces(*workload(training, seed=5), "slurm", cuts_of(events, 5), **parameters) == events
    verified(*workload(training, seed=5), "slurm", **parameters)
