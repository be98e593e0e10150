"""Price bounds and the price function, with numbers worked by hand."""

import math

import numpy as np
import pytest

from scheduling.model.values import ModelError
from scheduling.slotted.pricing.prices import PriceBook, PriceParams, estimate, price
from tests.scheduling import tiny


def capacities(gpus: int, cpus: int) -> tuple[np.ndarray, np.ndarray]:
    return np.array([[gpus * 1000, 0, 0, 0, 0]]), np.array([[0, cpus * 1000, 0, 0, 0]])


def test_a_price_grows_from_floor_to_ceiling():
    """L = 2, U = 32: half full costs 2 * 16 ** 0.5 = 8."""
    prices = price(np.array([0, 5, 10]), np.array([10, 10, 10]), 2.0, 32.0)
    assert prices == pytest.approx([2, 8, 32])


def test_what_nobody_wants_is_free_and_what_does_not_exist_costs_the_ceiling():
    assert price(np.array([3]), np.array([10]), 2.0, 0.0).tolist() == [0]
    assert price(np.array([0]), np.array([0]), 2.0, 32.0) == pytest.approx([32])


def test_literal_bounds_of_one_job():
    """4 worker-slots of 1 GPU and 1 Gbps, 2 workers, insensitive: always worth 50.

    d_min = 2. U = 50 per GPU. W sum w = 4 * 2 = 8 of 4 slots x 4 GPUs = 16 units: 1 / eta = 1 / 2.
    L_1 = 1/2 / 4 * 50 / 8 = 0.78125.
    """
    job = tiny.job(work=4, chunks=2)
    params = estimate([job], *capacities(4, 2), tiny.SLOT, 4, "literal")
    assert params.worker_floor == pytest.approx(0.78125)
    assert params.worker_ceiling == pytest.approx((50, 0, 0, 0, 50))
    # parameter servers: 1 vCPU + 1 Gbps, W sum s = 8 of 4 x 2 = 8 units: 1 / eta = 1; L_2 = 1/4 * 50 / 8
    assert params.ps_floor == pytest.approx(1.5625)
    assert params.ps_ceiling == pytest.approx((0, 50, 0, 0, 50))


def test_a_critical_job_counts_at_least_one_percent():
    """Worth nothing at the horizon, so 1 % of f(0) = 1 stands in: L_1 = 1/4 * (100 * 0.01) / 8 on 8 units."""
    job = tiny.job(work=4, chunks=2, sensitivity=1000.0, target=3.5)
    params = estimate([job], *capacities(2, 2), tiny.SLOT, 6, "literal")
    assert params.worker_floor == pytest.approx(8 / 12 / 4 * 1 / 8)


def test_marginal_floor_is_the_density_of_the_job_that_fills_the_cluster():
    """1 GPU x 4 slots. Densities 50 / (2 * 2) = 12.5, 40 / 4 = 10, 30 / 4 = 7.5: the second fills the 4 GPU-slots."""
    jobs = [tiny.job(f"j{n}", work=2, chunks=2, priority=p) for n, p in enumerate((60, 100, 80))]
    literal = estimate(jobs, *capacities(1, 1), tiny.SLOT, 4, "literal")
    marginal = estimate(jobs, *capacities(1, 1), tiny.SLOT, 4)
    assert marginal.worker_floor == pytest.approx(10)
    assert marginal.ps_floor / literal.ps_floor == pytest.approx(10 / literal.worker_floor)


def test_marginal_is_literal_where_everything_fits():
    jobs = [tiny.job(work=2)]
    assert estimate(jobs, *capacities(50, 50), tiny.SLOT, 10) == estimate(
        jobs, *capacities(50, 50), tiny.SLOT, 10, "literal"
    )


def test_the_floor_scale_moves_both_floors_and_no_ceiling():
    job = tiny.job(work=4)
    once = estimate([job], *capacities(4, 4), tiny.SLOT, 9, "literal")
    twice = estimate([job], *capacities(4, 4), tiny.SLOT, 9, "literal", floor_scale=2.0)
    assert (twice.worker_floor, twice.ps_floor) == pytest.approx((2 * once.worker_floor, 2 * once.ps_floor))
    assert (twice.worker_ceiling, twice.ps_ceiling) == (once.worker_ceiling, once.ps_ceiling)


def test_a_ceiling_is_at_least_e_times_the_floor():
    params = estimate([tiny.job(work=4)], *capacities(4, 4), tiny.SLOT, 9, "literal", floor_scale=1e9)
    assert params.worker_ceiling[0] == pytest.approx(math.e * params.worker_floor)


def test_jobs_that_cannot_end_count_for_nothing():
    late = tiny.job("j2", arrival_ms=3_000, work=9, chunks=1, priority=1e6)
    jobs = [tiny.job(work=2), late]
    assert estimate(jobs, *capacities(2, 2), tiny.SLOT, 4) == estimate(jobs[:1], *capacities(2, 2), tiny.SLOT, 4)


def test_no_jobs_make_everything_free():
    params = estimate([], *capacities(1, 1), tiny.SLOT, 4)
    assert params.worker_ceiling == params.ps_ceiling == (0, 0, 0, 0, 0)


def test_wrong_values_are_named():
    with pytest.raises(ModelError, match="price mode must be one of marginal, literal, got 'cheap'"):
        estimate([], *capacities(1, 1), tiny.SLOT, 4, "cheap")
    with pytest.raises(ModelError, match=r"worker_ceiling\.gpu must be 0 or > the floor 2\.0, got 1\.0"):
        PriceParams(2.0, 2.0, (1.0, 0, 0, 0, 0), (0, 0, 0, 0, 0))


def test_a_book_takes_and_reprices_only_the_cells_taken():
    book = PriceBook(np.array([[4000, 0, 0, 0, 8000], [4000, 0, 0, 0, 0]]), 3, 1.0, (16, 0, 0, 0, 16))
    demand = (1000, 0, 0, 0, 2000)
    assert book.room(demand, slice(0, 3), 9).tolist() == [[4, 0]] * 3
    assert book.unit_cost(demand, slice(0, 1))[0, 0] == pytest.approx(3.0)  # 1 GPU + 2 Gbps at 1
    book.take(demand, np.array([1]), np.array([0]), np.array([2]))
    assert book.room(demand, slice(0, 3), 9)[:, 0].tolist() == [4, 2, 4]
    assert book.unit_cost(demand, slice(0, 3))[:, 0] == pytest.approx([3, 12, 3])  # half full: 16 ** 0.5 = 4
    shown = book.prices(np.array([1]))
    assert shown[0, 0, 0] == pytest.approx(4)
    assert np.isnan(shown[0, 1, 4])


def test_a_restored_book_has_the_same_prices_to_the_bit():
    rng = np.random.default_rng(1)
    capacity = rng.integers(1_000, 90_000, size=(37, 5))
    ceiling = tuple(rng.uniform(10, 1000, size=5))
    book, copy = (PriceBook(capacity, 50, 0.0123, ceiling) for _ in range(2))
    for _ in range(200):
        cells = rng.choice(50 * 37, size=20, replace=False)
        slots, servers = cells // 37, cells % 37
        demand = tuple(int(d) for d in rng.integers(0, 900, size=5))
        counts = np.minimum(book.room(demand, slots, 3)[np.arange(20), servers], 3)
        book.take(demand, slots, servers, counts)
    copy.restore(book.state())
    assert (copy.free == book.free).all()
    assert copy.price.tobytes() == book.price.tobytes()


def test_a_book_that_grew_is_one_that_had_all_slots_at_once():
    """Slots are appended 3, 1 and 2 at a time, with allocations, other bounds and an outage in between."""
    capacity = np.array([[4_000, 0, 8_000, 0, 8_000], [2_000, 1_000, 0, 0, 0]])
    away = np.zeros((9, 2), dtype=bool)
    away[[2, 7], 1] = True
    bounds = (0.5, (16.0, 8.0, 4.0, 0.0, 16.0)), (0.25, (4.0, 4.0, 4.0, 0.0, 4.0))

    def taken(book, slot):
        book.take((1_000, 0, 500, 0, 0), np.array([slot]), np.array([0]), np.array([2]))

    grown = PriceBook(capacity, 3, *bounds[0], away[:3])
    for floor, ceiling, until in ((*bounds[0], 6), (*bounds[1], 7), (*bounds[1], 9)):
        first = grown.free.shape[1]
        taken(grown, first - 1)
        grown.set_bounds(floor, ceiling)
        copied = grown.copy()
        grown.append(PriceBook(capacity, until - first, floor, ceiling, away[first:until]))
        assert copied.free.shape[1] == first
    whole = PriceBook(capacity, 9, *bounds[1], away)
    for slot in (2, 5, 6):
        taken(whole, slot)
    for name in ("free", "price", "away"):
        assert np.array_equal(getattr(grown, name), getattr(whole, name)), name
