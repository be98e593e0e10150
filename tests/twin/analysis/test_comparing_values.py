"""Values of comparisons: which differ, which are better, which are ranked; gaps, preemptions and equal plans."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.model.bars import Placement, Role
from scheduling.model.spans import suspensions
from scheduling.model.values import Cluster, Job, Server
from scheduling.reporting import metrics
from scheduling.reporting.quantities import value_text
from tests.twin.analysis.builders_comparing import CLUSTER, bar, events_of, planned
from twin.analysis.comparison import metrics as compared
from twin.analysis.comparison.decisions import Decisions, decisions_of
from twin.analysis.comparison.divergence import first_divergence
from twin.analysis.comparison.metrics import against
from twin.analysis.comparison.outcomes import FOREVER, _service, believed, outcomes_of, preemptions
from twin.eventlog.fold import VERDICT, RunState

AWAY = ((50, 100),)


def test_a_delta_knows_which_way_is_better():
    less, none, more = against([10, None, 12], "lower")
    assert (less["verdict"], less["best"]) == ("same", False), "the unknown one may be better"
    assert against([10, 12], "lower")[0]["best"]
    assert none == {"value": None, "delta": None, "relative": None, "verdict": None, "best": False, "ranked": True}
    assert (more["delta"], more["relative"], more["verdict"], more["best"]) == (2, 0.2, "worse", False)
    assert [v["best"] for v in against([3, 3], "higher")] == [False, False]
    assert against([1, 2], None)[1]["verdict"] is None


def test_values_that_read_alike_are_equal():
    """Sums in another order differ by dust: neither is best, none is better."""
    for unit, value, dust in (
        ("", 1e4, 1e-9), ("x", 3.0, 0.002), ("share", 0.5, 1e-6), ("share", 0.666, 0.0004), ("ms", 3_600_000.0, 1e-6),
        ("ms", 7_500_000.0, 7_000), ("", 0.0, 1e-12),
    ):  # fmt: skip
        more = value + (3_600_000 if unit == "ms" else 1)
        first, second, third = against([value, value + dust, more], "higher", unit)
        assert (second["verdict"], third["verdict"]) == ("same", "better")
        assert [cell["best"] for cell in (first, second, third)] == [False, False, True]
        assert not any(cell["best"] for cell in against([value, value + dust], "higher", unit))
    assert [cell["best"] for cell in against([1, 5, 5 + 1e-12], "higher")] == [False, True, True]
    assert against([0.005, 0.005 - 1e-15], "higher")[1]["verdict"] == "same", "dust that tips the last digit"
    assert against([0.666, 0.6664, 0.7], None, "share")[1]["verdict"] == "same", (
        "both read 66.6 %, so there is no change to show"
    )


def test_values_that_read_otherwise_differ():
    assert against([0.66649, 0.66651], "higher", "share")[1]["verdict"] == "better", "66.6 % and 66.7 %"
    assert [cell["best"] for cell in against([7_500_000, 7_560_000], "lower", "ms")] == [True, False], "2h 5m and 2h 6m"


@pytest.mark.parametrize(
    ("unit", "value", "more"),
    [("ms", 125_003_256, 126_791_309), ("ms", 7_500_000, 7_520_000), ("share", 0.0068, 0.0074), ("x", 1.0, 1.002)],
)
def test_a_difference_that_the_text_hides_is_one(unit, value, more):
    """Two makespans of "1d 11h" differ by half an hour, two utilizations of "0.7 %" by a twelfth."""
    cells = against([value, more], "lower", unit)
    assert value_text(value, unit) == value_text(more, unit)
    assert [(cell["verdict"], cell["best"]) for cell in cells] == [("same", True), ("worse", False)]


def test_what_cannot_be_ranked_is_not_ranked():
    first, second, third = against([10, 20, 12], "higher", ranked=[True, False, True])
    assert second == {"value": 20, "delta": None, "relative": None, "verdict": None, "best": False, "ranked": False}
    assert (first["best"], third["best"], third["verdict"]) == (False, True, "better")
    assert against([10, 20], None, ranked=[True, False])[1]["delta"] == 10, "where no way is better, nothing is ranked"


bars_of = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 8), st.integers(1, 5), st.integers(-1, 1)), max_size=12)


@given(bars_of)
def test_service_and_suspensions_are_those_of_plain_loops(spans):
    rows = np.array(
        [[j, 0, 0, start, start + length, 1, -1, chunk, -1, 0, -1] for j, start, length, chunk in spans], dtype=np.int64
    ).reshape(-1, 11)
    service = [
        len({t for j, start, length, _ in spans if j == index for t in range(start, start + length)})
        for index in range(3)
    ]
    assert _service(rows, 3).tolist() == service
    gaps = [0, 0, 0]
    for index in range(3):
        for chunk in (-1, 0, 1):
            busy = {
                t for j, start, length, c in spans if (j, c) == (index, chunk) for t in range(start, start + length)
            }
            gaps[index] += sum(t not in busy and t - 1 in busy and any(u > t for u in busy) for t in range(15))
    assert suspensions(rows, 3).tolist() == gaps
    busy = [
        {t for j, start, length, _ in spans if j == index for t in range(start, start + length)} for index in range(3)
    ]
    stops = [sum(t not in own and t - 1 in own and any(u > t for u in own) for t in range(15)) for own in busy]
    assert suspensions(rows, 3, of_chunks=False).tolist() == stops


def test_gaps_of_many_jobs_that_have_not_ended():
    """Times of 2^53 in more than 1,024 chains: nothing overflows."""
    spans = [[j, 0, 0, *span, 1, -1, -1, -1, 0, -1] for j in range(3_000) for span in ((0, 5), (7 + j % 2, 2**53))]
    assert suspensions(np.array(spans, dtype=np.int64), 3_000).tolist() == [1] * 3_000


stops = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12), st.sampled_from(sorted(VERDICT))), max_size=8)


@given(bars_of, stops)
def test_only_a_job_with_workers_is_preempted(spans, given):
    rows = np.array(
        [[j, 0, 0, start, start + length, 1, -1, chunk, -1, 0, -1] for j, start, length, chunk in spans], dtype=np.int64
    ).reshape(-1, 11)
    verdicts = np.array([[0, at_ms, j, VERDICT[kind]] for j, at_ms, kind in given], dtype=np.int64).reshape(-1, 4)
    taken = {(j, at_ms) for j, at_ms, kind in given if kind in ("preempted", "paused")}
    wanted = [0, 0, 0]
    for j, at_ms in taken:
        wanted[j] += any(job == j and start < at_ms <= start + length for job, start, length, _ in spans)
    assert preemptions(verdicts, rows, 3).tolist() == wanted


acts = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(1, 3)), max_size=10)


@given(acts, acts)
def test_runs_part_at_the_first_instant_with_another_set_of_decisions(mine, yours):
    """plans of one instant and job are a bag; the earliest instant at which some job's bag differs."""

    def decisions(given):
        given = sorted(given, key=lambda act: act[0])
        plans = np.array(
            [[seq, at_ms, index] for seq, (at_ms, index, _) in enumerate(given, 1)], dtype=np.int64
        ).reshape(-1, 3)
        return Decisions(
            np.empty((0, 4), dtype=np.int64),
            plans,
            np.array([99**plan for *_, plan in given], dtype=np.uint64) << np.uint64(20),
        )

    def bags(given):
        return {(at_ms, index): sorted(p for a, j, p in given if (a, j) == (at_ms, index)) for at_ms, index, _ in given}

    places = (np.arange(4), np.arange(4))
    found = first_divergence(decisions(mine), decisions(yours), places, FOREVER)
    ours, theirs = bags(mine), bags(yours)
    differing = sorted(key for key in {*ours, *theirs} if ours.get(key, []) != theirs.get(key, []))
    if not differing:
        assert found is None
        return
    moment = differing[0][0]
    there = {index for at_ms, index in differing if at_ms == moment}
    assert found is not None
    assert (found.at_ms, found.jobs) == (moment, len(there))
    assert found.job in there


def test_a_plan_of_workers_is_a_decision_about_each_job_whose_times_change():
    """Job 7 runs on a, job 3 on b; each is known by its times and its own bars."""

    def digests(jobs, *bars):
        keys = [[0, bar.server, bar.worker_slot] for bar in bars]
        plan = {"scope": "worker", "keys": keys, "jobs": jobs, "bars": list(bars)}
        decided = decisions_of(RunState().feed(events_of((0, "plan_changed", plan))), CLUSTER)
        assert decided.plans[:, 2].tolist() == [job for job, _, _ in jobs]
        return dict(zip(decided.plans[:, 2].tolist(), decided.digests.tolist(), strict=True))

    jobs = [[7, 0, 100], [3, 50, 200]]
    seven, three, five = bar(7, 0, 0, 100), bar(3, 1, 50, 200), bar(5, 1, 200, 300)
    first = digests(jobs, seven, three, five)
    assert digests(jobs[::-1], three, five, seven) == first
    moved = digests(jobs, seven, three._replace(server=0), five)
    assert (moved[7] == first[7], moved[3] == first[3]) == (True, False)
    assert digests(jobs, seven, three, five._replace(end_ms=400)) == first, (
        "job 5 keeps its times, so nothing is decided about it"
    )
    assert digests([[7, 0, 150], jobs[1]], seven, three, five)[7] != first[7]


def test_jobs_that_are_planned_at_once_and_one_after_the_other_are_planned_alike():
    """Schedulers differ in how many jobs one event plans; the decisions about each may be the same."""
    one, two = bar(0, 0, 0, 100), bar(1, 1, 0, 200)
    at_once = {"scope": "job", "keys": [0, 1], "jobs": [[0, 0, 100], [1, 0, 200]], "bars": [one, two]}
    single = RunState().feed(events_of(planned(0, 1, 200, two), planned(0, 0, 100, one)))
    both = RunState().feed(events_of((0, "plan_changed", at_once)))
    places = (np.arange(2), np.arange(2))
    assert first_divergence(decisions_of(single, CLUSTER), decisions_of(both, CLUSTER), places, FOREVER) is None
    later = RunState().feed(events_of((0, "plan_changed", at_once | {"bars": [one, two._replace(end_ms=300)]})))
    divergence = first_divergence(decisions_of(single, CLUSTER), decisions_of(later, CLUSTER), places, FOREVER)
    assert (divergence.at_ms, divergence.job, divergence.jobs) == (0, 1, 1)


def test_utilization_leaves_out_what_jobs_hold_on_an_unavailable_server():
    """As at the end of a run. Bars of 4 of 8 GPUs in 0..100 and, on a server that is away in 50..100, in 0..100."""
    servers = tuple(Server(name, "edge", (8_000, 0, 0, 0, 0), away=away) for name, away in (("a", ()), ("b", AWAY)))
    cluster, jobs = Cluster("two", 10, servers), [Job("j", 0, worker=(4_000, 0, 0, 0, 0))]
    bars = np.array([(0, Role.WORKER, server, 0, 100, 1, -1, -1, -1) for server in (0, 1)], dtype=np.int64)
    log = [
        (0, "run_started", {"execution": {"model": "slotted", "packs": ["gpu"]}}), (0, "job_arrived", {"job": 0}),
        planned(0, 0, 100, *(Placement._make(bar) for bar in bars.tolist())),
        (100, "job_completed", {"job": 0, "utility": 0.0}),
    ]  # fmt: skip
    whole = metrics.summarize(events_of(*log), cluster, jobs)["utilization"]
    assert whole["gpu"] == 4 * (100 + 50) / (8 * (100 + 50))
    state = RunState().feed(events_of(*log))
    assert _at(state, cluster, jobs, 100)["utilization.gpu"] == whole["gpu"]
    assert _at(state, cluster, jobs, 60)["utilization.gpu"] == 4 * 110 / (8 * 110)


def _at(state, cluster, jobs, until_ms):
    found = outcomes_of(state, decisions_of(state, cluster), cluster, len(jobs), until_ms)
    none = np.empty(0, dtype=np.int64)
    return compared.metrics_of(found, believed(state, until_ms), [(0, cluster)], jobs, until_ms, none, [(0, ["gpu"])])
