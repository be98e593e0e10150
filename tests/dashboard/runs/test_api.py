"""The API shows what the log says, and answers bad input with what would work."""

import gzip
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from django.db import OperationalError

from dashboard.readmodels import job_table
from scheduling.kernel.registry import build, schedulers
from scheduling.kernel.simulation import Simulation
from scheduling.model.bars import END
from scheduling.workloads import generate
from tests.dashboard.builders import downloaded, post
from tests.twin.runtime.queues import work
from twin.eventlog import event_log, state_cache
from twin.eventlog.fold import COMPLETED_AT, RunState
from twin.infra.columns import unpack
from twin.infra.kept import KEPT
from twin.models import AuditEntry, Run, Scenario
from twin.runs import runner
from twin.scenarios import store


def test_it_lists_every_scheduler_with_its_parameters(viewer):
    rows = {row["name"]: row for row in viewer.get("/api/schedulers/").json()}
    assert set(rows) == set(schedulers())
    backfill = next(p for p in rows["fifo"]["parameters"] if p["name"] == "backfill")
    assert (backfill["type"], backfill["default"]) == ("bool", False)


def test_a_scenario_and_its_run_by_api(operator, make_scenario):
    """Create, run, watch it finish, read the metrics; every change is in the audit list."""
    base = make_scenario()
    body = {
        "name": "mine",
        "cluster": base.cluster_id,
        "trace": base.trace_id,
        "scheduler": "fifo",
        "parameters": {"backfill": "true"},
    }
    scenario = post(operator, "/api/scenarios/", body).json()
    assert scenario["parameters"] == {"backfill": True}
    answer = post(operator, "/api/runs/", {"scenario": scenario["id"], "mode": "batch"})
    assert answer.status_code == 201
    run_id = answer.json()["id"]
    from twin.runs import runner

    runner.enqueue(run_id)  # the test's transaction never commits, so nobody was asked yet
    work()
    run = operator.get(f"/api/runs/{run_id}/").json()
    assert run["status"] == "finished"
    assert run["metrics"]["jobs"] == 12
    assert operator.get(f"/api/runs/{run_id}/summary.json").json()["metrics"] == run["metrics"]
    assert AuditEntry.objects.filter(action="run.start", user=operator.user).count() == 1


def test_the_snapshot_is_the_fold_of_the_log(viewer, finished_run):
    answer = viewer.get(f"/api/runs/{finished_run.pk}/snapshot/", headers={"accept-encoding": "gzip, deflate, br"})
    meta, columns = unpack(gzip.decompress(answer.content))
    state = RunState()
    for events in event_log.after(finished_run.pk, 0):
        state.feed(events)
    assert meta["last_seq"] == finished_run.last_seq == state.last_seq
    assert meta["status"]["status"] == "finished"
    assert meta["verdicts"] == state.verdicts
    assert len(columns["bars_job"]) == len(state.bars.rows) > 0
    np.testing.assert_array_equal(columns["bars_end_ms"], state.bars.rows[:, END])
    np.testing.assert_array_equal(columns["jobs_completed_ms"], state.jobs.rows[:, COMPLETED_AT])


@pytest.mark.parametrize("accepted", ["", "identity", "gzip;q=0", "br, gzip; q=0.0", "gzip;q=0, identity"])
def test_who_takes_no_gzip_gets_none(viewer, finished_run, accepted):
    for name in ("snapshot/", "static/", "events/"):
        address = f"/api/runs/{finished_run.pk}/{name}"
        plain, packed = (viewer.get(address, headers={"accept-encoding": value}) for value in (accepted, "gzip;q=0.5"))
        assert "Content-Encoding" not in plain.headers
        assert packed.headers["Content-Encoding"] == "gzip"
        if name != "snapshot/":  # which contains the time
            assert gzip.decompress(packed.content) == plain.content
        assert "Accept-Encoding" in plain.headers["Vary"]
        assert "Accept-Encoding" in packed.headers["Vary"]


def test_a_rejected_job_says_why(viewer, finished_run):
    """The sentence holds the numbers of the decision in the log."""
    rows = viewer.get(f"/api/runs/{finished_run.pk}/jobs/?state=rejected").json()
    assert rows["count"] == finished_run.metrics["rejected"] > 0
    story = viewer.get(f"/api/runs/{finished_run.pk}/jobs/{rows['rows'][0]['index']}/").json()
    decision = story["decisions"][0]
    assert decision["kind"] == "rejected"
    assert decision["sentence"].startswith("Rejected")
    if decision["code"] == "payoff_not_positive":
        values = decision["values"]
        assert values["payoff"] == values["utility"] - values["cost"] <= 0
    names = {field["name"]: field["provenance"] for field in story["fields"]}
    assert names["epochs"] == "drawn"


def test_every_story_holds_every_decision_about_its_job(viewer, finished_run):
    """However the log is cut: the stories read only the part of it in which their job lived."""
    decided = [event for batch in event_log.after(finished_run.pk, 0) for event in batch if event.kind == "decided"]
    assert len({event.data["job"] for event in decided}) == 12
    for index in range(12):
        story = viewer.get(f"/api/runs/{finished_run.pk}/jobs/{index}/").json()
        assert [d["seq"] for d in story["decisions"]] == [e.seq for e in decided if e.data["job"] == index]


def test_the_metrics_of_the_newest_moment(viewer, make_run):
    """When the third job completes: the shares are those of the bars in the log that cover the moment."""
    run = make_run(scheduler="oasis", jobs=40, servers=40)
    middle = run_up_to(run, completed=3)
    metrics = viewer.get(f"/api/runs/{run.pk}/now/").json()
    cluster, jobs = store.of_run(run)
    bars = [bar for event in middle if event.kind == "plan_changed" for bar in event.data["bars"]]
    at_ms = middle[-1].at_ms
    gpus, in_use = Counter(), Counter()
    for server in cluster.servers:
        gpus[server.site] += server.capacity[0]
    for bar in bars:
        if bar.start_ms <= at_ms < bar.end_ms and bar.role == 0:
            in_use[cluster.servers[bar.server].site] += bar.count * jobs[bar.job].worker[0]
    assert sum(in_use.values()) > 0
    assert {row["site"]: row["allocated"]["gpu"] for row in metrics["sites"]} == {
        site: in_use[site] / total for site, total in gpus.items()
    }
    done = [event.data["utility"] for event in middle if event.kind == "job_completed"]
    assert (metrics["sim_ms"], metrics["jobs"]["completed"]) == (at_ms, len(done))
    assert metrics["utility"] == pytest.approx(sum(done))
    assert sum(metrics["jobs"].values()) == sum(event.kind == "job_arrived" for event in middle)


def run_up_to(run, completed):
    """The events of a run up to a job's completion, written to its log."""
    cluster, jobs = store.of_run(run)
    events = list(Simulation(cluster, jobs, build("oasis"), run.scenario.seed).events())
    ends = [i for i, event in enumerate(events) if event.kind == "job_completed"]
    first = events[: ends[completed - 1] + 1]
    event_log.append(run.pk, run.epoch, first)
    return first


def test_jobs_are_paged_sorted_and_searched_by_the_server(viewer, finished_run):
    address = f"/api/runs/{finished_run.pk}/jobs/"
    page = viewer.get(address, {"size": 5, "page": 2, "sort": "-index"}).json()
    assert [row["index"] for row in page["rows"]] == [6, 5, 4, 3, 2]
    assert (page["count"], page["total"]) == (12, 12)
    assert [row["id"] for row in viewer.get(address, {"q": "J0003"}).json()["rows"]] == ["j0003"]
    found = [row["state"] for row in viewer.get(address).json()["rows"]]
    assert set(found) <= {"completed", "rejected", "unfinished"}
    assert viewer.get(address, {"sort": "colour"}).json()["detail"].startswith("sort must be one of index, id")
    assert viewer.get(address, {"page": "x"}).json()["detail"] == "page must be an integer, got 'x'"


def test_the_log_is_downloaded_as_it_is(viewer, finished_run):
    body = downloaded(viewer.get(f"/api/runs/{finished_run.pk}/events.jsonl"))
    assert body == b"".join(event_log.canonical(finished_run.pk))
    lines = downloaded(viewer.get(f"/api/runs/{finished_run.pk}/schedule.csv")).decode().splitlines()
    assert lines[0] == "job,chunk,role,server,lane,count,group,start_ms,end_ms"
    assert len(lines) > 1


def test_events_after_a_number(viewer, finished_run):
    found = viewer.get(f"/api/runs/{finished_run.pk}/events/", {"after": 3, "limit": 2}).json()
    assert [event["seq"] for event in found["events"]] == [4, 5]


def test_true_is_no_number(operator, make_scenario, finished_run):
    base = make_scenario()
    body = {
        "name": "x",
        "cluster": base.cluster_id,
        "trace": base.trace_id,
        "scheduler": "oasis",
        "parameters": {"worker_share": True},
    }
    answer = post(operator, "/api/scenarios/", body)
    assert (answer.status_code, answer.json()["detail"]) == (
        400,
        "scheduler oasis: parameter worker_share (Share of worker servers) must be a number, got True",
    )
    for address, rest in (
        ("/api/runs/", {"scenario": base.pk, "mode": "live"}),
        (f"/api/runs/{finished_run.pk}/clock/", {}),
    ):
        assert post(operator, address, {**rest, "speed": True}).json() == {
            "speed": ["This field must be a number, got True."],
            "detail": "speed must be a number, got True.",
        }


def test_a_write_that_the_database_does_not_take_says_why(operator, finished_run, monkeypatch, settings):
    def full(*args):
        raise OperationalError("database or disk is full")

    monkeypatch.setattr("twin.runs.commands.delete", full)
    answer = operator.delete(f"/api/runs/{finished_run.pk}/")
    assert (answer.status_code, answer.json()["detail"]) == (
        503,
        f"The disk of {settings.VAR_DIR} is full (database or disk is full). Try again later.",
    )


@pytest.mark.parametrize("body", [b"{", b"[" * 20_000, b"NaN", b'{"speed": Infinity}', b"\xff\xfe", b""])
def test_a_body_that_is_not_json_is_said(operator, finished_run, body):
    answer = operator.post(f"/api/runs/{finished_run.pk}/clock/", body, content_type="application/json")
    assert answer.status_code == 400
    assert "The body is not JSON" in answer.content.decode() or answer.json() == {
        "speed": ["This field is required."],
        "detail": "speed is required.",
    }


def test_changes_by_api_are_in_the_audit_list(operator, make_scenario):
    base = make_scenario()
    cluster = post(operator, "/api/clusters/", {"profile": "oasis", "servers": 2}).json()
    body = {"name": "mine", "cluster": cluster["id"], "trace": base.trace_id, "scheduler": "fifo"}
    scenario = post(operator, "/api/scenarios/", body).json()
    assert operator.delete(f"/api/clusters/{cluster['id']}/").status_code == 409
    assert operator.delete(f"/api/scenarios/{scenario['id']}/").status_code == 204
    assert operator.delete(f"/api/clusters/{cluster['id']}/").status_code == 204
    entries = AuditEntry.objects.order_by("id").values_list("action", "subject", "user__username")
    assert list(entries) == [
        ("cluster.create", f"cluster {cluster['id']}", "olga"),
        ("scenario.create", f"scenario {scenario['id']}", "olga"),
        ("scenario.delete", f"scenario {scenario['id']}", "olga"),
        ("cluster.delete", f"cluster {cluster['id']}", "olga"),
    ]


def test_what_is_kept_of_many_runs_is_bounded(make_run, monkeypatch):
    """Three runs of 12 jobs with room for one: only the run looked at last is kept, and it is folded once."""
    from twin.runs import runner

    runs = [make_run(seed=seed) for seed in (1, 2, 3)]
    for run in runs:
        runner.enqueue(run.pk)
    work()
    KEPT.clear()
    monkeypatch.setattr(KEPT, "max_bytes", 1)
    for run in runs:
        with state_cache.Newest(run) as state:
            assert state.finished
    assert [KEPT.take(("state", run.pk)) for run in runs] == [None, None, state]
    KEPT.put(("state", runs[2].pk), state)
    with state_cache.Newest(runs[2]) as again:
        assert again is state


def test_cancelling_what_has_ended_is_refused(operator, finished_run):
    answer = operator.post(f"/api/runs/{finished_run.pk}/cancel/")
    assert answer.json()["detail"] == f"cannot cancel run {finished_run.pk}: it is finished; choose an active run"
    assert Run.objects.get(pk=finished_run.pk).status == "finished"


def test_each_declared_column_of_jobs_is_served_and_sorts(viewer, finished_run):
    declared = viewer.get(f"/api/runs/{finished_run.pk}/static/").json()["job_columns"]
    assert [(one["key"], one["format"]) for one in declared] == [
        ("model", "text"), ("arrived_ms", "clock"), ("start_ms", "clock"), ("finish_ms", "clock"),
        ("completed_ms", "clock"), ("jct_ms", "duration"), ("utility", "utility"),
    ]  # fmt: skip
    for key in (one["key"] for one in declared):
        rows = viewer.get(f"/api/runs/{finished_run.pk}/jobs/", {"sort": f"-{key}"}).json()["rows"]
        values = [row[key] for row in rows if row[key] is not None]
        assert values
        assert values == sorted(values, reverse=True)


def test_the_time_limit_is_a_column_where_a_job_has_one(viewer, db):
    cluster, rows = generate("oasis", variant="calibrated", num_jobs=3, num_servers=4, seed=3)
    rows = [rows[0], replace(rows[1], limit_ms=7_200_000), rows[2]]
    spec, trace = store.store_generated("limited", cluster, rows, 3)
    run = Run.objects.create(
        scenario=Scenario.objects.create(name="limited", cluster=spec, trace=trace, scheduler="easy")
    )
    runner.enqueue(run.pk)
    work()
    declared = viewer.get(f"/api/runs/{run.pk}/static/").json()["job_columns"]
    assert {"key": "limit_ms", "title": "Time limit", "format": "duration"} in declared
    table = viewer.get(f"/api/runs/{run.pk}/jobs/").json()["rows"]
    assert [row["limit_ms"] for row in table] == [None, 7_200_000, None]


def test_a_field_that_some_jobs_lack_sorts_them_first():
    assert job_table._comparable(["b", None, "a", "b"]).tolist() == [1, -1, 0, 1]
    assert job_table._comparable([2.5, None, -1]).tolist() == [1, -1, 0]


def test_the_schema_describes_every_address(viewer):
    text = viewer.get("/api/schema/").content.decode()
    for address in (
        "/api/runs/{id}/snapshot/",
        "/api/traces/",
        "/api/scenarios/",
        "/api/runs/{id}/clock/",
        "/api/runs/{id}/groups.csv",
    ):
        assert address in text


def test_what_a_page_of_a_run_reads_makes_no_objects_of_jobs_it_does_not_show(viewer, finished_run):
    store.forget()
    for path in (
        "static/",
        "snapshot/",
        "jobs/?size=3&q=j&sort=-jct_ms",
        "jobs/2/",
        "events/table/?size=5",
        "delays/",
        "now/",
        "situation/",
    ):
        assert viewer.get(f"/api/runs/{finished_run.pk}/{path}").status_code == 200, path
    assert store.jobs_of(finished_run.scenario.trace_id)._made is None
