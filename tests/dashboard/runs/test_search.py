"""The search of the command palette: every kind by a part of its name, counts with their totals, and refusals."""

import pytest

from twin.models import Connection, Run, Sweep


def groups(client, query=""):
    """{kind: group} of the answer."""
    answer = client.get(f"/api/search/?{query}")
    assert answer.status_code == 200, answer.content
    return {group["kind"]: group for group in answer.json()}


def test_every_kind_is_found_by_a_part_of_its_name(viewer, finished_run):
    scenario = finished_run.scenario
    scenario.name = "Night shift"
    scenario.save()
    scenario.trace.name = "Night trace"
    scenario.trace.save()
    Connection.objects.create(name="night-lab", connector="slurm")
    sweep = Sweep.objects.create(name="Nights", scenario=scenario, axes=[], seeds=[0])
    found = groups(viewer, "q=NIGHT")
    assert list(found) == ["run", "live", "scenario", "trace", "sweep"]
    assert {kind: [hit["href"] for hit in group["hits"]] for kind, group in found.items()} == {
        "run": [f"/runs/{finished_run.pk}/"], "live": ["/live/night-lab/"], "scenario": [f"/scenarios/{scenario.pk}/"],
        "trace": [f"/traces/{scenario.trace_id}/"], "sweep": [f"/sweeps/{sweep.pk}/"],
    }  # fmt: skip
    hit = found["run"]["hits"][0]
    assert hit["title"] == f"{finished_run.pk} · Night shift"
    assert hit["detail"].endswith(", finished")
    assert found["scenario"]["hits"][0]["detail"] == hit["detail"].removesuffix(", finished"), "the title"
    assert found["live"]["hits"][0]["detail"] == "Slurm"
    assert [group["count"] for group in found.values()] == [1] * 5


def test_a_run_is_found_by_its_number_and_scheduler(viewer, finished_run):
    link = f"/runs/{finished_run.pk}/"
    for text in (str(finished_run.pk), finished_run.scenario.scheduler):
        assert link in [hit["href"] for hit in groups(viewer, f"q={text}")["run"]["hits"]]
    assert "run" not in groups(viewer, "q=99999999999999999999")


def test_the_run_with_a_number_comes_before_runs_with_the_number_in_their_name(viewer, make_scenario):
    first, *others = [Run.objects.create(scenario=make_scenario()) for _ in range(9)]
    for run in others:
        run.scenario.name = f"load {first.pk}"
        run.scenario.save()
    hits = groups(viewer, f"q={first.pk}")["run"]["hits"]
    assert [hit["href"] for hit in hits[:2]] == [f"/runs/{first.pk}/", f"/runs/{others[-1].pk}/"]


def test_jobs_and_servers_of_the_run_come_first(viewer, finished_run):
    answer = groups(viewer, f"q=0&run={finished_run.pk}")
    assert list(answer)[:2] == ["job", "server"]
    table = viewer.get(f"/api/runs/{finished_run.pk}/jobs/?q=0").json()
    assert answer["job"]["count"] == table["count"] > len(answer["job"]["hits"]) == 6
    rows = table["rows"][:6]
    assert [hit["title"] for hit in answer["job"]["hits"]] == [row["id"] for row in rows]
    assert answer["job"]["hits"][0]["href"] == f"/runs/{finished_run.pk}/?job={rows[0]['index']}"
    server = answer["server"]["hits"][0]
    page = viewer.get(server["href"])
    assert page.status_code == 200
    assert server["title"] in page.content.decode()
    assert "job" not in groups(viewer, "q=1"), "of one run only"


def test_without_a_text_the_newest_runs_and_live_clusters(viewer, make_scenario):
    scenario = make_scenario()
    made = [Run.objects.create(scenario=scenario) for _ in range(8)]
    Connection.objects.create(name="lab", connector="slurm")
    found = groups(viewer)
    assert list(found) == ["run", "live"]
    assert (found["run"]["count"], len(found["run"]["hits"])) == (8, 6)
    assert [hit["href"] for hit in found["run"]["hits"]] == [f"/runs/{run.pk}/" for run in made[:1:-1]]


def test_points_of_sweeps_are_left_out(viewer, make_scenario):
    scenario = make_scenario()
    scenario.name, scenario.unlisted = "hidden point", True
    scenario.save()
    Run.objects.create(scenario=scenario)
    assert groups(viewer, "q=hidden+point") == {}


@pytest.mark.parametrize(
    ("query", "status", "sentence"),
    [
        ("run=x", 400, "run must be an integer, got 'x'"),
        ("run=999999", 404, "Run 999999 does not exist."),
        ("q=" + "a" * 201, 400, "q must have at most 200 characters, got 201"),
        ("text=a", 400, "unknown query parameter 'text'"),
    ],
)
def test_what_is_refused(viewer, finished_run, query, status, sentence):
    answer = viewer.get(f"/api/search/?{query}")
    assert answer.status_code == status
    assert sentence in answer.content.decode()
