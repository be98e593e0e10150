"""SRTF and Tiresias-L: orders worked by hand, and the incremental form against one that sorts everything again."""

import json

import pytest

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.values import ModelError
from scheduling.verification.verify import verify
from tests.cases import cases
from tests.scheduling import builders_random_typed
from tests.scheduling.builders import output_of
from tests.scheduling.builders_typed_workers import bars_of, decisions_of, encoded, job, machine, run, world
from tests.scheduling.typed_workers.reference_gangs import merged
from tests.scheduling.typed_workers.reference_gangs import simulate as reference
from twin.infra.columns import pack_state, unpack_state

HOUR = 3_600_000
KINDS = [
    ("srtf", {}), ("srtf", {"overhead_ms": 2}), ("tiresias_l", {"limits": "0.000004"}),
    ("tiresias_l", {"limits": "0.000002,0.000005"}),
    ("tiresias_l", {"limits": "0.000003", "knob": 1.5, "overhead_ms": 1}),
]  # fmt: skip


def gangs_of(events):
    out = {}
    for number, role, server, start, end, count, worker_slot, chunk, _ in bars_of(events).tolist():
        assert (count, chunk) == (1, -1)
        out.setdefault(number, []).append((role, server, worker_slot, start, end))
    return {number: merged(bars) for number, bars in out.items()}


@pytest.mark.parametrize("kind", range(len(KINDS)))
def test_it_equals_the_form_that_sorts_everything_again(kind):
    """600 tiny clusters each; every other one has outages."""
    name, parameters = KINDS[kind]
    limits = tuple(round(float(part) * HOUR) for part in parameters.get("limits", "").split(",") if part)
    for seed in range(cases(600, 100)):
        cluster, jobs = builders_random_typed.world(seed, cloud=seed % 4 == 0, away=seed % 2 == 0)
        order = "srtf" if name == "srtf" else "tiresias"
        expected = reference(
            cluster, jobs, order, limits, parameters.get("knob", 0.0), parameters.get("overhead_ms", 0)
        )
        assert gangs_of(run(cluster, jobs, name, **parameters)) == expected, seed


@pytest.mark.parametrize("kind", range(len(KINDS)))
def test_whatever_it_does_the_verifier_accepts(kind):
    name, parameters = KINDS[kind]
    for seed in range(cases(120, 20)):
        cluster, jobs = builders_random_typed.world(seed, cloud=seed % 4 == 0, away=seed % 2 == 0)
        assert verify(**output_of(cluster, jobs, name, 0, parameters)) == [], seed


@pytest.mark.parametrize("kind", range(len(KINDS)))
@pytest.mark.parametrize("seed", [*range(4), 20])  # 20: jobs of both types start at once when a server returns
def test_a_run_continues_to_the_byte_from_every_step(kind, seed):
    name, parameters = KINDS[kind]
    cluster, jobs = builders_random_typed.world(seed, cloud=False, away=seed % 2 == 0)
    whole = encoded(run(cluster, jobs, name, 5, **parameters))
    simulation = Simulation(cluster, jobs, build(name, parameters), 5)
    while simulation.next_ms is not None:
        simulation.run_until(max_events=1)
        saved = pack_state(simulation.state())
        again = Simulation(cluster, jobs, build(name, parameters), 5)
        again.restore(unpack_state(saved))
        assert pack_state(again.state()) == saved
        assert encoded(again.events()) == whole[simulation.seq :]


def gang(name, arrival_ms, ms, workers=1, **changes):
    """Runs for `ms` on all its workers."""
    return job(name, arrival_ms, ms, chunks=workers, requested_workers=workers, **changes)


def runs(events):
    """{job: [(start, end), ...]} in which it works."""
    return {number: sorted({bar[3:] for bar in bars if bar[0] == 0}) for number, bars in gangs_of(events).items()}


def test_srtf_stops_a_longer_job_as_a_whole_and_skips_what_does_not_fit():
    """Two workers. a (2 workers, 10 ms) runs from 0; b (1, 3 ms) comes at 4 when a has 6 left: a stops.

    c (2, 4 ms) has to wait for b.
    """
    events = run(
        world(machine(workers=2)), [gang("a", 0, 10, 2), gang("b", 4, 3), gang("c", 5, 4, 2), gang("d", 5, 9)], "srtf"
    )
    assert runs(events) == {0: [(0, 4), (11, 17)], 1: [(4, 7)], 2: [(7, 11)], 3: [(5, 7), (17, 24)]}
    assert [(number, v["by_id"]) for number, _, v in decisions_of(events, "preempted")] == [(0, "b"), (3, "c")]
    assert [v["left_ms"] for _, _, v in decisions_of(events, "resumed")] == [6, 7]


def test_a_start_without_the_data_holds_the_gang_while_it_loads():
    """a loads 5 ms on s0; b stops it at 7, with 2 of 9 ms done; a goes on at once at s0, where its data is."""
    near = (5, 8)
    cluster = world(machine("s0"), machine("s1", 0))
    events = run(cluster, [gang("a", 0, 9, upload=near), gang("b", 7, 1, upload=(0, 0))], "srtf")
    assert gangs_of(events)[0] == [(0, 0, 0, 5, 7), (0, 0, 0, 8, 15), (2, 0, 0, 0, 5)]
    assert [v["load_ms"] for _, _, v in decisions_of(events, "started")] == [5, 0]


def test_tiresias_serves_those_that_received_least_and_is_fifo_within_a_queue():
    """One worker, limit 4 worker-ms. a runs [0, 4) and is demoted for b, waiting since 1; c comes at 6, ahead of a."""
    limits = {"limits": f"{4 / HOUR:.12f}"}
    events = run(world(machine()), [gang("a", 0, 10), gang("b", 1, 3), gang("c", 6, 2)], "tiresias_l", **limits)
    assert runs(events) == {0: [(0, 4), (9, 15)], 1: [(4, 7)], 2: [(7, 9)]}
    assert [(number, v["queue"], v["served_ms"]) for number, _, v in decisions_of(events, "moved")] == [(0, 1, 4)]


def test_tiresias_lets_a_short_job_finish_before_the_limit_and_never_stops_within_a_queue():
    events = run(world(machine()), [gang("a", 0, 10), gang("b", 1, 3)], "tiresias_l")
    assert runs(events) == {0: [(0, 10)], 1: [(10, 13)]}


def test_tiresias_brings_back_who_starves():
    """Limit 2, knob 1: a (2 executed) stops at 2, is back at 4 behind b in the first queue, until b is demoted then."""
    limits = {"limits": f"{2 / HOUR:.12f}", "knob": 1.0}
    events = run(world(machine()), [gang("a", 0, 5), gang("b", 1, 9)], "tiresias_l", **limits)
    assert runs(events)[0][:2] == [(0, 2), (4, 6)]


@pytest.mark.parametrize("text", ["", "0", "5,4", "x", "3,,4"])
def test_limits_that_make_no_sense_are_refused(text):
    with pytest.raises(ModelError, match="limits must be ascending numbers above 0"):
        build("tiresias_l", {"limits": text})


def test_a_cluster_without_workers_has_its_gpus():
    """Jobs and servers that say nothing of types: 2 GPUs are two workers."""
    plain = machine()
    cluster = world(type(plain)("s0", "edge", (2_000, 8_000, 0, 0, 0)))
    jobs = [job("a", 0, 4, chunks=2, upload=None, kind=None, requested_workers=8)]
    assert gangs_of(run(cluster, jobs, "srtf"))[0] == [(0, 0, 0, 0, 4), (0, 0, 1, 0, 4)]
    assert verify(**output_of(cluster, jobs, "srtf", 0, {})) == []
    assert json.dumps(decisions_of(run(cluster, [gang("b", 0, 1, kind="x")], "srtf"), "started"))
