"""Intervals of time: union and difference."""

from __future__ import annotations

from collections.abc import Iterable

from scheduling.model.limits import MAX_INT

Spans = list[tuple[int, int]]
END = (MAX_INT, MAX_INT)  # after all intervals


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
    rest = iter(cover)
    covered, until = next(rest, END)
    for start, end in spans:
        at = start
        while covered < end:
            if covered > at:
                out.append((at, covered))
            at = max(at, until)
            if until > end:  # it may cover more of `spans`
                break
            covered, until = next(rest, END)
        if at < end:
            out.append((at, end))
    return out
