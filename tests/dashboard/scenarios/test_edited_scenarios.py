"""Scenarios with edits from the beginning: the run simulates the edited state, the impossible is refused at once."""

import csv
import io
import json

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import simulate
from tests.dashboard.builders import downloaded, post
from tests.twin.runtime.queues import work
from twin.eventlog import event_log
from twin.models import Run, Scenario
from twin.runs import runner
from twin.scenarios import store

H = 3_600_000
EDITS = [
    {"verb": "remove_servers", "servers": "w00"},
    {"verb": "scale_arrivals", "factor": 2},
    {"verb": "drop_jobs", "jobs": "j0002", "off": True},
]


def body_of(base, edits):
    return {
        "name": "what if",
        "cluster": base.cluster_id,
        "trace": base.trace_id,
        "scheduler": "fifo",
        "seed": 5,
        "edits": edits,
    }


def test_the_run_plays_the_edited_world(operator, make_scenario):
    base = make_scenario()
    made = post(operator, "/api/scenarios/", body_of(base, EDITS)).json()
    assert made["edits"] == EDITS
    run_id = post(operator, "/api/runs/", {"scenario": made["id"], "mode": "batch"}).json()["id"]
    runner.enqueue(run_id)
    work()
    run = Run.objects.get(pk=run_id)
    assert (run.status, run.edits) == (Run.FINISHED, EDITS)
    before, jobs = store.cluster_of(base.cluster_id), store.jobs_of(base.trace_id)
    cluster, edited = store.of_run(run)
    assert [s.name for s in cluster.servers] == [s.name for s in before.servers if s.name != "w00"]
    assert [(job.id, job.arrival_ms) for job in edited] == [(job.id, round(job.arrival_ms / 2)) for job in jobs]
    lines = downloaded(operator.get(f"/api/runs/{run_id}/events.jsonl")).splitlines()
    assert len(lines) == sum(1 for _ in simulate(cluster, edited, build("fifo"), 5))
    Scenario.objects.filter(pk=made["id"]).update(edits=[])
    assert store.of_run(Run.objects.get(pk=run_id))[1] == edited, "a run keeps the edits that it began with"


def test_what_cannot_be_done_is_said_and_nothing_is_kept(operator, make_scenario):
    base = make_scenario()
    count = Scenario.objects.count()
    for edits, sentence in (
        (
            [{"verb": "remove_servers", "servers": "nobody"}],
            "edit 1 (remove servers): no server matches 'nobody' at 00:00:00",
        ),
        (
            [{"verb": "scale_arrivals", "factor": 2, "at_ms": 2**50}],
            "and the scenario ends at ",
        ),
        ([{"verb": "scale_arrivals", "factor": 1}], "edit 1 (scale the arrival rate): changes nothing"),
        ([{"verb": "explode"}], "edit 1: unknown verb 'explode'; known: add_jobs"),
    ):
        answer = post(operator, "/api/scenarios/", body_of(base, edits))
        assert (answer.status_code, sentence in answer.content.decode()) == (400, True), answer.content
    assert Scenario.objects.count() == count
    body = {"version": base.version, "edits": [{"verb": "change_uploads", "factor": 1}]}
    answer = operator.patch(f"/api/scenarios/{base.pk}/edits/", body, content_type="application/json")
    assert (answer.status_code, Scenario.objects.get(pk=base.pk).edits) == (400, [])


def test_an_edit_before_a_fork_is_said_in_its_row_also_beside_other_errors(operator, make_scenario):
    made = make_scenario()
    early = {"verb": "scale_arrivals", "factor": 3, "at_ms": 3_000_000}
    kept = {"verb": "scale_arrivals", "factor": 2, "at_ms": 1_800_000}
    Scenario.objects.filter(pk=made.pk).update(fork_ms=3_600_379, edits=[kept])
    wrong = {"verb": "remove_servers", "servers": "nobody", "at_ms": 3_700_000}
    edits = [kept, early, wrong, {**early, "off": True}]
    rows = post(operator, f"/api/scenarios/{made.pk}/edits/", {"edits": edits}).json()["rows"]
    assert [row["error"].partition(";")[0] for row in rows] == [
        "",
        "takes effect at 00:50:00, before the fork at 01:00:00.379",
        "no server matches 'nobody' at 01:01:40",
        "",
    ]


def test_metrics_of_a_run_are_those_of_its_edited_cluster(viewer, make_scenario):
    """The newest moment counts the servers and capacities of that time; the list counts the jobs after the edits."""
    run = Run.objects.create(scenario=make_scenario(scheduler="fifo"), edits=[
        {"verb": "resize_servers", "at_ms": H, "servers": "w00", "resource": "gpu", "amount": 16},
        {"verb": "fail_servers", "at_ms": 2 * H, "servers": "w01", "for_ms": 900 * H},
        {"verb": "remove_servers", "at_ms": 2 * H, "servers": "w02"},
        {"verb": "add_servers", "at_ms": 3 * H, "like": "w03", "count": 2},
        {"verb": "add_servers", "at_ms": 99 * H, "like": "w03", "count": 40},
        {"verb": "add_jobs", "at_ms": H, "like": "j0012", "count": 5},
    ])  # fmt: skip
    before = {server.name: server for server in store.of_run(run)[0].servers}
    events = [event for event in store.simulation(run).events() if event.at_ms <= 4 * H]
    event_log.append(run.pk, run.epoch, events)
    Run.objects.filter(pk=run.pk).update(sim_ms=4 * H, last_seq=events[-1].seq, status=Run.RUNNING)
    now = viewer.get(f"/api/runs/{run.pk}/now/").json()
    assert now["sim_ms"] == 4 * H
    gpus = {name: server.capacity[0] / 1000 for name, server in before.items() if "+" not in name}
    gpus |= {"w00": 16, "w01": 0, "w02": 0, "w03": 3 * gpus["w03"]}
    assert sum(site["capacity"]["gpu"] for site in now["sites"]) == sum(gpus.values())
    assert sum(site["servers"] for site in now["sites"]) == len(gpus) - 1 + 2
    workers = sum("worker" in before[name].roles for name in gpus)
    assert sum(site["roles"]["worker"] for site in now["sites"]) == workers - 1 + 2
    assert viewer.get("/api/runs/").json()["results"][0]["job_count"] == 17


def test_the_downloaded_jobs_and_servers_are_those_that_the_log_counts(viewer, make_scenario):
    """Jobs and servers that edits add move the indices of others: those of the trace and the cluster would be wrong."""
    scenario = make_scenario(scheduler="fifo")
    run = Run.objects.create(scenario=scenario, edits=[
        {"verb": "add_jobs", "at_ms": H, "like": "j0003", "count": 5},
        {"verb": "add_servers", "at_ms": H, "like": "w00", "count": 1},
    ])  # fmt: skip
    runner.enqueue(run.pk)
    work()
    jobs, events, traced = (
        [json.loads(line) for line in downloaded(viewer.get(address)).splitlines()]
        for address in (
            f"/api/runs/{run.pk}/jobs.jsonl",
            f"/api/runs/{run.pk}/events.jsonl",
            f"/api/traces/{scenario.trace_id}/jobs.jsonl",
        )
    )
    assert f'href="/api/runs/{run.pk}/jobs.jsonl"' in viewer.get(f"/runs/{run.pk}/").content.decode()
    ids = [job["id"] for job in jobs]
    assert {f"j0003+{n}" for n in range(1, 6)} == set(ids) - {job["id"] for job in traced}
    assert ids[: len(traced)] != [job["id"] for job in traced]
    arrived = {event["data"]["job"]: event["at_ms"] for event in events if event["kind"] == "job_arrived"}
    assert arrived == {index: job["arrival_ms"] for index, job in enumerate(jobs)}
    servers = json.loads(downloaded(viewer.get(f"/api/runs/{run.pk}/cluster.json")))["servers"]
    rows = list(csv.DictReader(io.StringIO(downloaded(viewer.get(f"/api/runs/{run.pk}/schedule.csv")).decode())))
    bars = {
        (jobs[job]["id"], servers[server]["name"])
        for event in events
        if event["kind"] == "plan_changed"
        for job, _, server, *_ in event["data"]["bars"]
        if server >= 0
    }
    assert {(row["job"], row["server"]) for row in rows if row["server"] not in ("", "cloud")} <= bars


def test_a_server_whose_gpus_changed_had_other_workers_before(viewer, make_scenario):
    edit = {"verb": "resize_servers", "at_ms": H, "servers": "w00", "resource": "gpu", "amount": 3}
    run = Run.objects.create(scenario=make_scenario(scheduler="srtf"), edits=[edit])
    servers = {row["name"]: row for row in viewer.get(f"/api/runs/{run.pk}/static/").json()["cluster"]["servers"]}
    before = store.clusters(run)[0][1].servers[0].capacity[0] // 1000
    assert before != 3
    assert (servers["w00"]["lanes"], servers["w00"]["lanes_was"]) == ([3, 0], [[H, [before, 0]]])
    assert "lanes_was" not in servers["w01"]


def test_an_announced_outage_is_known_from_its_announcement(viewer, make_scenario):
    edit = {"verb": "drain_servers", "at_ms": H, "servers": "w00", "from_ms": 5 * H, "to_ms": 6 * H}
    run = Run.objects.create(scenario=make_scenario(scheduler="fifo"), edits=[edit])
    servers = {row["name"]: row for row in viewer.get(f"/api/runs/{run.pk}/static/").json()["cluster"]["servers"]}
    assert (servers["w00"]["away"], servers["w00"]["away_was"]) == ([[5 * H, 6 * H]], [[H, []]])
    assert "away_was" not in servers["w01"]


def test_an_added_server_names_the_time_of_its_edit(viewer, make_scenario):
    add = {"verb": "add_servers", "at_ms": H, "like": "w00", "count": 1}
    drain = {"verb": "drain_servers", "at_ms": 2 * H, "servers": "w00+1", "from_ms": 5 * H, "to_ms": 6 * H}
    edits = [add, drain]
    run = Run.objects.create(scenario=make_scenario(scheduler="fifo"), edits=edits)
    servers = {row["name"]: row for row in viewer.get(f"/api/runs/{run.pk}/static/").json()["cluster"]["servers"]}
    assert (servers["w00+1"]["added_ms"], servers["w00+1"]["away"]) == (H, [[0, H], [5 * H, 6 * H]])
    assert "added_ms" not in servers["w00"]
