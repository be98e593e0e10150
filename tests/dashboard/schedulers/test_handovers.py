"""A run handed from one execution model to another: pages, API and downloads show both."""

from dataclasses import replace
from itertools import pairwise

import pytest

from dashboard.readmodels import counterfactuals
from scheduling.kernel.registry import scheduler_class
from scheduling.model.bars import WORKER_SLOT
from scheduling.model.values import RESOURCES, SITES
from scheduling.slotted.counterfactuals import unit_of
from tests.dashboard.schedulers.builders_handovers import EDIT_MS, PAIRS, H, change, handed
from tests.twin.runtime.queues import work
from twin.analysis.situation import load
from twin.eventlog import event_log, remaining_work
from twin.eventlog.stored_states import at
from twin.models import Run
from twin.runs import runner
from twin.scenarios import store


@pytest.mark.parametrize(("first", "then"), PAIRS)
def test_the_page_receives_what_every_model_of_the_run_needs(viewer, make_scenario, first, then):
    run = handed(make_scenario, first, change(then))
    static = viewer.get(f"/api/runs/{run.pk}/static/").json()
    assert [(phase["from_ms"], phase["name"]) for phase in static["phases"]] == [(0, first), (3 * H, then)]
    models = [scheduler_class(name).model.name for name in (first, then)]
    assert [phase["model"] for phase in static["phases"]] == models
    assert static["scheduler"]["model"] == models[-1]
    assert static["scheduler"]["quotes"] == any(phase["quotes"] for phase in static["phases"])
    assert ("typed_workers" in static) == ("typed_workers" in models), "what the charts of typed workers are drawn from"
    assert viewer.get(f"/api/runs/{run.pk}/snapshot/").status_code == 200
    slotted = {"fifo", "oasis"} & {first, then}
    assert static["limits"] == (list(RESOURCES) if slotted else []), "what is drawn while slots are in charge"


def test_a_picture_across_a_hand_over_has_what_every_phase_in_it_packs(make_scenario):
    """PD-ORS does not limit bandwidth; typed workers hold no resources."""
    run = handed(make_scenario, "pd_ors", change("oasis", EDIT_MS))
    assert "bandwidth" not in store.packed(run, 0)
    assert "bandwidth" not in store.packed_since(run, EDIT_MS - 1, 20 * H)
    assert store.packed_since(run, EDIT_MS, 20 * H) == list(RESOURCES)
    run = handed(make_scenario, "srtf", change("fifo", EDIT_MS))
    state, (cluster, jobs) = at(run.pk), store.of_run(run)
    found = load.held(run, state, cluster, jobs, run.sim_ms, 0)
    typed = found.bars[:, WORKER_SLOT] >= 0
    assert 0 < typed.sum() < len(typed)
    assert not found.amounts[typed].any()
    assert found.amounts[~typed].any(axis=1).all()


def test_a_resource_that_one_of_the_schedulers_does_not_pack_is_not_drawn(viewer, make_scenario):
    """PD-ORS does not count bandwidth: a share of it would mean nothing while it is in scheduler_history."""
    run = handed(make_scenario, "oasis", change("pd_ors"), change("srtf", 9 * H))
    assert viewer.get(f"/api/runs/{run.pk}/static/").json()["limits"] == list(RESOURCES[:4])


def test_prices_are_those_of_the_scheduler_that_is_in_charge_in_each_slot(viewer, make_scenario):
    run = handed(make_scenario, "oasis", change("fifo", EDIT_MS))
    of_sites, of_server = f"/api/runs/{run.pk}/prices/", f"/api/runs/{run.pk}/prices/0/"
    then, after = (viewer.get(of_sites, asked).json() for asked in ({"at_ms": EDIT_MS - 1}, {}))
    assert (then["earlier_prices"], then["default_prices"] is None) == ([], False)
    assert (after["earlier_prices"], after["default_prices"]) == ([[EDIT_MS // H, then["default_prices"]]], None)
    assert after["prices"] == [row for row in then["prices"] if row[0] < EDIT_MS // H]
    before = viewer.get(of_server, {"at_ms": EDIT_MS - 1}).json()["prices"]["gpu"]
    assert any(before)
    assert viewer.get(of_server).json()["prices"]["gpu"] == before[: EDIT_MS // H], "FIFO has none"
    back = handed(make_scenario, "srtf", change("oasis", EDIT_MS))
    priced = viewer.get(f"/api/runs/{back.pk}/prices/0/").json()["prices"]["gpu"]
    assert set(priced[: EDIT_MS // H]) == {None}
    assert all(price is not None for price in priced[EDIT_MS // H :])
    assert viewer.get(f"/api/runs/{back.pk}/prices/0/", {"at_ms": 2 * H}).json()["detail"] == "SRTF has no prices"


@pytest.mark.parametrize(
    "edits",
    [
        [change("oasis", EDIT_MS, parameters="floor_scale=2"), change("oasis", 20 * H)],
        [change("pd_ors", EDIT_MS), change("oasis", 20 * H)],
        [change("fifo", EDIT_MS)],
        [{"verb": "fail_servers", "servers": "*0", "at_ms": EDIT_MS, "for_ms": 3 * H}],
        [{"verb": "remove_servers", "servers": "*1", "at_ms": EDIT_MS + 1},
         {"verb": "resize_servers", "servers": "*2", "resource": "cpu", "amount": 100, "at_ms": 15 * H}],
        [change("fifo", EDIT_MS), change("oasis", 15 * H), change("drf", 18 * H), change("pd_ors", 24 * H)],
    ],
    ids=["bounds", "pd-ors", "no prices", "failed", "removed and resized", "resubmitted"],
)  # fmt: skip
def test_the_prices_of_a_server_are_within_those_of_its_site_in_every_slot(viewer, make_scenario, edits):
    """The run page and the page of a server read different sources: the log, and the schedulers built again."""
    run = handed(make_scenario, "oasis", *edits)
    sites = viewer.get(f"/api/runs/{run.pk}/prices/").json()
    assert [slot for slot, _ in sites["earlier_prices"]] == sorted(edit["at_ms"] // H for edit in edits)
    stated = {slot: columns for slot, *columns in sites["prices"]}
    cluster = store.of_run(run)[0]
    by_slot: dict[tuple[int, int], list[float]] = {}
    for index, server in enumerate(cluster.servers):
        answer = viewer.get(f"/api/runs/{run.pk}/prices/{index}/").json()["prices"]
        for r, resource in enumerate(RESOURCES):
            for slot, price in enumerate(answer[resource]):
                if price is not None:
                    by_slot.setdefault((slot, SITES.index(server.site) * len(RESOURCES) + r), []).append(price)
    assert by_slot
    for (slot, cell), prices in by_slot.items():
        columns = stated.get(slot) or next(
            (kept for until, kept in sites["earlier_prices"] if slot < until), sites["default_prices"]
        )
        assert [min(prices), max(prices)] == pytest.approx([columns[0][cell], columns[2][cell]], rel=1e-5), slot


def test_the_schedulers_built_again_know_the_remaining_work_as_the_run_did(make_scenario):
    edits = [change("drf", EDIT_MS), change("fifo", 15 * H), change("drf", 18 * H), change("oasis", 24 * H)]
    run = handed(make_scenario, "oasis", *edits)
    sim = store.simulation(run)
    stated = [stage.state.jobs for stage in store.stages_of(run.scenario, run.edits)]
    found = remaining_work.of_phases(run.pk, stated)
    for phase, edit in enumerate(edits, start=1):
        sim.run_until(edit["at_ms"], max_events=10**6)
        assert sim.phase == phase
        assert list(found[phase]) == list(sim.jobs)
    for earlier, later in pairwise(found[1:]):
        assert later != earlier, "each of these edits resubmits a job that is partly done"
    assert remaining_work.of_phases(run.pk, stated, 20 * H) == [*found[:4], stated[4]], "not known by then"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("first", "edits"),
    [
        ("pd_ors", [change("oasis", EDIT_MS)]),
        ("oasis", [change("drf", 3 * H), change("oasis", EDIT_MS + 1_200_000)]),
        ("oasis", [{"verb": "remove_servers", "servers": "*1", "at_ms": EDIT_MS + 1_200_000}]),
    ],
    ids=["to oasis", "back to oasis within a slot", "other servers within a slot"],
)
def test_the_least_priority_after_an_edit_is_admitted_and_one_below_it_is_not(make_scenario, first, edits):
    """The run is simulated again with each priority."""
    run = handed(make_scenario, first, *edits, jobs=24)
    stages = store.stages_of(run.scenario, run.edits)
    jobs = store.of_run(run)[1]
    reversed_ = 0
    for index, job in enumerate(jobs):
        if job.arrival_ms <= edits[-1]["at_ms"]:
            continue
        answer = counterfactuals.of_job(run, index, seconds=30)
        if answer is None:
            continue
        row = next((row for row in answer["rows"] if row["what"] == "priority" and row["value"]), None)
        if row is None:
            continue
        for less, admitted in ((0.0, True), (1.001 * unit_of(row["value"]), False)):
            verdict = verdict_with(stages, run.scenario.seed, index, row["value"] - less)
            assert (verdict == "admitted") == admitted, (job.id, less, row)
            reversed_ += (verdict == "admitted") != answer["admitted"]
    assert reversed_


def test_a_job_that_is_decided_at_an_edit_says_so(viewer, make_scenario):
    """It waited under FIFO; OASiS, which takes over, decides about it."""
    run = handed(make_scenario, "fifo", change("oasis", EDIT_MS), jobs=60)
    decided = list(event_log.lines_of(run.pk, ("decided",)))
    before = {data["job"] for _, at_ms, _, data in decided if at_ms < EDIT_MS}
    job = next(data["job"] for _, at_ms, _, data in decided if at_ms == EDIT_MS and data["job"] not in before)
    answer = viewer.get(f"/api/runs/{run.pk}/jobs/{job}/counterfactuals/")
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith(
        "the decision was made at an edit, together with those about the other resubmitted jobs;"
    )


def verdict_with(stages, seed: int, index: int, priority: float) -> str:
    """The first decision about a job with another priority from the start."""

    def changed(stage):
        jobs = list(stage.state.jobs)
        jobs[index] = replace(jobs[index], utility=replace(jobs[index].utility, priority=priority))
        return stage._replace(state=stage.state.with_jobs(jobs))

    events = store.played([changed(stage) for stage in stages], seed).events()
    return next(event.data["kind"] for event in events if event.kind == "decided" and event.data["job"] == index)


def test_jobs_that_the_second_scheduler_turns_away_are_rejected_and_none_is_left_open(viewer, make_scenario):
    run = handed(make_scenario, "srtf", change("fifo", 20 * H))
    rows = viewer.get(f"/api/runs/{run.pk}/jobs/", {"size": 100}).json()["rows"]
    turned_away = [row for row in rows if row["verdict"] == "rejected"]
    assert any(row["start_ms"] is not None for row in turned_away), "some had run"
    assert {row["state"] for row in turned_away} == {"rejected"}
    assert {row["state"] for row in rows} <= {"completed", "rejected", "unfinished"}
    now = viewer.get(f"/api/runs/{run.pk}/now/").json()["jobs"]
    assert sum(now.values()) == len(rows) == 12
    then = viewer.get(f"/api/runs/{run.pk}/jobs/", {"size": 100, "at_ms": 20 * H - 1}).json()["rows"]
    assert "rejected" not in {row["state"] for row in then}, "not known before it was decided"


def test_a_share_of_resources_is_reported_only_while_bars_hold_amounts_of_them(viewer, make_scenario):
    for first, then, reported in (("srtf", "fifo", True), ("fifo", "srtf", False), ("fifo", "harmony", False)):
        run = handed(make_scenario, first, change(then))
        allocated = [bool(site["allocated"]) for site in viewer.get(f"/api/runs/{run.pk}/now/").json()["sites"]]
        assert set(allocated) == {reported}, (first, then)


@pytest.mark.parametrize("then", ["harmony", "drf", "srtf"])
def test_the_table_of_jobs_at_a_past_time_has_the_reasons_of_that_time(viewer, make_scenario, then):
    run = handed(make_scenario, "oasis", change(then))
    events = [event for batch in event_log.after(run.pk, 0) for event in batch]
    decided = [(event.at_ms, event.data) for event in events if event.kind == "decided"]
    differ = 0
    for moment in sorted({max(0, at_ms - 1) for at_ms, _ in decided}):
        answer = viewer.get(f"/api/runs/{run.pk}/jobs/", {"at_ms": moment, "size": 500}).json()
        for row in answer["rows"]:
            own = [(data["kind"], data["code"]) for at_ms, data in decided if data["job"] == row["index"]]
            by_then = [(d["kind"], d["code"]) for at_ms, d in decided if d["job"] == row["index"] and at_ms <= moment]
            assert (row["verdict"], row["code"]) == (by_then[-1] if by_then else (None, None)), (moment, row["id"])
            differ += bool(by_then) and by_then[-1] != own[-1]
    assert differ, "some were decided about again later"


def test_metrics_of_a_part_of_a_run_name_it_and_are_not_ranked_against_the_whole(viewer, make_scenario):
    """Groups are those of Harmony, before 03:00; the allocation is that of FIFO, after it."""
    run = handed(make_scenario, "harmony", change("fifo"))
    covers = viewer.get(f"/api/runs/{run.pk}/").json()["covers"]
    assert covers == viewer.get(f"/api/runs/{run.pk}/static/").json()["covers"]
    assert covers["groups.moves"] == {"title": "under Harmony", "text": "only under Harmony, until 03:00:00"}
    assert covers["utilization.gpu"] == {"title": "under FIFO", "text": "only under FIFO, from 03:00:00 on"}
    assert not {"mean_jct_ms", "lanes.mean_busy"} & set(covers)
    assert 0 < run.metrics["utilization"]["gpu"] <= 1
    later = Run.objects.create(scenario=run.scenario, edits=[change("fifo", EDIT_MS)])
    same = Run.objects.create(
        scenario=run.scenario,
        edits=[change("fifo"), {"verb": "fail_servers", "servers": "*", "for_ms": H, "at_ms": 4 * H}],
    )
    for one in (later, same):
        runner.enqueue(one.pk)
    work()
    answer = viewer.get(f"/api/compare/?runs={run.pk},{same.pk},{later.pk}").json()
    rows = {row["key"]: row["values"] for row in answer["metrics"]}
    for key in ("groups.cpu_utilization", "utilization.gpu"):
        assert [cell["ranked"] for cell in rows[key]] == [True, True, False]
    assert [cell["why"] for cell in rows["utilization.gpu"]] == [
        "only under FIFO, from 03:00:00 on",
        "only under FIFO, from 03:00:00 on",
        "only under FIFO, from 09:00:00 on",
    ]
    assert all(cell["ranked"] for cell in rows["mean_jct_ms"])
