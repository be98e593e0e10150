"""A trace under EASY backfilling with the users' limits on one pool, and the forecasts that its queue would have got.

The replay of the trace is a plain event loop of its own. It shares no code with the forecast.
"""

from __future__ import annotations

import gzip
import heapq
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from scheduling.forecast import bands
from scheduling.forecast.forecasting import forecasts_of
from scheduling.forecast.values import ClusterState, Group, Node, Running, Waiting
from scheduling.run_times.overrun import expected_run_ms
from scheduling.run_times.predictor import Similar
from scheduling.run_times.tournament import Tournament, best, similar

LOAD = 0.7  # offered load at which a trace is replayed: with less nobody waits
LIMITS_MIN = (5, 10, 15, 30, 60, 120, 240, 480, 720, 1_440, 2_880, 4_320)  # that users choose among

# columns of SWF: the fields 2, 4, 5, 8, 9 and 12 of its definition
SUBMIT, RUN, ALLOCATED, REQUESTED, LIMIT, USER = 1, 3, 4, 7, 8, 11


class Row(NamedTuple):
    """A job of the trace. Times in ms."""

    arrival_ms: int
    run_ms: int
    size: int
    limit_ms: int
    user: str


class Scored(NamedTuple):
    """A forecast at submission and what happened: waits in ms by method, and the band of the twin's."""

    real_ms: int
    predicted_ms: dict[str, int]
    band: tuple[int, int] | None


def read(path: Path, jobs: int, seed: int = 0) -> tuple[list[Row], int, str]:
    """(jobs, processors, origin of the limits) of an SWF file, with arrivals scaled to LOAD.

    Where the file has no limits they are sampled: the run time / a share that is uniform in (0, 1] [Tsafrir et al.],
    rounded up to one of LIMITS_MIN.
    """
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")
    cells = [line.split() for line in text.splitlines() if line.strip() and not line.startswith(";")]
    table = np.array(cells, dtype=float)
    submit, run, user = table[:, SUBMIT], table[:, RUN], table[:, USER].astype(int)
    size = np.where(table[:, ALLOCATED] > 0, table[:, ALLOCATED], table[:, REQUESTED]).astype(int)
    limit = table[:, LIMIT]
    good = (run > 0) & (size > 0)
    total, own = int(size[good].max()), bool((limit[good] > 0).mean() > 0.5)
    if own:
        good &= limit > 0
    chosen = np.flatnonzero(good)[:jobs]
    submit, run, size, limit, user = (column[chosen] for column in (submit, run, size, limit, user))
    if not own:
        wanted = run / (1 - np.random.default_rng(seed).random(len(run)))
        choices = np.array(LIMITS_MIN) * 60
        limit = choices[np.minimum(np.searchsorted(choices, wanted), len(choices) - 1)]
    limit = np.maximum(limit, run)
    load = float((run * size).sum()) / (total * (submit[-1] - submit[0]))
    at = (submit - submit[0]) * load / LOAD
    rows = zip(at, run, size, limit, user, strict=True)
    made = [Row(round(a * 1_000), round(r * 1_000), int(s), round(m * 1_000), str(u)) for a, r, s, m, u in rows]
    return made, total, "the users' limits" if own else "sampled limits"


def easy(rows: Sequence[Row], total: int) -> list[int]:
    """The start of every job under EASY backfilling by limits."""
    starts, free = [-1] * len(rows), total
    queue: list[int] = []
    ends: list[tuple[int, int]] = []  # (real end, job)
    held: dict[int, int] = {}  # job -> end by its limit
    coming = 0
    while coming < len(rows) or queue:
        now = min([end for end, _ in ends[:1]] + [row.arrival_ms for row in rows[coming : coming + 1]])
        while ends and ends[0][0] == now:
            job = heapq.heappop(ends)[1]
            del held[job]
            free += rows[job].size
        while coming < len(rows) and rows[coming].arrival_ms == now:
            queue.append(coming)
            coming += 1
        shadow_ms, spare = None, 0
        for job in list(queue):
            row = rows[job]
            if shadow_ms is None and row.size > free:
                spare = free
                for end, other in sorted((end, other) for other, end in held.items()):
                    spare += rows[other].size
                    if spare >= row.size:
                        shadow_ms, spare = end, spare - row.size
                        break
                continue
            if row.size > free or (shadow_ms is not None and now + row.limit_ms > shadow_ms and row.size > spare):
                continue
            if shadow_ms is not None and now + row.limit_ms > shadow_ms:
                spare -= row.size
            starts[job], free = now, free - row.size
            queue.remove(job)
            held[job] = now + row.limit_ms
            heapq.heappush(ends, (now + row.run_ms, job))
    return starts


def forecasts(rows: Sequence[Row], starts: Sequence[int], total: int, every: int = 1) -> Iterator[Scored]:
    """Every n-th job that waits: its forecasts at submission, when its start is known, in the order of starts."""
    tournament = Tournament()
    open_forecasts: dict[int, dict[str, int]] = {}
    shown: dict[int, tuple[int, int] | None] = {}
    past: list[tuple[int, int]] = []  # forecast and real waits
    sums: dict[str, list[float]] = {name: [0, 0.0] for name in tournament.names}
    running: set[int] = set()
    waiting: list[int] = []
    moments = [(row.arrival_ms, 2, job) for job, row in enumerate(rows)]
    moments += [(at, 1, job) for job, at in enumerate(starts)]
    moments += [(at + rows[job].run_ms, 0, job) for job, at in enumerate(starts)]
    moments.sort()
    keys = [similar(row.user, row.size, row.limit_ms) for row in rows]
    number = 0
    for at_ms, kind, job in moments:
        row = rows[job]
        if kind == 0:
            running.discard(job)
            tournament.ended(str(job), keys[job], row.run_ms, at_ms)
        elif kind == 1:
            running.add(job)
            if job in waiting:
                waiting.remove(job)
            if job in open_forecasts:
                predicted, real_ms = open_forecasts.pop(job), at_ms - row.arrival_ms
                yield Scored(real_ms, predicted, shown.pop(job))
                past.append((predicted["twin"], real_ms))
                for name, sum_ in sums.items():
                    sum_[0] += 1
                    sum_[1] += abs(predicted[name] - real_ms)
        else:
            tournament.submitted(str(job), keys[job])
            if starts[job] == at_ms:
                continue
            waiting.append(job)
            number += 1
            if number % every:
                continue
            predicted = {}
            for name in tournament.names:
                rows_of = _cluster_state(at_ms, rows, starts, running, waiting, tournament, name, keys, total)
                predicted[name] = _wait_ms(rows_of, str(job))
            chosen = best({name: (int(n), total_ms / n) for name, (n, total_ms) in sums.items() if n})
            predicted["twin"] = predicted[chosen]
            open_forecasts[job] = predicted
            shown[job] = bands.Bands(past).around(predicted["twin"])


def _cluster_state(
    at_ms: int, rows: Sequence[Row], starts: Sequence[int], running: set[int], waiting: Sequence[int],
    tournament: Tournament, name: str, keys: Sequence[Similar], total: int,
) -> ClusterState:  # fmt: skip
    predict = tournament.predictors[name].predict

    def run_ms(job: int) -> int:
        predicted = predict(keys[job])
        return int(rows[job].limit_ms if predicted is None else predicted)

    held = tuple(
        Running(
            str(job), ((0, (rows[job].size,)),),
            starts[job] + expected_run_ms(run_ms(job), at_ms - starts[job], rows[job].limit_ms),
            starts[job] + rows[job].limit_ms,
        )
        for job in sorted(running)
    )  # fmt: skip
    queue = tuple(Waiting(str(job), (Group(1, (rows[job].size,)),), run_ms(job), rows[job].limit_ms) for job in waiting)
    return ClusterState(at_ms, (Node("pool", (total,)),), held, queue)


def _wait_ms(of: ClusterState, job: str) -> int:
    found = next(row for row in forecasts_of(of) if row.id == job)
    assert found.start_ms is not None
    return found.start_ms - of.now_ms
