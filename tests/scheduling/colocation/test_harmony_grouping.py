"""Algorithm 1 and its steps against straightforward forms and brute force."""

import numpy as np
import pytest

from scheduling.colocation.selection.allocation import allocate, ratios
from scheduling.colocation.selection.exhaustive import all_pairs, exact
from scheduling.colocation.selection.group_selection import schedule
from scheduling.colocation.selection.grouping import Work, grouping, numbers_of_groups, scores
from tests.cases import cases
from tests.scheduling.builders_colocation import plain, table
from tests.scheduling.colocation import harmony_reference as reference


def test_two_opposite_jobs_share_all_machines():
    """10 machines: a computes 100 s of machine time and sends for 2 s, b the other way round: both tracks are full."""
    found = schedule(plain([80_000, 20_000], [2_000, 8_000], 10))
    assert found.lists() == [[0, 1]] or found.lists() == [[1, 0]]
    assert (found.machines.tolist(), found.cpu, found.net) == ([10], 1.0, 1.0)


def test_the_machines_go_where_computation_prevails():
    """Ratios 30 and 10: of 8 machines 6 and 2, for 30/6 = 10/2."""
    assert allocate(np.array([[30.0, 10.0]]), 8, np.array([[1, 1]])).tolist() == [[6, 2]]


@pytest.mark.parametrize("seed", range(4))
def test_the_number_of_groups_is_that_of_brute_force(seed):
    """2,000 cases in all, with jobs that compute or send nothing; whole numbers, so that ties are frequent."""
    rng = np.random.default_rng(seed)
    for _ in range(cases(500, 60)):
        jobs, machines = int(rng.integers(1, 12)), int(rng.integers(1, 30))
        comp, comm = rng.integers(0, 40, jobs).astype(float), rng.integers(0, 6, jobs).astype(float)
        found = numbers_of_groups(comp, comm, machines, np.arange(1, jobs + 1))
        assert found.tolist() == [reference.number_of_groups(comp[:n], comm[:n], machines) for n in range(1, jobs + 1)]


@pytest.mark.parametrize("seed", range(4))
def test_the_allocation_is_the_one_by_one(seed):
    """2,000 cases in all, with ties, zeros, floors, and rows of different length side by side."""
    rng = np.random.default_rng([7, seed])
    for _ in range(cases(250, 30)):
        machines = int(rng.integers(4, 120))
        rows = []
        for _ in range(2):
            groups = int(rng.integers(1, min(machines, 9) + 1))
            ratio = rng.integers(0, 20, groups).astype(float) if rng.random() < 0.5 else rng.lognormal(2, 1.5, groups)
            ratio[rng.random(groups) < 0.1] *= 1e12  # hardly any communication
            floors = np.ones(groups, dtype=int)
            while floors.sum() < machines and rng.random() < 0.6:
                floors[rng.integers(groups)] += 1
            rows.append((ratio, floors))
        width = max(len(ratio) for ratio, _ in rows)
        found = allocate(
            np.array([[*ratio, *[-1.0] * (width - len(ratio))] for ratio, _ in rows]), machines,
            np.array([[*floors, *[0] * (width - len(floors))] for _, floors in rows]),
        )  # fmt: skip
        for row, (ratio, floors) in zip(found, rows, strict=True):
            assert row[: len(ratio)].tolist() == reference.adams(ratio.tolist(), machines, floors.tolist())
            assert not row[len(ratio) :].any()


def test_the_last_machine_goes_where_a_step_by_step_count_gives_it():
    assert ratios(np.array([6.0]), np.array([0.0]))[0] == pytest.approx(6e9)


@pytest.mark.parametrize("seed", range(8))
def test_the_fast_form_is_the_slow_one(seed):
    """Members, machines and score, for choices evaluated side by side; with zeros and with memory."""
    rng = np.random.default_rng([3, seed])
    for _ in range(cases(12, 4)):
        jobs, machines = int(rng.integers(1, 26)), int(rng.integers(1, 40))
        work = reference.work(rng, jobs, machines, zeros=bool(rng.random() < 0.3), memory=bool(rng.random() < 0.4))
        counts = rng.integers(1, jobs + 1, 5)
        groups = np.array([int(rng.integers(1, min(n, machines) + 1)) for n in counts])
        together = scores(work, counts, groups)
        for n, k, score in zip(counts.tolist(), groups.tolist(), together.tolist(), strict=True):
            lists, machines_of, slow = reference.evaluate(work, n, k)
            found = grouping(work, n, k)
            assert found.lists() == lists
            assert score == pytest.approx(slow, abs=1e-9)
            assert found.machines.tolist() == (machines_of or [0] * k)


def test_rounds_of_swaps_are_as_good_as_one_by_one():
    fast, slow = [], []
    for seed in range(4):
        work = table(40, 50, seed)
        for n, k in ((20, 5), (30, 6), (40, 8)):
            fast.append(reference.allocated(work, reference.rounds_of_swaps(work, reference.blocks(work, n, k), k))[1])
            slow.append(reference.allocated(work, reference.swaps_one_by_one(work, reference.blocks(work, n, k), k))[1])
    assert np.mean(fast) >= np.mean(slow) - 0.01


@pytest.mark.parametrize("seed", range(6))
def test_the_exact_search_is_brute_force(seed):
    rng = np.random.default_rng([5, seed])
    for _ in range(3):
        work = reference.work(rng, int(rng.integers(1, 5)), int(rng.integers(1, 8)), memory=bool(rng.random() < 0.4))
        found = exact(work)
        best = reference.best_of_all(work)
        assert (found.score if found else -1.0) == pytest.approx(best)
        if found:
            assert found.machines.sum() == work.machines
            assert reference.allocated(work, found.lists())[1] <= best + 1e-12


def test_tiny_cases_are_within_five_percent_of_the_exact_oracle_on_average():
    """It may take any jobs, Algorithm 1 only prefixes."""
    gaps = []
    for seed in range(20):
        work = table(7, 16, seed)
        gaps.append(1 - schedule(work).score / exact(work).score)
    assert min(gaps) >= -1e-12
    assert np.mean(gaps) <= 0.05


@pytest.mark.parametrize("seed", range(3))
def test_eighty_jobs_are_within_half_a_percent_of_all_pairs(seed):
    work = table(80, 100, seed)
    assert schedule(work).score >= 0.995 * all_pairs(work).score


def test_taking_the_paper_at_its_word_stops_early():
    """`else break` at the first prefix without an improvement: few jobs, and on average a tenth worse."""
    literal = [schedule(table(80, 100, seed), patience=0, window=0) for seed in range(6)]
    ours = [schedule(table(80, 100, seed)) for seed in range(6)]
    assert np.mean([len([j for own in found.lists() for j in own]) for found in literal]) <= 12
    assert np.mean([found.score for found in literal]) < 0.9 * np.mean([found.score for found in ours])


@pytest.mark.slow
def test_the_grid_for_many_jobs_is_near_a_dense_search():
    work = table(1_000, 1_000, 0)
    dense = 0.0
    for n in range(20, 1_000, 12):
        groups = np.unique(np.clip(np.rint(np.geomspace(max(1, n / 30), n / 2, 12)), 1, n).astype(int))
        dense = max(dense, float(scores(work, np.full(len(groups), n), groups).max()))
    assert schedule(work).score >= 0.985 * dense


@pytest.mark.parametrize(("jobs", "machines"), [(1, 1), (5, 1), (1, 7), (30, 4), (3, 300)])
def test_any_number_of_jobs_and_machines(jobs, machines):
    """One machine; more jobs than machines; more machines than anybody needs."""
    work = reference.work(np.random.default_rng(1), jobs, machines)
    found = schedule(work)
    assert found.machines.sum() == machines
    assert (found.machines >= 1).all()
    assert 0 < found.score <= 1


@pytest.mark.parametrize(("comp", "comm"), [([0.0] * 5, [1.0] * 5), ([9.0] * 5, [0.0] * 5), ([0.0] * 3, [0.0] * 3)])
def test_jobs_that_compute_or_send_nothing(comp, comm):
    """Only communication: one job a group fills its network. Only computation: one group. Nothing: nothing is used."""
    found = schedule(plain(comp, comm, 10))
    assert found.machines.sum() == 10
    assert (found.cpu, found.net) == (float(any(comp)), float(any(comm)))


def test_a_group_begins_with_the_machines_that_its_memory_needs():
    """Two jobs that do not fit on one machine together, though one machine would balance them."""
    tight = Work(np.array([10.0, 10.0]), np.array([10.0, 10.0]), 4, np.array([1.6, 1.6]), np.array([0.0, 0.0]))
    assert grouping(tight, 2, 2).machines.tolist() == [2, 2]
    assert grouping(tight._replace(machines=3), 2, 2).score == -1
    assert schedule(tight._replace(machines=1)) is None
