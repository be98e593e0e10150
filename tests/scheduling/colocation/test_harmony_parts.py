"""Memory, subtasks, sharing and the mapping between the papers' models, with numbers that can be checked by hand."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from scheduling.colocation import subtasks
from scheduling.colocation.contention import paces_ms
from scheduling.colocation.estimates.time_estimates import Belief, Beliefs
from scheduling.colocation.job_mapping import Facts, as_harmony, facts, workers_on
from scheduling.colocation.memory import hill_climbing
from scheduling.colocation.memory import usage as memory
from scheduling.colocation.memory.usage import Data, GroupMachines
from scheduling.colocation.selection.group_selection import schedule
from scheduling.colocation.selection.performance import iteration_ms
from scheduling.colocation.site_pool import Pool
from scheduling.colocation.workload import COMBINATIONS, harmony
from scheduling.model.speed import completed
from scheduling.model.values import Cluster, Job, Server
from scheduling.workloads import generate
from tests.cases import cases
from tests.scheduling.builders_colocation import table
from tests.scheduling.colocation import harmony_reference as reference

MICRO = GroupMachines(32, 32.0, 0.00015)
EIGHT = [Data(row.input_gb, row.model_gb, 1.0) for row in COMBINATIONS]
EIGHT_COMM = [row.comm_s * 1000 for row in COMBINATIONS]
# at 32 machines, half of those at 16
EIGHT_COMP = [row.comm_s * row.share / (1 - row.share) * 500 for row in COMBINATIONS]


def test_eight_jobs_on_32_machines_fill_them_as_worked_by_hand():
    """(608.5 + 81.2) GB / 32 x 1.5 = 32.33 GB of data and 1.5 x 5 % x 24 GB / 32 at work, of 27.2 usable."""
    assert memory.usage(EIGHT, MICRO, [0.0] * 8, [0.0] * 8) == pytest.approx((32.33 + 0.05625) / 27.2, abs=1e-3)
    assert memory.usage(EIGHT, MICRO, [0.3] * 8, [0.0] * 8) < 1


def test_a_fixed_ratio_has_a_best_value_and_the_adapted_one_is_no_worse():
    """Fig. of Section V-G: too little on disk and garbage collection slows down, too much and the disk does.

    The paper's best is 0.3.
    """
    times = {a / 20: memory.fixed(EIGHT_COMP, EIGHT_COMM, EIGHT, MICRO, a / 20).pace_ms for a in range(21)}
    best = min(times, key=lambda a: times[a])
    assert 0.2 <= best <= 0.45
    assert times[0.1] > times[best] < times[0.6]
    assert hill_climbing.adapted(EIGHT_COMP, EIGHT_COMM, EIGHT, MICRO).pace_ms <= times[best] * 1.005


def test_models_go_to_disk_only_when_all_inputs_are_there():
    data = [Data(10.0, 30.0, 0.1)] * 2
    found = hill_climbing.adapted([1e5, 1e5], [1e5, 1e5], data, GroupMachines(4, 32.0, 0.00015))
    assert found.disk == [1.0, 1.0]
    assert 0 < found.model[0] < 1
    assert memory.usage(data, GroupMachines(4, 32.0, 0.00015), found.disk, found.model) <= memory.GC_FROM


def test_what_fits_stays_in_memory():
    small = hill_climbing.adapted([5.0], [5.0], [Data(1.0, 1.0, 1.0)], GroupMachines(4, 32.0, 0.00015))
    assert small == ([0.0], [0.0], 10.0)


def test_a_step_that_does_not_pay_is_taken_back_and_halved_at_last():
    """Reading costs more the more is on disk, so that up never pays; down pays until collecting garbage costs more."""
    setting = hill_climbing.Setting([8_000.0], [2_000.0], [Data(60.0, 0.0, 0.1)], GroupMachines(2, 32.0, 0.00015))
    climb = hill_climbing.begin(setting)
    seen = [climb]
    while not climb.done:
        climb = hill_climbing.advance(climb, setting)
        seen.append(climb)
    down = seen[1]
    assert (down.trial.ratio, down.disk[0]) == (seen[0].disk[0], pytest.approx(seen[0].disk[0] - 0.1))
    kept = [
        one
        for one, after in pairwise(seen)
        if one.trial and one.pace_ms < one.trial.pace_ms * 0.995 and after.failed == [0]
    ]
    assert all(setting.usage(one.disk, one.model) <= 1 for one in seen)
    assert abs(seen[-1].steps[0]) < hill_climbing.MIN_STEP
    assert seen[-1].pace_ms == min([one.pace_ms for one in kept], default=seen[0].pace_ms)
    # neither way pays at four sizes of a step: 8 trials that fail, beside those that paid
    assert len(seen) <= 2 + 8 + 2 * len(kept)


def test_the_moving_average_takes_each_iteration_once():
    rng = np.random.default_rng(5)
    known = facts(replace(Job("a", 0), comp_machine_ms=100.0, comm_ms=10.0, iterations=50))
    beliefs = Beliefs(lambda job: known, rng, 0.0, False)
    beliefs.of[0] = Belief(200.0, 10.0, 3)
    beliefs.learn(0, 3.9)
    assert beliefs.of[0].comp == 200.0  # no iteration is over
    beliefs.learn(0, 5.2)
    again = np.exp(np.random.default_rng(5).normal(0.0, 0.02, size=(2, 2)))
    by_hand = 0.7 * (0.7 * 200.0 + 0.3 * 100.0 * again[0, 0]) + 0.3 * 100.0 * again[0, 1]
    assert beliefs.of[0] == (pytest.approx(by_hand), pytest.approx(10.0, rel=0.02), 5)
    beliefs.learn(0, 5.8)
    assert beliefs.of[0].comp == pytest.approx(by_hand)


def test_one_job_goes_round_and_round():
    """10 s of computation, 4 s of communication: PULL 2, COMP 10, PUSH 2."""
    bars = subtasks.window([10_000], [4_000], 0, 0, 16_000)
    assert [(b.kind, b.iteration, b.start_ms, b.end_ms) for b in bars] == [
        (0, 1, 0, 2_000), (1, 1, 2_000, 12_000), (2, 1, 12_000, 14_000), (0, 2, 14_000, 16_000),
    ]  # fmt: skip


def test_two_opposite_jobs_fill_both_tracks():
    """8 + 2 and 2 + 8 seconds: in the long run 10 s an iteration, and neither track is ever empty."""
    comp, comm = [8_000, 2_000], [2_000, 8_000]
    assert subtasks.mean_iteration_ms(comp, comm) == pytest.approx(10_000)
    bars = subtasks.window(comp, comm, 0, 1_000_000, 1_100_000)
    assert subtasks.idle(bars, 1_000_000, 1_100_000, "cpu") == []


def test_a_track_serves_one_subtask_at_a_time_and_jobs_stay_together():
    rng = np.random.default_rng(0)
    for _ in range(cases(30, 6)):
        jobs = int(rng.integers(1, 6))
        comp, comm = rng.uniform(100, 9_000, jobs), rng.uniform(100, 9_000, jobs)
        bars = subtasks.window(comp, comm, 0, 0, 200_000)
        for kinds in ((1,), (0, 2)):
            track = [b for b in bars if b.kind in kinds]
            assert all(a.end_ms <= b.start_ms + 1e-6 for a, b in pairwise(track))
        ends = {(b.job, b.iteration): b.end_ms for b in bars if b.kind == subtasks.PUSH}
        for b in bars:
            if b.kind == subtasks.PULL and b.iteration > 2:
                assert all(ends[j, b.iteration - 2] <= b.start_ms + 1e-6 for j in range(jobs))


def test_a_window_does_not_depend_on_where_another_one_lies():
    """Looking far ahead skips whole periods; what is seen there is what a run through all of it shows."""
    rng = np.random.default_rng(1)
    for _ in range(cases(20, 4)):
        jobs = int(rng.integers(1, 5))
        comp, comm = rng.integers(1, 9, jobs) * 500.0, rng.integers(1, 9, jobs) * 500.0
        far = subtasks.window(comp, comm, 70, 300_070, 330_070)
        through = [b for b in subtasks.window(comp, comm, 70, 0, 330_070) if b.end_ms > 300_070]
        assert far == through


def test_a_secondary_network_subtask_by_hand():
    """Half of the network is left: of two PULLs of 2 s one ends at 2 s, the other did 1 s by then and ends at 3 s."""
    bars = subtasks.window([10_000, 9_000], [4_000, 4_000], 0, 0, 3_000, secondary=0.5)
    assert [(b.job, b.kind, b.start_ms, b.end_ms, b.secondary) for b in bars] == [
        (0, subtasks.PULL, 0, 2_000, False), (1, subtasks.PULL, 0, 3_000, True),
        (0, subtasks.COMP, 2_000, 12_000, False),
    ]  # fmt: skip
    short = subtasks.window([10_000, 9_000, 8_000], [4_000, 800, 800], 0, 0, 1_500, secondary=0.5)
    assert [(b.job, b.start_ms, b.end_ms, b.secondary) for b in short if b.kind == subtasks.PULL] == [
        (0, 0, 2_000, False), (1, 0, 800, True), (2, 800, 1_600, True),
    ]  # fmt: skip


def test_a_secondary_subtask_only_uses_what_the_primary_one_leaves():
    """At most one of each at a time; no group is faster than all of its network, its CPU or its longest job allows."""
    rng = np.random.default_rng(4)
    faster = 0
    for _ in range(cases(60, 12)):
        jobs, spare = int(rng.integers(2, 6)), float(rng.uniform(0.05, 0.9))
        comp, comm = rng.integers(1, 9, jobs) * 500.0, rng.integers(1, 9, jobs) * 500.0
        bars = subtasks.window(comp, comm, 0, 0, 100_000, secondary=spare)
        assert any(b.secondary for b in bars)
        for at in [b.start_ms for b in bars]:
            running = [b for b in bars if b.start_ms <= at < b.end_ms]
            assert sum(b.kind != subtasks.COMP for b in running) <= 2
            assert sum(b.kind == subtasks.COMP for b in running) <= 1
            assert len({b.job for b in running}) == len(running)
        mean_ms = subtasks.mean_iteration_ms(comp, comm, secondary=spare)
        least = max(comp.sum(), comm.sum() / (1 + spare), (comp + comm).max())
        assert mean_ms >= least * (1 - 1e-3)
        faster += mean_ms < float(iteration_ms(comp, comm)) * (1 - 1e-3)
        far = subtasks.window(comp, comm, 70, 300_070, 330_070, secondary=spare)
        through = subtasks.window(comp, comm, 70, 0, 330_070, secondary=spare)
        assert far == [b for b in through if b.end_ms > 300_070]
    assert faster >= cases(15, 1)


def test_eq_1_is_exact_for_any_group():
    """What binds is busy all the time, or the longest job never waits: 300 random groups, and single jobs."""
    rng = np.random.default_rng(0)
    loose = []
    for _ in range(300):
        jobs = int(rng.integers(1, 7))
        comp, comm = 5_000 * np.exp(0.5 * rng.standard_normal((2, jobs)))
        period = float(iteration_ms(comp, comm))
        assert subtasks.mean_iteration_ms(comp, comm) == pytest.approx(period, rel=1e-3)
        loose.append(abs(subtasks.mean_iteration_ms(comp, comm, chained=False) / period - 1) <= 0.05)
    assert 0.85 <= np.mean(loose) <= 0.97  # in the released code, where a PULL queues again


def test_eq_1_holds_for_the_groups_that_algorithm_1_chooses():
    """The issue asks for 5 % in 95 % of them."""
    errors = []
    for seed in range(cases(12, 3)):
        work = table(80, 100, seed)
        found = schedule(work)
        for own, m in zip(found.lists(), found.machines.tolist(), strict=True):
            comp, comm = work.comp[own] / m, work.comm[own]
            errors.append(abs(subtasks.mean_iteration_ms(comp, comm) / float(iteration_ms(comp, comm)) - 1))
    assert max(errors) <= 0.005


def test_eq_1_by_hand():
    """The period is that of the CPUs, of the network, or of the longest job."""
    for comp, comm, period in (([9, 9], [1, 1], 18), ([1, 1], [9, 9], 18), ([9, 1], [9, 1], 18)):
        pair = np.array(comp, float), np.array(comm, float)
        assert float(iteration_ms(*pair)) == period == reference.eq1(list(zip(comp, comm, strict=True)))


def test_alone_nobody_contends_and_jobs_in_step_always_do():
    assert paces_ms([10.0], [4.0]) == [14.0]
    assert paces_ms([10.0, 10.0], [10.0, 10.0]) == pytest.approx([42.0, 42.0])  # in step: (10 + 10) x 2 x 1.05
    first, second = paces_ms([10.0, 2.0], [2.0, 10.0])
    assert 12 < first < 20
    assert 12 < second < 20


def test_work_is_conserved_from_chunks_and_from_samples():
    """E D B tau (or E K tau) machine-ms, on both sides, also of jobs that have both."""
    _, jobs = generate("oasis", num_jobs=60, num_servers=10, seed=4)
    for job in jobs:
        full = as_harmony(job)
        total = job.epochs * job.num_chunks * job.minibatches_per_chunk * job.minibatch_ms
        assert full.iterations * full.comp_machine_ms == pytest.approx(total, rel=1e-12)
        assert full.comm_ms == pytest.approx(16 * job.gradient_mb / 1.1)
        assert set(full.provenance.values()) >= {"derived"}
    _, jobs = generate("pd-ors", num_jobs=60, num_servers=10, seed=4, horizon_slots=20)
    for job in jobs:
        full = as_harmony(job)
        assert full.iterations * full.comp_machine_ms == pytest.approx(
            job.epochs * job.num_samples * job.sample_ms, rel=1e-12
        )


def test_with_a_machine_for_each_chunk_an_iteration_is_a_mini_batch():
    """It takes tau + 2 g / b, at b = 1.1 Gbps."""
    job = Job(
        "a",
        0,
        epochs=2,
        num_chunks=8,
        minibatches_per_chunk=5,
        minibatch_ms=700.0,
        gradient_mb=11.0,
        requested_workers=4,
    )
    full = as_harmony(job)
    assert (full.iterations, full.iterations_per_epoch) == (10, 5)
    assert full.comp_machine_ms / 8 + full.comm_ms == pytest.approx(700 + 160)


def test_harmonys_jobs_under_the_others_have_the_same_work():
    _, jobs = harmony("calibrated", 40, 10, 1, 100, 3_600_000)
    for own in jobs:
        job, total = completed(own), own.iterations * own.comp_machine_ms
        assert job.epochs * job.num_chunks * job.minibatches_per_chunk * job.minibatch_ms == pytest.approx(
            total, rel=1e-12
        )
        assert job.epochs * job.num_samples * job.sample_ms == pytest.approx(total, rel=1e-12)
        assert job.epochs * job.minibatches_per_chunk >= job.iterations
        assert as_harmony(job) is job
        assert facts(job) == facts(own)


def test_a_job_computes_with_as_many_workers_as_it_can_use():
    """7 workers of 2 on a machine: 10 machines hold 20, and 13 are idle. Its own fields know no such limit."""
    job = Job("a", 0, epochs=1, num_chunks=7, minibatches_per_chunk=2, minibatch_ms=700.0, gradient_mb=0.0,
              worker=(1_000, 0, 0, 0, 1_000), ps=(0, 0, 0, 0, 1_000))  # fmt: skip
    servers = tuple(Server(f"s{i}", "edge", (2_000, 8_000, 64_000, 0, 1_100)) for i in range(10))
    mapped, own = facts(job), Facts(4_900.0, 0.0, 2, 2, Data(0.0, 0.0, 0.5), None)
    assert (mapped.comp, mapped.most) == (4_900.0, 7)
    rows = [mapped, own]
    pool = Pool(Cluster("c", 1_000, servers), range(10), rows.__getitem__, lambda *_: None)
    times = pool.times(list(range(10)), [0])
    assert (times.iteration_ms, times.computed) == (700.0, [245.0])
    assert times.utilization == (0.35, 0.0)
    assert pool.times([0, 1, 2], [0]).utilization == (1.0, 0.0), "6 workers"
    assert pool.times(list(range(10)), [1]).iteration_ms == 490.0
    work = pool.work([0, 1], 10, rows.__getitem__, lambda job, memory: (0.0, 0.0))
    assert work.most.tolist() == [3.5, math.inf]


def test_a_limit_of_workers_takes_the_fastest_machines():
    servers = tuple(
        Server(f"s{i}", "edge", (2_000, 0, 0, 0, 0), speed=speed) for i, speed in enumerate((1.0, 3.0, 2.0))
    )
    known = Facts(6_000.0, 0.0, 1, 1, Data(0.0, 0.0, 1.0), (1_000, 0, 0, 0, 0), 3)
    pool = Pool(Cluster("c", 1_000, servers), range(3), lambda _: known, lambda *_: None)
    assert pool.times([0, 1, 2], [0]).comp == [6_000 / (2 * 3 + 2)]
    assert pool.times([0, 1, 2], [0]).computed == [6_000 / 12]


def test_a_machine_stands_for_as_many_workers_as_it_holds():
    server = Server("s", "edge", (4_000, 16_000, 64_000, 0, 0), speed=2.0)
    job = Job("a", 0, epochs=1, num_chunks=4, minibatches_per_chunk=1, minibatch_ms=9.0, gradient_mb=0.0,
              worker=(1_000, 3_000, 4_000, 0, 500), ps=(0, 4_000, 4_000, 0, 900), workers_per_ps=4)  # fmt: skip
    assert workers_on(facts(job).demand, server) == 8.0  # 4 GPUs, 16 vCPU / (3 + 1): 4 workers, twice as fast
    assert workers_on(None, server) == 2.0


def test_a_job_without_work_of_any_kind_has_no_facts():
    assert facts(Job("a", 0)) is None
