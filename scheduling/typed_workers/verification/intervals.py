"""Intervals of time: union and difference."""

from __future__ import annotations

from collections.abc import Iterable

Spans = list[tuple[int, int]]


def united(spans: Iterable[tuple[int, int]]) -> Spans:
    """Sorted, disjoint intervals; touching ones are merged."""
    out: Spans = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out


def outside(spans: Spans, cover: Spans) -> Spans:
    """Parts of `spans` that `cover` does not cover; both as `united` gives them."""
    out: Spans = []
    place = 0
    for start, end in spans:
        at = start
        while place < len(cover) and cover[place][1] <= at:
            place += 1
        following = place
        while at < end:
            if following == len(cover) or cover[following][0] >= end:
                out.append((at, end))
                break
            if cover[following][0] > at:
                out.append((at, cover[following][0]))
            at = max(at, cover[following][1])
            following += 1
    return out
