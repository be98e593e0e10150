"""The pages of a run show what a real cluster does, like any other run."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime

import pytest

from tests.twin.builders import played_out
from tests.twin.mirror.builders import NODES, polled
from tests.twin.mirror.builders_stored import POLLS, following
from tests.twin.mirror.whatif.builders_forty import mirrored_run
from twin.connectors.facts import DOWN, DRAINING
from twin.mirror import borders, stored
from twin.models import Connection, Run
from twin.runs import lease

pytestmark = pytest.mark.django_db


def test_the_pages_of_a_run_show_a_mirrored_one(operator):
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = following(connection, *POLLS)
    for each in POLLS:
        one.apply(each)
    run = connection.run.pk
    answer = operator.get(f"/api/runs/{run}/static/")
    assert answer.status_code == 200, answer.content
    static = answer.json()
    assert [server["name"] for server in static["cluster"]["servers"]] == ["edge1", "cloud1"]
    assert static["ids"] == ["1", "2"]
    titles = [column["title"] for column in static["job_columns"]]
    assert "Completion" in titles
    assert "Planned finish" not in titles, "its log states no plans"
    assert not {"Model", "Utility"} & {*titles}, "no job of the cluster has one"
    assert static["scheduler"]["title"] == static["phases"][0]["title"] == "Real cluster"
    for path in (f"/runs/{run}/", f"/api/runs/{run}/", f"/api/runs/{run}/snapshot/", "/", "/api/runs/"):
        assert operator.get(path).status_code == 200, path
    for path in (f"/runs/{run}/", f"/runs/{run}/servers/0/"):
        marked = re.findall(r"<a href=\"([^\"]*)\"\s+aria-current=\"page\"", operator.get(path).content.decode())
        assert marked[0] == "/live/", path
        assert "/" not in marked, path
    answer = operator.get(f"/api/runs/{run}/jobs/")
    assert answer.status_code == 200, answer.content
    rows = answer.json()["rows"]
    assert {row["id"]: row["state"] for row in rows} == {"1": "completed", "2": "running"}
    waits = "Waiting: the resources that it requests are not free (Resources)."
    assert {row["id"]: row["reason"] for row in rows} == {
        "1": "Completed.",
        "2": "Started by the cluster after waiting 1m 45s.",
    }
    assert {row["id"]: row.get("outcome") for row in rows} == {"1": "completed", "2": None}
    decisions = operator.get(f"/api/runs/{run}/jobs/1/").json()["decisions"]
    assert decisions[0]["sentence"] == waits
    for at_ms, sentence in ((decisions[0]["at_ms"], waits), (decisions[-1]["at_ms"] - 1, waits)):
        then = operator.get(f"/api/runs/{run}/jobs/?at_ms={at_ms}").json()["rows"]
        assert {row["id"]: row["reason"] for row in then}["2"] == sentence
    events = operator.get(f"/api/runs/{run}/events/table/").json()["rows"]
    assert any("Waiting: the resources" in row["text"] for row in events)
    ended = [row["text"] for row in events if row["kind"] == "job_completed"]
    assert ended == ["ended"], "a job of a real cluster ends in several ways"
    seen = [(row["id"], row["text"]) for row in events if row["kind"] == "plan_changed"]
    assert seen
    assert all(id_ in ("1", "2") and text.startswith("executions known so far: ") for id_, text in seen)


def test_states_of_nodes_and_their_reasons_are_part_of_the_static_data(operator):
    connection = Connection.objects.create(name="lab", connector="slurm")
    down, up = replace(NODES[0], state=DOWN, reason="no power"), NODES[1]
    drains = replace(up, state=DRAINING, reason="fan 3")
    polls = [polled(0, nodes=(down, up)), polled(60, nodes=(down, drains)), polled(120, nodes=NODES)]
    one = following(connection, *polls)
    for each in polls:
        one.apply(each)
    servers = operator.get(f"/api/runs/{connection.run.pk}/static/").json()["cluster"]["servers"]
    found = [[(state, reason) for _, state, reason in server["states"]] for server in servers]
    assert found == [[("down", "no power"), ("up", "")], [("draining", "fan 3"), ("up", "")]]
    times = [at_ms for at_ms, *_ in servers[1]["states"]]
    assert times[1] - times[0] == 60_000


def test_a_changed_time_limit_is_listed_as_such(operator):
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = following(connection, *POLLS)
    one.apply(POLLS[0])
    first = POLLS[0].jobs[0]
    changed = replace(
        POLLS[0], at_ms=POLLS[0].at_ms + 1_000, jobs=(replace(first, limit_ms=1_800_000), *POLLS[0].jobs[1:])
    )
    one.apply(changed)
    events = operator.get(f"/api/runs/{connection.run.pk}/events/table/?kind=job_set").json()["rows"]
    (text,) = [row["text"] for row in events]
    assert text.startswith("request changed, now: ")
    assert text.endswith("time limit 30m")


def test_a_fork_of_a_mirrored_run_by_the_api(operator):
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = following(connection, *POLLS)
    for each in POLLS[:2]:
        one.apply(each)
    run = connection.run.pk
    wanted = {"scheduler": "drf", "durations": "limit", "assumed_ms": 120_000, "arrivals": True, "start": True}
    answer = operator.post(f"/api/runs/{run}/forks/", wanted, "application/json")
    assert answer.status_code == 201, answer.content
    made = answer.json()
    assert (made["scenario"]["scheduler"], made["run"]["parent"], made["run"]["mode"]) == ("drf", run, "batch")
    assert [row["id"] for row in operator.get(f"/api/runs/{run}/forks/").json()] == [run, made["run"]["id"]]
    mirrored = operator.get(f"/api/runs/{run}/").json()
    cut = made["run"]["id"]
    for path, found in ((f"/api/runs/{cut}/", dict), (f"/api/runs/{cut}/static/", lambda answer: answer["run"])):
        began = datetime.fromisoformat(found(operator.get(path).json())["began_at"])
        assert began == datetime.fromisoformat(mirrored["began_at"]), path
    for page in (f"/runs/{cut}/", f"/runs/{cut}/servers/0/", f"/runs/{run}/"):
        since = "log from " + f"{began:%Y-%m-%d %H:%M:%S} UTC"
        assert since in " ".join(operator.get(page).content.decode().split()), page
    trace = operator.get(f"/api/traces/{made['scenario']['trace']}/").json()
    assert trace["report"]["notes"][-3] == "Durations: assumed for 2 jobs (2m)."
    for path in (f"/traces/{trace['id']}/", f"/scenarios/{made['scenario']['id']}/", f"/runs/{made['run']['id']}/"):
        assert operator.get(path).status_code == 200, path
    for wrong, words in (
        ({"durations": "guess"}, "actual"),
        ({"scheduler": "observed"}, "cannot be simulated"),
        ({"at_ms": 1}, "shows the cluster from"),
    ):
        answer = operator.post(f"/api/runs/{run}/forks/", wrong, "application/json")
        assert answer.status_code in (400, 409), answer.content
        assert words in answer.content.decode()


def test_ask_on_a_mirrored_run(operator):
    run = mirrored_run()
    wanted = {"like": "3", "changes": {"requested_workers": 1}, "scheduler": "drf"}
    answer = operator.post(f"/api/runs/{run.pk}/ask/", wanted, "application/json")
    assert answer.status_code == 200, answer.content
    assert answer.json()["notes"][0] == "Answered by DRF."
    answer = operator.post(f"/api/runs/{run.pk}/ask/", {"like": "nobody"}, "application/json")
    assert answer.status_code == 400
    assert "has no job" in answer.content.decode()


def test_a_misspelt_field_of_a_body_is_refused_with_the_nearest_one(operator):
    run = mirrored_run()
    for path, body, sentence in (
        (
            "ask",
            {"chnages": {"run_ms": 5}},
            "unknown field of the body 'chnages'; did you mean 'changes'? known: ",
        ),
        (
            "forks",
            {"at": 5},
            "unknown field of the body 'at'; did you mean 'at_ms'? known: at_ms, name, edits, start, ",
        ),
    ):
        answer = operator.post(f"/api/runs/{run.pk}/{path}/", body, "application/json")
        assert answer.status_code == 400
        assert answer.json()[next(iter(body))][0].startswith(sentence)


@pytest.mark.parametrize("verb", ["pause", "resume", "cancel", "step", "clock", "delete"])
def test_verbs_of_a_mirrored_run_say_what_to_do_instead(operator, verb):
    run = mirrored_run()

    def say():
        if verb == "delete":
            return operator.delete(f"/api/runs/{run.pk}/")
        return operator.post(f"/api/runs/{run.pk}/{verb}/", {"speed": 2}, "application/json")

    def state():
        fields = ("status", "wanted", "epoch", "clock_sim_ms", "clock_wall", "clock_speed")
        return Run.objects.values(*fields).get(pk=run.pk)

    before, answer = state(), say()
    assert answer.status_code == 400, answer.content
    detail = answer.json()["detail"]
    assert detail.endswith("pause following on /live/lab/")
    assert "it mirrors the cluster lab" in detail
    assert state() == before
    Connection.objects.all().delete()
    answer = say()
    if verb == "cancel":
        assert answer.status_code == 200, answer.content
        assert state()["status"] == Run.CANCELLED
        assert operator.delete(f"/api/runs/{run.pk}/").status_code == 204
    else:
        assert answer.status_code == 400
        assert answer.json()["detail"].endswith("no connection follows its cluster any more; cancel the run")
        assert state() == before


def test_the_pages_of_a_cluster_with_two_runs_link_them(operator):
    old = mirrored_run()
    connection = Connection.objects.get()
    Run.objects.update(lease_until=None)
    new = borders.cross(connection, lease.take(old.pk, simulated=False), stored.load(connection))
    page = operator.get("/live/lab/").content.decode()
    assert f'data-run-id="{new.pk}"' in page, "the page of the cluster shows the newest run"
    assert f'Earlier runs of this cluster: <a href="/runs/{old.pk}/">run {old.pk}</a>' in page
    page = operator.get(f"/runs/{old.pk}/").content.decode()
    assert f'continues in <a href="/runs/{new.pk}/">run {new.pk}</a>' in page
    assert operator.get(f"/api/runs/{old.pk}/").json()["status"] == "finished"
    sentences = [row["text"] for row in operator.get(f"/api/runs/{old.pk}/events/table/").json()["rows"]]
    assert any(f"continues in run {new.pk}" in text for text in sentences), sentences
    states = operator.get(f"/api/runs/{old.pk}/now/").json()["jobs"]
    assert (states["unfinished"], states["completed"], states["running"]) == (3, 1, 0)
    summary = operator.get(f"/api/runs/{old.pk}/summary.json").json()
    assert summary["metrics"]["completed"] == 1
    # a fork of a moment of the day before still works, and its jobs are matched with the run's
    answer = operator.post(f"/api/runs/{old.pk}/forks/", {"start": True}, "application/json")
    assert answer.status_code == 201, answer.content
    fork = played_out(Run.objects.get(pk=answer.json()["run"]["id"]))
    assert operator.get(f"/api/compare/?runs={old.pk},{fork.pk}").json()["shared"]["jobs"] == 3


def test_the_record_of_a_cluster_is_not_offered_as_a_scenario(operator):
    """Its scenario, cluster and trace are those of no simulation: no list has them, and its page is that of the run."""
    run = mirrored_run()
    scenario = run.scenario
    for kind in ("scenarios", "clusters", "traces"):
        assert operator.get(f"/api/{kind}/").json()["results"] == [], kind
    assert operator.get(f"/api/scenarios/{scenario.pk}/").status_code == 200
    page = operator.get(f"/scenarios/{scenario.pk}/")
    assert (page.status_code, page["Location"]) == (302, f"/runs/{run.pk}/")
    entrants = operator.get(f"/api/scenarios/{scenario.pk}/race/").json()
    assert "observed" not in [one["scheduler"] for one in entrants["able"]]
    hits = operator.get("/api/search/", {"q": scenario.name}).json()
    assert {group["kind"] for group in hits} & {"scenario", "trace"} == set()


def test_pages_have_the_nodes_that_are_not_up_from_the_start(operator):
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = following(connection, *POLLS)
    for each in POLLS:
        one.apply(each)
    down = {"name": "edge1", "state": "down", "reason": "Not responding"}
    draining = {"name": "cloud1", "state": "draining", "reason": ""}
    Connection.objects.update(health={"not_up": {"total": 2, "nodes": [draining, down]}})
    run = connection.run.pk

    def text(path):
        return " ".join(re.sub(r"<[^>]*>", " ", operator.get(path).content.decode()).split())

    assert "Nodes not up: cloud1, draining; edge1, down (Not responding)." in text("/live/lab/")
    assert "edge1 unavailable: Not responding edge server" in text(f"/runs/{run}/servers/0/")
    assert "cloud1 draining, takes no new jobs cloud server" in text(f"/runs/{run}/servers/1/")
