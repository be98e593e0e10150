"""PD-ORS: its decisions on examples worked by hand, against exhaustive search, and on inputs that are odd."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import OptimizeResult

from scheduling.algorithms.pd_ors import PdOrs, PdOrsParameters
from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.values import ModelError, Server, Utility
from scheduling.reporting.reasons import sentence
from scheduling.slotted.solvers import multi_machine_exact
from scheduling.slotted.workload_pd_ors import pd_ors
from scheduling.verification.verify import verify
from tests.cases import cases
from tests.scheduling.builders import output_of
from tests.scheduling.primal_dual import oracle_pd_ors as oracle
from tests.scheduling.primal_dual.builders_pd_ors import SLOT, cluster, job, random_job, server

BIG = 9_000


CLAIRVOYANT = {"estimate_from": "clairvoyant"}  # price bounds of all jobs: the first ones can be computed by hand


def run(machines, jobs, seed=0, **parameters):
    return list(Simulation(machines, jobs, build("pd_ors", CLAIRVOYANT | parameters), seed).events())


def verdicts(events):
    """{job: (kind, code)}; on the way, every reason must have its sentence."""
    decided = [e.data for e in events if e.kind == "decided"]
    assert all(sentence(data["code"], data["values"]).endswith(".") for data in decided)
    return {data["job"]: (data["kind"], data["code"]) for data in decided}


def reasons(events):
    return [e.data["values"] for e in events if e.kind == "decided"]


def bars(events, job=0):
    return [
        tuple(bar)[1:6]
        for e in events
        if e.kind == "plan_changed" and e.data["keys"] == [job]
        for bar in e.data["bars"]
    ]


def scheduler_of(machines, jobs, **parameters):
    scheduler = PdOrs(PdOrsParameters(**(CLAIRVOYANT | parameters)))
    scheduler.start(machines, jobs, np.random.default_rng(0))
    return scheduler


def test_a_job_stays_on_one_machine_where_that_is_faster():
    """2 worker-slots on one machine, 4 on two: one worker and its parameter server on h0 in slots 0 and 1."""
    machines = cluster(server("h0", 1, 1), server("h1", 1, 1))
    events = run(machines, [job(work=2, slower=2)], price_mode="literal")
    assert bars(events) == [(0, 0, 0, 2000, 1), (1, 0, 0, 2000, 1)]
    values = reasons(events)[0]
    assert (values["utility"], values["start_slot"], values["finish_slot"], values["workers_peak"]) == (50, 0, 1, 1)
    assert (values["internal_slots"], values["external_slots"]) == (2, 0)
    floor = scheduler_of(machines, [job(work=2, slower=2)], price_mode="literal").bounds.floor
    assert values["cost_by_role"] == pytest.approx([2 * floor, 2 * floor])  # 1 GPU and 1 vCPU for 2 slots
    assert sum(values["cost_by_resource"]) == pytest.approx(values["cost"])
    assert values["payoff"] == values["utility"] - values["cost"]


def test_a_job_in_a_hurry_spreads_over_machines():
    """Only slot 0 is in time: 1 worker-slot at the slow rate takes both machines, one worker and one server on each."""
    machines = cluster(server("h0", 1, 1), server("h1", 1, 1), slots=3)
    events = run(machines, [job(work=1.6, slower=1.25, sensitivity=600, target=0.5)], price_mode="literal")
    assert bars(events) == [(0, 0, 0, 1000, 1), (0, 1, 0, 1000, 1), (1, 0, 0, 1000, 1), (1, 1, 0, 1000, 1)]
    assert reasons(events)[0]["external_slots"] == 1


def test_gamma_workers_share_a_parameter_server():
    events = run(cluster(server(gpus=4)), [job(work=3, batch=3, gamma=3)], price_mode="literal")
    assert bars(events) == [(0, 0, 0, 1000, 3), (1, 0, 0, 1000, 1)]


def test_a_job_arriving_within_a_slot_waits_for_the_next():
    assert bars(run(cluster(), [job(arrival_ms=1)], price_mode="literal"))[0][2] == 1000


def test_machines_of_one_role_hold_only_that():
    machines = cluster(server("w", 2, 2, ("worker",)), server("p", 2, 2, ("ps",)))
    assert {(role, host) for role, host, *_ in bars(run(machines, [job()], price_mode="literal"))} == {(0, 0), (1, 1)}


def test_bandwidth_is_neither_counted_nor_priced():
    machines = cluster()
    assert verdicts(run(machines, [job()])) == {0: ("admitted", "payoff_positive")}
    assert np.isnan(scheduler_of(machines, [job()]).prices(np.arange(4))[:, :, 4]).all()


def random_instance(seed):
    rng = np.random.default_rng(seed)
    sizes = [(int(rng.integers(0, 4)), int(rng.integers(1, 4))) for _ in range(2)]
    machines = cluster(*(server(f"h{n}", *size) for n, size in enumerate(sizes)), slots=3)
    return machines, sorted((random_job(rng, n, 3) for n in range(4)), key=lambda job: job.arrival_ms)


def payoffs(seed):
    """(decided, exhaustive) of each job with a schedule; a decided payoff of 0 stands for a rejection."""
    machines, jobs = random_instance(seed)
    scheduler = scheduler_of(machines, jobs, price_mode=("literal", "marginal")[seed % 2])
    free = np.array([[s.capacity for s in machines.servers]] * 3)
    found = []
    for index, row in enumerate(jobs):
        best = oracle.best_payoff(machines, row, scheduler.prices(np.arange(3)), free)
        decision = scheduler.on_arrival(row.arrival_ms, index)
        _, kind, reason = decision.verdicts[0]
        assert (kind == "admitted") == (reason.code == "payoff_positive")
        found.append((reason.values["payoff"] if kind == "admitted" else 0.0, max(best, 0.0)))
        if reason.code == "payoff_not_positive":
            assert reason.values["payoff"] <= 1e-12
        for bar in decision.plan.get(index, ()):
            demand = np.array(row.worker if bar.role == 0 else row.ps)
            demand[4] = 0
            free[bar.start_ms // SLOT : bar.end_ms // SLOT, bar.server] -= bar.count * demand
        assert (free >= 0).all()
    return found


@pytest.mark.parametrize(
    "seeds", [range(60), pytest.param(range(60, 300), marks=pytest.mark.slow)], ids=["240 decisions", "960 more"]
)
@pytest.mark.thorough
def test_every_decision_is_the_optimum(seeds):
    """4 jobs, 2 machines and 3 slots a seed, against exhaustive search; without positive payoff both count as 0."""
    found = [pair for seed in seeds for pair in payoffs(seed)]
    assert len(found) == 4 * len(seeds)
    assert sum(best > 1e-9 for _, best in found) >= len(found) / 3
    assert [(own, best) for own, best in found if own != pytest.approx(best, rel=1e-9, abs=1e-9)] == []


def test_a_job_that_just_fits_is_not_rounded_out_of_its_slots():
    """3 workers of 1.7 external worker-slots each just do 5.1: in eighths, rounded to be safe, they did not."""
    row = job(work=3, batch=3, slower=1.7)
    machines = cluster(server(gpus=1, cpus=1), slots=3)
    assert verdicts(run(machines, [row], price_mode="literal")) == {0: ("admitted", "payoff_positive")}
    assert bars(run(machines, [row], price_mode="literal")) == [(0, 0, 0, 3000, 1), (1, 0, 0, 3000, 1)]


@pytest.mark.parametrize("price_mode", ["marginal", "literal"])
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.thorough
def test_schedules_pass_the_verifier(price_mode, seed):
    machines, jobs = pd_ors("calibrated", 40, 10, seed, 20, 3_600_000)
    assert verify(**output_of(machines, jobs, "pd_ors", seed, {"price_mode": price_mode})) == []


@pytest.mark.parametrize(
    "parameters", [{"refine": False}, {"mode": "paper"}, {"mode": "paper", "failure_probability": 0.5}]
)
def test_every_mode_passes_the_verifier_and_repeats_itself(parameters):
    """6 machines that differ, so that greedy, refined and rounded placements do, too."""
    machines, jobs = pd_ors("calibrated", 12, 6, 5, 8, 3_600_000, spread=0.4)
    jobs = [replace(row, global_batch=min(row.global_batch, 40), epochs=20) for row in jobs]
    rows = output_of(machines, jobs, "pd_ors", 5, parameters)
    assert verify(**rows) == []
    assert sum(row["kind"] == "admitted" for row in rows["decisions"]) >= 3
    assert repr(run(machines, jobs, 5, **parameters)) == repr(run(machines, jobs, 5, **parameters))


def test_refinement_never_does_worse():
    """60 random runs: the payoff of a first decision with refinement is at least that without."""
    for seed in range(cases(60, 10)):
        machines, jobs = random_instance(seed)
        first = [
            scheduler_of(machines, jobs, refine=refine)
            .on_arrival(jobs[0].arrival_ms, 0)
            .verdicts[0]
            .reason.values.get("payoff", -1)
            for refine in (True, False)
        ]
        assert first[0] >= first[1] - 1e-9


@pytest.mark.parametrize("raised", [ValueError("no licence"), None])
def test_a_solver_that_fails_is_reported_and_the_run_goes_on(monkeypatch, raised):
    def broken(*args, **kwargs):
        if raised:
            raise raised
        return OptimizeResult(status=1, x=None)  # out of time

    machines, jobs = pd_ors("calibrated", 60, 10, 1, 20, 3_600_000, spread=0.4)
    healthy = run(machines, jobs, price_mode="literal")
    monkeypatch.setattr(multi_machine_exact, "milp", broken)
    events = run(machines, jobs, price_mode="literal")
    name = "solver_error" if raised else "solver_limit"
    refined = [e.data for e in events if e.kind == "decided" and name in e.data["values"]]
    assert refined
    assert all("Refinement incomplete" in sentence(data["code"], data["values"]) for data in refined)
    assert [e.data["job"] for e in events if e.kind == "decided"] == [
        e.data["job"] for e in healthy if e.kind == "decided"
    ]
    assert verify(**output_of(machines, jobs, "pd_ors", 0, {"price_mode": "literal"})) == []


@pytest.mark.parametrize(("mode", "name", "sentence_part"), [
    ("production", "solver_limit", "Refinement incomplete: the solver reached its limit"),
    ("paper", "relaxation_limit", "Relaxation incomplete: the solver reached its limit"),
])  # fmt: skip
def test_solvers_without_time_say_so_and_the_run_goes_on(mode, name, sentence_part):
    """With 0 s for each program nothing is solved: every job is decided by the placements that need no solver."""
    num_jobs, num_servers = (60, 20) if mode == "production" else (30, 6)
    machines, jobs = pd_ors("calibrated", num_jobs, num_servers, 1, 20, 3_600_000, spread=0.4)
    parameters = {"mode": mode, "price_mode": "literal", "solver_seconds": 0.0}
    events = run(machines, jobs, **parameters)
    refined = [e.data for e in events if e.kind == "decided" and e.data["values"].get(name)]
    assert refined
    assert all(
        f"{sentence_part} {data['values'][name]} time" in sentence(data["code"], data["values"]) for data in refined
    )
    assert len(verdicts(events)) == num_jobs
    assert any(kind == "admitted" for kind, _ in verdicts(events).values())
    assert verify(**output_of(machines, jobs, "pd_ors", 0, parameters)) == []
    enough = run(machines, jobs, **(parameters | {"solver_seconds": 10.0}))
    assert not any(name in e.data["values"] for e in enough if e.kind == "decided")


@settings(max_examples=cases(25, 5))
@given(st.integers(0, 10**6), st.sampled_from(["production", "paper"]), st.sampled_from(["literal", "marginal"]))
def test_invariants_of_random_runs(seed, mode, price_mode):
    """Capacity and work are rechecked by the verifier; prices never fall and stay between floor and ceiling."""
    machines, jobs = random_instance(seed)
    scheduler = scheduler_of(machines, jobs, mode=mode, price_mode=price_mode)
    before = scheduler.prices(np.arange(3))
    for index, row in enumerate(jobs):
        decision = scheduler.on_arrival(row.arrival_ms, index)
        values = decision.verdicts[0].reason.values
        if "payoff" in values:
            assert sum(values["cost_by_role"]) == pytest.approx(values["cost"])
            assert values["payoff"] == values["utility"] - values["cost"]
        after = scheduler.prices(np.arange(3))
        assert (np.nan_to_num(after) >= np.nan_to_num(before)).all()
        before = after
    ceiling = np.array(scheduler.bounds.ceiling)
    assert (np.nan_to_num(before) <= ceiling * (1 + 1e-9)).all()
    assert verify(**output_of(machines, jobs, "pd_ors", 0, {"mode": mode, "price_mode": price_mode})) == []


def test_reasons_of_jobs_that_have_no_schedule():
    machines = cluster(server("h0", 2, 2), slots=3)
    jobs = [
        job("big", gpus=3),
        job("long", work=7, batch=2),
        replace(job("bare"), utility=None),
        replace(job("ratio"), workers_per_ps=None),
        job("behind", arrival_ms=2_001),
    ]
    assert verdicts(run(machines, jobs)) == {
        0: ("rejected", "fits_nowhere"), 1: ("rejected", "too_late"), 2: ("rejected", "missing_part"),
        3: ("rejected", "missing_part"), 4: ("rejected", "too_late"),
    }  # fmt: skip


def test_no_capacity_names_the_role_that_ran_out():
    """The first job takes the only parameter server of the only slot; a worker would still fit."""
    machines = cluster(server("h0", 2, 1), slots=1)
    jobs = [job("j1", work=1, batch=1), job("j2", work=1, batch=1)]
    events = run(machines, jobs, price_mode="literal")
    assert verdicts(events)[1] == ("rejected", "no_capacity")
    assert reasons(events)[1] == {"role": "ps", "need_worker_slots": 1, "left_slots": 1}


def test_a_rejection_by_price_says_what_it_would_have_cost():
    machines = cluster(server("h0", 4, 4), slots=2)
    jobs = [job("j1", work=6, batch=3), job("j2", work=2, batch=1, priority=1.0)]
    events = run(machines, jobs, price_mode="literal")
    assert verdicts(events)[1] == ("rejected", "payoff_not_positive")
    values = reasons(events)[1]
    assert values["utility"] == 0.5
    assert values["cost"] >= 0.5
    costs = [cell[4] for cell in values["cells"]]
    assert costs == sorted(costs, reverse=True)
    assert sum(costs) == pytest.approx(values["cost"])  # fewer than ten cells, so these are all


def test_a_machine_that_is_away_holds_nothing():
    """h0 is away in slot 1, so a job of three slots on it runs in 0, 2 and 3."""
    machines = cluster(server("h0", 1, 1, away=((1_000, 1_500),)))
    events = run(machines, [job(work=3, batch=1)], price_mode="literal")
    assert [(start, end) for role, _, start, end, _ in bars(events) if role == 0] == [(0, 1000), (2000, 4000)]


def test_a_cluster_without_a_horizon_gets_one_after_the_last_arrival():
    machines = replace(cluster(), horizon_slots=None)
    jobs = [job("j1", work=4), job("j2", arrival_ms=3_000, work=4)]
    assert scheduler_of(machines, jobs).horizon == 3 + 2
    assert set(verdicts(run(machines, jobs)).values()) == {("admitted", "payoff_positive")}


def test_more_prices_than_memory_are_refused_with_what_would_work():
    with pytest.raises(ModelError, match="more than 60,000,000; set horizon_slots to at most"):
        run(replace(cluster(), horizon_slots=100_000_000), [job()])


@pytest.mark.thorough
def test_odd_inputs_do_no_harm():
    """A machine of nothing, one slot, 1,000 jobs in it, underflowing utilities, prices at both ends of the doubles."""
    empty = Server("none", "edge", (0, 0, 0, 0, 0))
    machines = cluster(empty, server("h0", 4, 4), slots=1)
    jobs = [job(f"j{n:04d}", work=1, batch=1, priority=1.0 + n) for n in range(1000)]
    kinds = [kind for kind, _ in verdicts(run(machines, jobs, price_mode="literal")).values()]
    assert 1 <= kinds.count("admitted") <= 4
    assert len(kinds) == 1000
    worthless = [replace(job(work=6), utility=Utility(100.0, 1e6, 0.5))]
    assert verdicts(run(cluster(slots=9), worthless)) == {0: ("rejected", "payoff_not_positive")}
    assert verdicts(run(cluster(), [])) == {}
    rich = [replace(job("rich"), utility=Utility(2.0**53, 0, 1)), replace(job("poor"), utility=Utility(1e-9, 0, 1))]
    assert verdicts(run(cluster(), rich, floor_scale=1e-12))[0] == ("admitted", "payoff_positive")
    run(cluster(), rich, floor_scale=1e12)
    free = [replace(job(), worker=(0, 0, 0, 0, 0), ps=(0, 0, 0, 0, 0))]
    assert verdicts(run(cluster(), free)) == {0: ("admitted", "payoff_positive")}


BASE = job(work=3, batch=3, slower=2)


@pytest.mark.parametrize("mode", ["production", "paper"])
@pytest.mark.parametrize("odd", [
    replace(BASE, internal_gbps=BASE.external_gbps, external_gbps=16.0),  # one machine is slower than several
    replace(BASE, ps=(0, 0, 0, 0, 0)), replace(BASE, worker=(0, 0, 0, 0, 0)), replace(BASE, gradient_mb=0.0),
    replace(BASE, num_samples=1, sample_ms=1e-9, gradient_mb=0.0),
    replace(BASE, utility=Utility(1e-9, 0, 1)), replace(BASE, utility=Utility(2.0**53, 5.0, 2.0)),
])  # fmt: skip
@pytest.mark.filterwarnings("error")
def test_odd_jobs_are_decided_on_odd_machines(odd, mode):
    for machines in (
        cluster(server("h0", 2, 2), server("h1", 2, 2)),
        cluster(server("h0", 2, 0), server("h1", 0, 2)),
        cluster(Server("none", "edge", (0, 0, 0, 0, 0)), server("h1", 2, 2), slots=1),
    ):
        rows = output_of(machines, [odd, replace(odd, id="j2")], "pd_ors", 0, {"mode": mode, "tries": 10})
        assert verify(**rows) == []
        assert len(rows["decisions"]) == 2


def test_a_job_of_millions_of_samples_and_workers_is_planned():
    machines = cluster(server("h0", BIG, BIG), server("h1", BIG, BIG), slots=8)
    huge = replace(job(work=100_000.0), num_samples=10**9, sample_ms=0.1, global_batch=2**50, workers_per_ps=2**40)
    assert verdicts(run(machines, [huge], price_mode="literal")) == {0: ("admitted", "payoff_positive")}


@pytest.mark.parametrize("parameters", [{}, {"mode": "paper"}])
def test_the_same_seed_gives_the_same_events_and_a_restored_run_continues_alike(parameters):
    machines, jobs = pd_ors("calibrated", 30, 5, 3, 10, 3_600_000)
    jobs = [replace(row, global_batch=min(row.global_batch, 15), epochs=10) for row in jobs]
    whole = run(machines, jobs, **parameters)
    assert repr(run(machines, jobs, **parameters)) == repr(whole)
    first = Simulation(machines, jobs, build("pd_ors", CLAIRVOYANT | parameters), 0)
    head = first.run_until(max_events=40)
    second = Simulation(machines, jobs, build("pd_ors", CLAIRVOYANT | parameters), 0)
    second.restore(first.state())
    assert repr(head + list(second.events())) == repr(whole)
