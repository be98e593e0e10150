"""The polling loop, with a clock of the test's own."""

from itertools import islice, pairwise

from twin.connectors.polling import MAX_SOON, Pace, poll


class Clock:
    """Time that passes only by waiting and by polls; hints come at given times."""

    def __init__(self, cost_ms=10, hints=(), unsettled=()):
        self.now, self.cost_ms, self.hints, self.starts_ms, self.unsettled = 0, cost_ms, list(hints), [], set(unsettled)

    def take(self):
        began = self.now
        self.now += self.cost_ms
        self.starts_ms.append(began)
        return began

    def wait(self, ms):
        assert ms >= 0
        if self.hints and self.hints[0] <= self.now + ms:
            self.now = max(self.now, self.hints.pop(0))
            return True
        self.now += ms
        return False

    def reported(self, count, interval_ms):
        pace = Pace(
            self.take,
            lambda: self.now,
            self.wait,
            lambda: f"silent at {self.now}",
            lambda take: len(self.starts_ms) in self.unsettled,
        )
        return list(islice(poll(pace, interval_ms), count))


def test_looks_come_every_interval():
    assert Clock().reported(3, 1000) == [1000, 2000, 3000]


def test_a_hint_brings_the_next_poll_at_once_and_restarts_the_interval():
    assert Clock(hints=[1500]).reported(3, 1000) == [1000, 1500, 2500]


def test_calls_take_at_most_a_quarter_of_the_time():
    assert Clock(cost_ms=500).reported(3, 1000) == [1000, 3000, 5000]


def test_hints_do_not_break_that_bound():
    assert Clock(cost_ms=100, hints=[1101, 1102, 1103, 1450]).reported(4, 1000) == [1000, 1400, 1800, 2800]


def test_long_intervals_have_signs_of_life():
    assert Clock().reported(4, 12_000) == ["silent at 5000", "silent at 10000", 12_000, "silent at 17010"]


def test_what_is_about_to_change_is_looked_at_soon_but_not_for_ever():
    clock = Clock(unsettled={1})
    assert clock.reported(3, 1000) == [1000, 1100, 2100]
    stuck = Clock(cost_ms=1, unsettled=range(100)).reported(MAX_SOON + 4, 10_000)
    starts = [take for take in stuck if isinstance(take, int)]
    assert [after - before for before, after in pairwise(starts)][: MAX_SOON + 1] == [
        100,
        200,
        400,
        800,
        1600,
        10_000,
    ]
