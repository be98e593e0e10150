"""OASiS against exhaustive search, and its life in the kernel."""

from dataclasses import replace

import numpy as np
import pytest

from scheduling.algorithms.oasis import Oasis, OasisParameters
from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.training_models import oasis_worker_slots
from scheduling.model.values import Cluster, ModelError, Server, Utility
from scheduling.reporting.reasons import sentence
from scheduling.slotted.oasis.roles import divide_roles
from scheduling.workloads import generate
from tests.scheduling import oracle, tiny

CLAIRVOYANT = {"estimate_from": "clairvoyant"}  # price bounds of all jobs: the first ones can be computed by hand


def run(cluster, jobs, **parameters):
    simulation = Simulation(cluster, jobs, build("oasis", CLAIRVOYANT | parameters), 0)
    return list(simulation.events())


def verdicts(events):
    """{job: (kind, code)}; on the way, every reason must have its sentence."""
    decided = [e.data for e in events if e.kind == "decided"]
    assert all(sentence(data["code"], data["values"]).endswith(".") for data in decided)
    return {data["job"]: (data["kind"], data["code"]) for data in decided}


def total_utility(cluster, jobs, scheduler="oasis", **parameters):
    given = CLAIRVOYANT | parameters if scheduler == "oasis" else parameters
    events = Simulation(cluster, jobs, build(scheduler, given), 0).events()
    return sum(e.data["utility"] for e in events if e.kind == "job_completed")


def test_one_job_gets_its_schedule():
    """4 worker-slots, 2 at a time, b = B: slots 0 and 1 with two workers on w0 and two parameter servers on p0."""
    cluster, job = tiny.cluster(gpus=4), tiny.job(work=4, chunks=2)
    events = run(cluster, [job], price_mode="literal")
    planned = next(e for e in events if e.kind == "plan_changed")
    assert planned.data["jobs"] == [[0, 0, 2_000]]
    assert [tuple(bar)[:6] for bar in planned.data["bars"]] == [(0, 0, 0, 0, 2000, 2), (0, 1, 1, 0, 2000, 2)]
    values = next(e for e in events if e.kind == "decided").data["values"]
    assert values["utility"] == 50
    assert values["payoff"] == values["utility"] - values["cost"]
    assert (values["start_slot"], values["finish_slot"], values["workers_peak"]) == (0, 1, 2)
    # empty servers cost the floors: 4 worker-slots of 1 GPU + 1 Gbps, and as many of 1 vCPU + 1 Gbps
    bounds = scheduler_of(cluster, [job]).bounds
    assert values["cost_by_role"] == pytest.approx([8 * bounds.worker_floor, 8 * bounds.ps_floor])
    assert sum(values["cost_by_resource"]) == pytest.approx(values["cost"])


def scheduler_of(cluster, jobs, **parameters):
    scheduler = Oasis(OasisParameters(**({"price_mode": "literal"} | CLAIRVOYANT | parameters)))
    scheduler.start(cluster, jobs, np.random.default_rng(0))
    return scheduler


def test_a_job_arriving_within_a_slot_waits_for_the_next():
    events = run(tiny.cluster(), [tiny.job(arrival_ms=1)], price_mode="literal")
    assert next(e for e in events if e.kind == "plan_changed").data["bars"][0].start_ms == 1_000


def test_workers_that_share_a_parameter_server_wait_for_company():
    """3 Gbps serve three workers of 1 Gbps: one parameter server stands beside three workers, two beside four."""
    cluster = tiny.cluster(gpus=4, ps_cpus=4)
    events = run(cluster, [tiny.job(work=3, chunks=3, ps_gbps=3)], price_mode="literal")
    bars = next(e for e in events if e.kind == "plan_changed").data["bars"]
    assert [(bar.role, bar.count) for bar in bars] == [(0, 3), (1, 1)]


@pytest.mark.parametrize("seed", range(75))
def test_every_decision_equals_exhaustive_search(seed):
    """Up to 4 jobs on 2 + 1 servers: before each arrival, all schedules at its prices tried (300 decisions in all)."""
    rng = np.random.default_rng(seed)
    cluster = tiny.cluster(workers=2, ps=1, slots=3, gpus=int(rng.integers(1, 3)), ps_cpus=int(rng.integers(1, 4)))
    arrivals = sorted((tiny.random_job(rng, n, 3) for n in range(4)), key=lambda job: job.arrival_ms)
    scheduler = scheduler_of(cluster, arrivals, price_mode=("literal", "marginal")[seed % 2])
    slots = np.arange(3)
    free = np.array([[s.capacity for s in cluster.servers]] * 3)
    for index, job in enumerate(arrivals):
        payoff, last = oracle.best_payoff(cluster, job, scheduler.prices(slots), free)
        decision = scheduler.on_arrival(job.arrival_ms, index)
        _, kind, reason = decision.verdicts[0]
        if payoff <= 1e-12:
            assert kind == "rejected", reason
            if reason.code == "payoff_not_positive":
                assert reason.values["payoff"] <= payoff + 1e-9
            continue
        assert kind == "admitted", reason
        assert reason.values["payoff"] == pytest.approx(payoff, abs=1e-9)
        assert reason.values["finish_slot"] == last
        for bar in decision.plan[index]:
            demand = np.array(job.worker if bar.role == 0 else job.ps)
            free[bar.start_ms // 1000 : bar.end_ms // 1000, bar.server] -= bar.count * demand
        assert (free >= 0).all()


@pytest.mark.parametrize("seed", range(12))
def test_the_oracles_agree_and_bound_oasis(seed):
    rng = np.random.default_rng(1000 + seed)
    cluster = tiny.cluster(workers=1, ps=1, slots=2, gpus=2, ps_cpus=2)
    jobs = sorted((tiny.random_job(rng, n, 2) for n in range(3)), key=lambda job: job.arrival_ms)
    best = oracle.optimum(cluster, jobs)
    assert best == pytest.approx(oracle.enumerated(cluster, jobs), abs=1e-6)
    assert total_utility(cluster, jobs) <= best + 1e-6


def test_a_cluster_without_a_horizon_gets_one_after_the_last_arrival():
    """The last job arrives in slot 3 and needs as many slots as the others: those slots are added, and it finishes."""
    job = tiny.job()
    least = -(-oasis_worker_slots(job, 1_000) // job.num_chunks)
    late = replace(job, id="late", arrival_ms=3_000)
    endless = replace(tiny.cluster(), horizon_slots=None)
    assert scheduler_of(endless, [job, late]).horizon == 3 + least
    assert scheduler_of(endless, []).horizon == 1
    assert scheduler_of(endless, [job, late], estimate_from="history").horizon == 3 + 100
    assert scheduler_of(endless, [], estimate_from="history").horizon == 100


def test_more_prices_than_memory_are_refused_with_what_would_work():
    with pytest.raises(ModelError, match="more than 60,000,000; set horizon_slots to at most"):
        run(replace(tiny.cluster(), horizon_slots=100_000_000), [tiny.job()])


def test_reasons_of_jobs_that_have_no_schedule():
    cluster = tiny.cluster(slots=3, gpus=2)
    jobs = [
        tiny.job("big", gpus=3),
        tiny.job("long", work=7, chunks=2),
        tiny.job("slow", gbps=2, ps_gbps=1),
        replace(tiny.job("bare"), utility=None),
        tiny.job("behind", arrival_ms=2_001),
    ]
    assert verdicts(run(cluster, jobs)) == {
        0: ("rejected", "fits_nowhere"), 1: ("rejected", "too_late"), 2: ("rejected", "ps_too_slow"),
        3: ("rejected", "missing_part"), 4: ("rejected", "too_late"),
    }  # fmt: skip


def test_no_capacity_names_the_role_that_ran_out():
    """The first job takes the only parameter server of the only slot; a worker would still fit."""
    cluster = tiny.cluster(slots=1, gpus=2, ps_cpus=1)
    jobs = [tiny.job("j1", work=1, chunks=1), tiny.job("j2", work=1, chunks=1)]
    events = run(cluster, jobs, price_mode="literal")
    assert verdicts(events)[1] == ("rejected", "no_capacity")
    reason = [e.data for e in events if e.kind == "decided"][1]["values"]
    assert reason == {"role": "ps", "need_worker_slots": 1, "left_slots": 1}


def test_a_rejection_by_price_says_what_it_would_have_cost():
    """Nearly full, the cluster is dear: the second job is worth a tenth. Its reason names the dearest cells."""
    cluster = tiny.cluster(slots=2, gpus=4, ps_cpus=4)
    jobs = [tiny.job("j1", work=6, chunks=3), tiny.job("j2", work=2, chunks=1, priority=1.0)]
    events = run(cluster, jobs, price_mode="literal")
    data = [e.data for e in events if e.kind == "decided"][1]
    assert (data["kind"], data["code"]) == ("rejected", "payoff_not_positive")
    values = data["values"]
    assert values["utility"] == 0.5
    assert values["cost"] >= 0.5
    assert values["payoff"] == values["utility"] - values["cost"]
    costs = [cell[4] for cell in values["cells"]]
    assert costs == sorted(costs, reverse=True)
    assert sum(costs) == pytest.approx(values["cost"])  # fewer than ten cells, so these are all


def test_odd_inputs_do_no_harm():
    """A server of nothing, a horizon of one slot, thirty jobs at once, and utilities that underflow to zero."""
    empty = Server("w9", "edge", (0, 0, 0, 0, 0), roles=("worker",))
    one_slot = tiny.cluster(slots=1, gpus=4, ps_cpus=4)
    one_slot = replace(one_slot, servers=(empty, *one_slot.servers))
    jobs = [tiny.job(f"j{n:02d}", work=1, chunks=1, priority=1.0 + n) for n in range(30)]
    kinds = [kind for kind, _ in verdicts(run(one_slot, jobs, price_mode="literal")).values()]
    assert 1 <= kinds.count("admitted") <= 4
    worthless = [replace(tiny.job(work=6), utility=Utility(100.0, 1e6, 0.5))]
    assert verdicts(run(tiny.cluster(slots=9), worthless)) == {0: ("rejected", "payoff_not_positive")}
    assert verdicts(run(tiny.cluster(), [])) == {}


def test_a_job_with_millions_of_chunks_is_planned_in_lots():
    """10 million worker-slots asked for, 600 GPUs there: 1 slot cannot do it, 20,000 worker-slots in 40 slots can."""
    cluster = tiny.cluster(slots=40, gpus=600, ps_cpus=600)
    cluster = replace(cluster, servers=tuple(replace(s, capacity=(*s.capacity[:4], 10**9)) for s in cluster.servers))
    jobs = [tiny.job("j1", work=10_000_000, chunks=10_000_000), tiny.job("j2", work=20_000, chunks=10_000_000)]
    events = run(cluster, jobs, price_mode="literal")
    assert verdicts(events) == {0: ("rejected", "no_capacity"), 1: ("admitted", "payoff_positive")}
    bars = [bar for e in events if e.kind == "plan_changed" for bar in e.data["bars"] if bar.role == 0]
    assert 20_000 <= sum(bar.count * (bar.end_ms - bar.start_ms) // 1000 for bar in bars) < 20_100


def test_dual_servers_are_divided_with_gpus_for_workers():
    servers = [Server(f"s{n}", "edge", ((n % 2) * 1000, 1000, 0, 0, 1000)) for n in range(8)]
    assert "".join(s.roles[0][0] for s in divide_roles(servers, 0.5)) == "pwpwpwpw"
    assert "".join(s.roles[0][0] for s in divide_roles(servers, 0.25)) == "pwpppwpp"
    plain = [Server(f"s{n}", "edge", (1000, 1000, 0, 0, 1000)) for n in range(5)]
    assert "".join(s.roles[0][0] for s in divide_roles(plain, 0.5)) == "wwpwp"
    fixed = [Server("a", "edge", (0, 1, 0, 0, 0), roles=("ps",)), *plain]
    assert divide_roles(fixed, 0.5)[0] is fixed[0]


def test_dual_servers_train_jobs():
    cluster = Cluster("dual", tiny.SLOT, tuple(Server(f"s{n}", "edge", (2000, 2000, 0, 0, 9000)) for n in range(2)), 4)
    assert verdicts(run(cluster, [tiny.job()], price_mode="literal")) == {0: ("admitted", "payoff_positive")}


def test_the_same_seed_gives_the_same_events_and_a_restored_run_continues_alike():
    cluster, jobs = generate("oasis", num_jobs=40, num_servers=20, seed=3, horizon_slots=40)
    whole = run(cluster, jobs)
    assert repr(run(cluster, jobs)) == repr(whole)
    first = Simulation(cluster, jobs, build("oasis", CLAIRVOYANT), 0)
    head = first.run_until(max_events=60)
    second = Simulation(cluster, jobs, build("oasis", CLAIRVOYANT), 0)
    second.restore(first.state())
    assert repr(head + list(second.events())) == repr(whole)


@pytest.mark.parametrize("seed", [7, 8, 9, 10])
@pytest.mark.thorough
def test_marginal_prices_beat_the_printed_ones_and_fifo(seed):
    cluster, jobs = generate("oasis", num_jobs=100, num_servers=100, seed=seed)
    marginal = total_utility(cluster, jobs)
    assert marginal > 1.3 * total_utility(cluster, jobs, price_mode="literal")
    assert marginal > 2 * total_utility(cluster, jobs, "fifo")
