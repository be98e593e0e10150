"""The ledger against a dense table of every millisecond, and what it says when it refuses."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.model.bars import CLOUD, NONE, Placement, Role
from scheduling.model.values import Cluster, Job, Server
from scheduling.slotted.ledger import Overbooked, SlottedLedger
from tests.cases import cases

END = 20  # ms; the dense table's length
CAPACITY = (4_000, 6_000, 0, 0, 0)
WORKER, PS = (1_000, 1_000, 0, 0, 0), (0, 2_000, 0, 0, 0)
CLUSTER = Cluster("two", 1, tuple(Server(f"h{i}", "edge", CAPACITY) for i in range(2)))
JOBS = [Job(f"j{i}", 0, worker=WORKER, ps=PS) for i in range(4)]


@st.composite
def plans(draw):
    """A growing time, and plans that each name one or two jobs with bars from then on."""
    now, story = 0, []
    for _ in range(draw(st.integers(1, 8))):
        now = draw(st.integers(now, min(now + 4, END - 2)))
        plan = {}
        for job in draw(st.lists(st.integers(0, 3), min_size=1, max_size=2, unique=True)):
            plan[job] = []
            for _ in range(draw(st.integers(0, 3))):
                start = draw(st.integers(now, END - 2))
                plan[job].append(Placement(
                    job, draw(st.integers(0, 1)), draw(st.integers(0, 1)), start, draw(st.integers(start + 1, END - 1)),
                    draw(st.integers(1, 3))
                ))  # fmt: skip
        story.append((now, plan))
    return story


def used_by(futures, server, at_ms):
    """Brute force: what the bars that cover a millisecond hold."""
    bars = [b for plan in futures.values() for b in plan if b.server == server and b.start_ms <= at_ms < b.end_ms]
    return tuple(sum(b.count * (WORKER, PS)[b.role][r] for b in bars) for r in range(5))


@settings(max_examples=cases(300, 40))
@given(plans())
def test_it_accepts_and_refuses_exactly_what_a_table_of_every_millisecond_does(story):
    ledger, futures = SlottedLedger(CLUSTER, JOBS), {}
    for now, plan in story:
        wanted = futures | plan
        fits = all(
            used <= has
            for server in range(2)
            for at_ms in range(now, END)
            for used, has in zip(used_by(wanted, server, at_ms), CAPACITY, strict=True)
        )
        if fits:
            ledger.replace(now, plan)
            futures = wanted
        else:
            with pytest.raises(Overbooked, match=r"needs .* on server h[01] in \["):
                ledger.replace(now, plan)
        again = SlottedLedger(CLUSTER, JOBS)
        again.rebuild(now, ledger.bars(now))
        for server in range(2):
            for at_ms in range(now, END):
                free = tuple(has - used for has, used in zip(CAPACITY, used_by(futures, server, at_ms), strict=True))
                assert ledger.free(server, at_ms) == again.free(server, at_ms) == free


def test_a_refusal_names_the_cell_and_changes_nothing():
    ledger = SlottedLedger(CLUSTER, JOBS)
    ledger.replace(0, {0: [Placement(0, 0, 1, 5, 9, 3)]})
    message = r"job j1: worker x 2 needs 2 GPU of gpu on server h1 in \[5, 7\) ms, 1 GPU free"
    with pytest.raises(Overbooked, match=message):
        ledger.replace(0, {1: [Placement(1, 0, 0, 0, 9, 4), Placement(1, 0, 1, 2, 7, 2)]})
    assert ledger.free(0, 0) == CAPACITY


def test_two_jobs_may_swap_their_places_in_one_decision():
    ledger = SlottedLedger(CLUSTER, JOBS)
    ledger.replace(0, {0: [Placement(0, 0, 0, 0, 9, 4)], 1: [Placement(1, 0, 1, 0, 9, 4)]})
    ledger.replace(3, {0: [Placement(0, 0, 1, 3, 9, 4)], 1: [Placement(1, 0, 0, 3, 9, 4)]})
    assert ledger.free(0, 5)[0] == ledger.free(1, 5)[0] == 0


def test_a_resource_that_does_not_bind_may_be_exceeded():
    ledger = SlottedLedger(CLUSTER, JOBS, limits=("cpu",))
    ledger.replace(0, {0: [Placement(0, 0, 0, 0, 9, 6)]})  # 6 GPUs of 4, 6 vCPUs of 6
    with pytest.raises(Overbooked, match="1 vCPU of cpu"):
        ledger.replace(0, {1: [Placement(1, 0, 0, 0, 9, 1)]})


@pytest.mark.parametrize(
    ("bar", "rule"),
    [
        (Placement(0, 0, 0, 1, 9, 1), r"start at or after now \(2 ms\)"),
        (Placement(0, 0, 0, 5, 5, 1), "end later"),
        (Placement(0, 0, 0, 5, 9, 0), "count >= 1"),
        (Placement(0, 0, 0, 5, 9, 1.0), "integers"),
        (Placement(0, 0, 2, 5, 9, 1), "one of the 2 servers"),
        (Placement(0, 0, CLOUD, 5, 9, 1), "a server of the cluster"),
        (Placement(0, 7, 0, 5, 9, 1), "a role from 0 to 2"),
        (Placement(1, 0, 0, 5, 9, 1), "name the job of its plan"),
        (Placement(0, 0, 0, 5, 9, 2**61), "need at most"),
    ],
)
def test_it_refuses_a_bar_that_breaks_a_rule(bar, rule):
    with pytest.raises(Overbooked, match=rule):
        SlottedLedger(CLUSTER, JOBS).replace(2, {0: [bar]})


def test_a_server_takes_only_its_roles_and_nothing_passes_the_horizon():
    machine = Server("only-workers", "edge", CAPACITY, ("worker",))
    ledger = SlottedLedger(Cluster("c", 10, (machine,), 2), JOBS)
    with pytest.raises(Overbooked, match="only-workers accepts"):
        ledger.replace(0, {0: [Placement(0, 1, 0, 0, 5, 1)]})
    with pytest.raises(Overbooked, match=r"by the horizon \(20 ms\)"):
        ledger.replace(0, {0: [Placement(0, 0, 0, 0, 21, 1)]})


def test_transfers_groups_and_the_unlimited_cloud_hold_nothing():
    ledger = SlottedLedger(Cluster("c", 1, CLUSTER.servers, unlimited_cloud=True), JOBS)
    ledger.replace(
        0,
        {
            0: [
                Placement(0, 0, CLOUD, 0, 9, 99),
                Placement(0, 0, NONE, 0, 9, 99),
                Placement(0, int(Role.TRANSFER), 0, 0, 9, 99),
            ]
        },
    )
    assert ledger.free(0, 0) == CAPACITY


def test_timelines_stay_short_while_time_goes_on():
    ledger = SlottedLedger(CLUSTER, JOBS)
    for now in range(0, 10_000, 10):
        ledger.replace(now, {0: [Placement(0, 0, 0, now, now + 15, 1)]})
    assert len(ledger._times[0]) <= 3
