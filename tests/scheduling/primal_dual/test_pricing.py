"""The data of a `priced` event, by hand: two servers at the edge, one in the cloud."""

import numpy as np

from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.bars import Placement
from scheduling.slotted.execution import SLOTTED
from scheduling.slotted.pricing.price_events import price_event, slots_of
from tests.scheduling.builders_slotted import cluster, ps_server, worker_server


class Priced(BaseScheduler):
    model = SLOTTED

    def __init__(self, table):
        super().__init__()
        self.cluster, self.table = cluster(worker_server("w0"), worker_server("w1"), ps_server("s0")), table

    def prices(self, slots):
        return self.table[slots]


def table(*gpu_prices):
    """[slot, server, resource] with prices of GPUs only."""
    prices = np.full((len(gpu_prices), 3, 5), np.nan)
    prices[:, :, 0] = gpu_prices
    return prices


def test_least_mean_and_greatest_over_the_servers_of_each_site():
    data = price_event(Priced(table((1, 2, 9), (3, np.nan, np.nan))), [0, 1])
    nothing = [None] * 4
    assert data == {
        "slots": [0, 1],
        "low": [1, *nothing, 9, *nothing, 3, *nothing, None, *nothing],
        "mean": [1.5, *nothing, 9, *nothing, 3, *nothing, None, *nothing],
        "high": [2, *nothing, 9, *nothing, 3, *nothing, None, *nothing],
    }


def test_numbers_carry_six_significant_digits():
    data = price_event(Priced(table((1 / 3, 12_345_678.9, 2.5e-9 / 3))), [0])
    assert (data["low"][0], data["high"][0], data["low"][5]) == (0.333333, 12_345_700.0, 8.33333e-10)
    zero = price_event(Priced(table((0, 0, 0))), [0])
    assert zero["mean"][0] == 0.0


def test_equal_prices_in_all_slots_are_logged_once():
    scheduler = Priced(table((1, 2, 3), (1, 2, 3)))
    assert price_event(scheduler, [0, 1], all_slots=2)["slots"] == "all"
    assert len(price_event(scheduler, [0, 1], all_slots=2)["low"]) == 10
    assert price_event(scheduler, [0, 1], all_slots=3)["slots"] == [0, 1]


def test_the_slots_of_bars_begin_with_the_current_one():
    bars = [Placement(0, 0, 0, 500, 4_001, 1), Placement(0, 0, 0, 7_000, 8_000, 1), Placement(0, 0, 0, 0, 2_000, 1)]
    assert slots_of(bars, 2_500, 1_000) == [2, 3, 4, 7]
