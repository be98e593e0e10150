"""BatchSche (our interpretation): costs worked by hand, both rules, and the verifier."""

import pytest

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.bars import CLOUD
from scheduling.verification.verify import verify
from tests.cases import cases
from tests.scheduling import builders_random_typed
from tests.scheduling.builders import output_of
from tests.scheduling.builders_typed_workers import bars_of, decisions_of, encoded, job, machine, run, world
from twin.infra.columns import pack_state, unpack_state

HOUR = 3_600_000


def placed(events):
    return {(row[0], row[2]): (row[3], row[4], row[5]) for row in bars_of(events).tolist() if row[1] == 0}


def test_each_job_takes_what_costs_least_in_order_of_work():
    """10 workers. b (work 4) first: 1 worker at 0.8 x 10^0.1 = 1.007 per ms, against 1 in the cloud: the cloud.

    With 20 workers: the edge.
    """
    jobs = [job("a", 0, 8, chunks=2, cloud=5), job("b", 0, 4, cloud=5)]
    events = run(world(machine(workers=10), cloud=True), jobs, "batch_sche")
    assert placed(events) == {(0, CLOUD): (5, 13, 2), (1, CLOUD): (5, 9, 1)}
    events = run(world(machine(workers=20), cloud=True), jobs, "batch_sche")
    assert placed(events) == {(0, CLOUD): (5, 13, 2), (1, 0): (0, 4, 1)}, "after b, 2 of 20 cost 1.007 again"
    assert [(v["cloud"], v["choices"]) for _, _, v in decisions_of(events, "started")] == [(False, 2), (True, 3)]


def test_the_next_batch_opens_when_the_one_before_is_done_or_at_the_end_of_a_period():
    jobs = [job("a", 0, 10), job("b", 1, 2), job("c", 4, 2)]
    events = run(world(machine(workers=3)), jobs, "batch_sche")
    assert placed(events) == {(0, 0): (0, 10, 1), (1, 0): (10, 12, 1), (2, 0): (10, 12, 1)}
    events = run(world(machine(workers=3)), jobs, "batch_sche", rule="period", period_hours=0.001)
    assert placed(events) == {(0, 0): (0, 10, 1), (1, 0): (3_600, 3_602, 1), (2, 0): (3_600, 3_602, 1)}


def test_a_job_for_which_nothing_is_free_waits_and_one_without_a_worker_is_refused():
    jobs = [job("a", 0, 10), job("b", 0, 10), job("c", 0, 1, kind="b")]
    events = run(world(machine()), jobs, "batch_sche")
    assert placed(events) == {(0, 0): (0, 10, 1), (1, 0): (10, 20, 1)} or len(placed(events)) == 2
    assert decisions_of(events, "rejected") == [(2, "rejected", {"type": "b", "types": ["a"]})]


@pytest.mark.parametrize("parameters", [{}, {"rule": "period", "period_hours": 0.001}])
def test_whatever_it_does_the_verifier_accepts_and_it_continues_to_the_byte(parameters):
    for seed in range(cases(150, 25)):
        cluster, jobs = builders_random_typed.world(seed, cloud=seed % 2 == 0, away=seed % 3 == 0)
        assert verify(**output_of(cluster, jobs, "batch_sche", 0, parameters)) == [], seed
        if seed % 10:
            continue
        whole = encoded(run(cluster, jobs, "batch_sche", 5, **parameters))
        simulation = Simulation(cluster, jobs, build("batch_sche", parameters), 5)
        while simulation.next_ms is not None:
            simulation.run_until(max_events=1)
            saved = pack_state(simulation.state())
            again = Simulation(cluster, jobs, build("batch_sche", parameters), 5)
            again.restore(unpack_state(saved))
            assert pack_state(again.state()) == saved
            assert encoded(again.events()) == whole[simulation.seq :]
