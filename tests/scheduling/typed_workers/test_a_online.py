"""A_online: hand-worked cases, and the fast form against a straightforward one, to the last ms."""

from dataclasses import replace

import pytest

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.bars import CLOUD, ROLE, SERVER
from scheduling.model.values import ModelError
from scheduling.verification.verify import verify
from scheduling.workloads import generate
from tests.cases import cases
from tests.scheduling import builders_random_typed
from tests.scheduling.builders import output_of
from tests.scheduling.builders_typed_workers import bars_of, decisions_of, encoded, job, machine, run, world
from tests.scheduling.typed_workers.reference_a_online import a_online as reference
from twin.infra.columns import pack_state, unpack_state


def chunks_of(events):
    """{(job, chunk): (server, worker, [(start, end), ...])}"""
    out = {}
    for index, role, server, start, end, _, worker_slot, chunk, _ in bars_of(events).tolist():
        if role == 0:
            place = out.setdefault((index, chunk), (server, worker_slot, []))
            assert place[:2] == (server, worker_slot)
            place[2].append((start, end))
    return out


def compare(cluster, jobs, cloud, **parameters):
    events = run(cluster, jobs, "a_online" if cloud else "a_online_edge", **parameters)
    speed = 1.0 + parameters.get("speed_augmentation", 0.0)
    expected = reference(cluster, jobs, cloud, parameters.get("storage", "none"), speed)
    assert chunks_of(events) == expected
    return events


@pytest.mark.parametrize("block", range(8))
def test_it_equals_the_straightforward_form_to_the_last_ms(block):
    """1,600 tiny instances: with and without the cloud, with servers that leave, limited storage and more speed."""
    for seed in range(200 * block, 200 * block + cases(200, 60)):
        cloud, away = seed % 2 == 0, seed % 5 == 0
        cluster, jobs = builders_random_typed.world(seed, cloud=cloud, away=away)
        parameters = [{}, {}, {"speed_augmentation": 0.5}, {"storage": "job"}, {"storage": "chunk"}][seed // 2 % 5]
        compare(cluster, jobs, cloud, **parameters)


@pytest.mark.parametrize("block", range(4))
def test_whatever_it_does_the_verifier_accepts(block):
    for seed in range(75 * block, 75 * block + cases(75, 25)):
        cloud, away = seed % 2 == 0, seed % 5 == 0
        cluster, jobs = builders_random_typed.world(seed, cloud=cloud, away=away)
        parameters = [{}, {}, {"speed_augmentation": 0.5}, {"storage": "job"}, {"storage": "chunk"}][seed // 2 % 5]
        rows = output_of(cluster, jobs, "a_online" if cloud else "a_online_edge", 0, parameters)
        assert verify(**rows) == [], seed


def test_the_faster_chunk_preempts_the_slower_and_both_say_so():
    """a needs 10 ms from 0 on; b, 3 ms, is there at 4: Q = 0 upload + 0 waiting + 3 work + 3 that a is postponed."""
    events = run(world(machine()), [job("a", 0, 10), job("b", 4, 3)], "a_online_edge")
    assert chunks_of(events) == {(0, 0): (0, 0, [(0, 4), (7, 13)]), (1, 0): (0, 0, [(4, 7)])}
    cost = {"cost_ms": 6.0, "upload_ms": 0.0, "waiting_ms": 0.0, "processing_ms": 3.0, "postponed_ms": 3.0}
    assert decisions_of(events, "admitted")[1] == (
        1,
        "admitted",
        {"edge": 1, "servers": 1, "cloud": 0, **cost, "displaced": [0]},
    )
    assert decisions_of(events, "preempted") == [(0, "preempted", {"by": 1, "by_id": "b", "chunks": 1, **cost})]
    assert [(e.at_ms, e.data["job"]) for e in events if e.kind == "job_completed"] == [(7, 1), (13, 0)]


def test_equal_rates_are_served_in_the_order_of_arrival_and_uploads_delay_nobody_else():
    """b, as long as a, uploads until 6 and waits until 10; c, longer, runs from 13."""
    events = run(world(machine()), [job("a", 0, 10), job("b", 1, 10, upload=(5,)), job("c", 2, 11)], "a_online_edge")
    assert chunks_of(events) == {(0, 0): (0, 0, [(0, 10)]), (1, 0): (0, 0, [(10, 20)]), (2, 0): (0, 0, [(20, 31)])}


def test_a_worker_does_not_idle_while_a_chunk_uploads():
    """a (5 ms) is there at 8; b (20 ms) at 0: it runs until 8, gives way, and goes on at 13."""
    events = run(world(machine()), [job("a", 0, 5, upload=(8,)), job("b", 0, 20)], "a_online_edge")
    assert chunks_of(events) == {(0, 0): (0, 0, [(8, 13)]), (1, 0): (0, 0, [(0, 8), (13, 25)])}


def test_a_job_holds_one_parameter_server_while_it_runs_and_none_while_it_waits():
    """a runs [0, 4) and [7, 13): two spans; b [4, 7)."""
    events = run(world(machine(ps=1)), [job("a", 0, 10), job("b", 4, 3)], "a_online_edge")
    assert [(j, start, end) for j, role, _, start, end, *_ in bars_of(events).tolist() if role == 1] == [
        (0, 0, 4),
        (0, 7, 13),
        (1, 4, 7),
    ]


def test_the_whole_job_goes_to_the_cloud_when_its_first_chunk_does():
    """Exchange 2 x 8 x 1 MB / 1 Gbps = 16 ms: 20 ms at the edge, 4 ms in the cloud after 10: 14 < 20."""
    exchanging = {"gradient_mb": 1.0, "worker": (0, 0, 0, 0, 1_000)}
    events = run(world(machine(), cloud=True), [job("a", 0, 4, chunks=2, cloud=10, **exchanging)])
    assert chunks_of(events) == {(0, 0): (CLOUD, -1, [(10, 14)]), (0, 1): (CLOUD, -1, [(10, 14)])}
    events = run(world(machine(), cloud=True), [job("a", 0, 4, chunks=2, cloud=17, **exchanging)])
    assert chunks_of(events) == {(0, 0): (0, 0, [(0, 20)]), (0, 1): (CLOUD, -1, [(17, 37)])}, "apart: at the other rate"


def test_of_equal_costs_the_edge_goes_before_the_cloud_and_the_first_worker_before_others():
    cluster = world(machine("s0"), machine("s1"), cloud=True)
    events = run(cluster, [job("a", 0, 5, chunks=3, upload=(5, 5), cloud=5)])
    assert {place[:2] for place in chunks_of(events).values()} == {(0, 0), (1, 0), (CLOUD, -1)}
    events = run(cluster, [job("a", 0, 5, upload=(5, 5), cloud=5)])
    assert chunks_of(events)[0, 0][:2] == (0, 0)


def test_a_worker_whose_server_is_away_waits_with_its_chunks():
    """a runs [0, 3), the server is away until 8."""
    events = run(world(machine(away=((3, 8),)), machine("s1", 0)), [job("a", 0, 5, upload=(0, 0))], "a_online_edge")
    assert chunks_of(events) == {(0, 0): (0, 0, [(0, 3), (8, 10)])}


def test_storage_keeps_a_job_out_until_its_chunks_fit():
    """Room for two chunks of 1 MB until the whole job is done: b waits for a, and is rejected where it never fits."""
    jobs = [
        job("a", 0, 5, chunks=2, chunk_mb=1.0),
        job("b", 1, 5, chunk_mb=1.0),
        job("c", 1, 1, chunks=3, chunk_mb=1.0),
    ]
    events = run(world(machine(storage_mb=2)), jobs, "a_online_edge", storage="job")
    assert chunks_of(events)[1, 0] == (0, 0, [(10, 15)])
    events = run(world(machine(storage_mb=2)), jobs, "a_online_edge", storage="chunk")
    assert chunks_of(events)[1, 0] == (0, 0, [(5, 10)])  # one chunk of a is done, and b has the higher rate
    assert [values["waiting"] for _, _, values in decisions_of(events, "postponed")] == [1]
    assert decisions_of(events, "rejected") == [(2, "rejected", {"chunks": 3, "chunk_mb": 1.0, "most": 2})]
    events = run(world(machine(storage_mb=0), cloud=True), [job("a", 0, 5, chunk_mb=1.0, cloud=900)], storage="job")
    assert chunks_of(events)[0, 0] == (CLOUD, -1, [(900, 905)]), "what does not fit goes to the cloud"


def test_a_type_without_a_worker_goes_to_the_cloud_or_is_refused_with_the_reason():
    jobs = [job("a", 0, 5, kind="b", cloud=7)]
    assert chunks_of(run(world(machine(), cloud=True), jobs)) == {(0, 0): (CLOUD, -1, [(7, 12)])}
    for name, cloud in (("a_online", False), ("a_online_edge", True), ("a_online_edge", False)):
        assert decisions_of(run(world(machine(), cloud=cloud), jobs, name), "rejected") == [
            (0, "rejected", {"type": "b", "types": ["a"]})
        ]


def test_without_the_cloud_there_must_be_a_parameter_server_for_every_worker():
    with pytest.raises(
        ModelError, match=r"A_online-E needs a parameter server for every worker.*: 2 workers and 1 parameter server;"
    ):
        run(world(machine(workers=2, ps=1)), [], "a_online_edge")
    with pytest.raises(ModelError, match="2 workers and 0 parameter servers"):
        run(world(machine(workers=2, ps=2, away=((1, 2),))), [], "a_online_edge")
    jobs = [job("a", 0, 5, cloud=100), job("b", 0, 5, cloud=100)]
    events = run(world(machine(workers=2, ps=1), cloud=True), jobs)
    assert sorted(bar[SERVER] for bar in bars_of(events).tolist() if bar[ROLE] == 1) == [CLOUD, 0], (
        "the second takes one in the cloud"
    )


def test_what_lies_after_the_horizon_is_not_planned():
    """The horizon is 30 ms: a chunk that arrives at 100 never runs, one that runs from 25 is cut."""
    cluster = world(machine(), horizon=3)
    events = run(
        cluster, [job("a", 0, 10, upload=(25,)), job("b", 0, 5, upload=(100,)), job("c", 40, 1)], "a_online_edge"
    )
    assert chunks_of(events) == {(0, 0): (0, 0, [(25, 30)])}
    assert [job for job, _, _ in decisions_of(events, "unfinished")] == [0, 1, 2]
    rows = output_of(cluster, [job("a", 0, 10, upload=(25,)), job("b", 0, 5, upload=(100,))], "a_online_edge", 0, {})
    assert verify(**rows) == []


def test_bad_jobs_are_refused_with_a_sentence():
    cluster = world(machine())
    without = run(cluster, [replace(job("a", 0, 5), num_chunks=None)], "a_online_edge")
    assert decisions_of(without, "rejected")[0][2] == {"part": "num_chunks"}
    huge = run(cluster, [job("a", 0, 1e13)], "a_online_edge")
    assert decisions_of(huge, "rejected")[0][2]["work_ms"] == 10**13
    with pytest.raises(ModelError, match="job a: upload_ms must hold one delay per server of the cluster, 1, got 2"):
        run(cluster, [job("a", 0, 5, upload=(1, 2))], "a_online_edge")


@pytest.mark.parametrize("seed", range(12))
def test_a_run_continues_to_the_byte_from_every_step(seed):
    """With cloud, absences and storage: saved as bytes, restored after each step, the rest of the run is the same."""
    cloud = seed % 2 == 0
    cluster, jobs = builders_random_typed.world(seed, cloud=cloud, away=seed % 3 == 0)
    name = "a_online" if cloud else "a_online_edge"
    parameters = [{}, {"storage": "job"}, {"storage": "chunk"}][seed // 2 % 3]
    whole = encoded(run(cluster, jobs, name, 5, **parameters))
    simulation = Simulation(cluster, jobs, build(name, parameters), 5)
    while simulation.next_ms is not None:
        simulation.run_until(max_events=1)
        saved = pack_state(simulation.state())
        again = Simulation(cluster, jobs, build(name, parameters), 5)
        again.restore(unpack_state(saved))
        assert again.next_ms == simulation.next_ms
        assert pack_state(again.state()) == saved
        assert encoded(again.events()) == whole[simulation.seq :]


def test_the_parameter_servers_of_the_cloud_and_of_other_types_are_used_in_turn():
    """Many random runs: jobs prefer their own type, then any, then the cloud; the draw depends on the seed alone."""
    cluster, jobs = generate("a-online", num_jobs=40, num_servers=10, seed=2, span_hours=200)
    one, two, other = (encoded(run(cluster, jobs, seed=seed)) for seed in (1, 1, 2))
    assert one == two
    assert one != other


def test_realistic_jobs_equal_the_straightforward_form():
    """Hours and MB as in the paper: 25 jobs of 27 to 115 chunks on 6 servers, where costs have all their digits."""
    for seed in range(2):
        cluster, jobs = generate("a-online", num_jobs=25, num_servers=6, seed=seed, span_hours=400)
        jobs = [replace(job, num_chunks=job.num_chunks // 9) for job in jobs]
        compare(cluster, jobs, cloud=True)
        compare(cluster, jobs, cloud=False)
