"""Union and difference of intervals, against sets of single ms."""

import random

from scheduling.typed_workers.verification.intervals import outside, united


def ms_of(spans):
    return {ms for start, end in spans for ms in range(start, end)}


def drawn(rng):
    starts = [rng.randrange(40) for _ in range(rng.randrange(8))]
    return united((start, start + rng.randint(1, 9)) for start in starts)


def test_a_difference_has_what_is_not_covered():
    rng = random.Random(1)
    for _ in range(500):
        spans, cover = drawn(rng), drawn(rng)
        found = outside(spans, cover)
        assert ms_of(found) == ms_of(spans) - ms_of(cover)
        assert found == sorted(found)


def test_a_cover_may_end_in_a_later_interval():
    assert outside([(0, 4), (6, 9)], [(2, 7)]) == [(0, 2), (7, 9)]
    assert outside([(0, 4)], []) == [(0, 4)]
