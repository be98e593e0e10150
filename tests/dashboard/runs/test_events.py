"""The table of events, and the schedule for Perfetto."""

import orjson

from dashboard.readmodels.event_table import utility_text
from tests.dashboard.builders import downloaded
from twin.eventlog import event_log
from twin.models import Run


def rows_of(client, run, **asked):
    """All pages, one after the other."""
    found, before = [], None
    while True:
        answer = client.get(f"/api/runs/{run.pk}/events/table/", asked | ({"before": before} if before else {})).json()
        found += answer["rows"]
        before = answer["next"]
        if before is None:
            return found


def log_of(run):
    return [event for batch in event_log.after(run.pk, 0) for event in batch]


def test_it_holds_every_event_once_the_newest_first(viewer, finished_run):
    rows = rows_of(viewer, finished_run, size=7)
    log = log_of(finished_run)
    assert [(row["seq"], row["at_ms"], row["kind"]) for row in rows] == [
        (e.seq, e.at_ms, e.kind) for e in reversed(log)
    ]
    assert all(row["text"] for row in rows)


def test_it_is_filtered_by_kind_decision_and_job(viewer, finished_run):
    log = log_of(finished_run)
    decided = [e.seq for e in log if e.kind == "decided" and e.data["kind"] == "admitted"]
    assert [row["seq"] for row in rows_of(viewer, finished_run, kind="decided", decision="admitted")] == decided[::-1]
    of_job = [e.seq for e in log if e.data.get("job") == 3]
    assert [row["seq"] for row in rows_of(viewer, finished_run, job=3, size=2)] == of_job[::-1]
    first = rows_of(viewer, finished_run, kind="decided")[-1]
    assert first["text"].startswith(("Admitted: ", "Rejected: "))
    assert first["id"]


def test_a_tiny_utility_is_about_zero():
    assert [utility_text(value) for value in (32.9421, 0.00012, 2.082e-158, 0.0)] == ["32.94", "0.00012", "≈ 0", "0"]


def test_an_unknown_kind_is_said(viewer, finished_run):
    answer = viewer.get(f"/api/runs/{finished_run.pk}/events/table/", {"kind": "boom"})
    assert (answer.status_code, "kind must be one of run_started" in answer.content.decode()) == (400, True)


def test_perfetto_gets_every_bar_and_no_two_overlap_on_a_thread(viewer, finished_run):
    trace = orjson.loads(downloaded(viewer.get(f"/api/runs/{finished_run.pk}/perfetto.json")))
    csv = downloaded(viewer.get(f"/api/runs/{finished_run.pk}/schedule.csv")).decode().splitlines()[1:]
    bars = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    expected = sorted(
        (row[0], row[2], int(row[7]) * 1000, (int(row[8]) - int(row[7])) * 1000)
        for row in (line.split(",") for line in csv)
    )
    assert sum(dur for *_, dur in expected) == sum(bar["dur"] for bar in bars)
    assert {(bar["name"], bar["cat"]) for bar in bars} == {(id_, role) for id_, role, *_ in expected}
    ends = {}
    for bar in bars:
        assert bar["ts"] >= ends.get(bar["tid"], 0)
        ends[bar["tid"]] = bar["ts"] + bar["dur"]
    threads = {e["tid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    assert {bar["tid"] for bar in bars} == set(threads)


def test_the_summary_states_the_parameters_of_the_log(viewer, finished_run):
    """With the defaults that the scenario does not name."""
    first = downloaded(viewer.get(f"/api/runs/{finished_run.pk}/events.jsonl")).splitlines()[0]
    assert finished_run.scenario.parameters == {}
    summary = viewer.get(f"/api/runs/{finished_run.pk}/summary.json").json()
    assert summary["parameters"] == orjson.loads(first)["data"]["parameters"] != {}


def test_the_summary_states_the_certificate(viewer, finished_run):
    from twin.analysis import certificate_task

    certificate_task.run(finished_run.pk)
    certificate = viewer.get(f"/api/runs/{finished_run.pk}/summary.json").json()["certificate"]
    assert set(certificate) == {"kind", "achieved", "bound", "ratio"}
    assert certificate["achieved"] <= certificate["bound"]


def test_a_certificate_of_an_earlier_part_is_none_of_the_ended_run(viewer, finished_run):
    """It stays if that of the end is given up; its sums are not those of the metrics."""
    from twin.analysis import certificate_task

    certificate_task.run(finished_run.pk)
    finished_run.refresh_from_db()
    assert viewer.get(f"/api/runs/{finished_run.pk}/situation/").json()["certificate"]
    earlier = finished_run.certificate | {"seq": finished_run.last_seq - 1, "why": "too slow", "given_up": True}
    Run.objects.filter(pk=finished_run.pk).update(certificate=earlier)
    assert viewer.get(f"/api/runs/{finished_run.pk}/summary.json").json()["certificate"] is None
    assert viewer.get(f"/api/runs/{finished_run.pk}/situation/").json()["certificate"] == {}
